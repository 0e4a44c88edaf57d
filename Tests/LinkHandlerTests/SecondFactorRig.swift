import AuthCore
import LinkHandler
import Testing

/// Second factors, and flows that want one.
enum SecondFactorRig {
  static let phone = factor("m1", .phone), otherPhone = factor("m2", .phone), app = factor("t1", .totp)
  static let all = [phone, otherPhone, app]
  static let credential = Secret("MFA")
  static let code = Secret("222222"), wrongCode = Secret("999999")

  static func factor(_ uid: String, _ kind: SecondFactor.Kind) -> SecondFactor {
    var factor = SecondFactor(uid: uid, kind: kind)
    factor.displayName = "Mine"
    if kind == .phone { factor.phoneNumber = "+*******0100" }
    return factor
  }

  static func wanted(_ factors: [SecondFactor] = all) -> FlowEvent {
    .verification(.secondFactorRequired(PendingSecondFactor(credential: credential, factors: factors)))
  }

  static func choose(_ factor: SecondFactor) -> FlowEvent { .verification(.factorChosen(factor.uid)) }
  static func provided(_ code: Secret<String> = code) -> FlowEvent { CodeRig.provided(code) }

  /// The answers that say that what stands for the first factor counts no more.
  static let overs = [
    "INVALID_MFA_PENDING_CREDENTIAL", "MISSING_MFA_PENDING_CREDENTIAL", "MISSING_CREDENTIAL", "INVALID_PROJECT_ID",
  ].map { AuthFailure(.sessionExpired, serverCode: $0) }
  static let expiredMessages = ["SESSION_EXPIRED", "INVALID_SESSION_INFO"].map {
    AuthFailure(.sessionExpired, serverCode: $0)
  }

  // MARK: Flows at their stages

  /// The server has accepted the first factor.
  static func choosing(_ first: FirstFactor = .password, _ factors: [SecondFactor] = all) throws -> FlowRig {
    var run = try first.exchanging()
    #expect(run(wanted(factors)) == [.save])
    #expect(run.stage == .secondFactorRequired)
    return run
  }

  static func starting(_ first: FirstFactor = .password, _ factors: [SecondFactor] = all) throws -> FlowRig {
    var run = try choosing(first, factors)
    #expect(run(choose(phone)) == [.save, .sendCode])
    #expect(run.stage == .starting)
    return run
  }

  static func atPage(_ first: FirstFactor = .password) throws -> FlowRig {
    var run = try starting(first)
    #expect(run(CodeRig.pageWanted) == [.prepareVerificationPage])
    #expect(run(CodeRig.pageReady) == [.save, .openBrowser])
    return run
  }

  /// A message was sent.
  static func waiting(_ first: FirstFactor = .password, _ factors: [SecondFactor] = all) throws -> FlowRig {
    var run = try starting(first, factors)
    #expect(run(CodeRig.sent) == [.save])
    #expect(run.stage == .waitingForCode)
    return run
  }

  /// The authenticator app's code is wanted.
  static func waitingForApp(_ first: FirstFactor = .password, _ factors: [SecondFactor] = all) throws -> FlowRig {
    var run = try choosing(first, factors)
    #expect(run(choose(app)) == [.save])
    #expect(run.stage == .waitingForCode)
    return run
  }

  /// A code of either kind is at the server.
  static func exchanging(_ first: FirstFactor = .password, byApp isApp: Bool = false) throws -> FlowRig {
    var run = try isApp ? waitingForApp(first) : waiting(first)
    #expect(run(provided()) == [.save, .verifyCode(code)])
    #expect(run.stage == .exchanging)
    return run
  }

  /// Every stage at which a flow stands on the way.
  static func lively(_ first: FirstFactor = .password) throws -> [FlowRig] {
    var missed = try starting(first)
    _ = missed(CodeRig.sendFailed(.networkUnavailable))
    return try [
      choosing(first), starting(first), atPage(first), waiting(first), waitingForApp(first), exchanging(first),
      exchanging(first, byApp: true), missed,
    ]
  }

  /// The second factor is accepted, and the flow ends as it would have without one.
  static func expectSuccess(_ run: inout FlowRig, _ first: FirstFactor = .password) {
    #expect(run(.exchanged(FlowRig.grant, uid: nil)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    #expect(run.flow.secondFactor == nil && run.flow.verification == nil)
    let user = User(uid: first.uid)
    if first.isGuest {
      #expect(run(.lookedUp(user, guest: "g1")) == [.save, .resolveLater(seconds: 5)])
      #expect(run.stage == .conflict && run.flow.conflict == .anonymousUpgrade && run.flow.existingUID == first.uid)
      #expect(run(.conflict(.timeOver)) == [.save, .lookUp(FlowRig.grant, delay: 0)])
    }
    #expect(run(.lookedUp(user, guest: first.isGuest ? "g1" : nil)) == [.adopt(user, FlowRig.grant)])
    #expect(run.stage == .succeeded && run.flow.resultUID == first.uid && run.flow.error == nil)
    #expect(run.flow.previousUID == (first.isGuest ? "g1" : nil) && run.flow.secretsLeft == [])
  }
}
