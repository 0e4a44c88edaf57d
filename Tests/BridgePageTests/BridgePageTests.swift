import BridgePage
import Foundation
import TestSupport
import Testing

/// The continue page of mailed links (behaviour: How a mail's link reaches linkd; field reports B050, B080, B081).
@Suite(.timeLimit(.minutes(1))) struct BridgePageTests {
  static let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  static let sources = here.appendingPathComponent("../../desktop/bridge").standardized

  /// What the page does is tested where it runs: in a JavaScript engine. Fails where there is no node.
  @Test func itsLogicPassesItsOwnTests() async throws {
    let test = Self.here.appendingPathComponent("bridge.test.mjs").path
    let result = try await Subprocess.run(["node", "--test", "--test-reporter=tap", test], timeout: .seconds(50))
    #expect(result.status == 0, "\(result.stdout)\(result.stderr)")
    let passed = result.stdout.split(separator: "\n").last { $0.hasPrefix("# pass ") }?.dropFirst(7)
    #expect(passed.flatMap { Int($0) } ?? 0 >= 20, "too few tests ran: \(result.stdout)")
  }

  @Test func theProgramsCarryTheFilesAsTheyAre() throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
    #expect(Set(names) == Set(BridgePage.files.keys))
    for (name, bytes) in BridgePage.files {
      #expect(try Data(bytes) == Data(contentsOf: Self.sources.appendingPathComponent(name)), "\(name)")
      #expect(BridgePage.mediaType(of: name) != "application/octet-stream")
    }
  }

  /// Writes the configuration, reads it as JavaScript does, and gives it back as JSON.
  private func evaluated(_ config: String) async throws -> [String: Any] {
    let scratch = try Scratch("linkd-bridge")
    let module = try scratch.write(config, to: "config.mjs")
    let script = "import(process.argv[1]).then((m) => console.log(JSON.stringify(m.default)))"
    let result = try await Subprocess.run(["node", "-e", script, module])
    #expect(result.status == 0, "\(result.stderr)")
    return try #require(try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any])
  }

  @Test(arguments: [
    "Demo", "", "</script><script>alert(1)</script>", "\";alert(1)//", "a\\", "x\u{2028}y\u{2029}\n\r\0\u{7f}",
    "`${1}`'",
    "Żółw 🐢 應用程式", "<!--", "*/",
  ]) func whateverTheNameItIsData(_ name: String) async throws {
    let text = BridgePage.config(schemes: ["com.example.linkd", name], name: name, language: name)
    let values = try await evaluated(text)
    #expect(values["name"] as? String == name)
    #expect(values["schemes"] as? [String] == ["com.example.linkd", name])
    #expect(values["language"] as? String == name)
    #expect(!text.contains("</") && !text.contains("<!") && !text.contains("\u{2028}"))
    #expect(text.split(separator: "\n").count == 7)
  }

  @Test func theEmptyConfigurationIsTheOneInTheFolder() throws {
    let file = try #require(BridgePage.files["config.js"])
    #expect(String(decoding: file, as: UTF8.self) == BridgePage.config(schemes: [], name: "", language: nil))
  }
}
