import AuthCore

extension LinkParser.Run {
  /// `<scheme>://firebaseauth/link?deep_link_id=…` (identity-toolkit 4.3, 4.6, 4.7).
  mutating func handlerReturn(_ url: SplitURL) throws(LinkRejection) -> Link {
    let outer = Parameters(url.query, plus: .space)
    guard let deepLink = try outer.nested("deep_link_id") else {
      throw LinkRejection(.missingDeepLink, hint: .cutOff)
    }
    let inner = try SplitURL(deepLink)
    guard let authority = inner.authority else { throw LinkRejection(.malformed) }
    try narrowToHandler(inner, try WebAuthority(authority))
    let parameters = Parameters(inner.query, plus: .space)
    switch try parameters.value("authType") {
    case "verifyApp": return found(.appVerification(try verification(parameters)))
    case "signInWithRedirect": return found(.oauthRedirect(try handlerRedirect(parameters)))
    default: throw LinkRejection(.unknownAuthType)
    }
  }

  /// Keeps the apps whose handler page may send this: the host list holds here too.
  private mutating func narrowToHandler(_ inner: SplitURL, _ authority: WebAuthority) throws(LinkRejection) {
    if inner.scheme.isName("https"), authority.port ?? 443 == 443, let claim = index.hosts.find(authority.host) {
      return try narrow(to: claim.linkHost)
    }
    let apps = inner.scheme.isName("http") ? index.emulatorApps(authority) : []
    guard !apps.isEmpty else { throw LinkRejection(.untrustedHost) }
    try narrow(to: apps)
    emulator = apps.first.flatMap { index.apps[$0].emulator }
  }

  private func verification(_ parameters: Parameters) throws(LinkRejection) -> AppVerificationReturn {
    var result = AppVerificationReturn()
    // Here a plus is a plus (identity-toolkit 4.8, C30).
    result.recaptchaToken = try parameters.value("recaptchaToken", plus: .literal).map(Secret.init)
    result.eventID = try parameters.value("eventId").map(Secret.init)
    if result.recaptchaToken == nil { result.error = Self.error(parameters) }
    if result.recaptchaToken == nil, result.error == nil { result.reject = "missingToken" }
    return result
  }

  private func handlerRedirect(_ parameters: Parameters) throws(LinkRejection) -> OAuthRedirect {
    var response = OAuthRedirect.HandlerResponse()
    response.eventID = try parameters.value("eventId").map(Secret.init)
    response.responseURL = try parameters.value("link").map(Secret.init)
    if response.responseURL == nil { response.error = Self.error(parameters) }
    let isEmpty = response.responseURL == nil && response.error == nil
    return OAuthRedirect(response: .handler(response), reject: isEmpty ? "missingCode" : nil)
  }

  /// The code of `firebaseError`'s JSON; `unknown` where it can't be read, so that the flow ends all the same.
  private static func error(_ parameters: Parameters) -> String? {
    guard parameters.has("firebaseError") else { return nil }
    return parameters.optional("firebaseError").flatMap(FirebaseErrorText.code) ?? "unknown"
  }
}
