import AuthCore

/// The keys of an app's file and what they may hold (cli-and-config: Files).
enum AppKeys {
  static let order = [
    "id", "display-name", "project-id", "api-key", "app-id", "client-id", "auth-domain", "link-domains", "schemes",
    "continue", "continue-url", "continue-hosts", "loopback-port", "bundle-id", "send-bundle-header", "emulator",
    "allow-remote-emulator", "tenant-id", "language", "allowed-clients", "options", "providers",
  ]
  static let options = [
    "auto-upgrade-anonymous", "mfa-enabled", "allowed-second-factors", "mfa-issuer", "force-same-device",
    "legacy-recovery", "keep-provider-tokens", "tos-url", "privacy-policy-url", "logo", "strings",
  ]
  private static let host = "a host name in ASCII (auth.example.com), without https:// and path"
  private static let webURL = "an https URL, or http to this machine"

  static func read(_ values: [String: JSONValue]) throws(ConfigurationError) -> (App, doubts: [KeyDoubt]) {
    let members = Members(values)
    var app = try identity(members)
    try readHosts(members, &app)
    try readSchemes(members, &app)
    try readContinue(members, &app)
    try readBackend(members, &app)
    var doubts = members.doubts(known: order)
    if let options = try members.object("options") {
      app.options = try readOptions(options)
      doubts += options.doubts(known: Self.options)
    }
    let (providers, more) = try readProviders(members)
    app.providers = providers
    return (app, doubts + more)
  }

  private static func identity(_ members: Members) throws(ConfigurationError) -> App {
    let rule = "a short name: a letter, then letters, digits and '-', all lower case, at most 63"
    let id = try members.required("id", rule) { AppID($0) != nil }
    let project = try members.required("project-id", "the Firebase project's id", where: Checks.isProjectID)
    let key = try members.required("api-key", "the Firebase project's API key", where: Checks.isKey)
    guard let appID = AppID(id) else { throw members.error("id", rule) }
    var app = App(id: appID, projectID: project, apiKey: key)
    app.displayName = try members.string("display-name", "a name", where: Checks.isLine) ?? id
    app.appID = try members.string("app-id", "a Firebase app id (1:123:web:abc)", where: Checks.isAppID) ?? ""
    app.clientID = try members.string(
      "client-id", "a Google client id (….apps.googleusercontent.com)", where: Checks.isGoogleClientID)
    app.bundleID = try members.string("bundle-id", "a bundle id (com.example.app)", where: Checks.isBundleID)
    app.sendBundleHeader = try members.bool("send-bundle-header") ?? false
    app.tenantID = try members.string("tenant-id", "a tenant's id", where: Checks.isTenantID)
    app.languageCode = try members.string("language", "a language tag (de, zh-TW)", where: Checks.isLanguage)
    let client = "flatpak:<application id> or snap:<name>"
    app.allowedClients = try members.strings("allowed-clients", client, where: Checks.isClient) ?? []
    return app
  }

  private static func readHosts(_ members: Members, _ app: inout App) throws(ConfigurationError) {
    let domain = try members.string("auth-domain", host, where: Checks.isHost) ?? app.authDomain
    // A project id may have a colon, which no host can.
    guard Checks.isHost(domain) else { throw members.error("auth-domain", "there, for such a project") }
    app.authDomain = domain.lowercased()
    app.linkDomains = try members.strings("link-domains", host, where: Checks.isHost)?.map { $0.lowercased() } ?? []
    app.continueHosts = try members.strings("continue-hosts", host, where: Checks.isHost)?.map { $0.lowercased() } ?? []
  }

  private static func readSchemes(_ members: Members, _ app: inout App) throws(ConfigurationError) {
    app.schemes = try members.strings("schemes", "a scheme") ?? []
    for (index, scheme) in app.schemes.enumerated() {
      if let fault = Checks.schemeFault(scheme) { throw members.error("schemes[\(index)]", fault) }
    }
  }

  private static func readContinue(_ members: Members, _ app: inout App) throws(ConfigurationError) {
    let word = try members.string("continue", "bridge, loopback or paste") { ContinueMode(rawValue: $0) != nil }
    app.continueMode = word.flatMap(ContinueMode.init(rawValue:)) ?? .bridge
    app.continueURL = try members.string("continue-url", webURL, where: Checks.isURL)
    app.loopbackPort = try members.port("loopback-port") ?? 0
    if app.continueMode == .loopback, app.loopbackPort == 0 {
      throw members.error("loopback-port", "a port other than 0, since 'continue' is loopback")
    }
  }

  private static func readBackend(_ members: Members, _ app: inout App) throws(ConfigurationError) {
    app.allowRemoteEmulator = try members.bool("allow-remote-emulator") ?? false
    let text = try members.string("emulator", "an address like 127.0.0.1:9099") { EmulatorAddress($0) != nil }
    app.emulator = text.flatMap(EmulatorAddress.init)
    if let emulator = app.emulator, !emulator.isLoopback, !app.allowRemoteEmulator {
      throw members.error("emulator", "an address of this machine, unless 'allow-remote-emulator' is true")
    }
  }

  private static func readOptions(_ members: Members) throws(ConfigurationError) -> AppOptions {
    var options = AppOptions()
    options.autoUpgradeAnonymous = try members.bool("auto-upgrade-anonymous") ?? false
    options.mfaEnabled = try members.bool("mfa-enabled") ?? false
    let factors = ["phone", "totp"]
    options.allowedSecondFactors =
      try members.strings("allowed-second-factors", "phone or totp", where: factors.contains) ?? factors
    options.mfaIssuer = try members.string("mfa-issuer", "a name without ':'") {
      Checks.isLine($0) && !$0.contains(":")
    }
    options.forceSameDevice = try members.bool("force-same-device") ?? false
    options.legacyRecovery = try members.bool("legacy-recovery") ?? false
    options.keepProviderTokens = try members.bool("keep-provider-tokens") ?? false
    options.termsOfServiceURL = try members.string("tos-url", "an https URL", where: Checks.isWebPage)
    options.privacyPolicyURL = try members.string("privacy-policy-url", "an https URL", where: Checks.isWebPage)
    options.logo = try members.string("logo", "an https URL or an absolute path") {
      Checks.isWebPage($0) || Checks.isPath($0)
    }
    options.strings = try members.string("strings", "an absolute path", where: Checks.isPath)
    return options
  }

  private static func readProviders(
    _ members: Members
  ) throws(ConfigurationError) -> ([Provider], doubts: [KeyDoubt]) {
    guard let value = members.values["providers"], value != .null else { return ([], []) }
    guard let entries = value.array else { throw members.error("providers", "a list of objects") }
    var providers: [Provider] = []
    var doubts: [KeyDoubt] = []
    for (index, entry) in entries.enumerated() {
      let (provider, more) = try ProviderKeys.read(entry, path: "providers[\(index)]")
      if providers.contains(where: { $0.id == provider.id }) {
        throw members.error("providers[\(index)].id", "there once; it stands twice")
      }
      providers.append(provider)
      doubts += more
    }
    return (providers, doubts)
  }
}
