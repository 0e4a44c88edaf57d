import AuthCore

/// The entries of an app file's `providers` (cli-and-config: Files).
enum ProviderKeys {
  static let order = [
    "id", "kind", "display-name", "label", "icon", "background-color", "foreground-color", "client-id", "client-secret",
    "scopes", "custom-parameters", "issuer", "authorization-endpoint", "token-endpoint", "redirect", "redirect-uri",
    "return-uri", "loopback-host", "loopback-port",
  ]

  static func read(_ value: JSONValue, path: String) throws(ConfigurationError) -> (Provider, unknown: [String]) {
    guard let values = value.object else { throw .key(path, expected: "an object with an 'id'") }
    let members = Members(values, path: "\(path).")
    let expected = "emailLink, password, phone, anonymous, or a provider's id (google.com, oidc.example, saml.example)"
    let id = try members.required("id", expected) { KnownProvider.kind(of: $0) != nil }
    try checkClient(members, id)
    try checkRedirect(members)
    return (try decorated(members, id), members.unknown(order))
  }

  private static func decorated(_ members: Members, _ id: String) throws(ConfigurationError) -> Provider {
    let known = KnownProvider.find(id)
    let name = try members.string("display-name", "a name", where: Checks.isLine) ?? known?.displayName ?? id
    var provider = Provider(id: id, kind: KnownProvider.kind(of: id) ?? .oauth, displayName: name)
    provider.label =
      try members.string("label", "a text", where: Checks.isLine) ?? known?.label ?? "Sign in with \(name)"
    provider.icon = try members.string("icon", "an icon's name or path", where: Checks.isLine) ?? known?.icon
    let color = "a colour like #06C755"
    provider.backgroundColor = try members.string("background-color", color, where: Checks.isColor) ?? known?.background
    provider.foregroundColor = try members.string("foreground-color", color, where: Checks.isColor) ?? known?.foreground
    return provider
  }

  /// How the provider is spoken to: an own client needs to know where.
  private static func checkClient(_ members: Members, _ id: String) throws(ConfigurationError) {
    let kinds = ["oidc", "oauth2", "handler"]
    let kind = try members.string("kind", "oidc, oauth2 or handler", where: kinds.contains)
    _ = try members.string("client-id", "the client id that the provider gave", where: Checks.isKey)
    _ = try members.string("client-secret", "the client secret that the provider gave", where: Checks.isKey)
    _ = try members.strings("scopes", "a scope without spaces", where: Checks.isKey)
    for key in ["issuer", "authorization-endpoint", "token-endpoint"] {
      _ = try members.string(key, "an https URL", where: Checks.isURL)
    }
    if let parameters = try members.object("custom-parameters") {
      for key in parameters.values.keys.sorted() { _ = try parameters.string(key, "a text") { _ in true } }
    }
    let needed: [String] =
      switch kind {
      case "oidc": KnownProvider.find(id) == nil ? ["client-id", "issuer"] : ["client-id"]
      case "oauth2": ["client-id", "authorization-endpoint", "token-endpoint"]
      default: []
      }
    for key in needed where !members.has(key) { throw members.error(key, "there, since 'kind' is \(kind ?? "")") }
  }

  private static func checkRedirect(_ members: Members) throws(ConfigurationError) {
    let ways = ["scheme", "loopback", "auto"]
    _ = try members.string("redirect", "scheme, loopback or auto", where: ways.contains)
    _ = try members.string("redirect-uri", "a URI", where: isRedirect)
    if case .string? = members.values["return-uri"] {
      _ = try members.string("return-uri", "a URI or a list of URIs", where: isRedirect)
    } else {
      _ = try members.strings("return-uri", "a URI", where: isRedirect)
    }
    let hosts = ["127.0.0.1", "::1", "[::1]", "localhost"]
    _ = try members.string("loopback-host", "127.0.0.1, ::1 or localhost", where: hosts.contains)
    _ = try members.port("loopback-port")
  }

  /// `{port}` may stand for the listener's port.
  private static func isRedirect(_ text: String) -> Bool {
    guard Checks.isKey(text), let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
    return text.utf8.first.map(Checks.isLetter) == true && text.index(after: colon) != text.endIndex
  }
}
