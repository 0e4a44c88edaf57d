import AuthCore
@testable import SessionStore

/// The sealed parts of rows: authenticated before they are read, but perhaps written by another version.
enum Rows {
  static func check(_ input: [UInt8]) throws(Fault) {
    let bytes = Array(input.dropFirst())
    switch (input.first ?? 0) % 3 {
    case 0: try flow(bytes)
    case 1: try session(bytes)
    default: try lastUser(bytes)
    }
  }

  private static let key = SessionKey(app: FuzzApps.demo.id, backend: .production)

  private static func flow(_ bytes: [UInt8]) throws(Fault) {
    guard let id = FlowID("f") else { return }
    let empty = Flow(id: id, key: key, purpose: .signIn, method: .emailLink, createdAt: 0, expiresAt: 0)
    var flow = empty
    guard (try? FlowBody.decode(bytes, into: &flow)) != nil else { return }
    var again = empty
    guard (try? FlowBody.decode(FlowBody.encode(flow), into: &again)) != nil else {
      throw Fault(what: "a flow reads back")
    }
    try require(again == flow, "a flow is the same")
    for secret in [flow.code, flow.queuedCode, flow.answer?.idToken, flow.answer?.refreshToken] {
      try require(secret.map { "\($0)" == "<redacted>" } ?? true, "a secret isn't shown")
    }
  }

  private static func session(_ bytes: [UInt8]) throws(Fault) {
    guard let session = try? SessionBody.session(bytes, key: key) else { return }
    guard let again = try? SessionBody.session(SessionBody.encode(session), key: key) else {
      throw Fault(what: "a session reads back")
    }
    try require(again == session, "a session is the same")
  }

  private static func lastUser(_ bytes: [UInt8]) throws(Fault) {
    guard let user = try? SessionBody.lastUser(bytes) else { return }
    guard let again = try? SessionBody.lastUser(SessionBody.encode(user)) else {
      throw Fault(what: "a last user reads back")
    }
    try require(again == user, "a last user is the same")
  }
}
