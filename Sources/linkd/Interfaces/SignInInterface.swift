import AuthCore
import DBus
import DomainNames
import EventLoop
import LinkHandler
import LinkdClient

/// What starts a flow: the row that `SendSignInLink`, `SignInAnonymously` and `Reauthenticate` have in common.
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
    flow.tenantID = keeper.app.tenantID
    let user = keeper.machine.user
    if user?.isAnonymous == true { flow.anonymousUID = user?.uid }
    if purpose == .link || purpose == .reauthenticate {
      guard let user else { throw tree.reply(keeper.missingUser, options, keeper) }
      flow.protectedUID = user.uid
      flow.tenantID = user.tenantID ?? flow.tenantID
    }
    return flow
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

/// `org.linkd.Auth1.SignIn`: what starts a sign-in.
@LoopActor
struct SignInInterface {
  let keeper: SessionKeeper
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.signIn,
      methods: [
        Method(
          "SendSignInLink", in: [Argument("email", "s"), Argument("options", "a{sv}")], out: [Argument("flow", "o")],
          handler: .sync(sendSignInLink)),
        Method(
          "SignInAnonymously", in: [Argument("options", "a{sv}")], out: [Argument("flow", "o")],
          handler: .sync(signInAnonymously)),
      ],
      properties: [Version.property], signals: [])
  }

  private var start: FlowStart { FlowStart(keeper: keeper, tree: tree) }

  private func sendSignInLink(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = Options(call.arguments.last)
    var flow = try start.row(call, options, method: .emailLink, lifetime: EmailLinkFlow.lifetime)
    flow.continueURL = try options.string("continue-url")
    flow.forceSameDevice = try options.bool("force-same-device") ?? keeper.app.options.forceSameDevice
    flow.linkProvider = try options.string("link-provider")
    let typed = call.arguments[0].asString ?? ""
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      try EmailLinks(keeper: keeper, tree: tree).send(flow, to: typed)
    }
    return [.objectPath(Paths.flow(flow.id))]
  }

  private func signInAnonymously(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = Options(call.arguments.last)
    let flow = try start.row(call, options, method: .anonymous, purpose: .signIn, lifetime: AnonymousFlow.lifetime)
    let id = try tree.answer(options, keeper) { () throws(AuthFailure) in try tree.coordinator.startAnonymous(flow) }
    return [.objectPath(Paths.flow(id))]
  }
}

/// Sending a sign-in link: address and continue URL are checked before the row is made.
@LoopActor
struct EmailLinks {
  let keeper: SessionKeeper
  let tree: ObjectTree

  /// - Throws: `invalidEmail`, `userMismatch` where reauthentication is asked for another address than the user's own,
  ///   `invalidContinueURL`, `handlerMissing`, `rateLimited`, and the storage errors.
  func send(_ row: Flow, to typed: String) throws(AuthFailure) {
    var flow = row
    guard let address = EmailAddress(typed) else { throw AuthFailure(.invalidEmail) }
    flow.email = try DomainNames.wireForm(address)
    if flow.purpose == .reauthenticate { try requireOwn(flow.email) }
    if keeper.app.continueMode == .loopback { throw AuthFailure(.handlerMissing) }
    flow.linkTokenHash = try tree.services.links.hash(for: flow)
    _ = try tree.services.links.continueURL(for: flow, app: keeper.app)
    try tree.coordinator.startEmailLink(flow)
  }

  /// Reauthentication by a foreign address would spend the link and could make an account (identity-toolkit 8.5).
  private func requireOwn(_ email: String?) throws(AuthFailure) {
    guard let own = keeper.machine.user?.email, let email, DomainNames.areSame(own, email) else {
      throw AuthFailure(.userMismatch)
    }
  }
}
