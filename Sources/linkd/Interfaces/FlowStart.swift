import AuthCore
import DBus
import DomainNames
import EventLoop
import LinkHandler

extension Method {
  /// A method that takes texts and answers with a flow.
  static func startingFlow(
    _ name: String, _ arguments: [String],
    _ body: @escaping @LoopActor (MethodCall, Options) throws(DBusError) -> FlowID
  ) -> Method {
    Method(
      name, in: arguments.map { Argument($0, "s") } + [Argument("options", "a{sv}")], out: [Argument("flow", "o")],
      handler: .sync { call throws(DBusError) in [.objectPath(Paths.flow(try body(call, Options(call))))] })
  }
}

/// What the methods that start a flow have in common: its row.
@LoopActor
struct FlowStart {
  let keeper: SessionKeeper
  let tree: ObjectTree

  /// A row for a call, with the call's id, purpose, language and starter.
  ///
  /// - Throws: `InvalidArgs` for a `handle-token` that's taken or no id, or an unknown purpose; `NoCurrentUser` where the
  ///   purpose needs somebody signed in.
  func row(
    _ call: MethodCall, _ options: Options, method: SignInMethod, purpose fixed: FlowPurpose? = nil, lifetime: Int64
  ) throws(DBusError) -> Flow {
    let purpose: FlowPurpose = if let fixed { fixed } else { try self.purpose(options) }
    let now = tree.services.now
    var flow = Flow(
      id: try id(options), key: keeper.key, purpose: purpose, method: method, createdAt: now, expiresAt: now + lifetime)
    flow.caller = call.caller.sandboxID
    flow.starter = call.caller.uniqueName
    flow.locale = try options.string("locale")
    // A second factor may take a page, whatever the first one is.
    flow.opensBrowser = try browserWish(options) != nil
    flow.tenantID = keeper.app.tenantID
    let user = keeper.machine.user
    if user?.isAnonymous == true { flow.anonymousUID = user?.uid }
    if purpose == .signIn { flow.linkUID = keeper.guestToUpgrade }
    if purpose == .link { flow.linkUID = user?.uid }
    if purpose.concernsUser {
      // Whose session the server has ended can prove who they are, too.
      let last = purpose == .reauthenticate ? keeper.machine.lastUser : nil
      guard let uid = user?.uid ?? last?.uid else { throw tree.reply(keeper.missingUser, options, keeper) }
      flow.protectedUID = uid
      flow.tenantID = (user == nil ? last?.tenantID : user?.tenantID) ?? flow.tenantID
    }
    return flow
  }

  /// How a browser is to be opened for the flow; nil where the caller does it.
  func browserWish(_ options: Options) throws(DBusError) -> BrowserWish? {
    guard try options.bool("open-browser") ?? true else { return nil }
    return BrowserWish(
      parentWindow: try options.string("parent-window"), activationToken: try options.string("activation-token"))
  }

  private func id(_ options: Options) throws(DBusError) -> FlowID {
    guard let token = try options.string("handle-token") else { return FlowIDs.random() }
    guard let id = FlowID(token) else {
      throw .invalidArgs("The option 'handle-token' must match [A-Za-z0-9_]{1,64}.")
    }
    let taken = try tree.answer(options, keeper) { () throws(AuthFailure) in try tree.coordinator.isTaken(id) }
    guard !taken else { throw .invalidArgs("The option 'handle-token' names a flow that exists already.") }
    return id
  }

  private func purpose(_ options: Options) throws(DBusError) -> FlowPurpose {
    switch try options.string("purpose") {
    case nil, "sign-in": return .signIn
    case "link": return .link
    case "reauthenticate": return .reauthenticate
    default: throw .invalidArgs("The option 'purpose' must be 'sign-in', 'link' or 'reauthenticate'.")
    }
  }
}

extension FlowPurpose {
  /// Whether it's about the account that is signed in.
  var concernsUser: Bool {
    switch self {
    case .signIn, .actionCode, .present: false
    case .link, .reauthenticate, .updatePassword, .changeEmail, .changePhone, .unlink, .deleteUser, .enrollFactor,
      .unenrollFactor:
      true
    }
  }
}

/// Addresses that somebody signs in with, and the mail to them: checked before the row is made.
@LoopActor
struct EmailLinks {
  let keeper: SessionKeeper
  let tree: ObjectTree

  /// - Throws: what `address` throws, `invalidContinueURL`, `handlerMissing`, `rateLimited`, and the storage errors.
  func send(_ row: Flow, to typed: String) throws(AuthFailure) {
    var flow = row
    flow.email = try address(typed, for: flow)
    flow.linkTokenHash = try tree.services.links.hash(for: flow)
    _ = try tree.services.links.continueURL(for: flow, app: keeper.app)
    // Both addresses are ours before the mail is sent (behaviour: How a mail's link reaches linkd).
    let port = keeper.app.continueMode == .loopback ? keeper.app.loopbackPort : 0
    if port > 0 { _ = try tree.coordinator.returns.listen(for: flow.id, at: port) }
    do throws(AuthFailure) {
      try tree.coordinator.start(flow)
    } catch {
      tree.coordinator.returns.release(flow.id)
      throw error
    }
  }

  /// The typed address as the server gets it.
  ///
  /// - Throws: `invalidEmail`; `userMismatch` where reauthentication is asked for another address than the user's own,
  ///   which would spend a link and could make an account (identity-toolkit 8.5); `providerAlreadyLinked` where the account
  ///   to be linked has an address with a password or a link already (identity-toolkit 8.4).
  func address(_ typed: String, for flow: Flow) throws(AuthFailure) -> String {
    guard let address = EmailAddress(typed) else { throw AuthFailure(.invalidEmail) }
    let email = try DomainNames.wireForm(address)
    let user = keeper.machine.user
    if flow.purpose == .reauthenticate {
      guard let own = user?.email ?? keeper.machine.lastUser?.email, DomainNames.areSame(own, email) else {
        throw AuthFailure(.userMismatch)
      }
    }
    if flow.purpose == .link, user?.providers.contains(where: { $0.providerID == "password" }) == true {
      throw AuthFailure(.providerAlreadyLinked)
    }
    return email
  }
}
