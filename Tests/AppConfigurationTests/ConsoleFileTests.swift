import AuthCore
import Foundation
import Testing

@testable import AppConfiguration

/// What the Firebase console gives.
@Suite(.timeLimit(.minutes(1))) struct ConsoleFileTests {
  private func read(_ text: String, _ overrides: [String: JSONValue] = [:]) throws(ConfigurationError) -> AppFile {
    try ConsoleFile.read(Array(text.utf8), named: "file", overrides: overrides)
  }

  static let config = """
    apiKey: "AIzaEXAMPLE", authDomain: "auth.example.com", databaseURL: "https://x.firebaseio.com",
    projectId: "demo-linkd", storageBucket: "demo-linkd.appspot.com", messagingSenderId: "123", appId: "1:123:web:abc",
    measurementId: "G-X"
    """
  static let json = """
    {"apiKey": "AIzaEXAMPLE", "authDomain": "auth.example.com", "projectId": "demo-linkd", "appId": "1:123:web:abc"}
    """

  /// The forms the console and the Firebase CLI have used over the years.
  @Test(arguments: [
    json,
    "\u{feff}" + json,
    "// Import the functions you need\nimport { initializeApp } from \"firebase/app\";\n"
      + "// TODO: Add SDKs; don't forget\n// https://firebase.google.com/docs/web/setup#available-libraries\n"
      + "const firebaseConfig = {\n\(config)\n};\n\n// Initialize Firebase\nconst app = initializeApp(firebaseConfig);\n",
    "var firebaseConfig = {\(config),};",
    "export const firebaseConfig: FirebaseOptions = { /* the key { is public */ \(config) }",
    "firebase.initializeApp({\(config)});",
    "firebase.initializeApp(\(json));",
    "<p>Don't copy {{ this }}</p>\n<script type=\"module\">\n const firebaseConfig = {\(config)\n };\n</script>",
    config.replacing("\"", with: "'").wrapped("const c = {", "}"),
    "{\"status\": \"success\", \"result\": {\"fileName\": \"google-config.js\", \"sdkConfig\": \(json)}}",
    "export const environment = { production: false, firebase: {\(config)} };",
  ]) func webForms(_ text: String) throws {
    let app = try read(text).app
    #expect(app.apiKey == "AIzaEXAMPLE" && app.projectID == "demo-linkd" && app.appID == "1:123:web:abc")
    #expect(app.authDomain == "auth.example.com" && app.id.value == "demo-linkd")
  }

  @Test func authDomainAndIdComeFromTheProject() throws {
    let app = try read(
      #"const firebaseConfig = { apiKey: "k", projectId: "42-My_App.x" }"#.replacing("My_App", with: "my-app"))
    #expect(app.app.authDomain == "42-my-app.x.firebaseapp.com" && app.app.id.value == "my-app-x")
  }

  @Test(arguments: [
    ("demo-linkd", "demo-linkd"), ("9lives", "lives"), ("example.com:proj", "example-com-proj"), ("123", nil),
    (String(repeating: "a", count: 80), String(repeating: "a", count: 63)), ("a-", "a"),
  ]) func idsAreMadeValid(_ project: String, _ id: String?) { #expect(ConsoleFile.appID(from: project) == id) }

  @Test func overridesWin() throws {
    let file = try read(
      Self.json,
      [
        "id": "demo", "schemes": ["com.example.linkd"], "emulator": "127.0.0.1:9099", "loopback-port": 8080,
        "auth-domain": "other.example.com", "options": ["mfa-enabled": true], "locale": "de", "handle-token": "x",
        "providers": [#"{"id": "emailLink"}"#, #"[{"id": "phone"}, {"id": "google.com"}]"#, ["id": "password"]],
      ])
    #expect(file.app.id.value == "demo" && file.app.schemes == ["com.example.linkd"] && file.app.loopbackPort == 8080)
    #expect(file.app.authDomain == "other.example.com" && file.app.options.mfaEnabled)
    #expect(file.app.providers.map(\.id) == ["emailLink", "phone", "google.com", "password"])
    #expect(file.members["locale"] == nil && file.members["handle-token"] == nil && file.warnings.isEmpty)
  }

  @Test("a provider's file is checked like the app's own, and one without a provider is refused")
  func providerFiles() throws {
    let entry = #"{"id": "oidc.x", "issuer": "https://x.example", "clientId": "c"}"#
    let file = try read(Self.json, ["providers": [.string(entry)]])
    #expect(file.warnings.count == 1 && file.warnings[0].contains("'providers[0].clientId'"), "\(file.warnings)")
    #expect(file.doubtfulKeys == ["providers[0].clientId"] && file.originWarnings.isEmpty)
    let error = #expect(throws: ConfigurationError.self) { try read(Self.json, ["providers": ["[]"]]) }
    #expect(error?.description == "'providers[0]' must be an object with an 'id', or a list of such.")
  }

  @Test func anOverrideIsCheckedLikeAKey() {
    for (key, value) in [("schemes", ["http"]), ("emulator", "10.0.0.1:1"), ("providers", ["{"])]
      as [(String, JSONValue)]
    {
      let error = #expect(throws: ConfigurationError.self) { try read(Self.json, [key: value]) }
      #expect(error?.description.hasPrefix("'\(key)") == true)
    }
  }

  @Test func anAppFileOfLinkdIsTakenToo() throws {
    let file = try read(#"{"id": "demo", "project-id": "p", "api-key": "k", "mine": 1}"#)
    #expect(file.app.id.value == "demo" && file.app.authDomain == "p.firebaseapp.com" && file.members["mine"] == 1)
  }

  @Test(arguments: [
    "", "hello", "{}", #"{"a": 1}"#, "const firebaseConfig = {", "const x = { a: 1 }", #"{"apiKey": 5}"#,
    #"const firebaseConfig = { apiKey: process.env.KEY, projectId: "p" }"#, #"{"apiKey": "k"}"#,
  ]) func anythingElseIsRefused(_ text: String) {
    #expect(throws: ConfigurationError.self) { try read(text) }
  }

  /// FoundationEssentials' JSON5 stopped the program at the first of them.
  @Test(arguments: [
    "{apiKey:0x1F,y:0x0x1F,projectId:\"p\"}", "{apiKey: 'k', projectId: `p${x}`}",
    "{apiKey: 'k' + 'l', projectId: 'p'}",
    "{apiKey: 'k\nl', projectId: 'p'}", "{apiKey: 'k, projectId: 'p'}", "{apiKey: k, projectId: 'p'}",
    "{apiKey: 'k', /* projectId: 'p'}", "{apiKey: 'k\\x41', projectId: 'p'}",
  ]) func whatIsNoPlainLiteralIsRefused(_ text: String) {
    #expect(throws: ConfigurationError.self) { try read(text) }
  }

  @Test func quotesEscapesAndCommentsOfJavaScript() {
    let text = #"""
      { // the app's
        "a": 'it\'s "k"', b: `p-1`, /* , */ c$_1: "\u0061\n", d: [1, -2.5e3, true, null,],
      }
      """#
    #expect(
      JavaScriptLiteral.object(text.utf8)
        == ["a": #"it's "k""#, "b": "p-1", "c$_1": "a\n", "d": [1, -2500, true, nil]])
  }

  @Test func computedValuesAreNamedAsTheFault() {
    let error = #expect(throws: ConfigurationError.self) {
      try read(#"const firebaseConfig = { apiKey: process.env.KEY, projectId: "p" }"#)
    }
    #expect(error?.description.contains("plain texts in quotes") == true)
  }

  @Test func hugeFilesAreRefused() {
    let error = #expect(throws: ConfigurationError.self) {
      try ConsoleFile.read([UInt8](repeating: 0x20, count: (1 << 20) + 1), named: "big.js", overrides: [:])
    }
    #expect(error == .file("big.js", "larger than 1 MiB"))
  }

  @Test func manyBracesDontTakeForever() {
    #expect(throws: ConfigurationError.self) { try read(String(repeating: "{", count: 200_000)) }
    #expect(throws: ConfigurationError.self) {
      try read(String(repeating: "{", count: 50_000) + "apiKey" + String(repeating: "}", count: 50_000))
    }
  }

  // Found by hand beside the fuzzing: each object in an object was read anew, for half a minute in all.
  @Test func manyObjectsInObjectsDontTakeForever() {
    let nest = String(repeating: "{", count: 2000) + "apiKey:1e999" + String(repeating: "}", count: 2000)
    let start = ContinuousClock.now
    #expect(throws: ConfigurationError.self) { try read(String(repeating: nest, count: 200)) }
    let time = start.duration(to: .now)
    #expect(time < .seconds(20))
  }

  // Found by fuzzing: FoundationEssentials' JSON5 stops the program at a bare key that isn't UTF-8.
  @Test func bytesThatArentUTF8AreRefused() {
    for bytes in [[0xfd], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xff, 0xfe]] as [[UInt8]] {
      let text = Array(#"x = {apiKey: "k", a"#.utf8) + bytes + Array(#": "b", projectId: "p"}"#.utf8)
      #expect(throws: ConfigurationError.self) { try ConsoleFile.read(text, named: "file", overrides: [:]) }
    }
  }

  @Test func theConfigurationMayStandInsideOfOthers() throws {
    let app = try read("export const e = {a: {b: {c: {firebase: {\(Self.config)}}}}}")
    #expect(app.app.apiKey == "AIzaEXAMPLE")
  }

  // MARK: Files of phone apps

  static let plist = """
    <?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <plist version="1.0"><dict>
      <key>CLIENT_ID</key><string>123-a.apps.googleusercontent.com</string>
      <key>REVERSED_CLIENT_ID</key><string>com.googleusercontent.apps.123-a</string>
      <key>API_KEY</key><string>AIzaEXAMPLE</string>
      <key>PLIST_VERSION</key><string>1</string>
      <key>BUNDLE_ID</key><string>com.example.app</string>
      <key>PROJECT_ID</key><string>demo-linkd</string>
      <key>IS_ADS_ENABLED</key><false/>
      <key>GOOGLE_APP_ID</key><string>1:123:ios:abc</string>
    </dict></plist>
    """

  @Test func applePropertyList() throws {
    let file = try read(Self.plist)
    let app = file.app
    #expect(app.apiKey == "AIzaEXAMPLE" && app.projectID == "demo-linkd" && app.appID == "1:123:ios:abc")
    #expect(app.clientID == "123-a.apps.googleusercontent.com" && app.bundleID == "com.example.app")
    #expect(app.callbackSchemes == ["com.googleusercontent.apps.123-a", "app-1-123-ios-abc"])
    #expect(file.warnings.count == 1 && file.warnings[0].contains("iOS"))
    #expect(throws: ConfigurationError.self) { try read("<plist version=\"1.0\"><dict></dict></plist>") }
    #expect(throws: ConfigurationError.self) { try read("bplist00garbage") }
  }

  /// Python's plistlib has written it.
  static let binaryPlist = """
    YnBsaXN0MDDXAQIDBAUGBwgJCgsMDQ5XQVBJX0tFWVlCVU5ETEVfSURZQ0xJRU5UX0lEXUdDTV9TRU5ERVJfSURdR09PR0xFX0FQ
    UF9JRF5JU19BRFNfRU5BQkxFRFpQUk9KRUNUX0lEW0FJemFFWEFNUExFXxAPY29tLmV4YW1wbGUuYXBwXxAgMTIzLWEuYXBwcy5n
    b29nbGV1c2VyY29udGVudC5jb21TMTIzXTE6MTIzOmlvczphYmMIWmRlbW8tbGlua2QIFx8pM0FPXml1h6quvL0AAAAAAAABAQAA
    AAAAAAAPAAAAAAAAAAAAAAAAAAAAyA==
    """

  @Test func binaryPropertyList() throws {
    let content = try #require(Data(base64Encoded: Self.binaryPlist, options: .ignoreUnknownCharacters))
    let app = try ConsoleFile.read(Array(content), named: "GoogleService-Info.plist", overrides: [:]).app
    #expect(app.apiKey == "AIzaEXAMPLE" && app.projectID == "demo-linkd" && app.appID == "1:123:ios:abc")
    #expect(app.bundleID == "com.example.app")
  }

  @Test(arguments: ["API_KEY", "PROJECT_ID", "GOOGLE_APP_ID", "CLIENT_ID", "BUNDLE_ID"])
  func aPropertyOfAnotherTypeIsNamed(_ key: String) {
    let pattern = Self.plist.split(separator: "\n").map { line in
      line.contains("<key>\(key)</key>") ? "<key>\(key)</key><integer>5</integer>" : String(line)
    }
    let error = #expect(throws: ConfigurationError.self) { try read(pattern.joined(separator: "\n")) }
    #expect(error == .key(key, expected: "a text"))
  }

  @Test(arguments: ["API_KEY", "PROJECT_ID"]) func aMissingPropertyIsNamed(_ key: String) {
    let lines = Self.plist.split(separator: "\n").filter { !$0.contains("<key>\(key)</key>") }
    let error = #expect(throws: ConfigurationError.self) { try read(lines.joined(separator: "\n")) }
    #expect(error == .key(key, expected: "a text"))
  }

  @Test(arguments: [
    (
      #"{"project_info": {"project_id": 5}, "client": [{"api_key": [{"current_key": "k"}]}]}"#,
      "project_info.project_id"
    ),
    (#"{"project_info": {"project_id": "p"}, "client": [{"api_key": []}]}"#, "client.api_key"),
    (#"{"project_info": {"project_id": "p"}, "client": [{"api_key": [{"current_key": 5}]}]}"#, "client.api_key"),
    (#"{"project_info": {"project_id": "p"}, "client": 5}"#, "client"),
  ]) func aFaultOfGoogleServicesIsNamed(_ text: String, _ key: String) {
    let error = #expect(throws: ConfigurationError.self) { try read(text) }
    #expect(error?.description.hasPrefix("'\(key)'") == true, "\(String(describing: error))")
  }

  @Test func googleServices() throws {
    func client(_ name: String) -> String {
      """
      {"client_info": {"mobilesdk_app_id": "1:123:android:\(name.utf8.count)",
        "android_client_info": {"package_name": "\(name)"}}, "api_key": [{"current_key": "key-\(name.utf8.count)"}]}
      """
    }
    let one = "{\"project_info\": {\"project_id\": \"demo-linkd\"}, \"client\": [\(client("com.a"))]}"
    let two =
      "{\"project_info\": {\"project_id\": \"demo-linkd\"}, \"client\": [\(client("com.a")), \(client("com.bcd"))]}"
    let file = try read(one)
    #expect(file.app.apiKey == "key-5" && file.app.appID == "1:123:android:5" && file.warnings[0].contains("Android"))
    #expect(try read(two, ["package": "com.bcd"]).app.apiKey == "key-7")
    for overrides in [[:], ["package": "com.x"]] as [[String: JSONValue]] {
      let error = #expect(throws: ConfigurationError.self) { try read(two, overrides) }
      #expect(error?.description.contains("com.a, com.bcd") == true)
    }
  }
}

extension String {
  fileprivate func wrapped(_ head: String, _ tail: String) -> String { head + self + tail }
}
