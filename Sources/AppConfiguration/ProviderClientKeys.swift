import AuthCore

/// How a provider is spoken to: the keys of an own client, or none for Firebase's page (cli-and-config: Provider keys).
enum ProviderClientKeys {
  static func read(_ members: Members, into provider: inout Provider) throws(ConfigurationError) {
    provider.client = try client(members, provider.id)
    let scopes = try members.strings("scopes", "a scope without spaces", where: Checks.isKey)
    switch provider.client.kind {
    case .handler: provider.scopes = scopes ?? KnownProvider.handlerScopes(provider.id)
    case .oauth2: provider.scopes = scopes ?? KnownProvider.handlerScopes(provider.id)
    case .openID:
      let wanted = scopes ?? ["openid", "email", "profile"]
      provider.scopes = wanted.contains("openid") ? wanted : ["openid"] + wanted
    }
    provider.customParameters = KnownProvider.customParameters(provider.id)
    if let parameters = try members.object("custom-parameters") {
      provider.customParameters = [:]
      for key in parameters.values.keys.sorted() {
        provider.customParameters[key] = try parameters.string(key, "a text") { _ in true }
      }
    }
  }

  private static func client(_ members: Members, _ id: String) throws(ConfigurationError) -> ProviderClient {
    var client = ProviderClient()
    let clientID = try members.string("client-id", "the client id that the provider gave", where: Checks.isKey)
    client.clientSecret = try members.string(
      "client-secret", "the client secret that the provider gave", where: Checks.isKey
    ).map(Secret.init)
    client.kind = try kind(members, id, hasClient: clientID != nil)
    if client.kind != .handler { client.clientID = clientID ?? "" }
    try readRedirect(members, &client)
    return client
  }

  private static func kind(
    _ members: Members, _ id: String, hasClient: Bool
  ) throws(ConfigurationError) -> ProviderClient.Kind {
    let word = try members.string("kind", "oidc, oauth2 or handler", where: ["oidc", "oauth2", "handler"].contains)
    let issuer = try members.string("issuer", "an https URL", where: Checks.isURL)
    let authorization = try members.string("authorization-endpoint", "an https URL", where: Checks.isURL)
    let token = try members.string("token-endpoint", "an https URL", where: Checks.isURL)
    let known = KnownProvider.clientKind(id)
    func missing(_ key: String) -> ConfigurationError { members.error(key, "there, since 'kind' is \(word ?? "")") }
    if word != nil, word != "handler", !hasClient { throw missing("client-id") }
    switch word ?? (hasClient ? Self.word(for: id, known, issuer) : "handler") {
    case "oidc":
      if let issuer { return .openID(issuer: issuer) }
      guard case .openID? = known, let known else { throw missing("issuer") }
      return known
    case "oauth2":
      if case .oauth2? = known, authorization == nil, token == nil, let known { return known }
      guard let authorization else { throw missing("authorization-endpoint") }
      guard let token else { throw missing("token-endpoint") }
      return .oauth2(authorizationEndpoint: authorization, tokenEndpoint: token)
    default: return .handler
    }
  }

  /// What a client id without a `kind` means.
  private static func word(for id: String, _ known: ProviderClient.Kind?, _ issuer: String?) -> String {
    switch known {
    case .openID: "oidc"
    case .oauth2: "oauth2"
    case .handler, nil: id.hasPrefix("oidc.") && issuer != nil ? "oidc" : "handler"
    }
  }

  private static func readRedirect(_ members: Members, _ client: inout ProviderClient) throws(ConfigurationError) {
    let way = try members.string("redirect", "scheme, loopback or auto") {
      ProviderClient.Redirect(rawValue: $0) != nil
    }
    client.redirect = way.flatMap(ProviderClient.Redirect.init) ?? .auto
    client.redirectURI = try members.string("redirect-uri", "a URI", where: isRedirect)
    if case .string? = members.values["return-uri"] {
      let uri = try members.string("return-uri", "a URI or a list of URIs", where: isRedirect)
      client.returnURIs = uri.map { [$0] } ?? []
    } else {
      client.returnURIs = try members.strings("return-uri", "a URI", where: isRedirect) ?? []
    }
    let hosts = ["127.0.0.1", "::1", "[::1]", "localhost"]
    let host = try members.string("loopback-host", "127.0.0.1, ::1 or localhost", where: hosts.contains)
    client.loopbackHost = host.map { $0 == "::1" ? "[::1]" : $0 } ?? "127.0.0.1"
    client.loopbackPort = try members.port("loopback-port") ?? 0
  }

  /// `{port}` may stand for the listener's port.
  private static func isRedirect(_ text: String) -> Bool {
    guard Checks.isKey(text), let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
    return text.utf8.first.map(Checks.isLetter) == true && text.index(after: colon) != text.endIndex
  }
}
