import AuthCore

/// What a provider says about somebody, as a client hands it over: claims in clear, or in a JWT that nobody verifies.
struct ProviderCredential: Sendable {
  let providerID: String
  private let idToken: String?
  private let accessToken: String?
  private let claims: JSONValue
  let rawID: String
  let email: String?
  let emailVerified: Bool
  /// Attributes of a SAML assertion.
  let attributes: JSONValue?

  var displayName: String? { claims["name"]?.string }
  var photoURL: String? { claims["picture"]?.string }
  var screenName: String? { claims["screen_name"]?.string }

  /// The entry of an account that signs in this way.
  var info: ProviderInfo {
    ProviderInfo(
      providerID: providerID, rawID: rawID, federatedID: rawID, email: email, displayName: displayName,
      photoURL: photoURL, screenName: screenName)
  }

  /// - Parameters:
  ///   - address: the address the provider returned to; its query or fragment may hold the credential.
  ///   - form: or a form does.
  ///   - accessTokens: what the access tokens of the emulator's own providers stand for.
  init(address: String, form: String, accessTokens: [String: JSONValue]) throws(APIError) {
    let query = address.split(separator: "?", maxSplits: 1).dropFirst().first.map { $0.prefix { $0 != "#" } } ?? ""
    let fragment = address.split(separator: "#", maxSplits: 1).dropFirst().first ?? ""
    let pairs = [form, String(fragment), String(query)].flatMap { URLText.pairs($0).map { ($0.name, $0.value) } }
    let fields = Dictionary(pairs) { first, _ in first }
    guard let providerID = fields["providerId"], !providerID.isEmpty else {
      let whole = URLText.normalized(address) + (form.isEmpty ? "" : "?" + form)
      throw APIError("INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: \(whole)")
    }
    self.providerID = providerID
    (idToken, accessToken) = (fields["id_token"], fields["access_token"])
    if idToken == nil, let known = accessToken.flatMap({ accessTokens[$0] }) {
      claims = known
    } else {
      claims = try Self.claims(idToken: idToken, accessToken: accessToken, providerID: providerID)
    }
    if let idToken { try Self.checkNonce(idToken, claims, raw: fields["nonce"]) }
    rawID = try Self.subject(claims)
    if providerID.hasPrefix("saml."), let response = fields["SAMLResponse"] {
      let assertion = try Self.assertion(response)
      (email, emailVerified, attributes) = (assertion.name.lowercased(), true, assertion.attributes)
    } else {
      email = claims["email"]?.string?.lowercased()
      emailVerified = claims["email_verified"] == true || claims["email_verified"] == "true"
      attributes = nil
    }
  }

  /// Production's rule, which the recorded service hasn't: a signed ID token with a nonce comes with the raw nonce, whose
  /// SHA-256 it is. Tokens that nobody signed are the tests' own, and pass.
  private static func checkNonce(_ idToken: String, _ claims: JSONValue, raw: String?) throws(APIError) {
    guard !idToken.hasPrefix("{"), !idToken.hasSuffix("."), let nonce = claims["nonce"]?.string else { return }
    guard let raw, !raw.isEmpty else {
      throw APIError("MISSING_OR_INVALID_NONCE : Nonce is missing in the request.")
    }
    guard Digest.hexadecimal(Digest.sha256(Array(raw.utf8))) == nonce else {
      throw APIError(
        "MISSING_OR_INVALID_NONCE : The nonce in ID Token \"\(nonce)\" does not match the SHA256 hash of the raw nonce"
          + " \"\(raw)\" in the request.")
    }
  }

  private static func claims(
    idToken: String?, accessToken: String?, providerID: String
  ) throws(APIError) -> JSONValue {
    if let token = idToken {
      if token.hasPrefix("{") {
        guard let claims = try? JSONText.parse(token) else {
          throw unparsable(token, "Auth Emulator failed to parse fake id_token as strict JSON.")
        }
        return claims
      }
      guard let claims = JWT.claims(token) else {
        throw unparsable(token, "Auth Emulator only accepts strict JSON or JWTs as fake id_tokens.")
      }
      return claims
    }
    guard let token = accessToken else {
      throw .notImplemented("The Auth Emulator only supports sign-in with credentials (id_token required).")
    }
    if token.hasPrefix("{"), let claims = try? JSONText.parse(token) { return claims }
    if providerID == "google.com" || providerID == "apple.com" {
      throw .notImplemented(
        "The Auth Emulator only support sign-in with \(providerID) using id_token, not access_token. Please update your"
          + " code to use id_token.")
    }
    throw .notImplemented("The Auth Emulator does not support \(providerID) sign-in with credentials.")
  }

  private static func unparsable(_ token: String, _ reason: String) -> APIError {
    APIError("INVALID_IDP_RESPONSE : Unable to parse id_token: \(token) ((\(reason)))")
  }

  private static func subject(_ claims: JSONValue) throws(APIError) -> String {
    guard let subject = claims["sub"] else {
      throw APIError(
        "INVALID_IDP_RESPONSE : Invalid Idp Response: id_token missing required fields. ((Missing \"sub\" field. This"
          + " field is required and must be a unique identifier.))")
    }
    guard let text = subject.string else {
      throw APIError("INVALID_IDP_RESPONSE : ((The \"sub\" field must be a string.))")
    }
    return text
  }

  private static func assertion(_ response: String) throws(APIError) -> (name: String, attributes: JSONValue?) {
    let content: JSONValue
    do throws(JSONSyntaxError) {
      content = try JSONText.parse(response)
    } catch {
      throw .unhandled(error.message, reason: "SyntaxError")
    }
    func missing(_ what: String) -> APIError { APIError("INVALID_IDP_RESPONSE ((Missing \(what) in SAMLResponse.))") }
    guard let assertion = content["assertion"] else { throw missing("assertion") }
    guard let subject = assertion["subject"] else { throw missing("assertion.subject") }
    guard let name = subject["nameId"]?.string else { throw missing("assertion.subject.nameId") }
    return (name, assertion["attributeStatements"])
  }

  /// The credential as `accounts:signInWithIdp` answers it.
  var json: JSONValue {
    let isGoogle = providerID == "google.com"
    return .record([
      "kind": "identitytoolkit#VerifyAssertionResponse", "context": "", "providerId": .string(providerID),
      "displayName": displayName.json, "fullName": displayName.json, "screenName": screenName.json,
      "email": email.json, "emailVerified": email.map { _ in .bool(emailVerified) }, "photoUrl": photoURL.json,
      "firstName": isGoogle ? claims["given_name"] : nil, "lastName": isGoogle ? claims["family_name"] : nil,
      "rawUserInfo": .string((attributes ?? (isGoogle ? googleProfile : claims)).text),
      "federatedId": .string(isGoogle ? "https://accounts.google.com/\(rawID)" : rawID),
      "oauthAccessToken": .string(accessToken ?? "FirebaseAuthEmulatorFakeAccessToken_\(providerID)"),
      "oauthIdToken": idToken.json,
    ])
  }

  private var googleProfile: JSONValue {
    let scopes = "openid https://www.googleapis.com/auth/userinfo.profile"
    return .record([
      "granted_scopes": .string(scopes + (email == nil ? "" : " https://www.googleapis.com/auth/userinfo.email")),
      "id": .string(rawID), "name": displayName.json, "given_name": claims["given_name"],
      "family_name": claims["family_name"], "verified_email": .bool(emailVerified), "locale": "en", "email": email.json,
      "picture": photoURL.json,
    ])
  }
}
