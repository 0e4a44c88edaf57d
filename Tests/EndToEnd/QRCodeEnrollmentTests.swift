import Foundation
import TestSupport
import Testing

/// An authenticator app that is added at the terminal, by programs that aren't ours: `zbarimg` is its camera, `oathtool` the app.
@Suite("An authenticator app by its QR code", .timeLimit(.minutes(2)))
struct QRCodeEnrollmentTests {
  /// The code among what the terminal has shown, as a picture of text (PBM).
  private func picture(_ text: String) -> String {
    let rows = text.split(separator: "\n").filter { $0.count > 40 && $0.allSatisfy { $0 == "#" || $0 == " " } }.map {
      line in
      stride(from: 0, to: line.count, by: 2).map { line.dropFirst($0).first == "#" }
    }
    let dots = rows.flatMap { row in
      Array(repeating: row.map { $0 ? "1 1 1 1" : "0 0 0 0" }.joined(separator: " "), count: 4)
    }
    return "P1\n\((rows.first?.count ?? 0) * 4) \(dots.count)\n" + dots.joined(separator: "\n") + "\n"
  }

  @Test("what the terminal shows is read by zbarimg, is what qrencode makes of the address, and enrols oathtool")
  func scanned() async throws {
    let world = try await World.start()
    try await world.offerFactors()
    let uid = try await world.signIn(by: .password)
    try await world.administrate(uid, ["emailVerified": true])
    let terminal = try WorldTerminal(world, "mfa", "enroll-totp", "--name", "My phone", "--uri")
    try await terminal.shows("otpauth://")
    try await terminal.shows("\nCode", isSecret: true)
    let address = try #require(terminal.text.split(whereSeparator: \.isWhitespace).first { $0.hasPrefix("otpauth://") })
    let file = try world.home.write(picture(terminal.text), to: "code.pbm")
    let scan = try await world.run([
      "zbarimg", "--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary", file,
    ])
    #expect(scan.stdout == address, "\(scan.stderr)\(terminal.text)")
    let encoded = try await world.run(["qrencode", "-8", "-l", "M", "-m", "4", "-t", "ASCII"], stdin: "\(address)")
    #expect(terminal.text.contains(encoded.stdout))
    let items = URLComponents(string: scan.stdout)?.queryItems ?? []
    let secret = try #require(items.first { $0.name == "secret" }?.value)
    terminal.type(try await world.totp(secret))
    #expect(terminal.end() == 0, "\(terminal.text)")
    let factors = try await world.factors()
    #expect(factors.count == 1 && factors.first?["kind"] as? String == "totp")
    #expect(factors.first?["display-name"] as? String == "My phone")
    // It's the app that signs in from now on.
    #expect(try await world.linkctl("sign-out").status == 0)
    let flow = try await world.toSecondFactor("ada@example.com")
    // The next half minute's: each code counts once.
    let next = "@\(Int(Date().timeIntervalSince1970) + 30)"
    let code = try await world.run(["oathtool", "--totp", "--base32", "--now", next, secret])
    try await world.tell(flow, "ProvideCode", code.stdout.trimmingCharacters(in: .whitespacesAndNewlines))
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == uid)
  }
}
