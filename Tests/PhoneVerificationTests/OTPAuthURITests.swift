import AuthCore
import Foundation
import PhoneVerification
import TestSupport
import Testing

@Suite("otpauth URIs", .timeLimit(.minutes(1)))
struct OTPAuthURITests {
  /// The secret of RFC 6238's test vectors.
  static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  static func uri(
    issuer: String = "Example", account: String = "a@example.com", secret: String = secret,
    algorithm: OTPAuthURI.Algorithm = .sha1, digits: Int = 6, period: Int = 30
  ) throws -> String {
    let uri = OTPAuthURI(
      issuer: issuer, account: account, secret: Secret(secret), algorithm: algorithm, digits: digits, period: period)
    return try #require(uri).text.reveal()
  }

  @Test("B103: a space is %20, a plus %2B, and the issuer has no colon")
  func encoding() throws {
    let uri = try Self.uri(issuer: "Example App: EU", account: "user+tag@example.com")
    let expected =
      "otpauth://totp/Example%20App%20EU:user%2Btag%40example.com?secret=\(Self.secret)&issuer=Example%20App%20EU"
    #expect(uri == expected + "&algorithm=SHA1&digits=6&period=30")
  }

  @Test(
    "B103: another program's reader finds what went in",
    arguments: [
      ("Example App: EU", "user+tag@example.com", "Example App EU", "user+tag@example.com"),
      ("Bücher & Söhne?", "ü=ser#1@example.com", "Bücher & Söhne?", "ü=ser#1@example.com"),
      ("100% / 50%25", "a:b/c@example.com", "100% / 50%25", "ab/c@example.com"),
      ("例え\u{202e}\u{0}", " a\n", "例え", "a"), ("", "a@example.com", "", "a@example.com"),
      ("Example", "", "Example", ""),
    ])
  func readBack(_ issuer: String, _ account: String, _ shownIssuer: String, _ shownAccount: String) async throws {
    let uri = try Self.uri(issuer: issuer, account: account, algorithm: .sha256, digits: 8, period: 60)
    let script = """
      import json, sys
      from urllib.parse import parse_qsl, unquote, urlsplit
      u = urlsplit(sys.stdin.read())
      print(json.dumps({"kind": u.netloc, "label": unquote(u.path[1:]), **dict(parse_qsl(u.query, strict_parsing=True))}))
      """
    let read = try await Subprocess.run(["python3", "-c", script], stdin: uri)
    let values = try JSONDecoder().decode([String: String].self, from: Data(read.stdout.utf8))
    let label = [shownIssuer, shownAccount].filter { !$0.isEmpty }.joined(separator: ":")
    let issuers = shownIssuer.isEmpty ? [:] : ["issuer": shownIssuer]
    let others = [
      "kind": "totp", "label": label, "secret": Self.secret, "algorithm": "SHA256", "digits": "8", "period": "60",
    ]
    #expect(values == others.merging(issuers) { $1 })
  }

  @Test("the secret makes RFC 6238's codes in another program, however the server wrote it")
  func codes() async throws {
    let uri = try Self.uri(secret: " gezd-gnbv gy3t qojq gezd gnbv gy3t qojq==", digits: 8)
    let secret = try #require(uri.firstMatch(of: #/secret=([A-Z2-7]+)&/#)?.1)
    #expect(secret == Self.secret)
    let run = try await Subprocess.run(
      ["oathtool", "--totp", "--base32", "--digits=8", "--now=1970-01-01 00:00:59 UTC", "-"],
      stdin: String(secret) + "\n")
    #expect(run.stdout == "94287082\n")
  }

  @Test(
    "a server's name of the hash is read",
    arguments: [("SHA1", "SHA1"), ("sha-256", "SHA256"), ("HMAC_SHA512", "SHA512")])
  func algorithm(_ name: String, _ expected: String) {
    #expect(OTPAuthURI.Algorithm(server: name)?.rawValue == expected)
  }

  @Test("an unknown hash is none", arguments: ["", "MD5", "SHA", "HMAC", "SHA2561", "TOTP_ALGORITHM_UNSPECIFIED"])
  func unknownAlgorithm(_ name: String) { #expect(OTPAuthURI.Algorithm(server: name) == nil) }

  @Test(
    "what can't make codes makes no URI",
    arguments: [
      ("", 6, 30), ("ABC1", 6, 30), ("ABCÄ", 6, 30), ("ABCD&x=1", 6, 30), ("ABCD", 0, 30), ("ABCD", 6, 0),
      ("ABCD", -6, 30),
    ])
  func refused(_ secret: String, _ digits: Int, _ period: Int) {
    let uri = OTPAuthURI(
      issuer: "", account: "", secret: Secret(secret), algorithm: .sha1, digits: digits, period: period)
    #expect(uri == nil)
  }

  @Test("a URI isn't printed")
  func secrecy() throws {
    let uri = OTPAuthURI(
      issuer: "E", account: "a", secret: Secret(Self.secret), algorithm: .sha1, digits: 6, period: 30)
    var dumped = ""
    dump(uri, to: &dumped)
    #expect(!dumped.contains(Self.secret) && !String(reflecting: uri).contains(Self.secret))
  }
}
