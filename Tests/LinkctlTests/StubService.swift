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
  nonisolated static let url = "https://accounts.example/auth?client_id=a&state=s1"

  private let connection: Connection
  private var stage = "waiting-for-redirect"
  private var details: [String: DBusValue] = [:]
  private var sequence: UInt64 = 1
  fileprivate var lastRead: UInt64 = 0
  /// Whether somebody has read the flow as it is now.
  var isSeen: Bool { lastRead == sequence }
  /// What `GetUrl` gives.
  var pageURL = StubService.url
  /// The flow's purpose.
  var purpose = "sign-in"
  /// What happens when a member is called, before it's answered.
  var reactions: [String: @LoopActor (MethodCall) -> Void] = [:]
  /// What a member fails with.
  var failures: [String: DBusError] = [:]
  /// What `Open` says of a link; nil where it's taken.
  var refusal: String?
  /// The word that goes with it.
  var reason = "noPendingRequest"
  /// The flow's way of signing in.
  var flowMethod = "google.com"
  /// The ways of signing in that the account has.
  var ways = ["password", "google.com"]
  private(set) var calls: [MethodCall] = []

  init(_ bus: PrivateBus) async throws {
    connection = try await Connection.open(.address(bus.address))
    connection.export(ExportedObject(path: Contract.rootPath, interfaces: [manager, links]))
    connection.export(ExportedObject(path: Self.app, interfaces: [signIn, account, app, session]))
    connection.export(ExportedObject(path: Self.flow, interfaces: [flow]))
    _ = try await connection.requestName(Contract.busName)
  }

  /// Calls of one member, without options, and the options.
  func calls(_ member: String) -> [(arguments: [DBusValue], options: [String: DBusValue])] {
    calls.filter { $0.member == member }.map { (Array($0.arguments.dropLast()), $0.arguments.last?.asDict ?? [:]) }
  }

  /// The flow's next stage.
  func move(_ stage: String, _ details: [String: DBusValue] = [:]) {
    self.stage = stage
    self.details = details
    sequence += 1
    try? connection.emit(
      path: Self.flow, interface: Contract.Interface.flow, member: "StageChanged",
      arguments: [.string(stage), .dict([:]), .uint64(sequence)])
  }

  /// Before anybody looks.
  func begin(_ stage: String, _ details: [String: DBusValue] = [:]) {
    self.stage = stage
    self.details = details
  }

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
    guard let refusal else { return [.boolean(true), .dict(["flow": .objectPath(Self.flow)])] }
    return [.boolean(false), .dict(["reason": .string(reason), "message": .string(refusal)])]
  }

  private func starting(_ name: String, _ input: Signature...) -> Method {
    method(name, input, ["o"], [.objectPath(Self.flow)])
  }

  private var manager: Interface {
    Interface(
      Contract.Interface.manager, methods: [method("GetApp", ["s"], ["o"], [.objectPath(Self.app)])],
      properties: [
        Property("ActiveFlows", "ao") { _ in .paths([Self.flow]) },
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
          .dict(["providers": .dicts((self?.ways ?? []).map { ["provider-id": .string($0)] })])
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
      ])
  }

  private var account: Interface {
    Interface(Contract.Interface.account, methods: [starting("Unlink", "s"), starting("Reauthenticate")])
  }

  private var flow: Interface {
    Interface(
      Contract.Interface.flow,
      methods: [
        method("GetUrl", [], ["s"]), method("ResolveConflict", ["s"]), method("Cancel", []),
      ],
      properties: [
        Property("App", "o") { _ in .objectPath(Self.app) },
        Property("Purpose", "s") { [weak self] _ in .string(self?.purpose ?? "") },
        Property("Method", "s") { [weak self] _ in .string(self?.flowMethod ?? "") },
        Property("Stage", "s") { [weak self] _ in .string(self?.stage ?? "") },
        Property("Details", "a{sv}", emitsChanged: .invalidates) { [weak self] _ in .dict(self?.details ?? [:]) },
        Property("Sequence", "t") { [weak self] _ in
          self?.lastRead = self?.sequence ?? 0
          return .uint64(self?.sequence ?? 0)
        },
        Property("CreatedAt", "x") { _ in .int64(5) }, Property("ExpiresAt", "x") { _ in .int64(9) },
      ],
      signals: [
        SignalDescription(
          "StageChanged", [Argument("stage", "s"), Argument("details", "a{sv}"), Argument("sequence", "t")])
      ])
  }
}

/// A bus with a stub of linkd, and `linkctl` on it, with an `xdg-open` of the test's.
struct Desk {
  let bus: PrivateBus
  let stub: StubService
  let home: Scratch

  /// - Parameter xdgOpen: what `xdg-open` does after it has noted how it was called.
  init(xdgOpen: String = "exit 0") async throws {
    bus = try PrivateBus.start()
    stub = try await StubService(bus)
    home = try Scratch("linkctl")
    let note = "printf '%s\\n' \"$#\" \"$@\" \"$(readlink /proc/self/fd/0)\" >'\(home.file("part"))'"
    try home.write(
      "#!/bin/sh\n\(note)\nmv '\(home.file("part"))' '\(home.file("opened"))'\n\(xdgOpen)\n", to: "bin/xdg-open",
      executable: true)
  }

  /// How `xdg-open` was called: the number of its arguments, these, its standard input; nil if it wasn't.
  var opened: [String]? {
    (try? String(contentsOfFile: home.file("opened"), encoding: .utf8))?.split(separator: "\n").map(String.init)
  }

  func environment(_ more: [String: String] = [:]) -> [String: String] {
    [
      "PATH": "\(home.file("bin")):/usr/bin:/bin", "HOME": home.path, "LC_ALL": "C.UTF-8",
      "DBUS_SESSION_BUS_ADDRESS": bus.address,
    ].merging(more) { $1 }
  }

  /// Runs `linkctl` to its end, without a terminal.
  func linkctl(_ arguments: String..., stdin: String = "", display: Bool = false) async throws -> Subprocess.Result {
    try await Subprocess.run(
      ["\(World.programs)/linkctl"] + arguments, environment: environment(display ? ["DISPLAY": ":0"] : [:]),
      stdin: stdin)
  }

  /// Runs `linkctl` at a terminal.
  func terminal(_ arguments: String..., display: Bool = false) throws -> Terminal {
    try Terminal(
      ["\(World.programs)/linkctl"] + arguments, environment: environment(display ? ["DISPLAY": ":0"] : [:]))
  }

  /// The objects of a run with `--json`.
  static func objects(_ result: Subprocess.Result) throws -> [[String: Any]] {
    try result.stdout.split(separator: "\n").compactMap {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
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
    self.purpose = purpose
    flowMethod = method
    begin(stage, details)
  }

  func forgetReads() { lastRead = 0 }

  func refuse(_ message: String?, _ reason: String = "noPendingRequest") { (refusal, self.reason) = (message, reason) }

  func fail(_ member: String, _ name: String) {
    failures[member] = DBusError(name: "org.linkd.Auth1.Error.\(name)", message: "The daemon's own text.")
  }

  func has(ways: String...) { self.ways = ways }

  func answerURL(_ url: String) { pageURL = url }
}

/// Waits for a condition.
func until(_ condition: () async throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(20)
  while try await !condition() {
    guard ContinuousClock.now < deadline else { throw World.Failure(description: "waited in vain") }
    try await Task.sleep(for: .milliseconds(5))
  }
}
