import Foundation

/// Who may import whom (docs/design/0001-rings.md), and what is wrong with a text that says otherwise. Works on texts, so that
/// it can be tried on some with a fault in them.
struct Architecture {
  /// Modules of each target, besides Swift's own.
  var allowed: [String: Set<String>]
  /// The targets that may import a C module. In what `linkd` and `linkctl` are made of each library has one door.
  var doors: [String: Set<String>]
  /// No part of Foundation, whatever reason is given: `linkctl`'s hot commands are made of these.
  var withoutFoundation: Set<String>
  /// Not even the C library: no input, no output, no clock.
  var pure: Set<String>

  static let linkd = Architecture(
    allowed: [
      "EventLoop": ["CLinux"],
      "AuthCore": [], "Texts": [], "BridgePage": [],
      "AppConfiguration": ["AuthCore", "FoundationEssentials"],
      "LinkHandler": ["AuthCore"], "PhoneVerification": ["AuthCore"],
      "DBusCore": ["CDBus"],
      "DBus": ["DBusCore", "CDBus", "EventLoop"],
      "Crypto": ["AuthCore", "CCrypto"],
      "DomainNames": ["AuthCore", "CIDN"],
      "QRCode": ["CQREncode"],
      "IdentityToolkit": ["AuthCore", "EventLoop", "Crypto", "CCurl", "FoundationEssentials"],
      "SessionStore": ["AuthCore", "Crypto", "CSQLite"],
      "Desktop": ["AuthCore", "AppConfiguration", "Texts", "DBus", "EventLoop"],
      "Callers": ["DBus"],
      "Keyring": ["AuthCore", "Crypto"],
      "Loopback": ["AuthCore", "EventLoop", "CMicroHTTPD"],
      "LinkdContract": ["AuthCore", "DBusCore"],
      "LinkdClient": ["AuthCore", "DBus", "EventLoop", "LinkdContract"],
      "linkd": [
        "AuthCore", "AppConfiguration", "Texts", "LinkHandler", "EventLoop", "CLinux", "DBus", "Crypto", "DomainNames",
        "IdentityToolkit", "SessionStore", "Desktop", "Callers", "Keyring", "Loopback", "LinkdContract",
        "PhoneVerification",
      ],
      "linkctl": ["AuthCore", "Texts", "BridgePage", "DBusCore", "QRCode", "LinkdContract", "PhoneVerification"],
      "AuthEmulator": ["AuthCore", "BridgePage", "EventLoop", "CMicroHTTPD", "CCrypto"],
      "auth-emulator": ["AuthEmulator"],
      // Whatever reads foreign bytes, and libdbus to compare with. In no product.
      "FuzzTargets": [
        "AuthCore", "AppConfiguration", "LinkHandler", "PhoneVerification", "DBus", "CDBus", "Crypto",
        "IdentityToolkit", "SessionStore", "AuthEmulator", "FoundationEssentials",
      ],
      "fuzzer": ["FuzzTargets"],
    ],
    doors: [
      // Not a library: what the Glibc module leaves out of the kernel's interface.
      "CLinux": ["EventLoop", "linkd"],
      // One adapter in two modules (docs/design/0004-speed.md). The fuzzing asks libdbus whether our reader and rules say the same.
      "CDBus": ["DBusCore", "DBus", "FuzzTargets"], "CCurl": ["IdentityToolkit"], "CSQLite": ["SessionStore"],
      "CIDN": ["DomainNames"], "CQREncode": ["QRCode"],
      // The emulator signs with the library itself, and has a server of its own: it isn't made of what it tests.
      "CCrypto": ["Crypto", "AuthEmulator"], "CMicroHTTPD": ["Loopback", "AuthEmulator"],
    ],
    withoutFoundation: [
      "AuthCore", "LinkHandler", "PhoneVerification", "DBusCore", "DBus", "EventLoop", "LinkdContract", "LinkdClient",
      "Texts",
      "BridgePage",
    ],
    pure: ["AuthCore", "LinkHandler", "PhoneVerification", "BridgePage"])

  // MARK: A source file

