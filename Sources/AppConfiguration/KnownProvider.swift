import AuthCore

/// The ways to sign in that FirebaseUI knows by id, with their buttons' usual look (firebaseui-behaviour: providers).
struct KnownProvider {
  let id: String
  let kind: Provider.Kind
  let displayName: String
  let label: String
  let icon: String
  let background: String
  let foreground: String

  static func find(_ id: String) -> KnownProvider? { all.first { $0.id == id } }

  /// The colours are those of the providers' own rules for such buttons.
  private static let all = [
    KnownProvider("emailLink", .emailLink, "Email Link", "Sign in with email link", "mail", "#DD2C00"),
    KnownProvider("password", .password, "Email", "Sign in with email", "mail", "#DB4437"),
    KnownProvider("phone", .phone, "Phone", "Sign in with Phone", "phone", "#02BD7E"),
    KnownProvider("anonymous", .anonymous, "Guest", "Continue as guest", "anonymous", "#F4B400", "#1F1F1F"),
    KnownProvider("google.com", .oauth, "Google", "Sign in with Google", "google", "#FFFFFF", "#1F1F1F"),
    KnownProvider("apple.com", .oauth, "Apple", "Sign in with Apple", "apple", "#000000"),
    KnownProvider("facebook.com", .oauth, "Facebook", "Sign in with Facebook", "facebook", "#1877F2"),
    KnownProvider("twitter.com", .oauth, "X", "Sign in with X", "x", "#000000"),
    KnownProvider("github.com", .oauth, "GitHub", "Sign in with GitHub", "github", "#24292F"),
    KnownProvider("microsoft.com", .oauth, "Microsoft", "Sign in with Microsoft", "microsoft", "#2F2F2F"),
    KnownProvider("yahoo.com", .oauth, "Yahoo", "Sign in with Yahoo", "yahoo", "#6001D2"),
  ]

  private init(
    _ id: String, _ kind: Provider.Kind, _ displayName: String, _ label: String, _ icon: String, _ background: String,
    _ foreground: String = "#FFFFFF"
  ) {
    (self.id, self.kind, self.displayName, self.label, self.icon) = (id, kind, displayName, label, icon)
    (self.background, self.foreground) = (background, foreground)
  }

  /// What FirebaseUI asks of a provider by Firebase's page (firebaseui-behaviour 7); X, by OAuth 1.0a there, knows no
  /// scopes.
  static func handlerScopes(_ id: String) -> [String] {
    switch id {
    case "google.com":
      ["https://www.googleapis.com/auth/userinfo.email", "https://www.googleapis.com/auth/userinfo.profile"]
    case "apple.com": ["name", "email"]
    case "facebook.com": ["email", "public_profile"]
    case "github.com": ["user"]
    case "microsoft.com", "yahoo.com": ["user.readwrite"]
    default: []
    }
  }

  /// FirebaseUI's presets.
  static func customParameters(_ id: String) -> [String: String] {
    id == "microsoft.com" || id == "yahoo.com" ? ["prompt": "consent"] : [:]
  }

  /// Where an own client is spoken to, for providers that everybody knows; nil for the others and for those that Firebase's
  /// page alone can speak to (Apple answers native apps by POST, Facebook and X want a secret).
  static func clientKind(_ id: String) -> ProviderClient.Kind? {
    switch id {
    case "google.com": .openID(issuer: "https://accounts.google.com")
    case "microsoft.com": .openID(issuer: "https://login.microsoftonline.com/common/v2.0")
    case "yahoo.com": .openID(issuer: "https://api.login.yahoo.com")
    case "github.com":
      .oauth2(
        authorizationEndpoint: "https://github.com/login/oauth/authorize",
        tokenEndpoint: "https://github.com/login/oauth/access_token")
    default: nil
    }
  }

  /// What stands behind a provider id; nil for one that Firebase can't have.
  static func kind(of id: String) -> Provider.Kind? {
    if let known = find(id) { return known.kind }
    let isName =
      id.utf8.count <= 128
      && id.utf8.allSatisfy { Checks.isLetter($0) || Checks.isDigit($0) || "-._".utf8.contains($0) }
    guard isName, let dot = id.firstIndex(of: "."), dot != id.startIndex, id.index(after: dot) != id.endIndex else {
      return nil
    }
    if id.hasPrefix("oidc.") { return .oidc }
    return id.hasPrefix("saml.") ? .saml : .oauth
  }
}
