import AuthCore
import LinkHandler
import Testing

/// A flow's machine with a clock: events in, actions and the row out.
struct FlowRig {
  static let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600)

  var machine: any FlowMachine
  var now: Int64 = 1000

  init(
    _ method: SignInMethod, purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }
  ) throws {
    let key = SessionKey(app: try #require(AppID("demo")), backend: .production)
    var flow = Flow(
      id: try #require(FlowID("f1")), key: key, purpose: purpose, method: method, createdAt: 1000, expiresAt: 1600)
    change(&flow)
    machine = try #require(FlowMachines.machine(for: flow))
  }

  var flow: Flow { machine.flow }

  mutating func callAsFunction(_ event: FlowEvent) -> [FlowAction] { machine.handle(event, at: now) }

  /// The machine of the same row after a restart.
  mutating func restart() throws -> [FlowAction] {
    machine = try #require(FlowMachines.machine(for: flow))
    return self(.restored)
  }
}
