import DBus
import EventLoop
import LinkdContract

/// One flow of the stub.
@LoopActor
final class StubFlow {
  nonisolated let path: ObjectPath
  var connection: Connection?
  var purpose = "sign-in"
  /// The way of signing in.
  var method = "google.com"
  private(set) var stage = "waiting-for-redirect"
  private var details: [String: DBusValue] = [:]
  private var sequence: UInt64 = 1
  var lastRead: UInt64 = 0

  init(_ id: String) { path = Contract.flowsPath.appending(label: id) }

  /// Whether somebody has read the flow as it is now.
  var isSeen: Bool { lastRead == sequence }

  /// The next stage.
  func move(_ stage: String, _ details: [String: DBusValue]) {
    begin(stage, details)
    sequence += 1
    try? connection?.emit(
      path: path, interface: Contract.Interface.flow, member: "StageChanged",
      arguments: [.string(stage), .dict([:]), .uint64(sequence)])
  }

  /// Before anybody looks.
  func begin(_ stage: String, _ details: [String: DBusValue]) { (self.stage, self.details) = (stage, details) }

  func interface(_ methods: [Method]) -> Interface {
    Interface(
      Contract.Interface.flow, methods: methods,
      properties: [
        Property("App", "o") { _ in .objectPath(StubService.app) },
        Property("Purpose", "s") { [weak self] _ in .string(self?.purpose ?? "") },
        Property("Method", "s") { [weak self] _ in .string(self?.method ?? "") },
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
