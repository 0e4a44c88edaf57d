import AuthCore
import DBus
import EventLoop
import LinkdClient
import TestSupport
import Testing

/// Codes, factors and signing in again, by linkd's answers (docs: D-Bus API).
@Suite("Codes and factors", .timeLimit(.minutes(1)))
struct CodeTests {
  private func error<Value>(_ body: () async throws(LinkdError) -> Value) async -> AuthError? {
    await failure(body)?.authError
  }

  private static let code: [String: DBusValue] = [
    "kind": .string("phone"), "phone-number": .string("+447700900123"), "code-length": .uint32(6),
    "attempts-left": .uint32(5), "can-resend-at": .int64(60), "expires-at": .int64(600),
  ]

  private static func wrong(left: UInt32) -> [String: DBusValue] {
    code.merging(
      ["attempts-left": .uint32(left), "error": .string(AuthError.invalidVerificationCode.dbusName)]) { $1 }
  }

  @Test("a text message is under way when sendCode returns, also after a captcha page; its code signs in")
  func sendCode() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .waitingForCaptcha))
    let watcher = rig.service.flow(try #require(FlowID("f1")))
    var stages = watcher.stages.makeAsyncIterator()
    async let sent = rig.app.sendCode(to: "+44 7700 900123")
    #expect(try await stages.next()?.stage == .waitingForCaptcha)
    await rig.stub.move(.starting)
    await rig.stub.move(.waitingForCode, Self.code)
    let flow = try await sent
    #expect(try await stages.next()?.stage == .starting)
    let waiting = try #require(try await stages.next()).details
    #expect(waiting.codeKind == .phone && waiting.phoneNumber == "+447700900123" && waiting.attemptsLeft == 5)
    #expect(waiting.canResendAt == 60 && waiting.codeLength == 6)
    await rig.stub.answer("ProvideCode", with: .nothing) { $0.move(.succeeded, ProviderTests.user) }
    #expect(try await flow.submit(code: Secret("123456")).details.user?.uid == "u1")
  }

  @Test("a wrong code is an error, and the flow takes another one; a second factor is the next step")
  func wrongCode() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .waitingForCode, details: Self.code))
    let flow = try await rig.app.sendCode(to: "+447700900123")
    await rig.stub.answer("ProvideCode", with: .nothing) { $0.move(.waitingForCode, Self.wrong(left: 4)) }
    #expect(
      await error { () throws(LinkdError) in try await flow.submit(code: Secret("000000")) } == .invalidVerificationCode
    )
    #expect(await rig.stub.calls.allSatisfy { $0.member != "Cancel" })
    let hint: [String: DBusValue] = [
      "uid": .string("f"), "kind": .string("phone"), "phone-number": .string("+********0123"),
    ]
    await rig.stub.answer("ProvideCode", with: .nothing) {
      $0.move(.secondFactorRequired, ["hints": .dicts([hint])])
    }
    let next = try await flow.submit(code: Secret("123456"))
    #expect(next.stage == .secondFactorRequired && next.details.hints.first?.phoneNumber == "+********0123")
  }

  @Test(
    "a message that can't be sent is why there is no code, and leaves no flow behind",
    arguments: [AuthError.captchaRequired, .captchaFailed, .invalidPhoneNumber])
  func notSent(_ expected: AuthError) async throws {
    let rig = try await Rig.start(
      StubLinkd.Stored(stage: .failed, details: ["error": .string(expected.dbusName), "retry": .boolean(true)]))
    #expect(await error { () throws(LinkdError) in try await rig.app.sendCode(to: "+1") } == expected)
  }

  @Test("a message that can't be sent for the time being is its error, and leaves no flow behind")
  func notSentNow() async throws {
    let details = Self.code.merging(["error": .string(AuthError.serviceUnavailable.dbusName)]) { $1 }
    let rig = try await Rig.start(StubLinkd.Stored(stage: .waitingForCode, details: details))
    #expect(await error { () throws(LinkdError) in try await rig.app.sendCode(to: "+1") } == .serviceUnavailable)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("a captcha page that no browser could open is HandlerMissing, and leaves no flow behind")
  func noBrowser() async throws {
    let details = ["error": DBusValue.string(AuthError.handlerMissing.dbusName)]
    let rig = try await Rig.start(StubLinkd.Stored(stage: .waitingForCaptcha, details: details))
    #expect(await error { () throws(LinkdError) in try await rig.app.sendCode(to: "+1") } == .handlerMissing)
    #expect(await rig.stub.calls.last?.member == "Cancel")
    let flow = try await rig.app.startPhone("+1")
    #expect(try await flow.nextStep().details.error?.authError == .handlerMissing)
  }

  @Test(
    "what can't be confirmed here is RequiresRecentLogin, and leaves no flow behind",
    arguments: ["UpdatePassword", "ChangeEmail", "UnenrollFactor"])
  func tooOld(_ member: String) async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .reauthenticationRequired))
    let thrown = await error { () throws(LinkdError) in
      switch member {
      case "UpdatePassword": try await rig.app.updatePassword(Secret("battery staple"))
      case "ChangeEmail": try await rig.app.changeEmail(to: "a@example.com")
      default: try await rig.app.unenrollFactor("f")
      }
    }
    #expect(thrown == .requiresRecentLogin)
    #expect(await rig.stub.calls.map(\.member).suffix(2) == [member, "Cancel"])
  }

  @Test("each way to sign in, and each action on the account, is its own call")
  func requests() async throws {
    let rig = try await Rig.start()
    let password = Secret("correct horse")
    let requests: [(SignInRequest, String)] = [
      (.emailLink("a@b"), "SendSignInLink"), (.password(email: "a@b", password), "SignInWithPassword"),
      (.phone("+1"), "SignInWithPhoneNumber"), (.provider("google.com"), "SignInWithProvider"),
      (.credential(CallTests.credential), "SignInWithCredential"), (.customToken(password), "SignInWithCustomToken"),
    ]
    for (request, member) in requests {
      #expect(try await rig.app.start(request, purpose: .reauthenticate).id.value == "f1")
      let call = try #require(await rig.stub.calls.last)
      #expect(call.member == member && call.arguments.last?.asDict?["purpose"]?.asString == "reauthenticate")
    }
    let actions: [(AccountAction, String)] = [
      (.updatePassword(password), "UpdatePassword"), (.changeEmail("a@b"), "ChangeEmail"),
      (.changePhoneNumber("+1"), "ChangePhoneNumber"), (.enrollPhoneFactor("+1"), "EnrollPhoneFactor"),
      (.enrollTOTPFactor(), "EnrollTotpFactor"), (.unenrollFactor("f"), "UnenrollFactor"),
      (.unlink("phone"), "Unlink"), (.deleteUser, "DeleteUser"), (.reauthenticate, "Reauthenticate"),
    ]
    for (action, member) in actions {
      #expect(try await rig.app.start(action).id.value == "f1")
      #expect(await rig.stub.calls.last?.member == member)
    }
    #expect(!"\(requests) \(actions)".contains("correct horse"))
  }
}
