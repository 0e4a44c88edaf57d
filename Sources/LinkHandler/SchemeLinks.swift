import AuthCore

extension LinkParser.Run {
  /// URLs in an app's own scheme.
  mutating func custom(_ url: SplitURL) throws(LinkRejection) -> Link {
    let parameters = Parameters(url.query, plus: .literal)
    let host = url.authority ?? []
    if host.equals("firebaseauth"), url.path.equals("/link") { return try handlerReturn(url) }
    // From the bridge page, and from Google's own page for old links (behaviour: Links 7).
    if host.equals("auth"), url.path.isEmpty || url.path.equals("/"), parameters.has("link") {
      return try mailLink(try parameters.value("link"))
    }
    if host.equals("google"), url.path.equals("/link") || url.path.equals("/link/") {
      return try mailLink(try parameters.value("deep_link_id"))
    }
    guard isReturn(url) else { throw LinkRejection(.notAuthLink) }
    return try ownClientReturn(url)
  }

  /// The inner URL is judged as if it came alone.
  private mutating func mailLink(_ inner: String?) throws(LinkRejection) -> Link {
    guard let inner else { throw LinkRejection(.missingDeepLink) }
    try enter(.customScheme)
    return try link(LinkCleanup.clean(Array(inner.utf8)))
  }

  /// The default return URIs (cli-and-config: return-uri).
  private func isReturn(_ url: SplitURL) -> Bool {
    if let host = url.authority {
      if host.equals("oauth") {
        return Self.isSamePath(url.path, "/callback")
          || providerIDs.contains { Self.isSamePath(url.path, "/callback/\($0)") }
      }
      return url.scheme.hasPrefix("fb") && host.equals("authorize") && (url.path.isEmpty || url.path.equals("/"))
    }
    guard schemeOwners.contains(where: { index.apps[$0].reversedClientID == url.scheme }) else { return false }
    return Self.isSamePath(url.path, "/oauth2redirect") || Self.isSamePath(url.path, "/oauth2redirect/google")
  }

  private var providerIDs: [String] { schemeOwners.flatMap { index.apps[$0].providers.map(\.id) } }

  // MARK: Own-client returns

  /// The parameters of RFC 6749 4.1.2, from the query, or from a fragment that has them.
  mutating func ownClientReturn(_ url: SplitURL) throws(LinkRejection) -> Link {
    let query = Parameters(url.query, plus: .space)
    let fragment = Parameters(url.fragment, plus: .space)
    let isFragment = !Self.hasAnswer(query) && Self.hasAnswer(fragment)
    let parameters = isFragment ? fragment : query
    var response = OAuthRedirect.OwnClientResponse(isFragment: isFragment)
    response.code = try parameters.value("code").map(Secret.init)
    response.state = try parameters.value("state").map(Secret.init)
    response.error = try parameters.value("error")
    response.errorDescription = try parameters.value("error_description")
    response.issuer = try parameters.value("iss")
    if isFragment {
      // Recognised, so that the flow can say so; never used.
      response.idToken = try parameters.value("id_token").map(Secret.init)
      response.accessToken = try parameters.value("access_token").map(Secret.init)
    }
    return found(.oauthRedirect(OAuthRedirect(response: .own(response), reject: Self.reject(response))))
  }

  private static func hasAnswer(_ parameters: Parameters) -> Bool {
    parameters.has("code") || parameters.has("state") || parameters.has("error") || parameters.has("id_token")
      || parameters.has("access_token")
  }

  private static func reject(_ response: OAuthRedirect.OwnClientResponse) -> String? {
    if response.code != nil, response.error != nil { return "ambiguousResponse" }
    let hasToken = response.idToken != nil || response.accessToken != nil
    if response.code == nil, response.error == nil, !hasToken { return "missingCode" }
    return response.state == nil ? "missingState" : nil
  }

  // MARK: Firebase handler returns

