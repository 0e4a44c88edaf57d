import AuthCore
import DBus
import EventLoop
import LinkdClient
import LinkdContract
import TestSupport

/// linkd's objects by the contract's signatures, with answers and signals that a test chooses.
@LoopActor
final class StubLinkd {
  typealias Answer = @LoopActor (MethodCall) async throws(DBusError) -> [DBusValue]

  /// What a life of linkd hands on to the next one.
  struct Stored {
    var state = SessionState.unauthenticated
    var user: [String: DBusValue] = [:]
    var sequence: UInt64 = 1
    var stage = FlowStage.waitingForLink
    var details: [String: DBusValue] = [:]
    var flowSequence: UInt64 = 1
  }

  nonisolated static let app = "/org/linkd/Auth1/app/demo" as ObjectPath
  nonisolated static let flow = "/org/linkd/Auth1/flow/f1" as ObjectPath

  var stored: Stored
  /// Called in place of the plain answer, by member.
  var answers: [String: Answer] = [:]
  /// What a member fails with.
  var failures: [String: DBusError] = [:]
  /// Members called, with their arguments.
  private(set) var calls: [MethodCall] = []
  private var connection: Connection

  private init(_ connection: Connection, _ stored: Stored) { (self.connection, self.stored) = (connection, stored) }

  nonisolated static func start(_ bus: PrivateBus, _ stored: Stored = Stored()) async throws -> StubLinkd {
    EventLoop.shared.runInBackground()
    return try await make(bus, stored)
  }

  private static func make(_ bus: PrivateBus, _ stored: Stored) async throws -> StubLinkd {
    let stub = StubLinkd(try await Connection.open(.address(bus.address)), stored)
    try await stub.serve()
    return stub
  }

  /// As a killed daemon: no signal, no goodbye.
  func die() { connection.close() }

  /// The next life, with what was stored, except for an object.
  func restart(_ bus: PrivateBus, without path: ObjectPath? = nil) async throws {
    connection = try await Connection.open(.address(bus.address))
    try await serve(without: path)
  }

  func flush() async { await connection.flush() }

  private func serve(without path: ObjectPath? = nil) async throws {
    connection.export(ExportedObject(path: Contract.rootPath, interfaces: [manager, links], isObjectManager: true))
    connection.export(ExportedObject(path: Self.app, interfaces: [app, session, signIn, account]))
    connection.export(ExportedObject(path: Self.flow, interfaces: [flow]))
    if let path { connection.unexport(path) }
    // In the queue for it, if need be: the bus may not have noticed yet that the last life is over.
    _ = try await connection.requestName(Contract.busName)
  }

  // MARK: What happens

  /// A change, stored and then, unless the stub is to die over it, told.
  func change(_ state: SessionState, uid: String? = nil, more: [String: DBusValue] = [:], told: Bool = true) {
    stored.state = state
    stored.user = uid.map { ["uid": .string($0), "is-anonymous": .boolean(false)] } ?? [:]
    stored.user.merge(more) { $1 }
    stored.sequence += 1
    if told { tell() }
  }

  /// `StateChanged` with what is stored.
  func tell() {
    let user = stored.user.filter { ["uid", "is-anonymous"].contains($0.key) }
    try? connection.emit(
      path: Self.app, interface: Contract.Interface.session, member: "StateChanged",
      arguments: [.string(stored.state.rawValue), .dict(user), .uint64(stored.sequence)])
  }

  func move(_ stage: FlowStage, _ details: [String: DBusValue] = [:], told: Bool = true) {
    stored.stage = stage
    stored.details = details
    stored.flowSequence += 1
    guard told else { return }
    try? connection.emit(
      path: Self.flow, interface: Contract.Interface.flow, member: "StageChanged",
      arguments: [
        .string(stage.rawValue), .dict(details.filter { $0.key == "error" }), .uint64(stored.flowSequence),
      ])
  }

  /// Unique names on the bus.
  func names() async throws -> Set<String> {
    let reply = try await connection.call(
      destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
      member: "ListNames")
    return Set((reply.first?.asStrings ?? []).filter { $0.hasPrefix(":") })
  }

  // MARK: Tables, as in docs/dbus-api.md

  private func method(_ name: String, _ input: [Signature], _ output: [Signature] = [], _ plain: [DBusValue] = [])
    -> Method
  {
    Method(
      name, in: (input + ["a{sv}"]).enumerated().map { Argument("in\($0)", $1) },
      out: output.enumerated().map { Argument("out\($0)", $1) },
      handler: .async { call throws(DBusError) in
        self.calls.append(call)
        if let failure = self.failures[name] { throw failure }
        return try await self.answers[name]?(call) ?? plain
      })
  }

  private func starting(_ name: String, _ input: Signature...) -> Method {
    method(name, input, ["o"], [.objectPath(Self.flow)])
  }

  private var manager: Interface {
    Interface(
      Contract.Interface.manager,
      methods: [method("GetApp", ["s"], ["o"], [.objectPath(Self.app)]), method("ReloadApps", [])],
      properties: [
        Property("ServiceVersion", "s") { _ in .string("9.9") }, Property("Apps", "ao") { _ in .paths([Self.app]) },
        Property("DefaultApp", "s") { _ in .string("demo") },
        Property("ActiveFlows", "ao") { _ in .paths([Self.flow]) }, Property("KeyStore", "s") { _ in .string("file") },
      ])
  }

  private var links: Interface {
    Interface(
      Contract.Interface.links,
      methods: [
        method("CanHandle", ["s"], ["b", "a{sv}"], [.boolean(true), .dict(["kind": .string("emailSignIn")])]),
        method("Open", ["s"], ["b", "a{sv}"], [.boolean(true), .dict(["flow": .objectPath(Self.flow)])]),
      ])
  }

