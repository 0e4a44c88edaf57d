import AuthCore
import AuthEmulator
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

/// The calls for phone numbers and second factors one after the other, as a person meets them.
@Suite("Phones and factors with the emulator", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct FactorsWithEmulatorTests {
  @Test("a message takes the page's token, once; a wrong code leaves its session") @LoopActor func phone() async throws
  {
    let stage = try FactorsStage()
    var settings = PhoneSettings()
    settings.needsCaptcha = true
    settings.enforcement = .audit
    stage.emulator.setPhone(settings)
    let enforcement = try await stage.toolkit.phoneRecaptcha(project: stage.project)
    #expect(enforcement == .audit)
    func send(_ token: Secret<String>?) async throws(AuthFailure) -> Secret<String> {
      try await stage.toolkit.sendVerificationCode(
        to: "+15555550100", recaptchaToken: token, enforcement: enforcement, project: stage.project)
    }
    let first = try await failure { () throws(AuthFailure) in try await send(nil) }
    #expect(first.error == .captchaFailed && first.serverCode == "INVALID_APP_CREDENTIAL")
    let token = try stage.captcha()
    let session = try await send(token)
    let again = try await failure { () throws(AuthFailure) in try await send(token) }
    #expect(again.error == .captchaFailed && again.serverCode == "CAPTCHA_CHECK_FAILED")
    let wrong = try await failure { () throws(AuthFailure) in
      try await stage.toolkit.signInWithPhoneNumber(
        .code(Secret("wrong"), sessionInfo: session), operation: .signIn, project: stage.project)
    }
    #expect(wrong.error == .invalidVerificationCode)
    let answer = try await stage.toolkit.signInWithPhoneNumber(
      .code(try stage.phoneCode(session), sessionInfo: session), operation: .signIn, project: stage.project)
    guard case .grant(let grant, let uid) = answer else { return stage.report("\(answer)") }
    #expect(grant.isNewUser && uid == stage.emulator.accountIDs.first)
    let user = try await stage.toolkit.lookup(idToken: grant.idToken, project: stage.project)
    #expect(user.phoneNumber == "+15555550100" && user.providers.map(\.providerID) == ["phone"])
  }

  /// Field report B107.
  @Test("a number of another account's leads to that account, without a further message") @LoopActor func conflict()
    async throws
  {
    let stage = try FactorsStage()
    guard case .grant(_, let other) = try await stage.signIn("+15555550100") else { return stage.report("no account") }
    guard case .grant(let guest, _) = try await stage.toolkit.signUpAnonymously(project: stage.project) else {
      return stage.report("no guest")
    }
    let answer = try await stage.signIn("+15555550100", .link(idToken: guest.idToken))
    guard case .conflict(let proof, let seconds) = answer else { return stage.report("\(answer)") }
    #expect(seconds == 3600 && stage.emulator.smsCodes.isEmpty)
    guard
      case .grant(let grant, let uid) = try await stage.toolkit.signInWithPhoneNumber(
        proof, operation: .signIn, project: stage.project)
    else { return stage.report("no sign-in") }
    #expect(uid == other && !grant.isNewUser)
    guard case .grant(_, let linked) = try await stage.signIn("+15555550101", .link(idToken: guest.idToken)) else {
      return stage.report("not linked")
    }
    #expect(linked != other)
  }

  @Test("who signs in again by a phone is the same person, or nobody") @LoopActor func again() async throws {
    let stage = try FactorsStage()
    stage.emulator.setProductionRules(true)
    let error = await #expect(throws: AuthFailure.self) { try await stage.signIn("+15555550100", .reauthenticate) }
    #expect(error?.error == .userMismatch)
    _ = try await stage.signIn("+15555550100")
    guard case .grant = try await stage.signIn("+15555550100", .reauthenticate) else {
      return stage.report("no sign-in")
    }
  }

  @Test("an app is enrolled, asked for after every first factor, and taken away") @LoopActor func totp() async throws {
    let stage = try FactorsStage()
    var settings = FactorSettings()
    (settings.digits, settings.period, settings.algorithm) = (8, 60, .sha256)
    stage.emulator.setFactors(settings)
    let (app, tokens) = try await stage.enrollApp(try await stage.account())
    #expect(app.digits == 8 && app.period == 60 && app.algorithm == "SHA256" && tokens.expiresIn == nil)
    let factor = try #require(
      try await stage.toolkit.lookup(idToken: tokens.idToken, project: stage.project).secondFactors.first)
    #expect(factor.kind == .totp && factor.displayName == "App")
    try await stage.toolkit.sendSignInLink(
      to: "a@example.com", continueURL: "http://localhost/", project: stage.project)
    var google = OAuthCredential(providerID: "google.com")
    google.idToken = Secret(#"{"sub":"g","email":"a@example.com","email_verified":true}"#)
    let code = try #require(stage.emulator.oobCodes.last?.code)
    let link = try await stage.toolkit.signInWithEmailLink(
      email: "a@example.com", oobCode: Secret(code), idToken: nil, project: stage.project)
    let byPassword = try await stage.password()
    let provider = try await stage.toolkit.signInWithIdp(
      google, idToken: nil, createsAccount: true, project: stage.project)
    var pendings: [Secret<String>] = []
    if case .secondFactorRequired(let pending, [factor]) = link { pendings.append(pending) }
    if case .secondFactorRequired(let pending, [factor]) = byPassword { pendings.append(pending) }
    if case .secondFactorRequired(let pending, [factor], _) = provider { pendings.append(pending) }
    #expect(pendings.count == 3)
    for (number, pending) in pendings.enumerated() {
      let wrong = try await failure { () throws(AuthFailure) in
        try await stage.toolkit.finishSecondFactor(
          pending: pending, totpCode: Secret("00000000"), factorUID: factor.uid, project: stage.project)
      }
      #expect(wrong.error == .invalidVerificationCode)
      let grant = try await stage.toolkit.finishSecondFactor(
        pending: pending, totpCode: try await stage.show(app, later: number + 1), factorUID: factor.uid,
        project: stage.project)
      #expect(try IDToken(grant.idToken.reveal()).subject == "u")
    }
    #expect(
      try await stage.toolkit.withdrawSecondFactor(factor.uid, idToken: tokens.idToken, project: stage.project) != nil)
    #expect(try await stage.password().tokens != nil)
  }

  @Test("a phone is enrolled and asked for; old first factors say so") @LoopActor func sms() async throws {
    let stage = try FactorsStage()
    let token = try await stage.account()
    let session = try await stage.toolkit.startPhoneEnrollment(
      phoneNumber: "+15555550100", recaptchaToken: try stage.captcha(), idToken: token, project: stage.project)
    _ = try await stage.toolkit.finishPhoneEnrollment(
      code: try stage.phoneCode(session), sessionInfo: session, displayName: nil, idToken: token, project: stage.project
    )
    guard case .secondFactorRequired(let pending, let factors) = try await stage.password(), let factor = factors.first
    else {
      return stage.report("no second factor")
    }
    #expect(factor.kind == .phone && factor.phoneNumber == "+*******0100")
    func start() async throws(AuthFailure) -> Secret<String> {
      try await stage.toolkit.startSecondFactor(
        pending: pending, factorUID: factor.uid, recaptchaToken: nil, project: stage.project)
    }
    let message = try await start()
    let grant = try await stage.toolkit.finishSecondFactor(
      pending: pending, code: try stage.phoneCode(message), sessionInfo: message, project: stage.project)
    #expect(try IDToken(grant.idToken.reveal()).subject == "u")
    var settings = FactorSettings()
    settings.pendingLifetime = 0
    stage.emulator.setFactors(settings)
    let old = try await failure { () throws(AuthFailure) in try await start() }
    #expect(old.error == .sessionExpired && old.serverCode == "INVALID_MFA_PENDING_CREDENTIAL")
  }

  @Test("what is dangerous takes a login that isn't long ago, and its tokens are new") @LoopActor func recentLogin()
    async throws
  {
    let stage = try FactorsStage()
    let token = try await stage.account()
    stage.emulator.lapseLogins()
    let error = try await failure { () throws(AuthFailure) in
      try await stage.toolkit.updatePassword(Secret("brand new"), idToken: token, project: stage.project)
    }
    #expect(error.error == .requiresRecentLogin)
    let mail = try await failure { () throws(AuthFailure) in
      try await stage.toolkit.sendEmailChange(
        to: "b@example.com", idToken: token, continueURL: nil, project: stage.project)
    }
    #expect(mail.error == .requiresRecentLogin)
    let fresh = try #require(try await stage.password().tokens).idToken
    try await stage.toolkit.sendEmailChange(
      to: "b@example.com", idToken: fresh, continueURL: nil, project: stage.project)
    #expect(stage.emulator.oobCodes.last?.newEmail == "b@example.com")
    let grant = try #require(
      try await stage.toolkit.updatePassword(Secret("brand new"), idToken: fresh, project: stage.project))
    #expect(try await stage.toolkit.lookup(idToken: grant.idToken, project: stage.project).uid == "u")
    #expect(try await stage.password("brand new").tokens != nil)
  }
}

