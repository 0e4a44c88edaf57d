import AuthCore
import AuthEmulator
import Foundation
import PhoneVerification
import QRCode
import TestSupport
import Testing

/// From the server's secret to the code that it takes back, by way of programs that aren't ours: zbarimg for the camera,
/// oathtool for the authenticator app.
@Suite("An authenticator app by QR code", .timeLimit(.minutes(2)))
struct AuthenticatorTests {
  /// What the server says of a new factor.
  struct Offer {
    let secret, session, idToken: String
    let algorithm: OTPAuthURI.Algorithm
    let digits, period: Int
  }

  static func post(_ probe: HTTPProbe, _ path: String, _ body: JSONValue, owner: Bool = false) throws -> JSONValue {
    let headers = ["Content-Type": "application/json"].merging(owner ? ["Authorization": "Bearer owner"] : [:]) { $1 }
    let answer = try probe.request(
      path.hasSuffix("?updateMask=mfa") ? "PATCH" : "POST", "/identitytoolkit.googleapis.com/\(path)", headers: headers,
      body: body.text)
    try #require(answer.status == 200)
    return try JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
  }

  static func offer(_ emulator: AuthEmulator, _ settings: FactorSettings) throws -> Offer {
    emulator.setFactors(settings)
    let probe = HTTPProbe(port: emulator.port)
    _ = try post(
      probe, "v2/projects/demo-linkd/config?updateMask=mfa",
      ["mfa": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": [:]]]]], owner: true)
    _ = try post(
      probe, "v1/accounts:signUp?key=k",
      ["email": "user+tag@example.com", "password": "correct horse", "emailVerified": true], owner: true)
    let signedIn = try post(
      probe, "v1/accounts:signInWithPassword?key=k", ["email": "user+tag@example.com", "password": "correct horse"])
    let idToken = try #require(signedIn["idToken"])
    let begun = try post(
      probe, "v2/accounts/mfaEnrollment:start?key=k", ["idToken": idToken, "totpEnrollmentInfo": [:]])
    let info = try #require(begun["totpSessionInfo"])
    return Offer(
      secret: try #require(info["sharedSecretKey"]?.string), session: try #require(info["sessionInfo"]?.string),
      idToken: try #require(idToken.string),
      algorithm: try #require(OTPAuthURI.Algorithm(server: info["hashingAlgorithm"]?.string ?? "")),
      digits: Int(try #require(info["verificationCodeLength"]?.integer)),
      period: Int(try #require(info["periodSec"]?.integer)))
  }

  static func settings(_ digits: Int, _ period: Int64, _ algorithm: FactorSettings.Algorithm) -> FactorSettings {
    var settings = FactorSettings()
    (settings.digits, settings.period, settings.algorithm) = (digits, period, algorithm)
    return settings
  }

  @Test(
    "B103: the URI is read back from the terminal, and the code of its secret is taken",
    arguments: [settings(6, 30, .sha1), settings(8, 60, .sha256)], TerminalStyle.allCases)
  func wholeWay(_ settings: FactorSettings, _ style: TerminalStyle) async throws {
    let emulator = try AuthEmulator.start()
    let offer = try Self.offer(emulator, settings)
    let made = OTPAuthURI(
      issuer: "Example App: EU", account: "user+tag@example.com", secret: Secret(offer.secret),
      algorithm: offer.algorithm, digits: offer.digits, period: offer.period)
    let uri = try #require(made).text.reveal()
    let screen = Screen(try QRCode(uri).rendered(style))
    let seen = try await QRCodeTests.read(QRCodeTests.picture(screen.modules))
    #expect(seen == uri)
    // What an app takes out of it.
    let parts = try #require(URLComponents(string: seen))
    #expect(parts.scheme == "otpauth" && parts.host == "totp" && parts.path == "/Example App EU:user+tag@example.com")
    let query = Dictionary(uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
    #expect(query["issuer"] == "Example App EU" && query["secret"] == offer.secret)
    let run = try await Subprocess.run(
      [
        "oathtool", "--totp=\(query["algorithm"] ?? "")", "--base32", "--digits=\(query["digits"] ?? "")",
        "--time-step-size=\(query["period"] ?? "")s", "-",
      ], stdin: (query["secret"] ?? "") + "\n")
    let code = run.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
    let typed = try VerificationCode(" " + code.prefix(3) + "-" + code.dropFirst(3), length: offer.digits)
    let enrolled = try Self.post(
      HTTPProbe(port: emulator.port), "v2/accounts/mfaEnrollment:finalize?key=k",
      [
        "idToken": .string(offer.idToken),
        "totpVerificationInfo": [
          "sessionInfo": .string(offer.session), "verificationCode": .string(typed.digits.reveal()),
        ],
      ])
    #expect(enrolled["idToken"] != nil)
  }
}
