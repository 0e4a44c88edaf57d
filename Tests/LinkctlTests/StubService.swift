import DBus
import EventLoop
import Foundation
import LinkdContract
import TestSupport

/// linkd's objects by the contract's signatures, with answers and stages that a test chooses.
@LoopActor
final class StubService {
  nonisolated static let app = "/org/linkd/Auth1/app/demo" as ObjectPath
  nonisolated static let flow = "/org/linkd/Auth1/flow/f1" as ObjectPath
  nonisolated static let secondFlow = "/org/linkd/Auth1/flow/f2" as ObjectPath
  nonisolated static let secret = "JBSWY3DPEHPK3PXP"
  nonisolated static let setupURI = "otpauth://totp/Demo:ada%40example.com?secret=JBSWY3DPEHPK3PXP&issuer=Demo"
  nonisolated static let url = "https://accounts.example/auth?client_id=a&state=s1"

  private let connection: Connection
  /// The flow of every method that makes one, and that of `Reauthenticate`.
  let first = StubFlow("f1"), second = StubFlow("f2")
  /// Whether somebody has read the flow as it is now.
  var isSeen: Bool { first.isSeen }
  /// What `GetUrl` gives.
  var pageURL = StubService.url
  /// What happens when a member is called, before it's answered.
  var reactions: [String: @LoopActor (MethodCall) -> Void] = [:]
  /// What a member fails with.
  var failures: [String: DBusError] = [:]
  /// Whether `Cancel` isn't answered.
  var hangs = false
  /// What `Open` says of a link; nil where it's taken.
  var refusal: String?
  /// The word that goes with it.
  var reason = "noPendingRequest"
  /// The ways of signing in that the account has.
  var ways = ["password", "google.com"]
  /// What else `User` says.
  var user: [String: DBusValue] = [:]
  private(set) var calls: [MethodCall] = []

  init(_ bus: PrivateBus) async throws {
    connection = try await Connection.open(.address(bus.address))
    connection.export(ExportedObject(path: Contract.rootPath, interfaces: [manager, links]))
    connection.export(ExportedObject(path: Self.app, interfaces: [signIn, account, app, session]))
    for flow in [first, second] {
      flow.connection = connection
      connection.export(ExportedObject(path: flow.path, interfaces: [flow.interface(flowMethods(flow))]))
    }
    _ = try await connection.requestName(Contract.busName)
  }

  /// Calls of one member, without options, and the options.
  func calls(_ member: String) -> [(arguments: [DBusValue], options: [String: DBusValue])] {
    calls.filter { $0.member == member }.map { (Array($0.arguments.dropLast()), $0.arguments.last?.asDict ?? [:]) }
  }

  /// The flow's next stage.
  func move(_ stage: String, _ details: [String: DBusValue] = [:]) { first.move(stage, details) }

  /// Before anybody looks.
  func begin(_ stage: String, _ details: [String: DBusValue] = [:]) { first.begin(stage, details) }

  // MARK: Tables, as in the D-Bus contract

  private func method(_ name: String, _ input: [Signature], _ output: [Signature] = [], _ answer: [DBusValue] = [])
    -> Method
  {
    Method(
      name, in: (input + ["a{sv}"]).enumerated().map { Argument("in\($0)", $1) },
      out: output.enumerated().map { Argument("out\($0)", $1) },
      handler: .sync { [weak self] call throws(DBusError) in
        guard let self else { return answer }
        self.calls.append(call)
        if let failure = self.failures[name] { throw failure }
        self.reactions[name]?(call)
        switch name {
        case "Open": return self.opened
        case "GetUrl": return [.string(self.pageURL)]
        default: return answer
        }
      })
  }

  private var opened: [DBusValue] {
    guard let refusal else { return [.boolean(true), .dict(["flow": .objectPath(first.path)])] }
    return [.boolean(false), .dict(["reason": .string(reason), "message": .string(refusal)])]
  }

  private func starting(_ name: String, _ input: Signature...) -> Method {
    method(name, input, ["o"], [.objectPath(first.path)])
  }

