public import AuthCore

/// The providers that an app can be asked for.
public enum Providers {
  /// The provider `id` as the app's file has it, else with nothing but its name, by Firebase's page: whether the project
  /// allows it, the server knows. Nil for what isn't a provider's id.
  public static func find(_ id: String, in app: App) -> Provider? {
    if let listed = app.providers.first(where: { $0.id == id }) {
      return listed.kind == .oauth || listed.kind == .oidc || listed.kind == .saml ? listed : nil
    }
    guard let kind = KnownProvider.kind(of: id), kind == .oauth || kind == .oidc || kind == .saml else { return nil }
    let known = KnownProvider.find(id)
    // Of OAuth providers Firebase has those alone that everybody knows.
    guard known != nil || kind != .oauth else { return nil }
    var provider = Provider(id: id, kind: kind, displayName: known?.displayName ?? id)
    provider.scopes = KnownProvider.handlerScopes(id)
    provider.customParameters = KnownProvider.customParameters(id)
    return provider
  }
}
