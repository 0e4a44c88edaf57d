import AuthCore
import DBus
import DomainNames
import EventLoop
import LinkHandler
import LinkdContract

/// `org.linkd.Auth1.SignIn`: what starts a sign-in, and what helps somebody who can't.
@LoopActor
struct SignInInterface {
  let keeper: SessionKeeper
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.signIn,
      methods: [
        .startingFlow("SendSignInLink", ["email"], sendSignInLink),
        .startingFlow("SignInWithPassword", ["email", "password"], signInWithPassword),
        .startingFlow("CreateUser", ["email", "password"], createUser),
        .startingFlow("SignInAnonymously", [], signInAnonymously),
        .startingFlow("SignInWithProvider", ["provider_id"], providers.signInWithProvider),
        .startingFlow("SignInWithPhoneNumber", ["number"], CodeFlows(keeper: keeper, tree: tree).signIn),
        .startingFlow("SignInWithCustomToken", ["token"], providers.signInWithCustomToken),
        Method(
          "SignInWithCredential", in: [Argument("credential", "a{sv}"), Argument("options", "a{sv}")],
          out: [Argument("flow", "o")],
          handler: .sync { call throws(DBusError) in
            [.objectPath(Paths.flow(try providers.signInWithCredential(call, Options(call))))]
          }),
        Method(
          "FetchSignInMethods", in: [Argument("email", "s"), Argument("options", "a{sv}")],
          out: [Argument("methods", "as")], handler: .async(fetchSignInMethods)),
        Method(
          "SendPasswordReset", in: [Argument("email", "s"), Argument("options", "a{sv}")], out: [],
          handler: .async(sendPasswordReset)),
        Method(
          "CheckActionCode", in: [Argument("url", "s"), Argument("options", "a{sv}")],
          out: [Argument("info", "a{sv}")], handler: .async(checkActionCode)),
        Method(
          "ApplyActionCode", in: [Argument("url", "s"), Argument("options", "a{sv}")], out: [],
          handler: .async(applyActionCode)),
        Method(
          "ConfirmPasswordReset",
          in: [Argument("url", "s"), Argument("new_password", "s"), Argument("options", "a{sv}")], out: [],
          handler: .async(confirmPasswordReset)),
      ],
      properties: [Version.property], signals: [])
  }

  private var start: FlowStart { FlowStart(keeper: keeper, tree: tree) }
  private var providers: ProviderSignIns { ProviderSignIns(keeper: keeper, tree: tree) }

  // MARK: Flows

  private func sendSignInLink(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try start.row(call, options, method: .emailLink, lifetime: EmailLinkFlow.lifetime)
    flow.continueURL = try options.string("continue-url")
    flow.forceSameDevice = try options.bool("force-same-device") ?? keeper.app.options.forceSameDevice
    flow.linkProvider = try options.string("link-provider")
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      try EmailLinks(keeper: keeper, tree: tree).send(flow, to: call.text(0))
    }
    return flow.id
  }

  private func signInWithPassword(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    let flow = try start.row(call, options, method: .password, lifetime: waitingLifetime)
    try startPassword(flow, call, options)
    return flow.id
  }

  private func createUser(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try start.row(call, options, method: .password, lifetime: waitingLifetime)
    guard flow.purpose != .reauthenticate else {
      throw .invalidArgs("The option 'purpose' must be 'sign-in' or 'link': a new account confirms nobody.")
    }
    flow.wantsNewPassword = true
    flow.displayName = try options.string("display-name")
    try startPassword(flow, call, options)
    return flow.id
  }

  /// An empty password is refused without asking the server (identity-toolkit 2.1, 2.2).
  private func startPassword(_ row: Flow, _ call: MethodCall, _ options: Options) throws(DBusError) {
    try FlowStart.checkPassword(call.text(1))
    let password = Secret(call.text(1))
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      var flow = row
      flow.email = try EmailLinks(keeper: keeper, tree: tree).address(call.text(0), for: flow)
      if flow.purpose == .link { flow.wantsNewPassword = true }
      guard !password.reveal().isEmpty else {
        throw AuthFailure(flow.wantsNewPassword ? .weakPassword : .invalidCredentials)
      }
      try tree.coordinator.start(flow, .passwordProvided(password))
    }
  }

  private func signInAnonymously(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    guard [nil, FlowPurpose.signIn.rawValue].contains(try options.string("purpose")) else {
      throw .invalidArgs("The option 'purpose' must be 'sign-in': a guest is a new account.")
    }
    let flow = try start.row(call, options, method: .anonymous, purpose: .signIn, lifetime: AnonymousFlow.lifetime)
    return try tree.answer(options, keeper) { () throws(AuthFailure) in try tree.coordinator.startAnonymous(flow) }
  }

  // MARK: Answers

  private func fetchSignInMethods(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      [.strings(try await keeper.fetchSignInMethods(address(call), locale: tree.locale(options, keeper)))]
    }
  }

  private func sendPasswordReset(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let continueURL = try options.string("continue-url")
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      let (email, url) = (try address(call), try MailedLinks.plain(continueURL))
      // What is refused here is no mail.
      try tree.coordinator.countMail(to: email)
      try await keeper.sendPasswordReset(to: email, continueURL: url, locale: tree.locale(options, keeper))
      return []
    }
  }

  private func address(_ call: MethodCall) throws(AuthFailure) -> String {
    guard let address = EmailAddress(call.text(0)) else { throw AuthFailure(.invalidEmail) }
    return try DomainNames.wireForm(address)
  }

  private var codes: ActionCodes { ActionCodes(keeper: keeper, tree: tree) }

  private func checkActionCode(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let link = try codes.link(call.text(0), options)
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      [.dict(DBusDictionaries.actionCode(try await codes.check(link)))]
    }
  }

  private func applyActionCode(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let link = try codes.link(call.text(0), options)
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      try await codes.apply(link, for: call.caller)
      return []
    }
  }

  private func confirmPasswordReset(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let link = try codes.link(call.text(0), options)
    let password = Secret(call.text(1))
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      try await codes.resetPassword(link, to: password, for: call.caller)
      return []
    }
  }
}

extension MethodCall {
  /// The text at `index`. The call's signature has been checked.
  func text(_ index: Int) -> String { arguments[index].asString ?? "" }
}
