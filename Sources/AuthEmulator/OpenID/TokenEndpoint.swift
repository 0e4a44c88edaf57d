import AuthCore

/// The token endpoint of an OpenID provider: a code, and the verifier of its challenge, for tokens (RFC 6749, section
/// 4.1.3; RFC 7636, section 4.6).
enum TokenEndpoint {
  static let operations: [Operation] = [
    Operation(name: "token", paths: OpenID.paths("token"), access: .anybody) { (call, world) throws(APIError) in
      do throws(Refusal) {
        return try exchange(call, &world)
      } catch {
        return error.reply
      }
    }
  ]

  /// How long a code lives, in milliseconds (RFC 6749, section 4.1.2: ten minutes at most).
  private static let codeLifetime: Int64 = 600_000

  /// An error as section 5.2 of RFC 6749 writes it.
  private struct Refusal: Error {
    let error: String
    let description: String
    var status = 400

    init(_ error: String, _ description: String, status: Int = 400) {
      (self.error, self.description, self.status) = (error, description, status)
    }

    var reply: Reply {
      var reply = Reply.json(
        ["error": .string(error), "error_description": .string(description)], status: status)
      if status == 401 { reply.headers.append(("WWW-Authenticate", "Basic realm=\"token\"")) }
      return reply.unstored
    }
  }

  private static func exchange(_ call: Call, _ world: inout World) throws(Refusal) -> Reply {
    guard call.request.mediaType == "application/x-www-form-urlencoded" else {
      throw Refusal("invalid_request", "the body has to be a form")
    }
    let form = call.request.form
    let provider = world[openID: call.provider]
    let client = try client(call.request, form, provider)
    guard form["grant_type"] == "authorization_code" else {
      throw Refusal("unsupported_grant_type", "grant_type has to be authorization_code")
    }
    guard let code = form["code"], let grant = provider.grants[code], grant.clientID == client.id else {
      throw Refusal("invalid_grant", "the code is unknown")
    }
    if grant.isUsed { throw Refusal("invalid_grant", "the code has been used") }
    if grant.issuedAt + codeLifetime < world.now { throw Refusal("invalid_grant", "the code has expired") }
    guard form["redirect_uri"] == grant.redirectURI else {
      throw Refusal("invalid_grant", "redirect_uri is another one")
    }
    // A wrong guess spends nothing: whoever has seen the code alone can't keep the client from it.
    guard let verifier = form["code_verifier"], isVerifier(verifier),
      Base64.encodeURL(Digest.sha256(Array(verifier.utf8))) == grant.challenge
    else { throw Refusal("invalid_grant", "code_verifier doesn't fit the challenge") }
    world[openID: call.provider].grants[code]?.isUsed = true
    return try answer(grant, call.provider, &world)
  }

  /// 43 to 128 unreserved characters (RFC 7636, section 4.1).
  private static func isVerifier(_ text: String) -> Bool {
    (43...128).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-._~".contains($0)) }
  }

  /// The client, by `client_secret_basic`, `client_secret_post`, or its id alone where it has no secret.
  private static func client(
    _ request: HTTPRequest, _ form: [String: String], _ provider: OpenIDProvider
  ) throws(Refusal) -> OpenIDClient {
    let basic = basic(request)
    if basic != nil, form["client_secret"] != nil {
      throw Refusal("invalid_request", "the secret is there in two ways")
    }
    guard let id = basic?.id ?? form["client_id"], let client = provider.client(id) else {
      throw Refusal("invalid_client", "the client is unknown", status: 401)
    }
    // Who takes everybody takes every secret.
    guard provider.settings.clients.isEmpty || client.secret == basic?.secret ?? form["client_secret"] else {
      throw Refusal("invalid_client", "the secret is wrong", status: 401)
    }
    return client
  }

  private static func basic(_ request: HTTPRequest) -> (id: String, secret: String)? {
    let words = (request.headers["authorization"] ?? "").split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "basic", let bytes = Base64.decode(words[1]) else { return nil }
    let halves = String(decoding: bytes, as: UTF8.self).split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2 else { return nil }
    return (URLText.decode(halves[0], plusIsSpace: true), URLText.decode(halves[1], plusIsSpace: true))
  }

  private static func answer(
    _ grant: OpenIDProvider.Grant, _ provider: String, _ world: inout World
  ) throws(Refusal) -> Reply {
    let claims = IDTokenClaims.about(grant.account, grant.scopes, world.openIDFault)
    let accessToken = RandomText.urlLetters(43)
    world.providers.accessTokens[accessToken] = claims
    var idToken: String?
    if grant.scopes.contains("openid"), world.openIDFault != .noIDToken {
      world[openID: provider].makeKey()
      idToken = IDTokenClaims.token(claims, grant, provider, world)
      if idToken == nil { throw Refusal("server_error", "libgcrypt doesn't sign", status: 500) }
    }
    return Reply.json(
      .record([
        "access_token": .string(accessToken), "token_type": "Bearer", "expires_in": 3600,
        "scope": .string(grant.scopes.sorted().joined(separator: " ")), "id_token": idToken.json,
      ])
    ).unstored
  }
}

extension Reply {
  /// The reply as one that nobody may keep (RFC 6749, section 5.1).
  var unstored: Reply {
    var reply = self
    reply.headers += [("Cache-Control", "no-store"), ("Pragma", "no-cache")]
    return reply
  }

  /// 302 to another address.
  static func found(_ location: String) -> Reply {
    Reply(status: 302, type: nil, body: "", headers: [("Location", location), ("Cache-Control", "no-store")])
  }
}
