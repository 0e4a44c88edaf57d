import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// What the transcripts don't show.
@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
  @Test func listensOnLoopbackAlone() throws {
    let client = try EmulatorClient()
    let port = String(client.emulator.port, radix: 16, uppercase: true)
    let hexadecimal = String(repeating: "0", count: 4 - port.count) + port
    let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
    let listening = table.split(separator: "\n").filter { $0.contains(":\(hexadecimal) 00000000:0000 0A") }
    #expect(listening.count == 1)
    #expect(listening.allSatisfy { $0.contains("0100007F:\(hexadecimal)") })
  }

  @Test func portOfAnotherIsRefused() throws {
    let client = try EmulatorClient()
    #expect(throws: EmulatorError.portTaken(client.emulator.port)) {
      try AuthEmulator.start(port: client.emulator.port)
    }
  }

  @Test func stoppedPortIsFree() throws {
    let first = try AuthEmulator.start()
    let port = first.port
    first.stop()
    first.stop()
    let second = try AuthEmulator.start(port: port)
    #expect(second.port == port)
  }

  @Test func idsAndCodesHaveTheirLength() throws {
    let client = try EmulatorClient()
    let code = try client.mailedCode("a@example.com")
    #expect(code.code.utf8.count == 54)
    #expect(
      code.link.hasPrefix("http://127.0.0.1:\(client.emulator.port)/emulator/action?mode=signIn&lang=en&oobCode="))
    #expect(try client.post("accounts:signUp", [:]).json["localId"]?.string?.utf8.count == 28)
  }

  @Test func oneCodeServesOneOfManyAtOnce() async throws {
    let client = try EmulatorClient()
    let code = try client.mailedCode("a@example.com")
    let body: JSONValue = ["email": "a@example.com", "oobCode": .string(code.code)]
    let answers = (0..<8).map { _ in client.postLater("accounts:signInWithEmailLink", body) }
    var statuses: [Int] = []
    for answer in answers { statuses.append(try await answer.value.status) }
    #expect(statuses.filter { $0 == 200 }.count == 1)
    #expect(client.emulator.accountIDs.count == 1)
  }

  @Test func keepsItsConnectionsOpen() throws {
    let client = try EmulatorClient()
    let socket = try client.probe.open("GET", "/", headers: ["Connection": "keep-alive"])
    defer { close(socket) }
    var byte: UInt8 = 0
    #expect(recv(socket, &byte, 1, 0) == 1)
  }

  @Test(arguments: [
    "{\"a\":1,}", "{\"a\" 1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\n\"}",
    "{\"a\":tru}",
    "{} {}", "{'a':1}", "[", "{\"a\":-}", String(repeating: "[", count: 100_000),
  ])
  func brokenJSONIsRefused(_ body: String) throws {
    let client = try EmulatorClient()
    let answer = try client.probe.request(
      "POST", EmulatorClient.target("accounts:signUp"), headers: EmulatorClient.json, body: body)
    #expect(answer.status == 400)
    #expect(answer.errorMessage?.hasPrefix("Invalid JSON payload received. ") == true)
  }

  @Test func textsOfJSONAreUnescaped() throws {
    let client = try EmulatorClient()
    let body = #"{"password":"correct horse","email":"a\u0040b.c","displayName":"\ud83d\ude00\t\"\/\ud83d"}"#
    _ = try client.probe.request(
      "POST", EmulatorClient.target("accounts:signUp"), headers: EmulatorClient.json, body: body)
    let user = try client.control("GET", "accounts")["users"]?[pointer: "/0"]
    #expect(user?["email"] == "a@b.c")
    #expect(user?["displayName"] == "😀\t\"/\u{FFFD}")
  }

  @Test func hugeRequestBodyIsRefused() throws {
    let client = try EmulatorClient()
    let answer = try client.probe.request(
      "POST", EmulatorClient.target("accounts:signUp"), headers: EmulatorClient.json,
      body: String(repeating: " ", count: 9 << 20))
    #expect(answer.status == 0)
    #expect(client.emulator.requests.isEmpty)
  }

  @Test func tokenDiesByTheSecond() throws {
    let client = try EmulatorClient()
    client.emulator.setClock(1_796_008_160_900)
    let account: JSONValue = ["email": "a@example.com", "password": "correct horse"]
    let token = try #require(try client.post("accounts:signUp", account).json["idToken"])
    let lookup = { try client.post("accounts:lookup", ["idToken": token]).errorMessage }
    client.emulator.setClock(1_796_008_160_999)
    _ = try client.post("accounts:update", ["idToken": token, "password": "brand new password"])
    #expect(try lookup() == nil)
    client.emulator.setClock(1_796_008_161_000)
    _ = try client.post("accounts:update", ["idToken": token, "password": "another password"])
    #expect(try lookup() == "TOKEN_EXPIRED")
  }
}

@Suite(.timeLimit(.minutes(1)))
struct PageTests {
  @Test func mailedLinkLeadsToTheContinuePage() throws {
    let client = try EmulatorClient(schemes: ["com.example.linkd"])
    let page = "http://\(client.emulator.address)/emulator/continue?flow=a%20b#top"
    let code = try client.mailedCode("a@example.com", continueURL: page)
    let action = String(code.link.dropFirst("http://\(client.emulator.address)".count))
    let redirect = try client.probe.request("GET", action)
    #expect(redirect.status == 303)
    let location = try #require(redirect.headers["location"])
    #expect(
      location == "http://\(client.emulator.address)/emulator/continue?flow=a%20b&mode=signIn&lang=en"
        + "&oobCode=\(code.code)&apiKey=fake-api-key#top")
    #expect(client.emulator.oobCodes == [code], "opening the link spends nothing")
    let answer = try client.probe.request("GET", "/emulator/continue?oobCode=\(code.code)")
    #expect(answer.status == 200 && answer.headers["content-type"]?.hasPrefix("text/html") == true)
    #expect(client.emulator.oobCodes == [code])
  }

  @Test func pageFindsItsFilesBesideItself() throws {
    let client = try EmulatorClient(schemes: ["com.example.linkd"])
    let page = try client.probe.request("GET", "/emulator/continue").text
    let names = page.matches(of: #/(?:src|href)="([a-z.]+)"/#).map { String($0.1) } + ["config.js", "texts.js"]
    #expect(names.contains("bridge.js") && names.contains("style.css"))
    for name in names {
      let answer = try client.probe.request("GET", "/emulator/\(name)")
      #expect(answer.status == 200 && !answer.body.isEmpty, "\(name)")
      #expect(answer.headers["content-type"]?.hasPrefix(name.hasSuffix("css") ? "text/css" : "text/javascript") == true)
    }
    #expect(try client.probe.request("GET", "/emulator/config.js").text.contains("com.example.linkd"))
    #expect(try client.probe.request("GET", "/emulator/nothing.js").status == 404)
  }
}
