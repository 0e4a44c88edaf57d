import Foundation

/// The W3C WebDriver protocol, as far as a test needs it: one command a connection, to a driver on loopback.
struct WebDriver: Sendable {
  /// What the driver refused.
  struct Refusal: Error, CustomStringConvertible {
    /// The protocol's name of it, such as `no such element`.
    let code: String
    let message: String

    var description: String { "\(code): \(message.split(separator: "\n").first ?? "")" }
  }

  /// How a reference to an element is named in JSON (W3C WebDriver, section 12.2).
  static let elementKey = "element-6066-11e4-a52e-4f735466cecf"

  let port: UInt16
  /// Path of the session, without a slash at the end.
  let session: String

  /// Starts the driver's one session.
  static func begin(_ port: UInt16, options: [String: Any]) async throws -> WebDriver {
    let wanted = ["capabilities": ["alwaysMatch": ["browserName": "chrome", "goog:chromeOptions": options]]]
    // A cold start on a busy machine takes its time.
    let answer = try await WebDriver(port: port, session: "").command(
      "POST", "/session", wanted, timeout: .seconds(90))
    guard let id = (answer as? [String: Any])?["sessionId"] as? String else {
      throw World.Failure(description: "the driver's answer has no session")
    }
    return WebDriver(port: port, session: "/session/\(id)")
  }

  /// Sends a command and gives the answer's `value`.
  @discardableResult
  func command(
    _ method: String, _ path: String, _ parameters: [String: Any]? = nil, timeout: Duration = .seconds(60)
  ) async throws -> Any {
    let body = try parameters.map { String(decoding: try JSONSerialization.data(withJSONObject: $0), as: UTF8.self) }
    let probe = HTTPProbe(port: port, timeout: timeout), target = session + path
    let answer: HTTPAnswer = try await withCheckedThrowingContinuation { continuation in
      // It blocks, so it gets a thread of its own.
      Thread {
        continuation.resume(
          with: Result {
            try probe.request(
              method, target, headers: ["Content-Type": "application/json"], body: body, trustsLength: true)
          })
      }.start()
    }
    let json = try? JSONSerialization.jsonObject(with: Data(answer.body), options: .fragmentsAllowed)
    guard let value = (json as? [String: Any])?["value"] else {
      throw World.Failure(description: "\(method) \(target): the driver answered \(answer.status) '\(answer.text)'")
    }
    if let refusal = value as? [String: Any], let code = refusal["error"] as? String {
      throw Refusal(code: code, message: refusal["message"] as? String ?? "")
    }
    return value
  }
}