  /// What is wrong with a file of `target`.
  func faults(in source: String, of target: String) -> [String] {
    let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.indices.compactMap { index in
      guard let module = Self.module(importedBy: lines[index]) else { return nil }
      return fault(of: target, importing: module, above: index > 0 ? lines[index - 1] : "")
    }
  }

  private func fault(of target: String, importing module: String, above: Substring) -> String? {
    switch module {
    case "Synchronization": return nil
    case "Glibc": return pure.contains(target) ? "\(target) imports Glibc" : nil
    case "Foundation", "FoundationNetworking", "FoundationXML":
      if withoutFoundation.contains(target) { return "\(target) imports \(module)" }
      let isExplained = above.drop { $0 == " " }.hasPrefix("// ")
      return isExplained ? nil : "\(target) imports \(module) without a reason above"
    default:
      if let door = doors[module], !door.contains(target) { return "\(target) imports \(module) past its door" }
      return allowed[target]?.contains(module) == true ? nil : "\(target) imports \(module)"
    }
  }

  /// `Foundation` for `@preconcurrency public import struct Foundation.URL`; nil for a line that is no import.
  static func module(importedBy line: Substring) -> String? {
    var words = line.split { $0 == " " || $0 == "\t" }
    let access = ["public", "internal", "package", "private", "fileprivate"]
    while let first = words.first, first.hasPrefix("@") || access.contains(String(first)) { words.removeFirst() }
    guard words.first == "import", words.count >= 2 else { return nil }
    let kinds = ["struct", "class", "enum", "protocol", "func", "typealias", "let", "var"]
    let name = kinds.contains(String(words[1])) && words.count > 2 ? words[2] : words[1]
    return name.split { $0 == "." || $0 == ";" }.first.map(String.init)
  }

  // MARK: The package

  /// A target as `Package.swift` declares it, with the ring whose comment stands above it.
  struct Declaration: Equatable {
    let name: String
    let ring: Int
    let dependencies: [String]
  }

  static func declarations(in manifest: String) -> [Declaration] {
    let call =
      #/(?:// Ring ([0-9]+))|(?:(?:^|\s)(?:target|program|library|fuzzTargets|fuzzProgram)\(\s*"([^"]+)"(?:,\s*\[([^\]]*)\])?)/#
    var ring = -1
    return manifest.matches(of: call).compactMap { match in
      if let number = match.1 { ring = Int(number) ?? -1 }
      guard let name = match.2 else { return nil }
      let dependencies = (match.3 ?? "").split(separator: ",").map { $0.filter { !"\" \n".contains($0) } }
      return Declaration(name: String(name), ring: ring, dependencies: dependencies.filter { !$0.isEmpty })
    }
  }

  /// The targets in the table of the design page: name, ring, and imports, which are nil where the row points to
  /// `Package.swift`.
  static func rows(in page: String) -> [(name: String, ring: Int, dependencies: [String]?)] {
    page.split(separator: "\n").flatMap { line -> [(name: String, ring: Int, dependencies: [String]?)] in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 4, let ring = Int(cells[0]) else { return [] }
      let names = { (cell: String) in
        cell.split(separator: "`").map(String.init).filter { !$0.trimmingCharacters(in: .whitespaces).isEmpty }
      }
      let dependencies = cells[3].contains("see") ? nil : cells[3] == "–" ? [] : names(cells[3])
      return names(cells[1]).map { ($0, ring, dependencies) }
    }
  }

  /// What is wrong with the targets of a `Package.swift`.
  func faults(inManifest manifest: String) -> [String] {
    let declarations = Self.declarations(in: manifest)
    var faults: [String] = []
    for (index, target) in declarations.enumerated() {
      for dependency in target.dependencies {
        // Declared further in, and earlier: so there's no circle.
        guard let position = declarations.firstIndex(where: { $0.name == dependency }) else {
          faults.append("\(target.name) depends on \(dependency), which isn't declared")
          continue
        }
        if position >= index || declarations[position].ring > target.ring {
          faults.append("\(target.name) depends on \(dependency), which is further out")
        }
        let isOpen = doors[dependency]?.contains(target.name) ?? true
        if allowed[target.name]?.contains(dependency) != true || !isOpen {
          faults.append("\(target.name) may not depend on \(dependency)")
        }
      }
    }
    return faults
  }
}
