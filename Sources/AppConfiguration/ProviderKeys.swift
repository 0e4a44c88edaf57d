import AuthCore

/// The entries of an app file's `providers` (cli-and-config: Files).
enum ProviderKeys {
  static let order = [
    "id", "kind", "display-name", "label", "icon", "background-color", "foreground-color", "client-id", "client-secret",
    "scopes", "custom-parameters", "issuer", "authorization-endpoint", "token-endpoint", "redirect", "redirect-uri",
    "return-uri", "loopback-host", "loopback-port",
  ]

  static func read(_ value: JSONValue, path: String) throws(ConfigurationError) -> (Provider, doubts: [KeyDoubt]) {
    guard let values = value.object else { throw .key(path, expected: "an object with an 'id'") }
    let members = Members(values, path: "\(path).")
    let expected = "emailLink, password, phone, anonymous, or a provider's id (google.com, oidc.example, saml.example)"
    let id = try members.required("id", expected) { KnownProvider.kind(of: $0) != nil }
    var provider = try decorated(members, id)
    try ProviderClientKeys.read(members, into: &provider)
    return (provider, members.doubts(known: order))
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
}
