import AuthCore
import DBus
import EventLoop
import LinkdClient
import TestSupport
import Testing

@Suite("Flows", .timeLimit(.minutes(1)))
struct FlowTests {
  private func start(_ stage: FlowStage = .waitingForLink) async throws -> (Rig, LinkdFlow) {
    let rig = try await Rig.start(StubLinkd.Stored(stage: stage))
    return (rig, try await rig.app.startEmailLink("you@example.com"))
  }

  @Test("the stages begin with the current one and end with the flow, over a restart")
  func stages() async throws {
    let (rig, flow) = try await start()
    var stages = flow.stages.makeAsyncIterator()
    let first = try #require(try await stages.next())
    #expect(first.id.value == "f1" && first.app?.value == "demo" && first.purpose == .signIn)
    #expect(
      first.stage == .waitingForLink && first.method == .emailLink && first.createdAt == 5 && first.expiresAt == 9)
    await rig.stub.move(.waitingForEmail, ["kind": .string("emailSignIn")])
    #expect(try await stages.next()?.details.kind == "emailSignIn")
    await rig.stub.move(.waitingForLink, told: false)
    await rig.stub.die()
    try await rig.stub.restart(rig.bus)
    #expect(try await stages.next()?.stage == .waitingForLink)
    await rig.stub.move(
      .succeeded,
      [
        "user": .dict(["uid": .string("u1"), "email": .string("you@example.com")]), "is-new-user": .boolean(true),
        "upgraded": .boolean(true), "previous-uid": .string("g1"),
      ])
    let last = try #require(try await stages.next()).details
    #expect(last.user?.email == "you@example.com" && last.isNewUser && last.isUpgraded && last.previousUID == "g1")
    #expect(try await stages.next() == nil)
  }

  @Test("stages that follow each other at once all come")
  func quick() async throws {
    let (rig, flow) = try await start(.starting)
    var stages = flow.stages.makeAsyncIterator()
    #expect(try await stages.next()?.stage == .starting)
    let path: [FlowStage] = [.waitingForLink, .exchanging, .waitingForLink, .exchanging, .succeeded]
    await rig.stub.moveAll(path)
    for stage in path { #expect(try await stages.next()?.stage == stage) }
    #expect(try await stages.next() == nil)
  }

  @Test("the details of each stage are typed")
  func details() async throws {
    let (rig, flow) = try await start()
    await rig.stub.move(
      .conflict,
      [
        "error": .string(AuthError.networkUnavailable.dbusName), "message": .string("No network."),
        "email": .string("a@b"), "phone-number": .string("+1"), "expires-at": .int64(2), "can-resend-at": .int64(3),
        "code-length": .uint32(6), "attempts-left": .uint32(4), "new": .boolean(true), "retry": .boolean(true),
        "hints": .dicts([["uid": .string("f"), "kind": .string("totp")]]),
        "kind": .string("totp"), "display-name": .string("Mine"),
        "reauthentication": .dict([
          "kind": .string("oauth"), "provider-id": .string("google.com"), "provider-name": .string("Google"),
          "email": .string("a@b"), "phone-number": .string("+1"), "display-message": .string("Again."),
        ]),
        "conflict": .dict([
          "kind": .string("email-already-in-use"), "options": .strings(["switch", "later", "cancel"]),
          "email": .string("a@b"), "anonymous-uid": .string("g1"), "existing-uid": .string("u1"),
          "message": .string("There is one."), "phone-number": .string("+2"),
        ]),
      ])
    let status = try await flow.status()
    let details = status.details
    #expect(status.stage == .conflict && details.error == .auth(.networkUnavailable, message: "No network."))
    #expect(details.email == "a@b" && details.phoneNumber == "+1" && details.expiresAt == 2 && details.canResendAt == 3)
    #expect(details.codeLength == 6 && details.attemptsLeft == 4 && details.isNewPassword && details.canRetry)
    #expect(details.hints.map(\.kind) == [.totp] && details.codeKind == .totp && details.displayName == "Mine")
    var reauthentication = FlowReauthentication(.oauth)
    (reauthentication.providerID, reauthentication.providerName) = ("google.com", "Google")
    (reauthentication.email, reauthentication.phoneNumber, reauthentication.message) = ("a@b", "+1", "Again.")
    #expect(details.reauthentication == reauthentication)
    let conflict = try #require(details.conflict)
    #expect(conflict.kind == .emailAlreadyInUse && conflict.options == [.switch, .cancel] && conflict.email == "a@b")
    #expect(conflict.anonymousUID == "g1" && conflict.existingUID == "u1" && conflict.message == "There is one.")
    #expect(conflict.phoneNumber == "+2")
  }

  @Test(
    "its end is its result: the status, or why there is none",
    arguments: [
      (FlowStage.succeeded, nil), (.cancelled, AuthError.cancelled), (.expired, .expiredActionCode),
      (.failed, .userDisabled),
    ] as [(FlowStage, AuthError?)])
  func end(_ stage: FlowStage, _ error: AuthError?) async throws {
    let (rig, flow) = try await start()
    async let end = failure { () throws(LinkdError) in try await flow.end() }
    await rig.stub.move(stage, stage == .failed ? ["error": .string(AuthError.userDisabled.dbusName)] : [:])
    #expect(await end?.authError == error)
  }

  @Test("cancelling the task that waits cancels the flow")
  func cancelled() async throws {
    let (rig, flow) = try await start()
    await rig.stub.answer("Cancel", with: .nothing) { $0.move(.cancelled) }
    let task = Task { await failure { () throws(LinkdError) in try await flow.end() } }
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("cancelling the task while its flow is being made cancels that flow")
  func cancelledEarly() async throws {
    let rig = try await Rig.start()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let (answered, answer) = AsyncStream.makeStream(of: Void.self)
    await rig.stub.hold("SignInWithPassword", ask, until: answered)
    let task = Task {
      await failure { () throws(LinkdError) in try await rig.app.signIn(email: "a@b", password: Secret("x")) }
    }
    for await _ in asked { break }
    task.cancel()
    answer.finish()
    #expect(await task.value == .cancelled)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("a flow that linkd died over is picked up: linkd is asked for, and the flow goes on")
  func diedExchanging() async throws {
    let (rig, flow) = try await start(.exchanging)
    var stages = flow.stages.makeAsyncIterator()
    #expect(try await stages.next()?.stage == .exchanging)
    await rig.stub.die()
    // Here the bus knows nobody to start.
    guard case .unavailable = await failure({ () throws(LinkdError) in try await stages.next() }) else {
      Issue.record("no error")
      return
    }
  }

  @Test("a sign-in that needs a second factor, or another step, says so and leaves no flow behind")
  func needsPerson() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .secondFactorRequired))
    #expect(
      await failure { () throws(LinkdError) in try await rig.app.signIn(email: "a@b", password: Secret("x")) }?
        .authError
        == .secondFactorRequired)
    #expect(await rig.stub.calls.last?.member == "Cancel")
    await rig.stub.move(.waitingForPassword, ["error": .string(AuthError.networkUnavailable.dbusName)])
    #expect(
      await failure { () throws(LinkdError) in try await rig.app.signIn(email: "a@b", password: Secret("x")) }?
        .authError
        == .networkUnavailable)
  }

  @Test("a mail that can't be sent is why there is no link, and leaves no flow behind")
  func mailFails() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .starting))
    await rig.stub.answer("SendSignInLink", with: .flow) { stub in
      stub.move(.waitingForLink, ["error": .string(AuthError.networkUnavailable.dbusName)])
    }
    #expect(
      await failure { () throws(LinkdError) in _ = try await rig.app.sendSignInLink(to: "a@b") }?.authError
        == .networkUnavailable)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("the next step of a mailed link comes when it was opened, or when no mail can be sent")
  func nextStepOfLink() async throws {
    let (rig, flow) = try await start()
    var stages = flow.stages.makeAsyncIterator()
    #expect(try await stages.next()?.stage == .waitingForLink)
    async let step = flow.nextStep()
    await rig.stub.move(.exchanging)
    await rig.stub.move(.secondFactorRequired)
    #expect(try await step.stage == .secondFactorRequired)
    await rig.stub.move(.waitingForLink, ["error": .string(AuthError.networkUnavailable.dbusName)])
    #expect(try await flow.nextStep().details.error?.authError == .networkUnavailable)
  }

  @Test("deleting the account after a sign-in too long ago is RequiresRecentLogin, and leaves no flow behind")
  func deletion() async throws {
    let rig = try await Rig.start(StubLinkd.Stored(stage: .reauthenticationRequired))
    #expect(
      await failure { () throws(LinkdError) in try await rig.app.deleteAccount() }?.authError == .requiresRecentLogin)
    #expect(await rig.stub.calls.last?.member == "Cancel")
  }

  @Test("a flow that isn't there is NoSuchFlow")
  func gone() async throws {
    let rig = try await Rig.start()
    let flow = rig.service.flow(try #require(FlowID("nothing")))
    #expect(await failure { () throws(LinkdError) in try await flow.status() }?.authError == .noSuchFlow)
    #expect(await failure { () throws(LinkdError) in try await flow.end() }?.authError == .noSuchFlow)
  }
}

extension StubLinkd {
  func moveAll(_ stages: [FlowStage]) { for stage in stages { move(stage) } }

  enum Reply { case nothing, flow }

  func answer(_ member: String, with reply: Reply, _ body: @escaping @LoopActor (StubLinkd) -> Void) {
    answers[member] = { [unowned self] _ in
      body(self)
      return reply == .flow ? [.objectPath(Self.flow)] : []
    }
  }

  /// Answers `member` when `released` ends; tells that it was called.
  func hold(
    _ member: String, _ asked: AsyncStream<Void>.Continuation, until released: AsyncStream<Void>
  ) {
    answers[member] = { _ in
      asked.yield()
      for await _ in released {}
      return [.objectPath(Self.flow)]
    }
  }
}