  private var manager: Interface {
    Interface(
      Contract.Interface.manager, methods: [method("GetApp", ["s"], ["o"], [.objectPath(Self.app)])],
      properties: [
        Property("ActiveFlows", "ao") { [first] _ in .paths([first.path]) },
        Property("Apps", "ao") { _ in .paths(["/org/linkd/Auth1/app/other", Self.app]) },
      ])
  }

  private var app: Interface {
    Interface(
      Contract.Interface.app, methods: [],
      properties: [Property("Providers", "aa{sv}") { _ in .dicts([["id": .string("oidc.example")]]) }])
  }

  private var session: Interface {
    Interface(
      Contract.Interface.session, methods: [],
      properties: [
        Property("User", "a{sv}", emitsChanged: .invalidates) { [weak self] _ in
          let ways = DBusValue.dicts((self?.ways ?? []).map { ["provider-id": .string($0)] })
          return .dict((self?.user ?? [:]).merging(["providers": ways]) { $1 })
        }
      ])
  }

  private var links: Interface {
    Interface(Contract.Interface.links, methods: [method("Open", ["s"], ["b", "a{sv}"])])
  }

  private var signIn: Interface {
    Interface(
      Contract.Interface.signIn,
      methods: [
        starting("SignInWithProvider", "s"), starting("SignInWithCustomToken", "s"), starting("SendSignInLink", "s"),
        starting("SignInWithPhoneNumber", "s"), starting("SignInWithPassword", "s", "s"),
      ])
  }

  private var account: Interface {
    Interface(
      Contract.Interface.account,
      methods: [
        starting("Unlink", "s"), starting("DeleteUser"), starting("UpdatePassword", "s"), starting("ChangeEmail", "s"),
        starting("ChangePhoneNumber", "s"), starting("EnrollPhoneFactor", "s", "s"), starting("EnrollTotpFactor", "s"),
        starting("UnenrollFactor", "s"), method("Reauthenticate", [], ["o"], [.objectPath(second.path)]),
      ])
  }

  private var cancel: Method {
    Method(
      "Cancel", in: [Argument("options", "a{sv}")],
      handler: .async { [weak self] call in
        self?.calls.append(call)
        self?.reactions["Cancel"]?(call)
        while self?.hangs == true { try? await Task.sleep(for: .milliseconds(10)) }
        return []
      })
  }

  private func flowMethods(_ flow: StubFlow) -> [Method] {
    [
      method("GetUrl", [], ["s"]), method("ResolveConflict", ["s"]), cancel, method("Resend", []),
      method("ProvideCode", ["s"]), method("ProvidePassword", ["s"]), method("ChooseFactor", ["s"]),
      method("GetSecret", [], ["s", "s", "x"], [.string(Self.secret), .string(Self.setupURI), .int64(9)]),
    ]
  }
}

extension StubService {
  func react(_ member: String, _ reaction: @escaping @LoopActor (StubService, MethodCall) -> Void) {
    reactions[member] = { [weak self] in if let self { reaction(self, $0) } }
  }

  /// After the answer to the call under way.
  func moveSoon(_ stage: String, _ details: [String: DBusValue] = [:]) {
    EventLoop.shared.after(.milliseconds(1)) { self.move(stage, details) }
  }

  func begin(_ stage: String, _ details: [String: DBusValue], purpose: String, method: String = "google.com") {
    (first.purpose, first.method) = (purpose, method)
    begin(stage, details)
  }

  func forgetReads() { first.lastRead = 0 }

  func refuse(_ message: String?, _ reason: String = "noPendingRequest") { (refusal, self.reason) = (message, reason) }

  func fail(_ member: String, _ name: String) {
    failures[member] = DBusError(name: "org.linkd.Auth1.Error.\(name)", message: "The daemon's own text.")
  }

  func hang() { hangs = true }

  func mend(_ member: String) { failures[member] = nil }

  func has(ways: String...) { self.ways = ways }

  func answerURL(_ url: String) { pageURL = url }

  /// The flow of `Reauthenticate`, before anybody looks.
  func beginAgain(_ stage: String, _ details: [String: DBusValue] = [:]) {
    (second.purpose, second.method) = ("reauthenticate", "password")
    second.begin(stage, details)
  }

  func moveAgain(_ stage: String, _ details: [String: DBusValue] = [:]) { second.move(stage, details) }

  func has(user: [String: DBusValue]) { self.user = user }
}
