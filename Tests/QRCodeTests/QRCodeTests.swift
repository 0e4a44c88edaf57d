import Foundation
import QRCode
import TestSupport
import Testing

@Suite("QR codes", .timeLimit(.minutes(2)))
struct QRCodeTests {
  static let uri =
    "otpauth://totp/Example%20App%20EU:user%2Btag%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    + "&issuer=Example%20App%20EU&algorithm=SHA1&digits=6&period=30"
  static let texts = [uri, "a", "0123456789", "HELLO WORLD", "Zürich – 東京 🎉", String(repeating: "x", count: 2331)]

  /// Modules as a picture of text (PBM): each four dots wide, with the quiet zone.
  static func picture(_ modules: [[Bool]]) -> String {
    let rows = modules.flatMap { row in
      Array(repeating: row.map { $0 ? "1 1 1 1" : "0 0 0 0" }.joined(separator: " "), count: 4)
    }
    return "P1\n\((modules.first?.count ?? 0) * 4) \(rows.count)\n" + rows.joined(separator: "\n") + "\n"
  }

  /// What a reader that isn't ours finds in a picture.
  static func read(_ picture: String) async throws -> String {
    let scratch = try Scratch()
    let file = try scratch.write(picture, to: "code.pbm")
    let options = ["--quiet", "--raw", "--oneshot", "-Sdisable", "-Sqrcode.enable", "-Sbinary"]
    let run = try await Subprocess.run(["zbarimg"] + options + [file])
    return run.stdout
  }

  static func modules(_ code: QRCode) -> [[Bool]] {
    let places = -QRCode.quietZone..<code.width + QRCode.quietZone
    return places.map { row in places.map { code.isDark(row: row, column: $0) } }
  }

  @Test("a reader that isn't ours finds the text", arguments: texts)
  func readable(_ text: String) async throws {
    #expect(try await Self.read(Self.picture(Self.modules(QRCode(text)))) == text)
  }

  @Test("the modules are those that qrencode prints", arguments: texts)
  func same(_ text: String) async throws {
    let run = try await Subprocess.run(["qrencode", "-8", "-l", "M", "-m", "4", "-t", "ASCII"], stdin: text)
    #expect(run.stdout == (try QRCode(text).rendered(.text)))
  }

  @Test("what a terminal shows is the code, black on white whatever its colours are", arguments: TerminalStyle.allCases)
  func rendered(_ style: TerminalStyle) async throws {
    let code = try QRCode(Self.uri)
    let screen = Screen(code.rendered(style))
    // The last half line of a code with an odd number of rows is white.
    #expect(Array(screen.modules.prefix(code.width + 8)) == Self.modules(code))
    #expect(screen.modules.dropFirst(code.width + 8).allSatisfy { !$0.contains(true) })
    #expect(screen.isSelfContained == (style != .text))
    #expect(screen.columns == [code.columns(style)])
    #expect(try await Self.read(Self.picture(screen.modules)) == Self.uri)
  }

  @Test("a terminal gets what it can show")
  func style() {
    #expect(TerminalStyle(isUTF8: true, hasColours: true) == .blocks)
    #expect(TerminalStyle(isUTF8: false, hasColours: true) == .spaces)
    #expect(TerminalStyle(isUTF8: true, hasColours: false) == .text)
    #expect(TerminalStyle(isUTF8: false, hasColours: false) == .text)
  }

  @Test("without UTF-8 everything is ASCII", arguments: [TerminalStyle.spaces, .text])
  func ascii(_ style: TerminalStyle) throws {
    let bytes = try QRCode(Self.uri).rendered(style).utf8
    #expect(bytes.allSatisfy { $0 < 0x80 })
  }

  @Test("no text, and more than a code holds, are told", arguments: ["", String(repeating: "x", count: 2332)])
  func wrongLength(_ text: String) { #expect(throws: QRCodeError.wrongLength) { try QRCode(text) } }

  @Test("a code isn't printed: it may hold a factor's secret")
  func secrecy() throws {
    var dumped = ""
    dump(try QRCode("secret"), to: &dumped)
    #expect(!dumped.contains("true") && !dumped.contains("secret"))
  }
}
