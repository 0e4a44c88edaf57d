public import AuthCore

/// What every call of a project has in common (identity-toolkit 1.1, 1.4, 1.6): made in one place, so that no field is
/// forgotten.
public struct ProjectContext: Sendable, Hashable {
  let apiKey: String
  let appID: String
  let backend: Backend
  let tenantID: String?
  let languageCode: String?
  /// Sent only where the app's file asks for it: for keys restricted to a bundle.
  let bundleHeader: String?

  /// What `clientType` says in every body that has the field.
  static let clientType = "CLIENT_TYPE_WEB"
  private static let version = "0.1.0"
  /// What linkd is called wherever it asks.
  static let userAgent = "linkd/\(version)"

  /// The context of `app` at `backend`.
  public init(app: App, backend: Backend) {
    apiKey = app.apiKey
    appID = app.appID
    self.backend = backend
    tenantID = app.tenantID.filled
    languageCode = app.languageCode.filled
    bundleHeader = app.sendBundleHeader ? app.bundleID.filled : nil
  }

  /// Which of Google's hosts a call goes to.
  enum Host: String {
    case identityToolkit = "identitytoolkit.googleapis.com"
    case secureToken = "securetoken.googleapis.com"
  }

  /// The address of `path`; the emulator has the host as the first part of the path.
  func url(_ host: Host, _ path: String) -> String {
    let place = backend.emulator.map { "http://\($0)/\(host.rawValue)" } ?? "https://\(host.rawValue)"
    return "\(place)/\(path)?key=\(Form.escaped(apiKey))"
  }

  /// The headers of every call.
  var headers: [(name: String, value: String)] {
    var headers = [
      (name: "Content-Type", value: "application/json"),
      (name: "X-Client-Version", value: "Linkd/FirebaseSDK/\(Self.version)/FirebaseCore-linux"),
      (name: "User-Agent", value: Self.userAgent),
    ]
    if !appID.isEmpty { headers.append((name: "X-Firebase-GMPID", value: Self.header(appID))) }
    if let languageCode { headers.append((name: "X-Firebase-Locale", value: Self.header(languageCode))) }
    if let bundleHeader { headers.append((name: "X-Ios-Bundle-Identifier", value: Self.header(bundleHeader))) }
    return headers
  }

  /// Without what would end a header.
  private static func header(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value > 0x1f && $0.value != 0x7f }))
  }
}
