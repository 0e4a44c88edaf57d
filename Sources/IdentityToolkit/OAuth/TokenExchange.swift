public import AuthCore
import Crypto

/// What a token endpoint gave for a code (RFC 6749 5.1, OpenID Connect Core 3.1.3.3).
public struct ProviderTokens: Sendable, Hashable {
  /// `id_token`, not checked yet: see `OpenIDClient.verify`. Always there where the provider has an issuer.
  public var idToken: Secret<String>?
  /// `access_token`.
  public var accessToken: Secret<String>?
  /// `refresh_token`.
  public var refreshToken: Secret<String>?
  /// Seconds that the access token lives.
  public var expiresIn: Int64?
  /// What was granted, where it isn't what was asked.
  public var scope: String?
  /// The provider's clock when it answered, Unix seconds: what its ID token's times are compared with.
  public var date: Int64?
}

extension OpenIDClient {
  /// Exchanges `code` at the token endpoint of the request that it answers (RFC 6749 4.1.3, RFC 7636 4.5). The form is sent
  /// once, whatever becomes of the connection.
  ///
  /// - Parameter secret: where the provider gave the client one.
  /// - Throws: `invalidProviderResponse` with the provider's word for it (RFC 6749 5.2) as `serverCode`: `invalid_grant` for
  ///   a code that is spent or foreign, `invalid_client`, …, `UNKNOWN`; with a word in capitals for an answer that can't be
  ///   used. What waiting may mend as such, though the code may be spent then.
  public func exchange(
    code: Secret<String>, authorization: PendingAuthorization.Client, secret: Secret<String>?, providerID: String
  ) async throws(AuthFailure) -> ProviderTokens {
    let request = try request(code, authorization, secret)
    let response: HTTPResponse
    do throws(TransportError) { response = try await http.send(request) } catch { throw error.failure }
    return try TokenAnswer(response, hasIssuer: authorization.metadata.issuer != nil).tokens()
  }

  private func request(
    _ code: Secret<String>, _ authorization: PendingAuthorization.Client, _ secret: Secret<String>?
  ) throws(AuthFailure) -> HTTPRequest {
    let metadata = authorization.metadata
    // Plain HTTP is for a provider that is on this machine as a whole.
    let allowsLocal = metadata.issuer.map { $0.hasPrefix("http://") } ?? true
    guard let url = EndpointURL(metadata.tokenEndpoint, allowsLocal: allowsLocal) else {
      throw AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT")
    }
    var fields = [
      (name: "grant_type", value: "authorization_code"), (name: "code", value: code.reveal()),
      (name: "redirect_uri", value: authorization.redirectURI),
      (name: "code_verifier", value: authorization.codeVerifier.reveal()),
    ]
    let secret = (secret?.reveal()).filled
    if metadata.usesBasicAuthentication, let secret {
      var request = url.request(form: Form.encode(fields))
      request.headers.append((name: "Authorization", value: Self.basic(authorization.clientID, secret)))
      return request
    }
    fields.append((name: "client_id", value: authorization.clientID))
    if let secret { fields.append((name: "client_secret", value: secret)) }
    return url.request(form: Form.encode(fields))
  }

  /// Both halves are encoded as in a form (RFC 6749 2.3.1).
  private static func basic(_ client: String, _ secret: String) -> String {
    let text = Base64URL.encode(Array("\(Form.escaped(client)):\(Form.escaped(secret))".utf8))
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    // RFC 4648 4, the alphabet of headers.
    return "Basic " + text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : String($0) }.joined() + padding
  }
}

/// A token endpoint's answer.
struct TokenAnswer {
  private let response: HTTPResponse
  private let hasIssuer: Bool
  private let fields: JSONValue?

  init(_ response: HTTPResponse, hasIssuer: Bool) {
    self.response = response
    self.hasIssuer = hasIssuer
    // GitHub's manner, where it isn't asked for JSON; OpenID Connect knows none but JSON.
    if response.contentType == Form.contentType, !hasIssuer {
      fields = Form.decode(response.body).map { .object($0.mapValues { .string($0) }) }
    } else {
      fields = JSONValue(json: response.body, repeatedNames: false)
    }
  }

  func tokens() throws(AuthFailure) -> ProviderTokens {
    if let failure { throw failure }
    func secret(_ name: String) -> Secret<String>? { (fields?[name]?.string).filled.map { Secret($0) } }
    if let type = fields?["token_type"], type.string?.lowercased() != "bearer" {
      throw AuthFailure(.invalidProviderResponse, serverCode: "TOKEN_TYPE")
    }
    let tokens = ProviderTokens(
      idToken: secret("id_token"), accessToken: secret("access_token"), refreshToken: secret("refresh_token"),
      expiresIn: seconds(fields?["expires_in"]), scope: (fields?["scope"]?.string).filled, date: response.date)
    if tokens.idToken == nil, hasIssuer || tokens.accessToken == nil {
      throw AuthFailure(.invalidProviderResponse, serverCode: "MISSING_TOKENS")
    }
    return tokens
  }

  /// Some write numbers as texts.
  private func seconds(_ value: JSONValue?) -> Int64? {
    (value?.integer ?? value?.string.flatMap { Int64($0) }).flatMap { $0 >= 0 ? $0 : nil }
  }

  private var failure: AuthFailure? {
    if let word = fields?["error"], response.status == 200 || (400..<500).contains(response.status),
      response.status != 429
    {
      return Self.failure(word.string ?? "")
    }
    guard let failure = response.providerFailure else {
      return fields?.object == nil ? AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER") : nil
    }
    // A refusal of the provider's own has a word for it: this one is somebody else's.
    return failure.isTransient ? failure : AuthFailure(.serviceUnavailable, serverCode: failure.serverCode)
  }

  /// RFC 6749 5.2.
  private static let words: Set = [
    "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
    "invalid_scope",
  ]
  /// GitHub's words for some of them, which come with status 200.
  private static let others = [
    "bad_verification_code": "invalid_grant", "incorrect_client_credentials": "invalid_client",
    "redirect_uri_mismatch": "invalid_grant",
  ]

  private static func failure(_ word: String) -> AuthFailure {
    // Meant for the browser's way (RFC 6749 4.1.2.1), but said here, too.
    if word == "temporarily_unavailable" || word == "server_error" {
      return AuthFailure(.serviceUnavailable, serverCode: word)
    }
    return AuthFailure(
      .invalidProviderResponse, serverCode: words.contains(word) ? word : others[word] ?? "UNKNOWN")
  }
}
