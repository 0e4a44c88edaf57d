import Foundation
import Testing

/// Who may import whom (docs/design/0001-rings.md). Reads the sources, since the compiler's own check misses C modules that
/// arrive transitively.
@Suite("Architecture", .timeLimit(.minutes(1)))
struct ArchitectureTests {
  /// A target's modules, besides Swift's own and Glibc.
  static let allowed: [String: Set<String>] = [
    "EventLoop": ["CLinux", "Synchronization"],
    "AuthCore": [], "Texts": [], "BridgePage": [],
    "AppConfiguration": ["AuthCore", "FoundationEssentials"],
    "LinkHandler": ["AuthCore"], "PhoneVerification": ["AuthCore"],
    "DBus": ["CDBus", "EventLoop"],
    "Crypto": ["AuthCore", "CCrypto"],
    "DomainNames": ["AuthCore", "CIDN"],
    "IdentityToolkit": ["AuthCore", "EventLoop", "Crypto", "CCurl", "FoundationEssentials"],
    "SessionStore": ["AuthCore", "Crypto", "CSQLite"],
    "Desktop": ["AuthCore", "AppConfiguration", "Texts", "DBus", "EventLoop", "CLinux"],
    "Callers": ["AuthCore", "DBus"],
    "Keyring": ["AuthCore", "Crypto"],
    "LinkdClient": ["AuthCore", "DBus"],
    "linkd": [
      "AuthCore", "AppConfiguration", "Texts", "LinkHandler", "PhoneVerification", "EventLoop", "CLinux", "DBus",
      "Crypto", "DomainNames", "IdentityToolkit", "SessionStore", "Desktop", "Callers", "Keyring", "LinkdClient",
    ],
    "linkctl": ["AuthCore", "Texts", "BridgePage", "DBus", "EventLoop", "LinkdClient"],
    // Its answers aren't made by the code under test.
    "AuthEmulator": ["AuthCore", "BridgePage", "EventLoop", "CMicroHTTPD", "CCrypto", "FoundationEssentials"],
    "auth-emulator": ["AuthEmulator", "EventLoop"],
  ]

  /// C modules whose one door in `linkd` and `linkctl` is the target named.
  static let doors = [
    "CDBus": "DBus", "CCurl": "IdentityToolkit", "CSQLite": "SessionStore", "CCrypto": "Crypto", "CIDN": "DomainNames",
  ]

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func imports(_ source: String) -> [(module: String, line: Int)] {
    source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { number, line in
      var words = line.split(separator: " ").map(String.init)
      words.removeAll {
        ["public", "internal", "package", "private", "fileprivate", "@preconcurrency", "@testable"].contains($0)
      }
      guard words.first == "import", words.count >= 2 else { return nil }
      let module = words[words.count > 2 ? 2 : 1]
      return (String(module.split(separator: ".")[0]), number)
    }
  }

  /// What is wrong with a file of `target`.
  static func faults(in source: String, of target: String) -> [String] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    return imports(source).compactMap { module, line in
      if ["Glibc", "Synchronization"].contains(module) { return nil }
      if module == "Foundation" || module == "FoundationNetworking" {
        let reason = line > 0 ? lines[line - 1].trimmingCharacters(in: .whitespaces) : ""
        return reason.hasPrefix("//") ? nil : "\(target) imports \(module) without a reason"
      }
      return allowed[target]?.contains(module) == true ? nil : "\(target) imports \(module)"
    }
  }

  static func sources() throws -> [(target: String, file: String, text: String)] {
    let folder = root.appendingPathComponent("Sources")
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
    return try files.filter { $0.pathExtension == "swift" }.map { url in
      let path = url.path.dropFirst(folder.path.count + 1)
      return (String(path.split(separator: "/")[0]), String(path), try String(contentsOf: url, encoding: .utf8))
    }
  }

  @Test("every import is one that its target may have")
  func arrows() throws {
    let sources = try Self.sources()
    #expect(sources.count > 100)
    for source in sources {
      #expect(Self.faults(in: source.text, of: source.target) == [], "\(source.file)")
    }
    #expect(Set(sources.map(\.target)).isSubset(of: Self.allowed.keys))
  }

  @Test("each C library has one door")
  func doors() throws {
    for source in try Self.sources() where source.target != "AuthEmulator" {
      for (module, _) in Self.imports(source.text) {
        if let door = Self.doors[module] { #expect(source.target == door, "\(source.file) imports \(module)") }
      }
    }
  }

  @Test("the checker sees what it should")
  func checker() {
    #expect(Self.faults(in: "import CDBus\n", of: "LinkHandler") == ["LinkHandler imports CDBus"])
    #expect(Self.faults(in: "public import AuthCore\nimport Glibc\n", of: "LinkHandler") == [])
    #expect(Self.faults(in: "import Foundation\n", of: "linkd") == ["linkd imports Foundation without a reason"])
    #expect(Self.faults(in: "// For dates.\nimport Foundation\n", of: "linkd") == [])
    #expect(
      Self.faults(in: "@testable import SessionStore", of: "IdentityToolkit") == [
        "IdentityToolkit imports SessionStore"
      ])
    #expect(Self.faults(in: "import struct Foundation.URL", of: "AuthCore").count == 1)
  }

  @Test("C modules are a module map and a header, nothing else")
  func systemModules() throws {
    let folder = Self.root.appendingPathComponent("Sources").path
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) where Self.isCModule(name) {
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").sorted() == [
          "module.modulemap", "shim.h",
        ])
    }
  }

  private static func isCModule(_ name: String) -> Bool {
    name.first == "C" && name.dropFirst().first?.isUppercase == true
  }
}
