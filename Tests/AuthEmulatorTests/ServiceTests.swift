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
    // Keeps it alive, too: its port is all that's asked about.
    defer { client.emulator.stop() }
    let port = String(client.emulator.port, radix: 16, uppercase: true)
    let hexadecimal = String(repeating: "0", count: 4 - port.count) + port
    // The table isn't read at one moment: a line may be missed while other connections come and go.
    var listening: Set<String> = []
    let deadline = ContinuousClock.now + .seconds(10)
    while listening.isEmpty, ContinuousClock.now < deadline {
      let table = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
      for line in table.split(separator: "\n") {
        let fields = line.split(separator: " ").map(String.init)
        if fields.count > 3, fields[1].hasSuffix(":\(hexadecimal)"), fields[3] == "0A" { listening.insert(fields[1]) }
      }
    }
    #expect(listening == ["0100007F:\(hexadecimal)"])
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

  /// How a link that isn't for sign-in reaches an app unspent: the project's action URL is the app's own page.
  @Test(arguments: [
    ("VERIFY_EMAIL", "verifyEmail"), ("VERIFY_AND_CHANGE_EMAIL", "verifyAndChangeEmail"),
    ("PASSWORD_RESET", "resetPassword"), ("EMAIL_SIGNIN", "signIn"),
  ])
  func linksLeadToACustomActionURL(_ type: String, _ mode: String) throws {
    let client = try EmulatorClient(schemes: ["com.example.linkd"])
    let page = "http://\(client.emulator.address)/emulator/continue"
    _ = try client.control("PATCH", "config", ["notification": ["sendEmail": ["callbackUri": .string(page)]]])
    let token = try client.post("accounts:signUp", ["email": "a@example.com", "password": "correct horse"])
      .json["idToken"]
    let (kind, url) = (JSONValue.string(type), JSONValue.string("https://app.example.com/done?a=1"))
    let body: JSONValue =
      type.hasPrefix("VERIFY")
      ? ["requestType": kind, "continueUrl": url, "idToken": token ?? .null, "newEmail": "b@example.com"]
      : ["requestType": kind, "continueUrl": url, "email": "a@example.com"]
    #expect(try client.post("accounts:sendOobCode", body).status == 200)
    let code = try #require(client.emulator.oobCodes.last)
    #expect(
      code.link == "\(page)?mode=\(mode)&lang=en&oobCode=\(code.code)&apiKey=fake-api-key"
        + "&continueUrl=https%3A%2F%2Fapp.example.com%2Fdone%3Fa%3D1")
    let target = String(code.link.dropFirst("http://\(client.emulator.address)".count))
    #expect(try client.probe.request("GET", target).status == 200)
    #expect(client.emulator.oobCodes.last == code, "the page spends nothing")
    _ = try client.control("PATCH", "config", ["notification": [:]])
    _ = try client.post("accounts:sendOobCode", body)
    #expect(client.emulator.oobCodes.last?.link.contains("/emulator/action?") == true)
  }

  /// The recorded page applies a code that isn't for sign-in, and then leads to the continue URL as it is.
  @Test func actionPageAppliesTheCodeAndLeadsOn() throws {
    let client = try EmulatorClient()
    _ = try client.post("accounts:signUp", ["email": "a@example.com", "password": "correct horse"])
    _ = try client.post(
      "accounts:sendOobCode",
      ["requestType": "PASSWORD_RESET", "email": "a@example.com", "continueUrl": "https://app.example.com/done?a=1"])
    let code = try #require(client.emulator.oobCodes.last)
    let target = String(code.link.dropFirst("http://\(client.emulator.address)".count))
    #expect(try client.probe.request("GET", target).status == 400, "a new password is missing")
    #expect(client.emulator.oobCodes == [code])
    let answer = try client.probe.request("GET", target + "&newPassword=brand%20new")
    #expect(answer.status == 303 && answer.headers["location"] == "https://app.example.com/done?a=1")
    #expect(client.emulator.oobCodes.isEmpty)
    let signedIn = try client.post(
      "accounts:signInWithPassword", ["email": "a@example.com", "password": "brand new"])
    #expect(signedIn.status == 200)
  }

  @Test func actionPageFindsTheTenant() throws {
    let client = try EmulatorClient()
    let tenant: JSONValue = "tenant-1"
    let token = try client.post(
      "accounts:signUp", ["email": "a@example.com", "password": "correct horse", "tenantId": tenant]
    ).json["idToken"]
    _ = try client.post("accounts:sendOobCode", ["requestType": "VERIFY_EMAIL", "idToken": token ?? .null])
    let codes = try client.control("GET", "tenants/tenant-1/oobCodes")["oobCodes"]
    let link = try #require(codes?[pointer: "/0/oobLink"]?.string)
    #expect(link.hasSuffix("&tenantId=tenant-1"))
    let page = "http://\(client.emulator.address)"
    #expect(try client.probe.request("GET", String(link.dropFirst(page.count))).status == 200)
    let user = try client.post("accounts:lookup", ["idToken": token ?? .null]).json["users"]?[pointer: "/0"]
    #expect(user?["emailVerified"] == true && user?["tenantId"] == tenant)
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
