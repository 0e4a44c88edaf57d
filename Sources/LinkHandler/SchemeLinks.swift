import AuthCore

extension LinkParser.Run {
  /// URLs in an app's own scheme.
  mutating func custom(_ url: SplitURL) throws(LinkRejection) -> Link {
    let parameters = Parameters(url.query, plus: .literal)
    let host = url.authority ?? []
    if host.equals("firebaseauth"), url.path.equals("/link") { return try handlerReturn(url) }
    // From the bridge page, and from Google's own page for old links (behaviour: Links 7).
    if host.equals("auth"), url.path.isEmpty || url.path.equals("/"), parameters.has("link") {
      return try mailLink(try parameters.nested("link"))
    }
    if host.equals("google"), url.path.equals("/link") || url.path.equals("/link/") {
      return try mailLink(try parameters.nested("deep_link_id"))
    }
    let waiting = pending.apps(for: url)
    if !waiting.isEmpty {
      try narrow(to: index.apps.indices.filter { waiting.contains(index.apps[$0].id) })
      return try ownClientReturn(url)
    }
    let owners = schemeOwners.filter { Self.isDefaultReturn(url, of: index.apps[$0]) }
    guard !owners.isEmpty else { throw LinkRejection(.notAuthLink) }
    try narrow(to: owners)
    return try ownClientReturn(url)
  }

  /// The inner URL is judged as if it came alone.
  private mutating func mailLink(_ inner: Bytes?) throws(LinkRejection) -> Link {
    guard let inner else { throw LinkRejection(.missingDeepLink, hint: .cutOff) }
    try enter(.customScheme)
    return try link(LinkCleanup.clean(inner))
  }

  /// The return URIs that an app has without saying so (cli-and-config: return-uri).
  private static func isDefaultReturn(_ url: SplitURL, of app: App) -> Bool {
    guard let host = url.authority else {
      // RFC 8252 7.1: one slash, no authority.
      let clients = [app.reversedClientID].compactMap { $0 } + app.providers.compactMap(\.reversedClientID)
      guard clients.contains(where: { url.scheme.isName(Array($0.utf8)) }) else { return false }
      return url.path.isSamePath("/oauth2redirect") || url.path.isSamePath("/oauth2redirect/google")
    }
    if host.equals("oauth"), app.schemes.isEmpty || app.schemes.contains(where: { url.scheme.isName(Array($0.utf8)) }) {
      return url.path.isSamePath("/callback")
        || app.providers.contains { url.path.isSamePath(Array("/callback/\($0.id)".utf8)[...]) }
    }
    let isFacebook =
      url.scheme.prefix(2).isName("fb") && url.scheme.count > 2 && url.scheme.dropFirst(2).allSatisfy(ASCII.isDigit)
    return isFacebook && host.equals("authorize") && url.path.isSamePath("")
  }

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
}
