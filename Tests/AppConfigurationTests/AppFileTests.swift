import AuthCore
import Testing

@testable import AppConfiguration

/// The keys of an app's file (cli-and-config: Files).
@Suite(.timeLimit(.minutes(1))) struct AppFileTests {
  static let minimal = #"{"id": "demo", "project-id": "demo-linkd", "api-key": "AIzaEXAMPLE"}"#

  private func read(_ text: String) throws(ConfigurationError) -> AppFile { try AppFile.read(Array(text.utf8)) }

  /// A minimal file with one more member.
  private func with(_ member: String) throws(ConfigurationError) -> AppFile {
    try read("\(Self.minimal.dropLast()), \(member)}")
  }

  @Test func everyKeyOfThePageIsTaken() throws {
    let file = try read(
      """
      { "id": "demo", "display-name": "Demo", "project-id": "demo-linkd", "api-key": "k", "app-id": "1:2:web:3",
        "client-id": "1-a.apps.googleusercontent.com", "auth-domain": "Auth.Example.com",
        "link-domains": ["demo-linkd.web.app"], "schemes": ["com.example.linkd", "fb123", "app-1-2-web-3"],
        "continue": "loopback", "continue-url": "https://app.example.com/done", "continue-hosts": ["app.example.com"],
        "loopback-port": 8123, "bundle-id": "com.example.app", "send-bundle-header": true, "emulator": "127.0.0.1:9099",
        "tenant-id": "tenant-1", "language": "zh-TW", "allowed-clients": ["flatpak:com.example.App", "snap:example"],
        "options": { "auto-upgrade-anonymous": true, "mfa-enabled": true, "allowed-second-factors": ["totp"],
          "mfa-issuer": "Example", "force-same-device": true, "legacy-recovery": true, "keep-provider-tokens": true,
          "tos-url": "https://example.com/tos", "privacy-policy-url": "https://example.com/privacy",
          "logo": "/usr/share/pixmaps/demo.png", "strings": "/usr/share/demo/strings" },
        "providers": [ {"id": "emailLink"}, {"id": "google.com", "kind": "oidc", "client-id": "x"} ] }
      """)
    let app = file.app
    #expect(file.warnings.isEmpty)
    #expect(app.id.value == "demo" && app.displayName == "Demo" && app.projectID == "demo-linkd" && app.apiKey == "k")
    #expect(app.appID == "1:2:web:3" && app.clientID == "1-a.apps.googleusercontent.com")
    #expect(app.authDomain == "auth.example.com" && app.linkDomains == ["demo-linkd.web.app"])
    #expect(app.schemes == ["com.example.linkd", "fb123", "app-1-2-web-3"])
    #expect(app.continueMode == .loopback && app.loopbackPort == 8123)
    #expect(app.continueURL == "https://app.example.com/done" && app.continueHosts == ["app.example.com"])
    #expect(app.bundleID == "com.example.app" && app.sendBundleHeader)
    #expect(app.emulator?.description == "127.0.0.1:9099" && !app.allowRemoteEmulator)
    #expect(app.tenantID == "tenant-1" && app.languageCode == "zh-TW")
    #expect(app.allowedClients == ["flatpak:com.example.App", "snap:example"])
    let options = app.options
    #expect(options.autoUpgradeAnonymous && options.mfaEnabled && options.allowedSecondFactors == ["totp"])
    #expect(options.mfaIssuer == "Example" && options.forceSameDevice && options.legacyRecovery)
    #expect(options.keepProviderTokens && options.termsOfServiceURL == "https://example.com/tos")
    #expect(options.privacyPolicyURL == "https://example.com/privacy" && options.logo == "/usr/share/pixmaps/demo.png")
    #expect(options.strings == "/usr/share/demo/strings")
    #expect(app.providers.map(\.id) == ["emailLink", "google.com"])
  }

  @Test func whatIsLeftOutHasTheDefaultsOfThePage() throws {
    let app = try read(Self.minimal).app
    #expect(app.displayName == "demo" && app.authDomain == "demo-linkd.firebaseapp.com")
    #expect(app.continueMode == .bridge && app.loopbackPort == 0 && app.providers.isEmpty)
    #expect(app.options.allowedSecondFactors == ["phone", "totp"])
    #expect(try with(#""tenant-id": null, "language": null, "emulator": null"#).app == app)
  }

  /// The key that is wrong is named, and what it must be; never the value, which may be a secret in the wrong place.
  @Test(arguments: [
    (#""id": 5"#, "id"), (#""id": "Demo""#, "id"), (#""id": "-a""#, "id"), (#""api-key": """#, "api-key"),
    (#""project-id": ["x"]"#, "project-id"), (#""api-key": "SECRET KEY""#, "api-key"),
    (#""app-id": "1:2;web""#, "app-id"), (#""client-id": "SECRET""#, "client-id"),
    (#""auth-domain": "https://a.example.com""#, "auth-domain"), (#""auth-domain": "a.example.com:80""#, "auth-domain"),
    (#""link-domains": "a.example.com""#, "link-domains"),
    (#""link-domains": ["ok.com", "a_b.com"]"#, "link-domains[1]"),
    (#""continue-hosts": ["bücher.example"]"#, "continue-hosts[0]"), (#""schemes": ["https"]"#, "schemes[0]"),
    (#""schemes": ["com.example.a", "Com.Example.A"]"#, "schemes[1]"), (#""continue": "redirect""#, "continue"),
    (#""continue": "loopback""#, "loopback-port"), (#""loopback-port": 65536"#, "loopback-port"),
    (#""loopback-port": "80""#, "loopback-port"), (#""continue-url": "http://app.example.com/""#, "continue-url"),
    (#""continue-url": "https://user:SECRET@app.example.com/""#, "continue-url"),
    (#""continue-url": "https://""#, "continue-url"), (#""send-bundle-header": "yes""#, "send-bundle-header"),
    (#""emulator": "10.0.0.1:9099""#, "emulator"), (#""emulator": "http://127.0.0.1:9099""#, "emulator"),
    (#""language": "german language""#, "language"), (#""allowed-clients": ["com.example.App"]"#, "allowed-clients[0]"),
    (#""options": []"#, "options"), (#""options": {"mfa-enabled": 1}"#, "options.mfa-enabled"),
    (#""options": {"allowed-second-factors": ["sms"]}"#, "options.allowed-second-factors[0]"),
    (#""options": {"tos-url": "http://example.com"}"#, "options.tos-url"),
    (#""providers": {}"#, "providers"), (#""providers": ["google.com"]"#, "providers[0]"),
    (#""providers": [{"id": "email"}]"#, "providers[0].id"), (#""providers": [{"kind": "oidc"}]"#, "providers[0].id"),
    (#""providers": [{"id": "phone"}, {"id": "phone"}]"#, "providers[1].id"),
    (#""providers": [{"id": "oidc.x", "kind": "oidc", "client-id": "c"}]"#, "providers[0].issuer"),
    (#""providers": [{"id": "google.com", "kind": "oidc"}]"#, "providers[0].client-id"),
    (#""providers": [{"id": "oidc.x", "issuer": "http://issuer.example"}]"#, "providers[0].issuer"),
    (#""providers": [{"id": "oidc.x", "background-color": "red"}]"#, "providers[0].background-color"),
    (#""providers": [{"id": "oidc.x", "custom-parameters": {"prompt": 1}}]"#, "providers[0].custom-parameters.prompt"),
    (#""providers": [{"id": "oidc.x", "return-uri": ["com.x:/a", 5]}]"#, "providers[0].return-uri[1]"),
    (#""providers": [{"id": "oidc.x", "loopback-host": "0.0.0.0"}]"#, "providers[0].loopback-host"),
  ]) func theWrongKeyIsNamed(_ member: String, _ key: String) throws {
    // Of a key that stands twice the first counts.
    let text = "{\(member), \(Self.minimal.dropFirst())"
    let error = #expect(throws: ConfigurationError.self) { try read(text) }
    guard case .key(let found, let expected)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(found == key && !expected.isEmpty)
    #expect(error?.description.contains("SECRET") == false)
  }

  @Test(arguments: ["project-id", "api-key", "id"]) func whatMustBeThereIsMissed(_ key: String) {
    var members: [String: JSONValue] = ["id": "demo", "project-id": "p", "api-key": "k"]
    members[key] = nil
    let error = #expect(throws: ConfigurationError.self) { try AppFile(members) }
    #expect(error?.description.hasPrefix("'\(key)' must be ") == true)
  }

  @Test func anEmulatorElsewhereMustBeAllowed() throws {
    #expect(try with(#""emulator": "[::1]:9099""#).app.emulator?.isLoopback == true)
    let remote = try with(#""emulator": "ci.example.com:9099", "allow-remote-emulator": true"#)
    #expect(remote.app.emulator?.description == "ci.example.com:9099" && remote.app.allowRemoteEmulator)
  }

  @Test func whatIsNoObjectIsASyntaxErrorWithItsPlace() {
    for text in ["", "[]", "{", "{\"id\": }", "\"SECRET\""] {
      let error = #expect(throws: ConfigurationError.self) { try read(text) }
      guard case .syntax(let reason)? = error else {
        return #expect(Bool(false), "\(text): \(String(describing: error))")
      }
      #expect(!reason.contains("SECRET"))
    }
    let error = #expect(throws: ConfigurationError.self) { try read("{\n  \"id\": SECRET\n}") }
    #expect(error?.description.contains("line 2") == true, "\(String(describing: error))")
    #expect(error?.description.contains("SECRET") == false)
  }

  @Test func unknownKeysWarnAndAreKept() throws {
    let file = try with(
      #""colour": {"x": [1, 2.5, null]}, "options": {"mfa-enable": true}, "providers": [{"id": "phone", "zz": 1}]"#)
    #expect(file.warnings.count == 3)
    for key in ["'colour'", "'options.mfa-enable'", "'providers[0].zz'"] {
      #expect(file.warnings.contains { $0.contains(key) })
    }
    let again = try AppFile.read(Array(file.text.utf8))
    #expect(again.members == file.members && again.app == file.app)
    #expect(again.text == file.text)
  }

  @Test(
    "a warning says which key was perhaps meant, or where it belongs",
    arguments: [
      (
        #""providers": [{"id": "oidc.x", "issuer": "https://x.example", "clientId": "c"}]"#,
        "linkd doesn't know the key 'providers[0].clientId'; it's kept as it is. Did you mean 'client-id'?"
      ),
      (
        #""providers": [{"id": "google.com", "scope": ["email"]}]"#,
        "linkd doesn't know the key 'providers[0].scope'; it's kept as it is. Did you mean 'scopes'?"
      ),
      (
        #""options": {"legacy_recovery": true}"#,
        "linkd doesn't know the key 'options.legacy_recovery'; it's kept as it is. Did you mean 'legacy-recovery'?"
      ),
      (
        #""auto-upgrade-anonymous": true"#,
        "The key 'auto-upgrade-anonymous' belongs in 'options'; it has no effect here."
      ),
      (#""frobnicate": 1"#, "linkd doesn't know the key 'frobnicate'; it's kept as it is."),
      (#""issuer": "x""#, "linkd doesn't know the key 'issuer'; it's kept as it is."),
    ])
  func unknownKeysAreGuessed(_ extra: String, _ warning: String) throws {
    #expect(try with(extra).warnings == [warning])
  }

  @Test func theTextIsCanonical() throws {
    let file = try read(
      #"{"zz":1,"providers":[{"id":"phone"},{"id":"emailLink"}],"api-key":"k","id":"demo","project-id":"p","a":"\u0007é"}"#
    )
    #expect(
      file.text == """
        {
          "id": "demo",
          "project-id": "p",
          "api-key": "k",
          "providers": [
            {"id":"phone"},
            {"id":"emailLink"}
          ],
          "a": "\\u0007é",
          "zz": 1
        }

        """)
  }
}

/// Schemes, hosts and URLs that an app may have.
@Suite(.timeLimit(.minutes(1))) struct CheckTests {
  @Test(arguments: ["com.example.linkd", "fb1234567890", "app-1-2-web-3", "com.googleusercontent.apps.1-a", "a.b+c"])
  func goodSchemes(_ scheme: String) { #expect(Checks.schemeFault(scheme) == nil) }

  @Test(arguments: [
    "", "a", "http", "https", "mailto", "example", "COM.example.a", "com..a", ".com", "com.", "1com.a", "com.a;x", "fb",
    "fb12x", "app-", "z39.50", "com.example.a/b", "com.example.ä", "com.exa mple",
    String(repeating: "a.", count: 70) + "b",
  ]) func badSchemes(_ scheme: String) { #expect(Checks.schemeFault(scheme) != nil) }

  @Test(arguments: [
    ("https://a.example.com/x?y#z", true), ("https://a.example.com:8443", true), ("http://localhost:8080/x", true),
    ("http://127.0.0.1/", true), ("http://[::1]:1/", true), ("http://a.example.com/", false), ("https:///x", false),
    ("https://a@b.example/", false), ("https://a b/", false), ("ftp://a.example", false),
    ("https://a.example:x/", false),
    ("HTTPS://a.example/", false), ("http://127.0.0.1.example.com/", false), ("https://a_b.example/", false),
  ]) func urls(_ url: String, _ isGood: Bool) { #expect(Checks.isURL(url) == isGood) }

  @Test(arguments: [
    ("flatpak:com.example.App", true), ("snap:example", true), ("snap:example_1", true), ("flatpak:App", false),
    ("snap:", false), ("snap:A b", false), ("flatpak:com.1.App", false), ("com.example.App", false),
  ]) func clients(_ client: String, _ isGood: Bool) { #expect(Checks.isClient(client) == isGood) }
}

/// Buttons (firebaseui-behaviour: providers).
@Suite(.timeLimit(.minutes(1))) struct ProviderTests {
  private func provider(_ text: String) throws -> Provider {
    try ProviderKeys.read(JSONText.decode(text.utf8), path: "providers[0]").0
  }

  @Test(arguments: [
    ("emailLink", Provider.Kind.emailLink), ("password", .password), ("phone", .phone), ("anonymous", .anonymous),
    ("google.com", .oauth), ("twitter.com", .oauth), ("linkedin.com", .oauth), ("oidc.line", .oidc),
    ("saml.corp", .saml),
  ]) func kindsComeFromTheId(_ id: String, _ kind: Provider.Kind) throws {
    #expect(try provider("{\"id\": \"\(id)\"}").kind == kind)
  }

  @Test func knownOnesHaveTheUsualLook() throws {
    let x = try provider(#"{"id": "twitter.com"}"#)
    #expect(x.displayName == "X" && x.label == "Sign in with X" && x.icon == "x")
    let line = try provider(##"{"id": "oidc.line", "display-name": "LINE", "background-color": "#06C755"}"##)
    #expect(line.label == "Sign in with LINE" && line.backgroundColor == "#06C755" && line.icon == nil)
    #expect(try provider(#"{"id": "oidc.line", "label": "Go"}"#).label == "Go")
  }
}

/// Where a hand-edited file is wrong.
@Suite(.timeLimit(.minutes(1))) struct JSONFaultTests {
  @Test(arguments: [
    ("{\n  \"id\": demo\n}", " (line 2, column 9)"), ("", " (line 1, column 1)"), ("{\"a\": 1", " (line 1, column 8)"),
    ("{\"é\": 1 \"b\": 2}", " (line 1, column 9)"), ("[1, 2] x", " (line 1, column 8)"),
    ("{'a': 1}", " (line 1, column 2)"),
    ("{\"a\": \"b\n\"}", " (line 1, column 7)"), ("{\"a\": [true, nul]}", " (line 1, column 14)"),
    ("{\"a\": {\"b\": [1, -2.5e3, null, \"\\\"\"]}}", ""),
  ]) func placeOfTheFault(_ text: String, _ place: String) { #expect(JSONFault.place(in: text.utf8) == place) }

  @Test func depthIsBounded() {
    #expect(JSONFault.place(in: String(repeating: "[", count: 100_000).utf8) == " (line 1, column 257)")
    #expect(throws: ConfigurationError.self) { try AppFile.read(Array(String(repeating: "[", count: 100_000).utf8)) }
  }
}