  private var app: Interface {
    Interface(
      Contract.Interface.app,
      properties: [
        Property("ProjectId", "s") { _ in .string("demo-linkd") },
        Property("DisplayName", "s") { _ in .string("Demo") },
        Property("AuthDomain", "s") { _ in .string("demo.example") }, Property("Emulator", "s") { _ in .string("") },
        Property("Schemes", "as") { _ in .strings(["com.example"]) },
        Property("Providers", "aa{sv}") { _ in .dicts([["id": .string("password"), "kind": .string("password")]]) },
        Property("Options", "a{sv}") { _ in .dict(["mfa-enabled": .boolean(true)]) },
      ])
  }

  private var session: Interface {
    Interface(
      Contract.Interface.session,
      methods: [
        method(
          "GetIdToken", [], ["s", "x", "a{sv}"],
          [.string("h.p.s"), .int64(1_000), .dict(["sub": .string("u1"), "n": .int64(7)])]),
        method("SignOut", []), method("ReloadUser", []),
      ],
      properties: [
        Property("State", "s") { _ in .string(self.stored.state.rawValue) },
        Property("User", "a{sv}", emitsChanged: .invalidates) { _ in .dict(self.stored.user) },
        Property("Sequence", "t") { _ in .uint64(self.stored.sequence) },
        Property("SignInMethod", "s") { _ in .string("password") },
        Property("Health", "s") { _ in .string("attention-needed") },
        Property("HealthReason", "s") { _ in .string(AuthError.tokenRevoked.dbusName) },
        Property("ClockSkew", "x") { _ in .int64(-3) },
        Property("LastUser", "a{sv}") { _ in
          .dict(["uid": .string("u0"), "email": .string("o@example.com"), "sign-in-method": .string("password")])
        },
      ],
      signals: [
        SignalDescription(
          "StateChanged", [Argument("state", "s"), Argument("user", "a{sv}"), Argument("sequence", "t")])
      ])
  }

  private var signIn: Interface {
    Interface(
      Contract.Interface.signIn,
      methods: [
        starting("SendSignInLink", "s"), starting("SignInWithPassword", "s", "s"), starting("CreateUser", "s", "s"),
        starting("SignInAnonymously"), starting("SignInWithProvider", "s"), starting("SignInWithCustomToken", "s"),
        starting("SignInWithCredential", "a{sv}"), starting("SignInWithPhoneNumber", "s"),
        method("FetchSignInMethods", ["s"], ["as"], [.strings(["password", "emailLink"])]),
        method("SendPasswordReset", ["s"]),
        method("CheckActionCode", ["s"], ["a{sv}"], [.dict(["kind": .string("verifyEmail")])]),
        method("ApplyActionCode", ["s"]), method("ConfirmPasswordReset", ["s", "s"]),
      ])
  }

  private var account: Interface {
    Interface(
      Contract.Interface.account,
      methods: [
        method("UpdateProfile", ["a{sv}"]), method("SendEmailVerification", []), starting("DeleteUser"),
        starting("Reauthenticate"), starting("Unlink", "s"), starting("UpdatePassword", "s"),
        starting("ChangeEmail", "s"), starting("ChangePhoneNumber", "s"), starting("EnrollPhoneFactor", "s", "s"),
        starting("EnrollTotpFactor", "s"), starting("UnenrollFactor", "s"),
      ])
  }

  private var flow: Interface {
    Interface(
      Contract.Interface.flow,
      methods: [
        method("ProvideEmail", ["s"]), method("ProvideCode", ["s"]), method("ProvidePassword", ["s"]),
        method("Confirm", []), method("Resend", []), method("Cancel", []), method("ResolveConflict", ["s"]),
        method("GetUrl", [], ["s"], [.string("https://page")]), method("ChooseFactor", ["s"]),
        method("GetSecret", [], ["s", "s", "x"], [.string("KEY"), .string("otpauth://x"), .int64(1_000)]),
      ],
      properties: [
        Property("App", "o") { _ in .objectPath(Self.app) }, Property("Purpose", "s") { _ in .string("sign-in") },
        Property("Method", "s") { _ in .string("emailLink") },
        Property("Stage", "s") { _ in .string(self.stored.stage.rawValue) },
        Property("Details", "a{sv}", emitsChanged: .invalidates) { _ in .dict(self.stored.details) },
        Property("Sequence", "t") { _ in .uint64(self.stored.flowSequence) },
        Property("CreatedAt", "x") { _ in .int64(5) }, Property("ExpiresAt", "x") { _ in .int64(9) },
      ],
      signals: [
        SignalDescription(
          "StageChanged", [Argument("stage", "s"), Argument("details", "a{sv}"), Argument("sequence", "t")])
      ])
  }
}

/// A bus with a stub on it, and a client.
struct Rig {
  let bus: PrivateBus
  let stub: StubLinkd
  let service: LinkdService
  let app: LinkdApp

  static func start(_ stored: StubLinkd.Stored = .init()) async throws -> Rig {
    let bus = try PrivateBus.start()
    let stub = try await StubLinkd.start(bus, stored)
    let service = try await LinkdService.connect(busAddress: bus.address, language: "en")
    return Rig(bus: bus, stub: stub, service: service, app: try await service.app("demo"))
  }
}

/// The error that `body` ends with.
func failure<Value>(_ body: () async throws(LinkdError) -> Value) async -> LinkdError? {
  do throws(LinkdError) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
