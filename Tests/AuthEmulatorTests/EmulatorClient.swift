import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// An emulator of a test's own, and the calls tests make.
struct EmulatorClient {
  let emulator: AuthEmulator
  let probe: HTTPProbe

  init(schemes: [String] = [], faults: [Fault] = []) throws {
    emulator = try AuthEmulator.start(schemes: schemes, faults: faults)
    probe = HTTPProbe(port: emulator.port)
  }

  static func target(_ operation: String) -> String { "/identitytoolkit.googleapis.com/v1/\(operation)?key=k" }
  static let json = ["Content-Type": "application/json"]

  func post(_ operation: String, _ body: JSONValue) throws -> HTTPAnswer {
    try probe.request("POST", Self.target(operation), headers: Self.json, body: body.text)
  }

  func control(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
    try probe.request(method, "/emulator/v1/projects/demo-linkd/\(path)", headers: Self.json, body: body?.text).json
  }

  /// Sends a request on a thread of its own, so that a test can watch it being held.
  func postLater(_ operation: String, _ body: JSONValue) -> Task<HTTPAnswer, any Error> {
    let probe = probe
    return Task.detached {
      try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
          continuation.resume(
            with: Result {
              try probe.request("POST", Self.target(operation), headers: Self.json, body: body.text)
            })
        }
      }
    }
  }

  /// Asks for a sign-in link and gives its code.
  func mailedCode(_ email: String, continueURL: String = "http://localhost/") throws -> OobCode {
    _ = try post(
      "accounts:sendOobCode",
      ["requestType": "EMAIL_SIGNIN", "email": .string(email), "continueUrl": .string(continueURL)])
    return try #require(emulator.oobCodes.last)
  }
}

extension HTTPAnswer {
  var json: JSONValue { (try? JSONDecoder().decode(JSONValue.self, from: Data(body))) ?? .null }
  var errorMessage: String? { json["error"]?["message"]?.string }
}
