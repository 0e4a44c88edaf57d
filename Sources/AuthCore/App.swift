/// An app's short name on this machine: `[a-z][a-z0-9-]{0,62}` (D-Bus contract: App).
public struct AppID: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The name itself.
  public let value: String

  /// Nil unless `value` matches `[a-z][a-z0-9-]{0,62}`.
  public init?(_ value: String) {
    let bytes = value.utf8
    guard let first = bytes.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first, bytes.count <= 63 else { return nil }
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): continue
      default: return nil
      }
    }
    self.value = value
  }

  /// The name itself.
  public var description: String { value }
  /// The order of the names' bytes.
  public static func < (a: AppID, b: AppID) -> Bool { a.value < b.value }
}

/// How a mailed link gets on from the browser to linkd (behaviour: How a mail's link reaches linkd).
public enum ContinueMode: String, Sendable, Hashable { case bridge, loopback, paste }

/// A Firebase project as one desktop app uses it: what its file under `apps.d` says.
public struct App: Sendable, Hashable {
  /// Its name on this machine.
  public var id: AppID
  /// What people call it.
  public var displayName: String
  /// The Firebase project.
  public var projectID: String
  /// The key the Firebase console gives; public by design, it only names the project.
  public var apiKey: String
  /// `GOOGLE_APP_ID`, e.g. `1:123:web:abc`; empty when unknown.
  public var appID: String
  /// The OAuth client id of the project, `….apps.googleusercontent.com`.
  public var clientID: String?
  /// Host of the Firebase handler and action pages, lower case.
  public var authDomain: String
  /// Further hosts that serve this app's links: hosting domains, custom domains, old Dynamic Links domains; lower case.
  public var linkDomains: [String]
  /// The schemes the app's file lists, lower case.
  public var schemes: [String]
  /// How a mailed link gets on from the browser.
  public var continueMode: ContinueMode
  /// Where Firebase's action page sends the browser. Nil: the emulator's own page, or none.
  public var continueURL: String?
  /// Further hosts of the continue page, lower case.
  public var continueHosts: [String]
  /// Port of the loopback continue page; 0 where none is configured.
  public var loopbackPort: UInt16
  /// Bundle id that Firebase knows the app by.
  public var bundleID: String?
  /// Whether calls carry `X-Ios-Bundle-Identifier`: for keys restricted to it.
  public var sendBundleHeader: Bool
  /// The emulator that its file names; nil in production.
  public var emulator: EmulatorAddress?
  /// Whether the emulator may be on another machine.
  public var allowRemoteEmulator: Bool
  /// Identity Platform tenant.
  public var tenantID: String?
  /// BCP 47, e.g. `de`; nil: the daemon's.
  public var languageCode: String?
  /// Sandboxed apps that may see this app: `flatpak:com.example.App`, `snap:example`.
  public var allowedClients: [String]
  /// What it wants done differently.
  public var options: AppOptions
  /// In the order of the buttons.
  public var providers: [Provider]

  /// An app with the defaults of the configuration page; `authDomain` defaults to `<project>.firebaseapp.com`.
  public init(id: AppID, projectID: String, apiKey: String) {
    self.id = id
    self.projectID = projectID
    self.apiKey = apiKey
    displayName = id.value
    appID = ""
    authDomain = "\(projectID).firebaseapp.com"
    linkDomains = []
    schemes = []
    continueMode = .bridge
    continueHosts = []
    loopbackPort = 0
    sendBundleHeader = false
    allowRemoteEmulator = false
    allowedClients = []
    options = AppOptions()
    providers = []
  }

  /// The backend its file names.
  public var backend: Backend { emulator.map(Backend.emulator) ?? .production }

  /// Every scheme whose URLs belong to this app: its own, the reversed client id, and the encoded app id
  /// (identity-toolkit 4.2). Lower case, without repetition, in the order of preference for URLs that linkd makes.
  public var callbackSchemes: [String] {
    var all = schemes
    if let reversed = reversedClientID { all.append(reversed) }
    all += providers.compactMap(\.reversedClientID)
    if !appID.isEmpty { all.append(Self.encodedAppID(appID)) }
    var seen = Set<String>()
    return all.filter { seen.insert($0).inserted }
  }

  /// `com.googleusercontent.apps.123` for the client id `123.apps.googleusercontent.com`, lower case.
  public var reversedClientID: String? {
    clientID.map(Self.reversed)
  }

  static func reversed(_ clientID: String) -> String {
    clientID.lowercased().split(separator: ".").reversed().joined(separator: ".")
  }

  /// `app-1-123-web-abc` for the app id `1:123:web:abc`.
  public static func encodedAppID(_ appID: String) -> String {
    "app-" + String(appID.lowercased().map { $0 == ":" ? "-" : $0 })
  }
}

/// The `options` of an app's file.
public struct AppOptions: Sendable, Hashable {
  /// Whether a guest's sign-in keeps the guest's account.
  public var autoUpgradeAnonymous = false
  /// Whether second factors can be enrolled.
  public var mfaEnabled = false
  /// `phone`, `totp`.
  public var allowedSecondFactors: [String] = ["phone", "totp"]
  /// Issuer in an `otpauth` URI.
  public var mfaIssuer: String?
  /// A sign-in link counts only on the machine that asked for it.
  public var forceSameDevice = false
  /// Whether other ways to sign in are looked up and offered.
  public var legacyRecovery = false
  /// Whether a provider's own tokens are kept, sealed.
  public var keepProviderTokens = false
  /// Linked from the sign-in page.
  public var termsOfServiceURL: String?
  /// Linked from the sign-in page.
  public var privacyPolicyURL: String?
  /// Path or URL of a picture.
  public var logo: String?
  /// Folder with the app's own text catalogues.
  public var strings: String?

  /// All at their defaults.
  public init() {}
}
