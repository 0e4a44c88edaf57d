import AuthCore
import LinkHandler
import Testing

/// A flow's machine with a clock: events in, actions and the row out.
struct FlowRig {
  static let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600)

  var machine: FlowMachine
  var now: Int64 = 1000

  init(
    _ method: SignInMethod, purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }
  ) throws {
    let key = SessionKey(app: try #require(AppID("demo")), backend: .production)
    var flow = Flow(
      id: try #require(FlowID("f1")), key: key, purpose: purpose, method: method, createdAt: 1000, expiresAt: 1600)
    change(&flow)
    machine = try #require(FlowMachine(flow))
  }

  var flow: Flow { machine.flow }
  var stage: FlowStage { machine.flow.stage }

  mutating func callAsFunction(_ event: FlowEvent) -> [FlowAction] { machine.handle(event, at: now) }

  /// The same row in a new process.
  func restarted() throws -> FlowRig {
    var again = self
    again.machine = try #require(FlowMachine(flow))
    return again
  }

  /// The same row in a new process, which takes it up.
  mutating func restart() throws -> [FlowAction] {
    self = try restarted()
    return self(.restored)
  }
}
