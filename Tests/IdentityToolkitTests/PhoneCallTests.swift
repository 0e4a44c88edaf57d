import AuthCore
import EventLoop
import Testing

@testable import IdentityToolkit

@Suite("recaptchaConfig, sendVerificationCode, signInWithPhoneNumber", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct PhoneCallTests {
  private static let tokens = #""idToken":"ID","refreshToken":"RT","expiresIn":"3600""#
  private let code = PhoneCredential.code(Secret("123456"), sessionInfo: Secret("S"))

  // MARK: reCAPTCHA

  static let states: [(String, RecaptchaEnforcement)] = [
    (#"[{"provider":"PHONE_PROVIDER","enforcementState":"ENFORCE"}]"#, .enforce),
    (#"[{"provider":"PHONE_PROVIDER","enforcementState":"AUDIT"}]"#, .audit),
    (#"[{"provider":"PHONE_PROVIDER","enforcementState":"OFF"}]"#, .off),
    (
      #"[{"provider":"EMAIL_PASSWORD_PROVIDER","enforcementState":"ENFORCE"},"#
        + #"{"provider":"PHONE_PROVIDER","enforcementState":"AUDIT"}]"#, .audit
    ),
    (#"[{"provider":"EMAIL_PASSWORD_PROVIDER","enforcementState":"ENFORCE"}]"#, .off),
    (#"[{"provider":"PHONE_PROVIDER","enforcementState":"ENFORCEMENT_UNSPECIFIED"}]"#, .off),
    (#"[{"provider":"PHONE_PROVIDER","enforcementState":"enforce"}]"#, .off),
    (#"[{"provider":"PHONE_PROVIDER"},{}]"#, .off), ("[]", .off), ("null", .off),
  ]

  @Test("the state of the phone provider counts, and an unknown word is off", arguments: states) @LoopActor
  func enforcement(_ list: String, _ state: RecaptchaEnforcement) async throws {
    let server = try ScriptedServer(
      .json(200, #"{"recaptchaKey":"projects/1/keys/k","recaptchaEnforcementState":\#(list),"useSmsBotScore":true}"#))
    let project = try server.project { $0.tenantID = "t 1" }
    #expect(try await IdentityToolkit(http: HTTPClient()).phoneRecaptcha(project: project) == state)
    let request = try #require(server.requests.first)
    #expect(request.method == "GET" && request.body.isEmpty)
    #expect(
      request.target
        == "/identitytoolkit.googleapis.com/v2/recaptchaConfig?key=key%261%20%C3%A9&clientType=CLIENT_TYPE_WEB"
        + "&version=RECAPTCHA_ENTERPRISE&tenantId=t%201")
    #expect(request.headers["x-firebase-gmpid"] == "1:2:web:3")
  }

  @Test("without a list it's off") @LoopActor func noEnforcement() async throws {
    let server = try ScriptedServer(.json(200, "{}"))
    let project = try server.project()
    #expect(try await IdentityToolkit(http: HTTPClient()).phoneRecaptcha(project: project) == .off)
    #expect(server.requests.first?.target.contains("tenantId") == false)
  }

  @Test(
    "an emulator without the call has it off",
    arguments: ["01 v2 recaptchaConfig", "01 mfaSignIn without a path suffix"])
  @LoopActor
  func recordedRefusal(_ title: String) async throws {
    let exchange = try #require(
      RecordedCall.exchanges("01").first { $0["name"]?.string == String(title.dropFirst(3)) }?["response"])
    let status = Int(exchange["status"]?.integer ?? 0)
    #expect([404, 501].contains(status))
    let server = try ScriptedServer(.json(status, exchange["body"]?.text ?? ""))
    let project = try server.project()
    #expect(try await IdentityToolkit(http: HTTPClient()).phoneRecaptcha(project: project) == .off)
  }

  static let brokenConfigs: [(Reply, AuthFailure)] = [
    (.json(503, "{}"), AuthFailure(.serviceUnavailable, serverCode: "HTTP_503")),
    (.json(200, "[]"), AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER")),
    (
      .json(200, #"{"recaptchaEnforcementState":"ENFORCE"}"#),
      AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER")
    ),
    (.json(200, "<html>"), AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER")),
    (
      .json(400, #"{"error":{"message":"MISSING_API_KEY"}}"#),
      AuthFailure(.invalidAPIKey, serverCode: "MISSING_API_KEY")
    ),
    (.close, AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE")),
  ]

  @Test("what isn't known isn't guessed", arguments: brokenConfigs.indices) @LoopActor
  func brokenConfig(_ index: Int) async throws {
    let (reply, expected) = Self.brokenConfigs[index]
    let project = try ScriptedServer(reply)
    let context = try project.project()
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).phoneRecaptcha(project: context)
    }
    #expect(error == expected)
  }

  // MARK: Text messages

  /// Identity-toolkit 2.12 and 6.5.
  static let fields: [(String?, RecaptchaEnforcement, [String: String])] = [
    (nil, .off, [:]), ("RT", .off, ["recaptchaToken": "RT"]),
    (nil, .audit, ["captchaResponse": "NO_RECAPTCHA", "recaptchaVersion": "RECAPTCHA_ENTERPRISE"]),
    (
      "RT", .audit,
      ["recaptchaToken": "RT", "captchaResponse": "NO_RECAPTCHA", "recaptchaVersion": "RECAPTCHA_ENTERPRISE"]
    ),
    ("RT", .enforce, ["recaptchaToken": "RT"]),
  ]

  @Test("the page's token goes out, and that there's none of reCAPTCHA Enterprise", arguments: fields.indices)
  @LoopActor
  func send(_ index: Int) async throws {
    let (token, enforcement, expected) = Self.fields[index]
    let server = try ScriptedServer(.json(200, #"{"sessionInfo":"S"}"#))
    let project = try server.project { $0.tenantID = "t" }
    let session = try await IdentityToolkit(http: HTTPClient()).sendVerificationCode(
      to: "+15555550100", recaptchaToken: token.map { Secret($0) }, enforcement: enforcement, project: project)
    #expect(session == Secret("S"))
    let request = try #require(server.requests.first)
    #expect(request.target.hasPrefix("/identitytoolkit.googleapis.com/v1/accounts:sendVerificationCode?key="))
    let always = ["phoneNumber": "+15555550100", "clientType": "CLIENT_TYPE_WEB", "tenantId": "t"]
    #expect(request.json as? [String: String] == always.merging(expected) { $1 })
  }

  @Test("an answer without a session is none", arguments: ["{}", #"{"sessionInfo":""}"#, #"{"sessionInfo":"\u0000"}"#])
  @LoopActor
  func noSession(_ body: String) async throws {
    let server = try ScriptedServer(.json(200, body))
    let project = try server.project()
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).sendVerificationCode(
        to: "+1", recaptchaToken: nil, project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "NO_SESSION"))
  }

  // MARK: Codes

  static let operations: [(PhoneOperation, String, String?)] = [
    (.signIn, "SIGN_UP_OR_IN", nil), (.reauthenticate, "REAUTH", nil), (.link(idToken: Secret("T")), "LINK", "T"),
    (.changeNumber(idToken: Secret("T")), "UPDATE", "T"),
  ]

  @Test("each operation has its word, and its account", arguments: operations.indices) @LoopActor
  func operation(_ index: Int) async throws {
    let (operation, word, token) = Self.operations[index]
    let server = try ScriptedServer(.json(200, "{\(Self.tokens),\"localId\":\"u\",\"isNewUser\":true}"))
    let project = try server.project { $0.tenantID = "t" }
    let answer = try await IdentityToolkit(http: HTTPClient()).signInWithPhoneNumber(
      code, operation: operation, project: project)
    let grant = TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600, isNewUser: true)
    #expect(answer == .grant(grant, uid: "u"))
    var expected = ["code": "123456", "sessionInfo": "S", "operation": word, "tenantId": "t"]
    expected["idToken"] = token
    let request = try #require(server.requests.first)
    #expect(request.target.hasPrefix("/identitytoolkit.googleapis.com/v1/accounts:signInWithPhoneNumber?key="))
    #expect(request.json as? [String: String] == expected)
  }

  @Test("a proof goes with its number, without a code") @LoopActor func proof() async throws {
    let server = try ScriptedServer(.json(200, "{\(Self.tokens)}"))
    let project = try server.project()
    _ = try await IdentityToolkit(http: HTTPClient()).signInWithPhoneNumber(
      .temporaryProof(Secret("P"), phoneNumber: "+15555550100"), operation: .signIn, project: project)
    #expect(
      server.requests.first?.json as? [String: String]
        == ["temporaryProof": "P", "phoneNumber": "+15555550100", "operation": "SIGN_UP_OR_IN"])
  }

  @LoopActor
  private func ask(_ reply: Reply, _ operation: PhoneOperation = .signIn) async throws(AuthFailure) -> PhoneAnswer {
    guard let server = try? ScriptedServer(reply), let project = try? server.project() else {
      throw AuthFailure(.internal)
    }
    return try await IdentityToolkit(http: HTTPClient()).signInWithPhoneNumber(
      code, operation: operation, project: project)
  }

  /// Identity-toolkit 1.8, step 9; field report B107.
  @Test("a number of another account's is a conflict with a proof to go on with, even beside tokens") @LoopActor
  func conflict() async throws {
    let proof = #""temporaryProof":"P","phoneNumber":"+15555550100""#
    let credential = PhoneCredential.temporaryProof(Secret("P"), phoneNumber: "+15555550100")
    let recorded = try await ask(.json(200, #"{\#(proof),"temporaryProofExpiresIn":"3600"}"#))
    #expect(recorded == .conflict(credential, expiresIn: 3600))
    #expect(try await ask(.json(200, "{\(proof),\(Self.tokens)}")) == .conflict(credential, expiresIn: nil))
    #expect(
      try await ask(.json(200, #"{\#(proof),"temporaryProofExpiresIn":"soon"}"#))
        == .conflict(credential, expiresIn: nil))
    // Half a proof is none.
    let grant = try await ask(.json(200, #"{"temporaryProof":"P","phoneNumber":"",\#(Self.tokens)}"#))
    #expect(grant == .grant(TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600), uid: nil))
  }

  @Test("a proof prints nothing") func redaction() {
    let credential = PhoneCredential.temporaryProof(Secret("hush"), phoneNumber: "+1")
    let secrets: [Any] = [
      credential, code, PhoneAnswer.conflict(credential, expiresIn: 1), PhoneOperation.link(idToken: Secret("hush")),
    ]
    for value in secrets {
      let text = String(reflecting: value) + "\(value)"
      #expect(text.contains("<redacted>") && !text.contains("hush") && !text.contains("123456"))
    }
  }

  @Test("a second factor is asked for here as elsewhere") @LoopActor func secondFactor() async throws {
    let answer = try await ask(
      .json(200, #"{"mfaPendingCredential":"P","mfaInfo":[{"mfaEnrollmentId":"f","totpInfo":{}}]}"#))
    #expect(answer == .secondFactorRequired(pending: Secret("P"), factors: [SecondFactor(uid: "f", kind: .totp)]))
  }

  /// Field reports B097, B101; identity-toolkit 3.5.
  static let refusals: [(String, PhoneOperation, AuthError)] = [
    ("INVALID_CODE", .signIn, .invalidVerificationCode), ("SESSION_EXPIRED", .signIn, .sessionExpired),
    ("INVALID_SESSION_INFO", .signIn, .sessionExpired), ("INVALID_TEMPORARY_PROOF", .signIn, .sessionExpired),
    ("TOO_MANY_ATTEMPTS_TRY_LATER : x", .signIn, .tooManyRequests), ("USER_NOT_FOUND", .signIn, .userNotFound),
    ("USER_NOT_FOUND", .reauthenticate, .userMismatch), ("USER_DISABLED", .reauthenticate, .userDisabled),
    ("PHONE_NUMBER_EXISTS", .link(idToken: Secret("T")), .credentialAlreadyInUse),
    ("USER_NOT_FOUND", .link(idToken: Secret("T")), .userNotFound),
  ]

  @Test("a wrong code keeps the session, an old one doesn't, and both say so", arguments: refusals.indices) @LoopActor
  func refusal(_ index: Int) async throws {
    let (message, operation, expected) = Self.refusals[index]
    let error = try await failure { () throws(AuthFailure) in
      try await ask(.json(400, #"{"error":{"code":400,"message":"\#(message)"}}"#), operation)
    }
    #expect(error.error == expected)
    #expect(error.serverCode == message.split(separator: " ").first.map(String.init))
  }

  @Test(
    "an answer that grants nothing is none",
    arguments: [
      "{}", "[]", #"{"idToken":"ID"}"#, #"{"temporaryProof":"P"}"#, #"{"idToken":1,"refreshToken":"RT"}"#,
      #"{"phoneNumber":{}}"#, "null",
    ])
  @LoopActor
  func broken(_ body: String) async throws {
    let error = try await failure { () throws(AuthFailure) in try await ask(.json(200, body)) }
    #expect(error.error == .serviceUnavailable)
  }
}
