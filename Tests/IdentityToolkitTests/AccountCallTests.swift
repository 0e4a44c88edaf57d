import AuthCore
import EventLoop
import Testing

@testable import IdentityToolkit

/// Passwords, addresses, Apple's tokens.
extension SecondFactorCallTests {
  @Test("a new password brings new tokens; a portal's word isn't believed") @LoopActor func password() async throws {
    let (tokens, request) = try await ask(#"{"localId":"u","idToken":"ID","refreshToken":"RT","expiresIn":"3600"}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.updatePassword(Secret("correct horse"), idToken: token, project: project)
    }
    #expect(tokens == TokenGrant(idToken: Secret("ID"), refreshToken: Secret("RT"), expiresIn: 3600))
    #expect(
      try body(request)
        == ["idToken": "T", "password": "correct horse", "returnSecureToken": true, "tenantId": "t"])
    let (none, _) = try await ask(#"{"localId":"u"}"#) { toolkit, project throws(AuthFailure) in
      try await toolkit.updatePassword(Secret("correct horse"), idToken: token, project: project)
    }
    #expect(none == nil)
    let error = try await refusal(#"{"status":"ok"}"#) { toolkit, project throws(AuthFailure) in
      try await toolkit.updatePassword(Secret("correct horse"), idToken: token, project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "NO_ACCOUNT"))
  }

  @Test("a change of address is mailed to the new one") @LoopActor func email() async throws {
    let (_, request) = try await ask(#"{"kind":"k","email":"old@example.com"}"#) {
      toolkit, project throws(AuthFailure) in
      try await toolkit.sendEmailChange(
        to: "New+tag@example.com", idToken: token, continueURL: "https://app.example/done", project: project)
    }
    #expect(
      try body(request)
        == [
          "requestType": "VERIFY_AND_CHANGE_EMAIL", "newEmail": "New+tag@example.com", "idToken": "T",
          "continueUrl": "https://app.example/done", "clientType": "CLIENT_TYPE_WEB", "tenantId": "t",
        ])
  }

  /// Identity-toolkit 2.19.
  @Test("Apple's code is given back") @LoopActor func revoke() async throws {
    let (_, request) = try await ask("{}") { toolkit, project throws(AuthFailure) in
      try await toolkit.revokeAppleToken(.authorizationCode(Secret("c")), idToken: token, project: project)
    }
    #expect(request.target.contains("/v2/accounts:revokeToken?key="))
    #expect(
      try body(request) == ["providerId": "apple.com", "tokenType": "3", "token": "c", "idToken": "T"])
    let recorded = try #require(
      RecordedCall.exchanges("01").first { $0["name"] == "v2 accounts:revokeToken" }?["response"]?["body"])
    let error = try await refusal(recorded.text, status: 501) { toolkit, project throws(AuthFailure) in
      try await toolkit.revokeAppleToken(.authorizationCode(Secret("c")), idToken: token, project: project)
    }
    #expect(error == AuthFailure(.serviceUnavailable, serverCode: "HTTP_501"))
  }
}
