import AuthCore

/// An issuer as it's configured, and what its discovery document may say (OpenID Connect Discovery 1.0).
struct Issuer {
  let discoveryURL: EndpointURL
  /// What the document may call itself: the configured text, or Microsoft's template for it.
  private let names: [String]

  /// Stands for the tenant in Microsoft's issuers that serve many.
  private static let template = "{tenantid}"
  /// Microsoft's names for many tenants, in the place of one tenant's id.
  private static let tenants = ["common", "organizations", "consumers", template]
  /// The tenant of Microsoft's personal accounts, by which `consumers` calls itself.
  private static let consumers = "9188040d-6c67-4c5b-b112-36a304b66dad"

  /// Nil unless `text` is an https URL (or one on this machine) without query (OpenID Connect Discovery 3).
  init?(_ text: String, providerID: String) {
    var path = text
    var names = [text]
    if let tenant = Self.tenant(in: text, providerID: providerID) {
      path = Self.replacing(tenant, in: text, by: tenant == Self.template ? "common" : tenant)
      names = [Self.replacing(tenant, in: text, by: Self.template)]
      if tenant == "consumers" { names.append(Self.replacing(tenant, in: text, by: Self.consumers)) }
    }
    // OpenID Connect Discovery 4.1: a slash at the end goes.
    if path.hasSuffix("/") { path.removeLast() }
    guard !text.contains("?"), let url = EndpointURL(path + "/.well-known/openid-configuration") else { return nil }
    discoveryURL = url
    self.names = names
  }

  /// Microsoft's word for many tenants in `text`, which is the first segment of the path; nil for every other issuer.
  private static func tenant(in text: String, providerID: String) -> String? {
    let parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
    guard parts.count >= 4, tenants.contains(parts[3]) else { return nil }
    return providerID == "microsoft.com" || parts[2] == "login.microsoftonline.com" ? parts[3] : nil
  }

  private static func replacing(_ tenant: String, in text: String, by other: String) -> String {
    var parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
    parts[3] = other
    return parts.joined(separator: "/")
  }

  /// What `document` says.
  ///
  /// - Throws: `issuerMismatch`, `invalidProviderResponse`.
  func metadata(_ document: JSONValue) throws(AuthFailure) -> ProviderMetadata {
    guard let name = document["issuer"]?.string, names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
      throw AuthFailure(.issuerMismatch, serverCode: "DISCOVERY")
    }
    guard Self.list(document["response_types_supported"], allows: "code") else {
      throw AuthFailure(.invalidProviderResponse, serverCode: "RESPONSE_TYPE")
    }
    // Known before the browser opens, rather than after.
    let algorithms = document["id_token_signing_alg_values_supported"]
    guard Self.list(algorithms, allows: "RS256") || Self.list(algorithms, allows: "ES256") else {
      throw AuthFailure(.invalidProviderResponse, serverCode: "ALG")
    }
    guard Self.list(document["code_challenge_methods_supported"], allows: "S256") else {
      throw AuthFailure(.invalidProviderResponse, serverCode: "PKCE")
    }
    return ProviderMetadata(
      issuer: name, authorizationEndpoint: try endpoint(document["authorization_endpoint"]),
      tokenEndpoint: try endpoint(document["token_endpoint"]), jwksURI: try endpoint(document["jwks_uri"]),
      promisesIssuer: document["authorization_response_iss_parameter_supported"] == true,
      usesBasicAuthentication: Self.usesBasic(document["token_endpoint_auth_methods_supported"]))
  }

  private func endpoint(_ value: JSONValue?) throws(AuthFailure) -> String {
    guard let text = value?.string, EndpointURL(text, allowsLocal: discoveryURL.isLocal) != nil else {
      throw AuthFailure(.invalidProviderResponse, serverCode: "ENDPOINT")
    }
    return text
  }

  /// Whether a list has `word`; one that isn't there allows everything.
  private static func list(_ value: JSONValue?, allows word: JSONValue) -> Bool {
    value.map { $0.array?.contains(word) == true } ?? true
  }

  /// Without a list it's Basic alone that every provider must take (OpenID Connect Discovery 3, RFC 6749 2.3.1).
  private static func usesBasic(_ methods: JSONValue?) -> Bool {
    guard let methods = methods?.array else { return true }
    return methods.contains("client_secret_basic") && !methods.contains("client_secret_post")
  }
}
