import AuthCore
import AuthEmulator
import Foundation
import TestSupport
import Testing

/// A client of one of the emulator's OpenID providers, as far as a test needs one.
struct OpenIDProbe {
  let client: EmulatorClient
  let name: String
  /// Verifier and challenge of RFC 7636, appendix B.
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let redirectURI = "http://127.0.0.1:8123/callback"

  /// An emulator of its own, whose pages answer by themselves with the account `ada`.
  /// - Parameter usesES256: as most tests do; RSA keys take their time.
  init(name: String = "", faults: [Fault] = [], usesES256: Bool = true) throws {
    (client, self.name) = (try EmulatorClient(faults: faults), name)
    client.emulator.add(ProviderAccount(subject: "ada", email: "ada@example.com", displayName: "Ada Lovelace"))
    client.emulator.setConsent(.account(subject: "ada"))
    var settings = OpenIDSettings()
    settings.usesES256 = usesES256
    client.emulator.setOpenID(settings, of: name)
  }

  var emulator: AuthEmulator { client.emulator }
  var path: String { "/emulator/openid" + (name.isEmpty ? "" : "/\(name)") }

  func discovery() throws -> JSONValue {
    try client.probe.request("GET", "\(path)/.well-known/openid-configuration").json
  }

  func keys() throws -> [JSONValue] { try client.probe.request("GET", "\(path)/jwks").json["keys"]?.array ?? [] }

  /// The target of the authorize page; nil takes a parameter out.
  func target(_ changes: [String: String?] = [:]) -> String {
    var parameters: [String: String?] = [
      "client_id": "app", "redirect_uri": Self.redirectURI, "response_type": "code", "scope": "openid email profile",
      "state": "state & more", "nonce": "the nonce", "code_challenge": Self.challenge, "code_challenge_method": "S256",
    ]
    parameters.merge(changes) { $1 }
    return "\(path)/authorize?" + Self.form(parameters.compactMapValues(\.self))
  }

  /// Where the page redirects to, and what it tells there.
  func authorize(_ changes: [String: String?] = [:]) throws -> (address: String, told: [String: String]) {
    let answer = try client.probe.request("GET", target(changes))
    #expect(answer.status == 302)
    return try Self.redirect(answer)
  }

  static func redirect(_ answer: HTTPAnswer) throws -> (address: String, told: [String: String]) {
    let location = try #require(answer.headers["location"])
    let items = try #require(URLComponents(string: location)).percentEncodedQueryItems ?? []
    let pairs = items.map { item in
      (item.name, item.value?.replacing("+", with: " ").removingPercentEncoding ?? "")
    }
    return (String(location.prefix { $0 != "?" }), Dictionary(uniqueKeysWithValues: pairs))
  }

  func exchange(_ code: String, _ changes: [String: String?] = [:], headers: [String: String] = [:]) throws
    -> HTTPAnswer
  {
    var fields: [String: String?] = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirectURI, "client_id": "app",
      "code_verifier": Self.verifier,
    ]
    fields.merge(changes) { $1 }
    return try client.probe.request(
      "POST", "\(path)/token",
      headers: ["Content-Type": "application/x-www-form-urlencoded"].merging(headers) { $1 },
      body: Self.form(fields.compactMapValues(\.self)))
  }

  /// A code, exchanged at once.
  func tokens(_ changes: [String: String?] = [:]) throws -> JSONValue {
    let code = try #require(try authorize(changes).told["code"])
    let answer = try exchange(code)
    #expect(answer.status == 200, "\(answer.text)")
    return answer.json
  }

  /// An ID token.
  func idToken(_ changes: [String: String?] = [:]) throws -> String {
    try #require(try tokens(changes)["id_token"]?.string)
  }

  static func form(_ fields: [String: String]) -> String {
    let allowed = CharacterSet.alphanumerics
    return fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }.sorted()
      .joined(separator: "&")
  }
}

/// A JSON Web Token, taken apart by the test itself.
struct TokenParts {
  let header: JSONValue
  let claims: JSONValue
  let signed: String
  let signature: Data

  init(_ token: String) throws {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    try #require(parts.count == 3)
    header = try JSONDecoder().decode(JSONValue.self, from: Self.base64(parts[0]))
    claims = try JSONDecoder().decode(JSONValue.self, from: Self.base64(parts[1]))
    (signed, signature) = ("\(parts[0]).\(parts[1])", try Self.base64(parts[2]))
  }

  static func base64(_ text: String) throws -> Data {
    let standard = text.replacing("-", with: "+").replacing("_", with: "/")
    let padded = standard + String(repeating: "=", count: (4 - standard.count % 4) % 4)
    return try #require(Data(base64Encoded: padded))
  }

  /// Whether the signature is by that key of a key set, as OpenSSL says.
  func isSigned(by key: JSONValue) throws -> Bool {
    let scratch = try Scratch()
    let isRSA = key["kty"] == "RSA"
    let files = ["key.der", "signed", "signature"].map { "\(scratch.path)/\($0)" }
    let contents = [try Self.publicKey(key), Data(signed.utf8), isRSA ? signature : Self.der(signature)]
    for (file, content) in zip(files, contents) { try content.write(to: URL(filePath: file)) }
    let result = try Subprocess.runBlocking([
      "openssl", "dgst", "-sha256", "-keyform", "DER", "-verify", files[0], "-signature", files[2], files[1],
    ])
    return result.status == 0 && result.stdout.contains("Verified OK")
  }

  /// A SubjectPublicKeyInfo (RFC 5280, section 4.1; RFC 3279, section 2.3.1; RFC 5480, section 2).
  private static func publicKey(_ key: JSONValue) throws -> Data {
    func number(_ name: String) throws -> Data { try base64(try #require(key[name]?.string)) }
    if key["kty"] == "EC" {
      let head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
      ]
      return Data(head) + (try number("x")) + (try number("y"))
    }
    let algorithm = Data([0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00])
    let numbers = wrapped(0x30, integer(try number("n")) + integer(try number("e")))
    return wrapped(0x30, algorithm + wrapped(0x03, Data([0]) + numbers))
  }

  /// `r` and `s` as OpenSSL reads them (RFC 3279, section 2.2.3).
  private static func der(_ signature: Data) -> Data {
    wrapped(0x30, integer(signature.prefix(32)) + integer(signature.suffix(32)))
  }

  private static func integer(_ bytes: Data) -> Data {
    let stripped = Data(bytes.drop { $0 == 0 })
    return wrapped(0x02, (stripped.first ?? 0x80) >= 0x80 ? Data([0]) + stripped : stripped)
  }

  private static func wrapped(_ tag: UInt8, _ content: Data) -> Data {
    let count = content.count
    let length: [UInt8] =
      count < 128
      ? [UInt8(count)] : count < 256 ? [0x81, UInt8(count)] : [0x82, UInt8(count >> 8), UInt8(count & 255)]
    return Data([tag] + length) + content
  }
}
