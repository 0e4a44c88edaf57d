import AuthCore
import DBus
import DomainNames
import EventLoop
import LinkHandler
import LinkdContract
import PhoneVerification
import Texts

/// `org.linkd.Auth1.Flow`: where a flow stands, and what can be given to it.
@LoopActor
struct FlowInterface {
  let id: FlowID
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.flow,
      methods: [
        Method(
          "ProvideEmail", in: [Argument("email", "s"), Argument("options", "a{sv}")], out: [],
          handler: .sync(provideEmail)),
        Method(
          "ProvidePassword", in: [Argument("password", "s"), Argument("options", "a{sv}")], out: [],
          handler: .sync(providePassword)),
        Method(
          "ProvideCode", in: [Argument("code", "s"), Argument("options", "a{sv}")], out: [],
          handler: .sync(provideCode)),
        Method(
          "ChooseFactor", in: [Argument("uid", "s"), Argument("options", "a{sv}")], out: [],
          handler: .sync(chooseFactor)),
        Method(
          "ResolveConflict", in: [Argument("choice", "s"), Argument("options", "a{sv}")], out: [],
          handler: .sync(resolveConflict)),
        Method(
          "GetUrl", in: [Argument("options", "a{sv}")], out: [Argument("url", "s")], handler: .sync(getURL)),
        Method(
          "GetSecret", in: [Argument("options", "a{sv}")],
          out: [Argument("secret", "s"), Argument("otpauth_uri", "s"), Argument("expires_at", "x")],
          handler: .sync(getSecret)),
        Method("Confirm", in: [Argument("options", "a{sv}")], out: [], handler: .sync(confirm)),
        Method("Resend", in: [Argument("options", "a{sv}")], out: [], handler: .sync(resend)),
        Method("Cancel", in: [Argument("options", "a{sv}")], out: [], handler: .sync(cancel)),
      ],
      properties: properties,
      signals: [
        SignalDescription(
          "StageChanged", [Argument("stage", "s"), Argument("details", "a{sv}"), Argument("sequence", "t")])
      ])
  }

  private var properties: [Property] {
    [
      Version.property,
      Property("Id", "s", emitsChanged: .const) { _ in .string(id.value) },
      property("App", "o", .const) { .objectPath(tree.path(of: $0.key)) },
      property("Purpose", "s", .const) { .string($0.purpose.rawValue) },
      property("Method", "s", .const) { .string($0.method.description) },
      property("Stage", "s", .true) { .string($0.stage.rawValue) },
      property("Details", "a{sv}", .invalidates) { .dict(details($0)) },
      property("Sequence", "t", .true) { .uint64($0.sequence) },
      property("CreatedAt", "x", .const) { .int64($0.createdAt) },
      property("ExpiresAt", "x", .true) { .int64($0.advisedExpiry) },
    ]
  }

  private func property(
    _ name: String, _ signature: Signature, _ emits: Property.EmitsChanged,
    _ read: @escaping @LoopActor (Flow) -> DBusValue
  ) -> Property {
    Property(name, signature, emitsChanged: emits) { _ in tree.coordinator.flow(id).map(read) }
  }

  private func details(_ flow: Flow) -> [String: DBusValue] {
    let locale = flow.locale ?? tree.registry.apps[flow.key.app]?.languageCode
    return flow.details(
      session: keeper?.machine.session, app: keeper?.app, wayBack: keeper?.wayBack(of: flow.protectedUID),
      locale: locale)
  }

  private var keeper: SessionKeeper? { tree.coordinator.flow(id).flatMap { tree.registry.keepers[$0.key] } }

  private func provideEmail(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try act(call) { () throws(AuthFailure) in
      guard let address = EmailAddress(call.text(0)) else { throw AuthFailure(.invalidEmail) }
      try tree.coordinator.handle(.emailProvided(try DomainNames.wireForm(address)), id)
    }
  }

  /// An empty one is refused without asking the server.
  private func providePassword(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try act(call) { () throws(AuthFailure) in
      guard !call.text(0).isEmpty else { throw AuthFailure(.weakPassword) }
      try tree.coordinator.handle(.passwordProvided(Secret(call.text(0))), id)
    }
  }

  /// What isn't a code at all is refused without asking the server, and isn't counted.
  private func provideCode(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try act(call) { () throws(AuthFailure) in
      let length = tree.coordinator.flow(id)?.codeLength ?? VerificationCode.smsLength
      let code: VerificationCode
      guard call.text(0).utf8.count <= CodeFlows.typedLimit else {
        throw AuthFailure(.invalidVerificationCode, cause: "cause.code-length")
      }
      do throws(VerificationCodeError) { code = try VerificationCode(call.text(0), length: length) } catch {
        throw AuthFailure(.invalidVerificationCode, cause: "cause.code-length")
      }
      try tree.coordinator.handle(.verification(.codeProvided(code.digits)), id)
    }
  }

  private func chooseFactor(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let opens = try opensBrowser(call)
    return try act(call) { () throws(AuthFailure) in
      try tree.coordinator.handleCounted(.verification(.factorChosen(call.text(0))), id, opensBrowser: opens)
    }
  }

  /// Whether a page that follows is to be opened, where the caller says so; else it's as it was before.
  private func opensBrowser(_ call: MethodCall) throws(DBusError) -> Bool? {
    try Options(call).bool("open-browser")
  }

  /// What an authenticator app is to know: whoever has it makes the same codes.
  private func getSecret(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.answer(Options(call), keeper) { () throws(AuthFailure) in
      try requireStarter(call)
      guard let flow = tree.coordinator.flow(id), flow.stage == .waitingForCode, let enrollment = flow.totpEnrollment
      else { throw AuthFailure(.noSuchFlow) }
      guard let keeper, let uri = keeper.otpAuthURI(enrollment) else { throw AuthFailure(.internal) }
      return [.string(enrollment.secret.reveal()), .string(uri.text.reveal()), .int64(flow.expiresAt)]
    }
  }

  private func confirm(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try act(call) { () throws(AuthFailure) in try tree.coordinator.handle(.confirmed, id) }
  }

  private func resolveConflict(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = tree.coordinator.flow(id)?.conflictOptions ?? []
    guard !options.isEmpty else { throw tree.reply(AuthFailure(.noSuchFlow), try Options(call), keeper) }
    guard let choice = ConflictChoice(rawValue: call.text(0)), options.contains(choice) else {
      let words = options.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw .invalidArgs("The choice must be one of those that the flow offers: \(words).")
    }
    return try act(call) { () throws(AuthFailure) in
      try tree.coordinator.handle(.conflict(.resolved(choice, current: keeper?.machine.user)), id)
    }
  }

  /// What the browser is to open: whoever has it could be lured into finishing somebody else's sign-in.
  private func getURL(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let wantsStartPage = try options.bool("start-page") ?? false
    let opensHere = try options.bool("opens-here") ?? false
    let url = try tree.answer(options, keeper) { () throws(AuthFailure) -> String in
      try requireStarter(call)
      guard let flow = tree.coordinator.flow(id), flow.stage == .waitingForRedirect || flow.stage == .waitingForCaptcha,
        let page = flow.page
      else { throw AuthFailure(.noSuchFlow) }
      if opensHere { try tree.coordinator.authorizations.requireHandler(page.returnURIs) }
      return wantsStartPage ? try tree.coordinator.returns.startPage(for: id).reveal() : page.url.reveal()
    }
    return [.string(url)]
  }

  private func requireStarter(_ call: MethodCall) throws(AuthFailure) {
    guard tree.coordinator.isStarter(call.caller, of: id) else {
      throw AuthFailure(.accessDenied, cause: "cause.not-starter")
    }
  }

  private func resend(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let opens = try opensBrowser(call)
    return try act(call) { () throws(AuthFailure) in
      try tree.coordinator.handleCounted(.resendRequested, id, opensBrowser: opens)
    }
  }

  private func cancel(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try act(call) { () throws(AuthFailure) in try tree.coordinator.cancel(id) }
  }

  private func act(_ call: MethodCall, _ body: () throws(AuthFailure) -> Void) throws(DBusError) -> [DBusValue] {
    try tree.answer(Options(call), keeper, body)
    return []
  }
}
