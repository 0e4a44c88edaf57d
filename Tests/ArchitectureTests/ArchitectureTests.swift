import Foundation
import Testing

/// The rings (docs/design/0001-rings.md). Reads the sources, since the compiler's own check misses C modules that arrive
/// transitively.
@Suite("Architecture", .timeLimit(.minutes(1)))
struct ArchitectureTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let rules = Architecture.linkd

  static func sources() throws -> [(target: String, file: String, text: String)] {
    let targets = ["fuzz/Targets": "FuzzTargets", "fuzz/Runner": "fuzzer"]
    return try ["Sources", "fuzz"].flatMap { folder in
      try files(below: root.appendingPathComponent(folder)).map { url in
        let path = url.path.dropFirst(root.path.count + 1)
        let parts = path.split(separator: "/").map(String.init)
        let target = targets["\(parts[0])/\(parts[1])"] ?? parts[1]
        return (target, String(path), try String(contentsOf: url, encoding: .utf8))
      }
    }
  }

  private static func files(below folder: URL) -> [URL] {
    let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
    return all.filter { $0.pathExtension == "swift" }
  }

  @Test("every import is one that its target may have")
  func imports() throws {
    let sources = try Self.sources()
    #expect(sources.count > 100)
    for source in sources { #expect(rules.faults(in: source.text, of: source.target) == [], "\(source.file)") }
    #expect(Set(sources.map(\.target)).isSubset(of: rules.allowed.keys))
  }

  @Test("nothing is allowed that nobody uses")
  func unused() throws {
    var used: [String: Set<String>] = [:]
    for source in try Self.sources() {
      let lines = source.text.split(separator: "\n")
      used[source.target, default: []].formUnion(lines.compactMap(Architecture.module))
    }
    for (target, modules) in rules.allowed { #expect(modules.subtracting(used[target] ?? []) == [], "\(target)") }
  }

  @Test("the table of docs/design/0001-rings.md is Package.swift's")
  func table() throws {
    let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let page = Self.root.appendingPathComponent("docs/design/0001-rings.md")
    let rows = Architecture.rows(in: try String(contentsOf: page, encoding: .utf8))
    let declared = Architecture.declarations(in: manifest).filter { !$0.name.lowercased().hasPrefix("fuzz") }
    #expect(Set(rows.map(\.name)) == Set(declared.map(\.name)))
    for target in declared {
      let row = try #require(rows.first { $0.name == target.name })
      #expect(row.ring == target.ring, "\(target.name)")
      let isTold = row.dependencies == nil || Set(row.dependencies ?? []) == Set(target.dependencies)
      #expect(isTold, "\(target.name): \(target.dependencies)")
    }
  }

  @Test("Package.swift declares what the rules allow, from the inside out")
  func package() throws {
    let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    #expect(rules.faults(inManifest: manifest) == [])
    let declared = Architecture.declarations(in: manifest)
    #expect(Set(declared.map(\.name)) == Set(rules.allowed.keys).union(rules.doors.keys))
    #expect(declared.allSatisfy { (0...4).contains($0.ring) })
  }

  @Test("no product is made of the fuzzing")
  func shipped() throws {
    let manifest = try String(contentsOf: Self.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let products = manifest.split(separator: "products: [")[1].split(separator: "\n  targets: [")[0]
    #expect(products.contains("linkd") && !products.lowercased().contains("fuzz"))
    let users = Architecture.declarations(in: manifest).filter { $0.dependencies.contains("FuzzTargets") }
    #expect(users.map(\.name) == ["fuzzer"])
  }

  @Test("the examples use what the package offers, and nothing else of ours")
  func examples() throws {
    let ours = Set(rules.allowed.keys).union(rules.doors.keys).subtracting(["LinkdClient", "AuthCore"])
    let files = Self.files(below: Self.root.appendingPathComponent("examples/swift"))
    #expect(files.count >= 2)
    for file in files {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      #expect(ours.intersection(lines.compactMap(Architecture.module)) == [], "\(file.path)")
    }
  }

  @Test("C modules are a module map and a header, nothing else")
  func systemModules() throws {
    let folder = Self.root.appendingPathComponent("Sources").path
    for name in rules.doors.keys {
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(name)").sorted()
      #expect(files == ["module.modulemap", "shim.h"])
    }
  }

  // MARK: The checker itself

  @Test(
    "the checker sees a planted import",
    arguments: [
      ("import CDBus\n", "LinkHandler"), ("import DBus\n", "AuthCore"), ("import LinkHandler\n", "PhoneVerification"),
      ("import SessionStore\n", "IdentityToolkit"), ("@testable import SessionStore", "IdentityToolkit"),
      ("public import Keyring\n", "Desktop"), ("import CSQLite\n", "linkd"), ("import CCrypto\n", "linkctl"),
      ("import Crypto\n", "AuthEmulator"), ("import Glibc\n", "AuthCore"), ("import Foundation\n", "linkd"),
      ("\n\nimport Foundation\n", "linkd"),
      ("import FoundationNetworking\n", "linkd"), ("// For dates.\nimport Foundation\n", "AuthCore"),
      ("import FoundationEssentials\n", "Texts"), ("import struct Foundation.URL", "AuthCore"),
      ("  @preconcurrency internal import class Foundation.Bundle", "linkd"), ("import CDBus; import Glibc", "linkd"),
      ("import AuthCore\n", "NoSuchTarget"),
    ]) func planted(_ source: String, _ target: String)
  { #expect(rules.faults(in: source, of: target).count == 1) }

  @Test(
    "the checker lets pass what is allowed",
    arguments: [
      ("public import AuthCore\n", "LinkHandler"), ("import Glibc\n", "Texts"),
      ("import CMicroHTTPD\n", "AuthEmulator"), ("import CCrypto\n", "AuthEmulator"),
      ("// For dates.\nimport Foundation\n", "linkd"), ("/// import CDBus\nlet important = 1\n", "AuthCore"),
      ("import Synchronization\n", "EventLoop"),
    ]) func allowed(_ source: String, _ target: String)
  { #expect(rules.faults(in: source, of: target) == []) }

  static let manifest = """
    // Ring 0: C
    library("CDBus", pkgConfig: "dbus-1"),
    target("EventLoop"),
    // Ring 1: nouns
    target("AuthCore"),
    // Ring 3: adapters
    target("DBus", ["CDBus", "EventLoop"]),
    target(
      "Callers",
      [
        "DBus"
      ]),
    tests("DBusTests", ["DBus"]),
    """

  @Test("the checker reads a package")
  func reading() {
    let declared = Architecture.declarations(in: Self.manifest)
    #expect(declared.map(\.name) == ["CDBus", "EventLoop", "AuthCore", "DBus", "Callers"])
    #expect(declared.map(\.ring) == [0, 0, 1, 3, 3])
    #expect(declared[3].dependencies == ["CDBus", "EventLoop"] && declared[4].dependencies == ["DBus"])
    #expect(rules.faults(inManifest: Self.manifest) == [])
  }

  @Test(
    "the checker sees a planted dependency",
    arguments: [
      ("target(\"AuthCore\")", "target(\"AuthCore\", [\"DBus\"])"),
      ("target(\"EventLoop\")", "target(\"EventLoop\", [\"CDBus\"])"),
      ("\"CDBus\", \"EventLoop\"]", "\"CDBus\", \"EventLoop\", \"AuthCore\"]"),
      ("    \"DBus\"\n", "    \"DBus\", \"Keyring\"\n"),
    ]) func plantedDependency(_ old: String, _ new: String)
  {
    let manifest = Self.manifest.replacing(old, with: new)
    #expect(manifest != Self.manifest && !rules.faults(inManifest: manifest).isEmpty)
  }
}
