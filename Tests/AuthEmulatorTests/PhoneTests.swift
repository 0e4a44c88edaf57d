import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// Text messages where more is asked for than the recorded service asks: its own answers are in the transcripts.
@Suite(.timeLimit(.minutes(1)))
struct PhoneTests {
  private static let number: JSONValue = "+15555550100"

  static func handler(_ changes: [String: String?] = [:]) -> String {
    var parameters: [String: String?] = [
      "apiKey": "k", "authType": "verifyApp", "ibi": "com.example.app", "v": "linkd", "eventId": "QWERTYUIOP",
      "appId": "1:123456789:ios:123abc456def", "hl": "en",
    ]
    parameters.merge(changes) { $1 }
    return "/emulator/auth/handler?" + OpenIDProbe.form(parameters.compactMapValues(\.self))
  }

  /// The parameters of the callback in a link to an app's scheme.
  private func callback(_ link: String) throws -> [String: String] {
    let outer = try #require(URLComponents(string: link)?.queryItems)
    #expect(outer.map(\.name) == ["deep_link_id"])
    let inner = try #require(outer.first?.value.flatMap { URLComponents(string: $0) })
    #expect(inner.path == "/__/auth/callback")
    return Dictionary(uniqueKeysWithValues: (inner.queryItems ?? []).map { ($0.name, $0.value ?? "") })
  }

