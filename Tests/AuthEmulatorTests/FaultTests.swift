import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1)))
struct FaultTests {
  @Test func statusComesWithRetryAfterAsOftenAsSaid() throws {
    let client = try EmulatorClient(
      faults: [try Fault(spec: "path=accounts:signUp,status=503,retry-after=30,times=2")])
    for _ in 0..<2 {
      let answer = try client.post("accounts:signUp", [:])
      #expect(answer.status == 503)
      #expect(answer.headers["retry-after"] == "30")
      #expect(answer.json["error"]?["status"] == "UNAVAILABLE")
    }
    #expect(try client.post("accounts:signUp", [:]).status == 200)
    #expect(client.emulator.accountIDs.count == 1, "refused requests make no account")
  }

  @Test func otherPathsAreLeftAlone() throws {
    let client = try EmulatorClient(faults: [Fault(path: "accounts:lookup", .hang)])
    #expect(try client.post("accounts:signUp", [:]).status == 200)
  }

  @Test func errorsOfTheServerThatTheServiceNeverMakes() throws {
    let client = try EmulatorClient()
    client.emulator.setFault(Fault(path: "signUp", .error("TOO_MANY_ATTEMPTS_TRY_LATER : later")))
    let answer = try client.post("accounts:signUp", [:])
    #expect(answer.status == 400)
    #expect(answer.errorMessage == "TOO_MANY_ATTEMPTS_TRY_LATER : later")
  }

  @Test(arguments: ["html", "wrong-json", "other-shape", "empty", "redirect=http://127.0.0.1:1/"])
  func replacedAnswers(_ word: String) throws {
    let client = try EmulatorClient(faults: [try Fault(spec: "path=signUp,\(word)")])
    let answer = try client.post("accounts:signUp", [:])
    switch word {
    case "html":
      #expect(answer.status == 502)
      #expect(answer.headers["content-type"]?.hasPrefix("text/html") == true)
    case "wrong-json":
      #expect(answer.status == 200 && answer.isComplete)
      #expect(answer.json == .null)
    case "other-shape":
      #expect(answer.status == 200)
      #expect(answer.json.array != nil)
    case "empty":
      #expect(answer.status == 200)
      #expect(answer.body.isEmpty)
    default:
      #expect(answer.status == 302)
      #expect(answer.headers["location"] == "http://127.0.0.1:1/")
    }
    #expect(client.emulator.accountIDs.isEmpty)
  }

  @Test func bodyCutShort() throws {
    let client = try EmulatorClient(faults: [Fault(path: "signUp", .cut)])
    let answer = try client.post("accounts:signUp", [:])
    #expect(answer.status == 200)
    #expect(!answer.isComplete && !answer.body.isEmpty)
    #expect(client.emulator.accountIDs.count == 1, "it's the answer that is cut, not the request")
  }

  @Test func bodyDrips() throws {
    let client = try EmulatorClient(faults: [Fault(path: "sendOobCode", .drip(milliseconds: 1))])
    let start = ContinuousClock.now
    let answer = try client.post("accounts:sendOobCode", ["requestType": "EMAIL_SIGNIN", "email": "a@example.com"])
    #expect(answer.isComplete && answer.json["email"] == "a@example.com")
    #expect(ContinuousClock.now - start >= .milliseconds(answer.body.count - 1))
  }

  @Test func tokensLiveAsLongAsSaid() throws {
    let client = try EmulatorClient(faults: [try Fault(spec: "path=signUp,expires-in=5,times=1")])
    let answer = try client.post("accounts:signUp", [:])
    #expect(answer.json["expiresIn"] == "5")
    let token = try #require(answer.json["idToken"]?.string)
    let payload = String(token.split(separator: ".")[1]).replacing("-", with: "+").replacing("_", with: "/")
    let padded = payload + String(repeating: "=", count: (4 - payload.count % 4) % 4)
    let data = try #require(Data(base64Encoded: padded))
    let claims = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(claims["exp"] as? Int == (claims["iat"] as? Int ?? 0) + 5)
    // The account is known by it all the same, and the next token is as usual.
    #expect(try client.post("accounts:lookup", ["idToken": .string(token)]).status == 200)
    #expect(try client.post("accounts:signUp", [:]).json["expiresIn"] == "3600")
  }

  @Test func bodyIsHuge() throws {
    let client = try EmulatorClient(faults: [Fault(path: "signUp", .huge(bytes: 3_000_000))])
    let answer = try client.post("accounts:signUp", [:])
    #expect(answer.body.count == 3_000_000 && answer.isComplete)
    #expect(answer.json["localId"] != nil)
  }

