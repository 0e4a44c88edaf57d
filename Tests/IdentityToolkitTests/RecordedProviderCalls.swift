import AuthCore
import Testing

@testable import IdentityToolkit

/// The calls about providers and custom tokens, as they were recorded.
extension RecordedCall {
  /// Those in transcripts about something else, whose other calls don't matter here.
  static var ofOthers: [RecordedCall] {
    ["29", "30", "32"].flatMap(inTranscript).filter {
      ["signInWithIdp", "signInWithCustomToken", "sendVerificationCode", "signInWithPhoneNumber"].contains($0.call.name)
        || $0.call.name.hasPrefix("mfa") || $0.request["deleteProvider"] != nil
    }
  }

  static func provider(_ name: String, _ body: [String: JSONValue]) -> Call? {
    func secret(_ name: String) -> Secret<String>? { body[name]?.string.map { Secret($0) } }
    let known: Set = [
      "requestUri", "postBody", "pendingToken", "idToken", "autoCreate", "returnSecureToken", "returnIdpCredential",
      "tenantId",
    ]
    if name == "signInWithCustomToken" {
      guard let token = secret("token") else { return nil }
      return Call(name) { .signIn(try await $0.signInWithCustomToken(token, project: $1)) }
    }
    guard Set(body.keys).isSubset(of: known), body["requestUri"] != nil,
      // Without a form the credential is in the URI.
      let credential = credential(
        Self.form(body["postBody"]?.string ?? "providerId=google.com"), secret("pendingToken"), secret("requestUri"))
    else { return nil }
    // Without it there are no tokens in the answer.
    guard body["returnSecureToken"] == true || body["returnIdpCredential"] == nil else { return nil }
    let (token, creates) = (secret("idToken"), body["autoCreate"]?.bool ?? true)
    return Call(name) {
      let answer = try await $0.signInWithIdp(credential, idToken: token, createsAccount: creates, project: $1)
      return .provider(answer, sent: credential)
    }
  }

  /// Nil for what linkd's credentials can't hold.
  private static func credential(
    _ form: [String: JSONValue], _ pending: Secret<String>?, _ uri: Secret<String>?
  ) -> OAuthCredential? {
    let names: Set = ["providerId", "id_token", "access_token", "oauth_token_secret", "nonce"]
    guard let provider = form["providerId"]?.string, Set(form.keys).isSubset(of: names) else { return nil }
    var credential = OAuthCredential(providerID: provider)
    credential.idToken = form["id_token"]?.string.map { Secret($0) }
    credential.accessToken = form["access_token"]?.string.map { Secret($0) }
    credential.accessTokenSecret = form["oauth_token_secret"]?.string.map { Secret($0) }
    credential.rawNonce = form["nonce"]?.string.map { Secret($0) }
    credential.pendingToken = pending
    if uri != Secret("http://localhost") { credential.requestURI = uri }
    return credential
  }

  static func unlink(_ name: String, _ body: [String: JSONValue]) -> Call? {
    guard let token = body["idToken"]?.string, let providers = body["deleteProvider"]?.array, providers.count == 1,
      let provider = providers[0].string,
      Set(body.keys).isSubset(of: ["deleteProvider", "idToken", "returnSecureToken"])
    else { return nil }
    return Call(name) {
      .tokens(try await $0.unlink(providerID: provider, idToken: Secret(token), project: $1))
    }
  }

  func check(_ answer: ProviderAnswer, _ sent: OAuthCredential) throws {
    switch answer {
    case .grant(let grant, let uid, let credential):
      #expect(uid == body["localId"]?.string && uid != nil)
      #expect(grant.isNewUser == (body["isNewUser"]?.bool ?? false))
      #expect(body["needConfirmation"] == nil && body["errorMessage"] == nil)
      try check(grant)
      check(credential)
    case .secondFactorRequired(let pending, let factors, _):
      #expect(pending.reveal() == body["mfaPendingCredential"]?.string)
      #expect(factors.map(\.uid) == (body["mfaInfo"]?.array ?? []).map { $0["mfaEnrollmentId"]?.string })
    case .conflict(let conflict):
      let words = [
        "FEDERATED_USER_ID_ALREADY_LINKED": ConflictKind.credentialAlreadyInUse, "EMAIL_EXISTS": .emailAlreadyInUse,
      ]
      let word = (body["errorMessage"] ?? body["error"]?["message"])?.string
      #expect(conflict.kind == word.map { words[$0] } ?? .accountExistsWithDifferentCredential)
      #expect(conflict.email == body["email"]?.string)
      if body["oauthIdToken"] == nil, body["oauthAccessToken"] == nil {
        #expect(conflict.credential == sent)
      } else {
        check(conflict.credential)
      }
    }
  }

  private func check(_ credential: OAuthCredential?) {
    #expect(credential?.idToken?.reveal() == body["oauthIdToken"]?.string)
    #expect(credential?.accessToken?.reveal() == body["oauthAccessToken"]?.string)
    if let credential { #expect(credential.providerID == body["providerId"]?.string) }
  }
}