  private func link(_ id: String, in page: HTTPAnswer) throws -> String {
    let tag = try #require(page.text.firstMatch(of: try Regex("<a [^>]*id=\"\(id)\"[^>]*href=\"([^\"]*)\"")))
    return String(try #require(tag.output[1].substring)).replacing("&amp;", with: "&")
  }

  private func token(_ client: EmulatorClient) throws -> JSONValue {
    let page = try client.probe.request("GET", Self.handler())
    return .string(try #require(try callback(try link("continue", in: page))["recaptchaToken"]))
  }

  private func send(_ client: EmulatorClient, _ fields: [String: JSONValue] = [:]) throws -> HTTPAnswer {
    try client.post("accounts:sendVerificationCode", .object(["phoneNumber": Self.number].merging(fields) { $1 }))
  }

  private func signIn(_ client: EmulatorClient, _ session: JSONValue?, _ code: String) throws -> HTTPAnswer {
    try client.post(
      "accounts:signInWithPhoneNumber", ["sessionInfo": session ?? .null, "code": .string(code)])
  }

  // MARK: The captcha page

  @Test func captchaPageLeadsBackWithAToken() throws {
    let client = try EmulatorClient()
    let page = try client.probe.request("GET", Self.handler())
    #expect(page.status == 200 && page.headers["content-type"] == "text/html; charset=utf-8")
    #expect(page.text.contains(">I'm not a robot</a>") && !page.text.contains("<script"))
    let back = try link("continue", in: page)
    // Identity-toolkit 4.2 and 4.8, C22.
    #expect(back.hasPrefix("app-1-123456789-ios-123abc456def://firebaseauth/link?deep_link_id=http%3A%2F%2F127.0.0.1"))
    let told = try callback(back)
    #expect(Set(told.keys) == ["authType", "recaptchaToken", "eventId"])
    #expect(told["authType"] == "verifyApp" && told["eventId"] == "QWERTYUIOP")
    let byClient = try client.probe.request(
      "GET", Self.handler(["appId": nil, "clientId": "123456.apps.googleusercontent.com", "ibi": ""]))
    #expect(try link("continue", in: byClient).hasPrefix("com.googleusercontent.apps.123456://firebaseauth/link?"))
  }

  @Test func captchaPageLeadsBackWithoutOne() throws {
    let client = try EmulatorClient()
    let told = try callback(try link("cancel", in: try client.probe.request("GET", Self.handler())))
    #expect(told["recaptchaToken"] == nil && told["authType"] == "verifyApp" && told["eventId"] == "QWERTYUIOP")
    let error = try #require(JSONValue(json: Array((told["firebaseError"] ?? "").utf8)))
    #expect(error["code"] == "auth/user-cancelled" && error["message"]?.string?.isEmpty == false)
  }

  @Test func captchaPageAnswersByItself() throws {
    let client = try EmulatorClient()
    client.emulator.setConsent(.account(subject: "ada"))
    let solved = try client.probe.request("GET", Self.handler())
    #expect(solved.status == 302)
    #expect(try callback(try #require(solved.headers["location"]))["recaptchaToken"] != nil)
    client.emulator.setConsent(.refuse)
    let refused = try client.probe.request("GET", Self.handler())
    #expect(try callback(try #require(refused.headers["location"]))["firebaseError"] != nil)
  }

  @Test(arguments: ["apiKey", "eventId", "appId"])
  func captchaPageRefusesWithout(_ parameter: String) throws {
    let client = try EmulatorClient()
    let page = try client.probe.request("GET", Self.handler([parameter: nil, "ibi": ""]))
    #expect(page.status == 400 && page.text.contains("This request is wrong"))
  }

  // MARK: Tokens

  @Test func eachMessageTakesAFreshToken() throws {
    let client = try EmulatorClient()
    _ = try client.control("PATCH", "phone", ["captcha": true])
    #expect(try send(client).errorMessage == "MISSING_CLIENT_IDENTIFIER")
    #expect(try send(client, ["recaptchaToken": ""]).errorMessage == "MISSING_CLIENT_IDENTIFIER")
    #expect(try send(client, ["recaptchaToken": "made up"]).errorMessage == "INVALID_RECAPTCHA_TOKEN")
    let token = try token(client)
    #expect(try send(client, ["recaptchaToken": token]).status == 200)
    let again = try send(client, ["recaptchaToken": token]).errorMessage
    #expect(again == "CAPTCHA_CHECK_FAILED : Recaptcha verification failed - DUPE")
    #expect(client.emulator.smsCodes.map(\.phoneNumber) == ["+15555550100"])
  }

  @Test func tokensGetOld() throws {
    let client = try EmulatorClient()
    client.emulator.setClock(1_796_008_160_000)
    _ = try client.control("PATCH", "phone", ["captcha": true])
    let (first, second) = (try token(client), try token(client))
    client.emulator.setClock(1_796_008_160_000 + 119_999)
    #expect(try send(client, ["recaptchaToken": first]).status == 200)
    client.emulator.setClock(1_796_008_160_000 + 120_000)
    let late = try send(client, ["recaptchaToken": second]).errorMessage
    #expect(late == "CAPTCHA_CHECK_FAILED : Recaptcha verification failed - EXPIRED")
    _ = try client.control("PATCH", "phone", ["captcha": true, "captchaLifetime": 0])
    #expect(try send(client, ["recaptchaToken": try token(client)]).errorMessage == late)
  }

  @Test func numbersForTestsNeedNone() throws {
    let client = try EmulatorClient()
    _ = try client.control("PATCH", "phone", ["captcha": true, "testNumbers": ["+15555550100": "123456"]])
    let session = try send(client).json["sessionInfo"]
    #expect(try signIn(client, session, "000000").errorMessage == "INVALID_CODE")
    #expect(try signIn(client, session, "123456").json["phoneNumber"] == Self.number)
    #expect(try send(client, ["phoneNumber": "+15555550101"]).errorMessage == "MISSING_CLIENT_IDENTIFIER")
  }

  /// Identity-toolkit 6.5.
  @Test func recaptchaEnterpriseListensOrInsists() throws {
    let client = try EmulatorClient()
    func state() throws -> HTTPAnswer {
      try client.probe.request("GET", "/identitytoolkit.googleapis.com/v2/recaptchaConfig?key=k")
    }
    #expect(try state().status == 501)
    _ = try client.control("PATCH", "phone", ["captcha": true, "enforcement": "AUDIT"])
    let told = try state().json["recaptchaEnforcementState"]
    #expect(told == [["provider": "PHONE_PROVIDER", "enforcementState": "AUDIT"]])
    let listening: [String: JSONValue] = [
      "captchaResponse": "NO_RECAPTCHA", "recaptchaVersion": "RECAPTCHA_ENTERPRISE",
    ]
    #expect(try send(client, listening).errorMessage == "INVALID_APP_CREDENTIAL")
    #expect(try send(client, listening.merging(["recaptchaToken": try token(client)]) { $1 }).status == 200)
    _ = try client.control("PATCH", "phone", ["enforcement": "ENFORCE"])
    #expect(try send(client, ["recaptchaToken": try token(client)]).errorMessage == "INVALID_APP_CREDENTIAL")
    _ = try client.control("PATCH", "phone", [:])
    #expect(try send(client).status == 200)
  }

  // MARK: Codes

  @Test func codesGetOld() throws {
    let client = try EmulatorClient()
    client.emulator.setClock(1_796_008_160_000)
    _ = try client.control("PATCH", "phone", ["codeLifetime": 60])
    let sessions = [try send(client).json["sessionInfo"], try send(client).json["sessionInfo"]]
    let codes = client.emulator.smsCodes.map(\.code)
    client.emulator.setClock(1_796_008_160_000 + 59_999)
    #expect(try signIn(client, sessions[0], codes[0]).status == 200)
    client.emulator.setClock(1_796_008_160_000 + 60_000)
    #expect(try signIn(client, sessions[1], codes[1]).errorMessage == "SESSION_EXPIRED")
    #expect(try signIn(client, sessions[1], "000000").errorMessage == "SESSION_EXPIRED")
    #expect(try signIn(client, sessions[0], codes[0]).errorMessage == "INVALID_SESSION_INFO")
  }

  @Test func aMessageBearsSoManyWrongCodes() throws {
    let client = try EmulatorClient()
    var settings = PhoneSettings()
    settings.attempts = 2
    settings.testNumbers = ["+15555550100": "123456"]
    client.emulator.setPhone(settings)
    let (spoilt, fresh) = (try send(client).json["sessionInfo"], try send(client).json["sessionInfo"])
    for _ in 0..<2 { #expect(try signIn(client, spoilt, "000000").errorMessage == "INVALID_CODE") }
    #expect(try signIn(client, spoilt, "123456").errorMessage == "TOO_MANY_ATTEMPTS_TRY_LATER")
    #expect(try signIn(client, fresh, "000000").errorMessage == "INVALID_CODE")
    #expect(try signIn(client, fresh, "123456").status == 200)
  }

  @Test func whoSignsInAgainIsntMade() throws {
    let client = try EmulatorClient()
    func again() throws -> HTTPAnswer {
      let session = try send(client).json["sessionInfo"] ?? .null
      let code = try #require(client.emulator.smsCodes.last?.code)
      return try client.post(
        "accounts:signInWithPhoneNumber", ["sessionInfo": session, "code": .string(code), "operation": "REAUTH"])
    }
    client.emulator.setProductionRules(true)
    #expect(try again().errorMessage == "USER_NOT_FOUND")
    #expect(client.emulator.accountIDs.isEmpty)
    client.emulator.setProductionRules(false)
    #expect(try again().json["isNewUser"] == true)
    client.emulator.setProductionRules(true)
    #expect(try again().json["isNewUser"] == false)
  }

  /// What has no circumstances here (identity-toolkit 2.12, 3.3), by the faults that there are.
  @Test(
    arguments: [
      "TOO_MANY_ATTEMPTS_TRY_LATER : x", "QUOTA_EXCEEDED : Exceeded quota.", "APP_NOT_VERIFIED",
      "MISSING_APP_CREDENTIAL", "MISSING_IOS_APP_TOKEN", "BILLING_NOT_ENABLED", "OPERATION_NOT_ALLOWED",
      "INVALID_PHONE_NUMBER : The number isn't in use.",
    ])
  func ratesAreLimitedOnDemand(_ message: String) throws {
    let client = try EmulatorClient()
    _ = try client.control(
      "POST", "faults", ["path": "accounts:sendVerificationCode", "error": .string(message), "times": 1])
    #expect(try send(client).errorMessage == message)
    #expect(try send(client).status == 200)
  }

  @Test(
    arguments: [
      ["captchaLifetime": -1], ["codeLifetime": .number(1.5)], ["attempts": -1], ["testNumbers": ["+1": 5]],
      ["enforcement": "SOMETIMES"], ["captcha": "yes"],
    ] as [JSONValue])
  func nonsenseIsRefused(_ body: JSONValue) throws {
    let client = try EmulatorClient()
    let answer = try client.control("PATCH", "phone", body)
    #expect(answer["error"]?["status"] == "INVALID_ARGUMENT")
  }
}