  /// `<scheme>://firebaseauth/link?deep_link_id=…` (identity-toolkit 4.3, 4.6, 4.7).
  private mutating func handlerReturn(_ url: SplitURL) throws(LinkRejection) -> Link {
    let outer = Parameters(url.query, plus: .space)
    guard let deepLink = try outer.value("deep_link_id") else { throw LinkRejection(.missingDeepLink) }
    let inner = try SplitURL(Array(deepLink.utf8)[...])
    guard let authority = inner.authority else { throw LinkRejection(.malformed) }
    try narrow(to: try handlerApps(inner, try WebAuthority(authority)))
    let parameters = Parameters(inner.query, plus: .space)
    switch try parameters.value("authType") {
    case "verifyApp": return found(.appVerification(try verification(parameters)))
    case "signInWithRedirect": return found(.oauthRedirect(try handlerRedirect(parameters)))
    default: throw LinkRejection(.unknownAuthType)
    }
  }

  /// The apps whose handler page may send this; the host list holds here too.
  private func handlerApps(_ inner: SplitURL, _ authority: WebAuthority) throws(LinkRejection) -> [Int] {
    if inner.scheme == "https", authority.port == nil || authority.port == 443,
      let claim = index.hosts[authority.host]
    {
      return claim.linkHost
    }
    let host = authority.host.contains(":") ? "[\(authority.host)]" : authority.host
    if inner.scheme == "http", let apps = index.emulators["\(host):\(authority.port ?? 80)"] { return apps }
    throw LinkRejection(.untrustedHost)
  }

  private func verification(_ parameters: Parameters) throws(LinkRejection) -> AppVerificationReturn {
    var result = AppVerificationReturn()
    // Here a plus is a plus (identity-toolkit 4.8, C30).
    result.recaptchaToken = try parameters.value("recaptchaToken", plus: .literal).map(Secret.init)
    result.eventID = try parameters.value("eventId").map(Secret.init)
    if result.recaptchaToken == nil { result.error = try handlerError(parameters) }
    if result.recaptchaToken == nil, result.error == nil { result.reject = "missingToken" }
    return result
  }

  private func handlerRedirect(_ parameters: Parameters) throws(LinkRejection) -> OAuthRedirect {
    var response = OAuthRedirect.HandlerResponse()
    response.eventID = try parameters.value("eventId").map(Secret.init)
    response.responseURL = try parameters.value("link").map(Secret.init)
    if response.responseURL == nil { response.error = try handlerError(parameters) }
    let isEmpty = response.responseURL == nil && response.error == nil
    return OAuthRedirect(response: .handler(response), reject: isEmpty ? "missingCode" : nil)
  }

  /// The code of `firebaseError`'s JSON; `unknown` where it can't be read, so that the flow ends all the same.
  private func handlerError(_ parameters: Parameters) throws(LinkRejection) -> String? {
    guard let text = try parameters.value("firebaseError") else { return nil }
    return FirebaseErrorText.code(text) ?? "unknown"
  }

  private func found(_ content: Link.Content) -> Link {
    Link(content: content, via: via, candidates: ids(candidates ?? []), emulator: emulator)
  }
}

/// `{"code":"auth/…","message":"…"}`, of which the code is wanted: a reader without a JSON library.
enum FirebaseErrorText {
  /// The value of `code`, if the text is an object that has it as a plain string; nil otherwise.
  static func code(_ text: String) -> String? {
    let bytes = Array(text.utf8)[...]
    guard bytes.first == UInt8(ascii: "{"), bytes.last == UInt8(ascii: "}") else { return nil }
    guard let key = bytes.firstRange(of: "\"code\"") else { return nil }
    let rest = bytes[key.upperBound...].drop { $0 == UInt8(ascii: " ") }
    guard rest.first == UInt8(ascii: ":") else { return nil }
    let value = rest.dropFirst().drop { $0 == UInt8(ascii: " ") }
    guard value.first == UInt8(ascii: "\""), let end = value.dropFirst().firstIndex(of: UInt8(ascii: "\"")) else {
      return nil
    }
    let code = value[(value.startIndex + 1)..<end]
    guard !code.isEmpty, code.count <= 64, code.allSatisfy(isCodeByte) else { return nil }
    return code.ascii
  }

  private static func isCodeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "/"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