/// An emulator, and the short ways to it. Made in each test, as the loop runs no longer than that.
@LoopActor
private struct FactorsStage {
  let emulator: AuthEmulator
  let project: ProjectContext
  let toolkit = IdentityToolkit(http: HTTPClient())
  let probe: HTTPProbe

  init() throws {
    emulator = try AuthEmulator.start(project: "demo-linkd")
    probe = HTTPProbe(port: emulator.port)
    let app = App(id: try #require(AppID("demo")), projectID: "demo-linkd", apiKey: "k")
    project = ProjectContext(app: app, backend: .emulator(try #require(EmulatorAddress(emulator.address))))
  }

  func owner(_ method: String, _ path: String, _ body: JSONValue) throws {
    let answer = try probe.request(
      method, "/identitytoolkit.googleapis.com/\(path)",
      headers: ["Content-Type": "application/json", "Authorization": "Bearer owner"], body: body.text)
    #expect(answer.status == 200)
  }

  func report(_ what: String) { Issue.record(Comment(rawValue: what)) }

  /// A token of the captcha page, which presses its button itself.
  func captcha() throws -> Secret<String> {
    emulator.setConsent(.account(subject: "anybody"))
    let page = try probe.request(
      "GET", "/emulator/auth/handler?apiKey=k&authType=verifyApp&ibi=x&eventId=E&appId=1:2:web:3")
    let back = page.headers["location"].flatMap { URLComponents(string: $0)?.queryItems?.first?.value }
    let inner = back.flatMap { URLComponents(string: $0)?.queryItems } ?? []
    return Secret(try #require(inner.first { $0.name == "recaptchaToken" }?.value))
  }

  func phoneCode(_ session: Secret<String>) throws -> Secret<String> {
    Secret(try #require(emulator.smsCodes.first { $0.sessionInfo == session.reveal() }?.code))
  }

  func signIn(_ number: String, _ operation: PhoneOperation = .signIn) async throws -> PhoneAnswer {
    let session = try await toolkit.sendVerificationCode(
      to: number, recaptchaToken: try captcha(), project: project)
    return try await toolkit.signInWithPhoneNumber(
      .code(try phoneCode(session), sessionInfo: session), operation: operation, project: project)
  }

  /// A verified account with a password, and its ID token.
  func account() async throws -> Secret<String> {
    try owner(
      "POST", "v1/accounts:signUp",
      ["localId": "u", "email": "a@example.com", "password": "correct horse", "emailVerified": true])
    let config: JSONValue = ["mfa": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]]]
    try owner("PATCH", "v2/projects/demo-linkd/config?updateMask=mfa", config)
    return try #require(try await password().tokens).idToken
  }

  func password(_ password: String = "correct horse") async throws(AuthFailure) -> SignInAnswer {
    try await toolkit.signInWithPassword(email: "a@example.com", password: Secret(password), project: project)
  }

  /// What an authenticator app shows that isn't ours.
  /// - Parameter later: periods from now; a code is taken once.
  func show(_ app: TOTPEnrollment, later: Int = 0) async throws -> Secret<String> {
    let time = Int(Date.now.timeIntervalSince1970) + later * app.period
    let result = try await Subprocess.run([
      "/usr/bin/oathtool", "--totp=\(app.algorithm)", "--base32", "--digits=\(app.digits)",
      "--time-step-size=\(app.period)s", "--now=@\(time)", app.secret.reveal(),
    ])
    #expect(result.status == 0)
    return Secret(String(result.stdout.prefix { $0 != "\n" }))
  }

  func enrollApp(_ token: Secret<String>) async throws -> (app: TOTPEnrollment, tokens: TokenGrant) {
    let app = try await toolkit.startTOTPEnrollment(idToken: token, project: project)
    let grant = try await toolkit.finishTOTPEnrollment(
      code: try await show(app), sessionInfo: app.sessionInfo, displayName: "App", idToken: token, project: project)
    return (app, grant)
  }
}
