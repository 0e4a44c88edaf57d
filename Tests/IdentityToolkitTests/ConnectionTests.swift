import AuthCore
import EventLoop
import Foundation
import Testing

@testable import IdentityToolkit

@Suite("Connections", .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct ConnectionTests {
  @Test("a client that goes closes its connections") @LoopActor
  func deinitialisation() async throws {
    let server = try ScriptedServer(.json(200, Self.tokens))
    let project = try server.project()
    var toolkit: IdentityToolkit? = IdentityToolkit(http: HTTPClient())
    for _ in 0..<2 { _ = try await toolkit?.refresh(refreshToken: Secret("RT"), project: project) }
    toolkit = nil
    var departures = server.departures.makeAsyncIterator()
    #expect(await departures.next() == 1)
    #expect(server.requests.count == 2)
  }

  @Test("a request that hangs holds up no other") @LoopActor
  func parallel() async throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try ScriptedServer { request in
      request.target.contains("signUp")
        ? .after(gate, .json(200, TransportTests.whole)) : .json(200, #"{"id_token":"NEW"}"#)
    }
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    let hanging = Task { @LoopActor in try await toolkit.signUpAnonymously(project: project) }
    var arrivals = server.arrivals.makeAsyncIterator()
    _ = await arrivals.next()
    let grant = try await toolkit.refresh(refreshToken: Secret("RT"), project: project)
    #expect(grant.idToken.reveal() == "NEW")
    #expect(toolkit.isBusy)
    gate.signal()
    #expect(try await hanging.value.tokens?.idToken.reveal() == "ID")
    #expect(!toolkit.isBusy)
  }

  @Test("a cancelled task ends its transfer and no other") @LoopActor
  func cancellation() async throws {
    let gate = DispatchSemaphore(value: 0)
    let others = 15
    defer { for _ in 0...others { gate.signal() } }
    let server = try ScriptedServer(.after(gate, .json(200, TransportTests.whole)))
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    let doomed = Task { @LoopActor in
      try await failure { () throws(AuthFailure) in try await toolkit.signUpAnonymously(project: project) }
    }
    let waiting = (0..<others).map { _ in
      Task { @LoopActor in try await toolkit.signUpAnonymously(project: project) }
    }
    var arrivals = server.arrivals.makeAsyncIterator()
    for _ in 0...others { _ = await arrivals.next() }
    doomed.cancel()
    #expect(try await doomed.value.error == .cancelled)
    for _ in 0...others { gate.signal() }
    for task in waiting { #expect(try await task.value.tokens?.idToken.reveal() == "ID") }
    #expect(!toolkit.isBusy)
  }

  @Test("a task cancelled before sends nothing") @LoopActor
  func cancelledBefore() async throws {
    let server = try ScriptedServer(.json(200, TransportTests.whole))
    let project = try server.project()
    let task = Task { @LoopActor in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await failure { () throws(AuthFailure) in
        try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
      }
    }
    #expect(try await task.value.error == .cancelled)
    #expect(server.requests.isEmpty)
  }

  private static let tokens = #"{"id_token":"ID","refresh_token":"RT","expires_in":"3600"}"#

  private func refresh(_ toolkit: IdentityToolkit, _ project: ProjectContext) async throws(AuthFailure) {
    _ = try await toolkit.refresh(refreshToken: Secret("RT"), project: project)
  }

  @Test("a connection is kept for the next call") @LoopActor
  func keepAlive() async throws {
    let server = try ScriptedServer(.json(200, Self.tokens))
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    for _ in 0..<3 { try await refresh(toolkit, project) }
    #expect(server.requests.map(\.connection) == [1, 1, 1])
  }

  @Test("a kept connection that the server closed is replaced") @LoopActor
  func staleConnection() async throws {
    let server = try ScriptedServer(
      .raw("HTTP/1.1 200 OK\r\nContent-Length: \(Self.tokens.utf8.count)\r\n\r\n\(Self.tokens)"))
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    for _ in 0..<3 { try await refresh(toolkit, project) }
    #expect(server.requests.map(\.connection) == [1, 2, 3])
  }

  enum OnceCall: CaseIterable, Sendable {
    case emailLink, signUp, applyCode, reset, delete, mail, provider, customToken
    case message, phone, startFactor, finishFactor, finishApp, startPhone, finishPhone, finishTOTP, withdraw
    case password, emailChange, apple
  }

  /// libcurl sends again by itself what a kept connection gave no answer to, though the server may have seen it.
  @Test("what counts once reaches the server once, also when the connection is reset", arguments: OnceCall.allCases)
  @LoopActor
  func once(_ call: OnceCall) async throws {
    let server = try ScriptedServer { request in
      request.target.contains("/v1/token") ? .json(200, Self.tokens) : .reset
    }
    let project = try server.project()
    let toolkit = IdentityToolkit(http: HTTPClient())
    try await refresh(toolkit, project)
    let failure = try await failure { () throws(AuthFailure) in try await send(call, toolkit, project) }
    #expect(failure.error == .networkUnavailable)
    #expect(server.requests.filter { !$0.target.contains("/v1/token") }.count == 1)
  }

  @LoopActor
  private func send(
    _ call: OnceCall, _ toolkit: IdentityToolkit, _ project: ProjectContext
  ) async throws(AuthFailure) {
    let code = Secret("C1")
    switch call {
    case .emailLink:
      _ = try await toolkit.signInWithEmailLink(
        email: "a@example.com", oobCode: code, idToken: nil, project: project)
    case .signUp: _ = try await toolkit.signUpAnonymously(project: project)
    case .applyCode: try await toolkit.applyActionCode(code, project: project)
    case .reset: try await toolkit.confirmPasswordReset(code, newPassword: Secret("p"), project: project)
    case .delete: try await toolkit.deleteUser(uid: "u", idToken: code, project: project)
    case .provider:
      var credential = OAuthCredential(providerID: "google.com")
      credential.idToken = code
      _ = try await toolkit.signInWithIdp(credential, idToken: nil, createsAccount: true, project: project)
    case .customToken: _ = try await toolkit.signInWithCustomToken(code, project: project)
    case .mail: try await toolkit.sendPasswordReset(to: "a@example.com", continueURL: nil, project: project)
    case .emailChange:
      try await toolkit.sendEmailChange(to: "a@example.com", idToken: code, continueURL: nil, project: project)
    case .password: _ = try await toolkit.updatePassword(code, idToken: code, project: project)
    case .apple: try await toolkit.revokeAppleToken(.authorizationCode(code), idToken: code, project: project)
    case .withdraw: _ = try await toolkit.withdrawSecondFactor("f", idToken: code, project: project)
    case .message, .phone, .startFactor, .finishFactor, .finishApp, .startPhone, .finishPhone, .finishTOTP:
      try await sendCode(call, toolkit, project)
    }
  }

  /// What sends a text message, or spends a code of one or of an authenticator app.
  @LoopActor
  private func sendCode(
    _ call: OnceCall, _ toolkit: IdentityToolkit, _ project: ProjectContext
  ) async throws(AuthFailure) {
    let code = Secret("C1")
    switch call {
    case .message: _ = try await toolkit.sendVerificationCode(to: "+1", recaptchaToken: nil, project: project)
    case .phone:
      _ = try await toolkit.signInWithPhoneNumber(
        .code(code, sessionInfo: code), operation: .signIn, project: project)
    case .startFactor:
      _ = try await toolkit.startSecondFactor(pending: code, factorUID: "f", recaptchaToken: nil, project: project)
    case .finishFactor:
      _ = try await toolkit.finishSecondFactor(pending: code, code: code, sessionInfo: code, project: project)
    case .finishApp:
      _ = try await toolkit.finishSecondFactor(pending: code, totpCode: code, factorUID: "f", project: project)
    case .startPhone:
      _ = try await toolkit.startPhoneEnrollment(
        phoneNumber: "+1", recaptchaToken: nil, idToken: code, project: project)
    case .finishPhone:
      _ = try await toolkit.finishPhoneEnrollment(
        code: code, sessionInfo: code, displayName: nil, idToken: code, project: project)
    case .finishTOTP:
      _ = try await toolkit.finishTOTPEnrollment(
        code: code, sessionInfo: code, displayName: nil, idToken: code, project: project)
    default: Issue.record("no such call")
    }
  }
}
