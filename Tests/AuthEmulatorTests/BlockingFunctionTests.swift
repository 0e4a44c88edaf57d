import AuthCore
import Foundation
import TestSupport
import Testing

@testable import AuthEmulator

/// What transcript 32 doesn't show of blocking functions.
@Suite(.timeLimit(.minutes(1)))
struct BlockingFunctionTests {
  private static func client(_ functions: String, _ events: [String]) throws -> EmulatorClient {
    let client = try EmulatorClient()
    let triggers = events.map { ($0, JSONValue.object(["functionUri": .string("\(functions)/\($0)")])) }
    let body: JSONValue = ["blockingFunctions": ["triggers": .object(Dictionary(triggers) { $1 })]]
    let answer = try client.probe.request(
      "PATCH", "/identitytoolkit.googleapis.com/v2/projects/demo-linkd/config?updateMask=blockingFunctions",
      headers: EmulatorClient.json.merging(["Authorization": "Bearer owner"]) { $1 }, body: body.text)
    try #require(answer.status == 200)
    return client
  }

  @Test func theyAreAskedAboutTheAccountThatIsMade() throws {
    let functions = try Functions()
    defer { functions.stop() }
    let client = try Self.client(functions.origin, ["beforeCreate", "beforeSignIn"])
    let answer = try client.post("accounts:signUp", ["email": "a@example.com", "password": "correct horse"])
    #expect(answer.status == 200)
    #expect(functions.questions.map(\.path) == ["/beforeCreate", "/beforeSignIn"])
    for question in functions.questions {
      #expect(question.claims["sub"] == answer.json["localId"])
      #expect(question.claims["user_record"]?["uid"] == answer.json["localId"])
      #expect(question.claims["user_record"]?["email"] == "a@example.com")
      #expect(question.claims["aud"] == .string(functions.origin + question.path))
    }
    #expect(client.emulator.accountIDs.count == 1)
  }

  @Test func aRefusedAccountIsNotMade() throws {
    let functions = try Functions()
    defer { functions.stop() }
    functions.begin("beforeCreate refuses")
    let client = try Self.client(functions.origin.appending("/create?"), ["beforeCreate"])
    let code = try client.mailedCode("a@example.com")
    let answer = try client.post(
      "accounts:signInWithEmailLink", ["email": "a@example.com", "oobCode": .string(code.code)])
    #expect(answer.errorMessage?.hasPrefix("BLOCKING_FUNCTION_ERROR_RESPONSE : ((HTTP request to http://") == true)
    #expect(client.emulator.accountIDs.isEmpty)
    #expect(client.emulator.oobCodes.isEmpty, "the code is spent all the same")
  }

  @Test func nobodyElseWaitsWhileOneIsAsked() async throws {
    let held = Latch()
    let server = try LoopbackServer(port: 0) { _, socket in
      _ = held.wait(socket: socket, milliseconds: nil)
      return .json([:])
    }
    let client = try Self.client("http://localhost:\(server.port)", ["beforeCreate"])
    let waiting = client.postLater("accounts:signUp", ["email": "a@example.com", "password": "correct horse"])
    while client.emulator.requests(to: "accounts:signUp").isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    #expect(try client.post("accounts:signUp", [:]).status == 200)
    #expect(client.emulator.accountIDs.count == 1)
    held.open()
    #expect(try await waiting.value.status == 200)
    #expect(client.emulator.accountIDs.count == 2)
    server.stop()
  }

  @Test(arguments: ["https://127.0.0.1:9", "http://example.com:80", "http://127.0.0.1", "http://127.0.0.1.example:80"])
  func functionsElsewhereAreNotCalled(_ origin: String) throws {
    let client = try Self.client(origin, ["beforeCreate"])
    let answer = try client.post("accounts:signUp", ["email": "a@example.com", "password": "correct horse"])
    #expect(answer.status == 500)
    #expect(answer.errorMessage?.contains("Failed to make request to \(origin)/beforeCreate.") == true)
    #expect(client.emulator.accountIDs.isEmpty)
  }
}