  @Test func connectionIsReset() throws {
    let client = try EmulatorClient(faults: [Fault(path: "signUp", .reset)])
    let answer = try client.post("accounts:signUp", [:])
    #expect(answer.status == 0 && answer.wasReset)
  }

  @Test func answerIsLostAfterTheEffect() throws {
    let client = try EmulatorClient()
    let code = try client.mailedCode("a@example.com")
    client.emulator.setFault(Fault(path: "signInWithEmailLink", .reset, times: 1, isHandled: true))
    let body: JSONValue = ["email": "a@example.com", "oobCode": .string(code.code)]
    #expect(try client.post("accounts:signInWithEmailLink", body).status == 0)
    #expect(client.emulator.accountIDs.count == 1)
    #expect(try client.post("accounts:signInWithEmailLink", body).errorMessage == "INVALID_OOB_CODE")
  }

  @Test func delayIsWaitedFor() throws {
    let client = try EmulatorClient(faults: [Fault(path: "signUp", delay: 60)])
    let start = ContinuousClock.now
    #expect(try client.post("accounts:signUp", [:]).status == 200)
    #expect(ContinuousClock.now - start >= .milliseconds(60))
  }

  @Test func clockIsWrong() throws {
    let client = try EmulatorClient(faults: [Fault(path: "signUp", times: 1, clockOffset: -3600)])
    client.emulator.setClock(1_796_008_160_335)
    let answer = try client.post("accounts:signUp", [:])
    #expect(answer.headers["date"] == "Mon, 30 Nov 2026 02:09:20 GMT")
    #expect(Token(jwt: answer.json["idToken"]?.string ?? "")?.issuedAt == 1_796_004_560)
    #expect(try client.post("accounts:signUp", [:]).headers["date"] == "Mon, 30 Nov 2026 03:09:20 GMT")
  }

  @Test func hangEndsWhenTheFaultIsRemoved() async throws {
    let client = try EmulatorClient()
    let fault = client.emulator.setFault(Fault(path: "signUp", .hang))
    let answer = client.postLater("accounts:signUp", [:])
    #expect(await client.emulator.waitUntilHeld(by: fault))
    client.emulator.removeFault(fault)
    #expect(try await answer.value.status == 0)
    #expect(try client.post("accounts:signUp", [:]).status == 200)
  }

  @Test func heldBeforeHandlingHasNoEffectYet() async throws {
    let client = try EmulatorClient()
    let code = try client.mailedCode("a@example.com")
    let fault = client.emulator.setFault(Fault(path: "signInWithEmailLink", times: 1, hold: .beforeHandling))
    let answer = client.postLater(
      "accounts:signInWithEmailLink", ["email": "a@example.com", "oobCode": .string(code.code)])
    #expect(await client.emulator.waitUntilHeld(by: fault))
    #expect(client.emulator.oobCodes == [code])
    #expect(client.emulator.requests(to: "signInWithEmailLink").map(\.isHandled) == [false])
    client.emulator.release(fault)
    #expect(try await answer.value.status == 200)
    #expect(client.emulator.oobCodes.isEmpty)
  }

  @Test func heldAfterHandlingHasHadItsEffect() async throws {
    let client = try EmulatorClient()
    let code = try client.mailedCode("a@example.com")
    let fault = client.emulator.setFault(Fault(path: "signInWithEmailLink", hold: .afterHandling))
    let answer = client.postLater(
      "accounts:signInWithEmailLink", ["email": "a@example.com", "oobCode": .string(code.code)])
    #expect(await client.emulator.waitUntilHeld(by: fault))
    #expect(client.emulator.oobCodes.isEmpty)
    #expect(client.emulator.requests(to: "signInWithEmailLink").map(\.status) == [nil])
    client.emulator.removeFault(fault)
    #expect(try await answer.value.json["isNewUser"] == true)
  }

  @Test func clientThatGoesAwayTakesItsRequestWithIt() async throws {
    let client = try EmulatorClient()
    let fault = client.emulator.setFault(Fault(path: "signUp", hold: .beforeHandling))
    let socket = try client.probe.open(
      "POST", EmulatorClient.target("accounts:signUp"), headers: EmulatorClient.json, body: "{}")
    #expect(await client.emulator.waitUntilHeld(by: fault))
    close(socket)
    while client.emulator.heldRequests(by: fault) > 0 { try await Task.sleep(for: .milliseconds(2)) }
    client.emulator.removeFault()
    #expect(client.emulator.accountIDs.isEmpty)
    #expect(client.emulator.requests.map(\.isHandled) == [false])
  }

  @Test func stopEndsHeldAndHangingRequests() async throws {
    let client = try EmulatorClient()
    let hang = client.emulator.setFault(Fault(path: "lookup", .hang))
    let hold = client.emulator.setFault(Fault(path: "signUp", hold: .beforeHandling))
    let (first, second) = (client.postLater("accounts:lookup", [:]), client.postLater("accounts:signUp", [:]))
    #expect(await client.emulator.waitUntilHeld(by: hang))
    #expect(await client.emulator.waitUntilHeld(by: hold))
    client.emulator.stop()
    _ = try await (first.value, second.value)
    #expect(throws: POSIXFailure.self) { try client.post("accounts:signUp", [:]) }
  }
}

@Suite(.timeLimit(.minutes(1)))
struct FaultControlTests {
  @Test func specSaysEverything() throws {
    #expect(
      try Fault(spec: "path=lookup,times=3,delay=20,clock=-5,status=429,retry-after=7,handle,html,hold-after-handling")
        == Fault(
          path: "lookup", .html, times: 3, status: 429, retryAfter: "7", delay: 20, hold: .afterHandling,
          clockOffset: -5, isHandled: true))
    #expect(try Fault(spec: "error=CODE : detail").answer == .error("CODE : detail"))
    #expect(try Fault(spec: "huge").answer == .huge(bytes: 64 << 20))
    #expect(try Fault(spec: "drip=5").answer == .drip(milliseconds: 5))
  }

  @Test(arguments: ["nonsense", "status=99", "times=-1", "delay=x", "hang=1", "path", "=", "status=503,nonsense"])
  func badSpecIsRefused(_ spec: String) {
    #expect(throws: EmulatorError.self) { try Fault(spec: spec) }
  }

  @Test func faultsAreSetListedAndRemovedOverHTTP() async throws {
    let client = try EmulatorClient()
    let id = try #require(
      try client.control("POST", "faults", ["path": "signUp", "hold-before-handling": true, "times": 1])["id"]?.integer)
    let answer = client.postLater("accounts:signUp", [:])
    #expect(await client.emulator.waitUntilHeld(by: Int(id)))
    #expect(try client.control("GET", "faults")["faults"]?[pointer: "/0/held"] == 1)
    _ = try client.control("POST", "faults/\(id)/release")
    #expect(try await answer.value.status == 200)
    _ = try client.control("DELETE", "faults/\(id)")
    #expect(try client.control("GET", "faults") == ["faults": []])
    let refused = try client.control("POST", "faults", ["nonsense": true])
    #expect(refused["error"]?["message"]?.string?.hasPrefix("INVALID_FAULT") == true)
  }

  @Test func requestsAreRecorded() throws {
    let client = try EmulatorClient()
    _ = try client.post("accounts:signUp", ["returnSecureToken": true])
    _ = try client.probe.request(
      "POST", "/securetoken.googleapis.com/v1/token?key=k",
      headers: ["Content-Type": "application/x-www-form-urlencoded"],
      body: "grant_type=refresh_token&refresh_token=a%2Bb")
    let requests = client.emulator.requests
    #expect(requests.map(\.method) == ["POST", "POST"])
    #expect(requests[0].body == ["returnSecureToken": true])
    #expect(requests[0].query == ["key": "k"])
    #expect(requests[0].status == 200 && requests[0].isHandled)
    #expect(requests[1].body?["refresh_token"] == "a+b")
    #expect(requests[1].status == 400)
    #expect(try client.control("GET", "requests")["requests"]?.array?.count == 2)
    _ = try client.control("DELETE", "requests")
    #expect(client.emulator.requests.isEmpty)
  }

  @Test func resetForgetsEverything() throws {
    let client = try EmulatorClient(faults: [Fault(path: "lookup", .hang)])
    _ = try client.mailedCode("a@example.com")
    _ = try client.post("accounts:signUp", [:])
    client.emulator.reset()
    #expect(client.emulator.accountIDs.isEmpty && client.emulator.oobCodes.isEmpty && client.emulator.requests.isEmpty)
    #expect(try client.post("accounts:lookup", [:]).errorMessage == "MISSING_ID_TOKEN")
  }
}
