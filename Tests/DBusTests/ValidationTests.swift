import CDBus
import Testing

@testable import DBus

/// The module's internals, for suites that import it as others do.
enum DBusTestAccess {
  static func check(_ arguments: [DBusValue]) throws { try MarshallingCheck.check(arguments) }
}

@Suite(.timeLimit(.minutes(1)))
struct ValidationTests {
  private struct Rule: Sendable {
    let name: String
    let ours: @Sendable (String) -> Bool
    let theirs: @Sendable (String) -> Bool

    init(_ name: String, _ ours: @escaping @Sendable (String) -> Bool, _ theirs: @escaping @Sendable (String) -> Bool) {
      (self.name, self.ours, self.theirs) = (name, ours, theirs)
    }
  }

  private static let rules: [Rule] = [
    Rule("object path", { Validation.isObjectPath($0) }, { dbus_validate_path($0, nil) != 0 }),
    Rule("interface", { Validation.isInterfaceName($0) }, { dbus_validate_interface($0, nil) != 0 }),
    Rule("member", { Validation.isMemberName($0) }, { dbus_validate_member($0, nil) != 0 }),
    Rule("error name", { Validation.isErrorName($0) }, { dbus_validate_error_name($0, nil) != 0 }),
    Rule(
      "well-known name", { Validation.isWellKnownName($0) }, { dbus_validate_bus_name($0, nil) != 0 && $0.first != ":" }
    ),
    // libdbus takes unique names without dots and with empty elements, which the specification doesn't.
    Rule(
      "bus name", { Validation.isBusName($0) || $0.first == ":" },
      { dbus_validate_bus_name($0, nil) != 0 || $0.first == ":" }),
    Rule("signature", { Signature.isValid($0) }, { dbus_signature_validate($0, nil) != 0 }),
    Rule("single signature", { Signature.isSingle($0) }, { dbus_signature_validate_single($0, nil) != 0 }),
    Rule("string", { Validation.isString($0) }, { dbus_validate_utf8($0, nil) != 0 }),
  ]

  private static let edges: [String] = [
    "", "/", "//", "/a", "/a/", "/a//b", "a", "a.b", ".a.b", "a.b.", "a..b", "a.1", "1.a", ":1.2", ":1", ":", ":.",
    ":a.b", "a-b.c", "-.-", "_._", "ä.ö", "a{sv}", "a{vs}", "{sv}", "()", "(i)", "(", ")", "a", "aa", "ai", "a(", "a{}",
    "a{s}", "a{ssv}", "a{s(i)}", "a{(i)s}", "ii", "v", "h", "m", "r", "e", "(a{sv}i)", "🔑",
  ]

  /// Around the limits of length and nesting.
  private static var limits: [String] {
    var texts: [String] = []
    for length in [254, 255, 256] {
      texts.append(repeated("i", length))
      texts.append(repeated("a", length))
      texts.append("x." + repeated("y", length - 2))
    }
    for depth in [31, 32, 33] {
      texts.append(repeated("a", depth) + "i")
      texts.append(repeated("(", depth) + "i" + repeated(")", depth))
      texts.append(repeated("a{s", depth) + "i" + repeated("}", depth))
      texts.append(repeated("a(", depth) + "i" + repeated(")", depth))
      texts.append(repeated("(", depth) + "a{sv}" + repeated(")", depth))
      texts.append(repeated("a{s(", depth) + "i" + repeated(")}", depth))
    }
    return texts
  }

  private static func repeated(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

  @Test func edgesAreJudgedAsLibdbusDoes() {
    for rule in Self.rules {
      for text in Self.edges + Self.limits { #expect(rule.ours(text) == rule.theirs(text), "\(rule.name) “\(text)”") }
    }
  }

  @Test func randomTextIsJudgedAsLibdbusDoes() {
    let alphabet = Array("aZ_9./:-(){}sivyoä \u{7f}")
    var valid = 0
    for _ in 0..<20_000 {
      let text = String((0..<Int.random(in: 0...9)).map { _ in alphabet.randomElement() ?? "a" })
      for rule in Self.rules {
        let judged = rule.ours(text)
        if judged { valid += 1 }
        if judged != rule.theirs(text) { Issue.record("\(rule.name) “\(text)”: \(judged)") }
      }
    }
    #expect(valid > 20_000, "the string rule alone accepts each")
  }

  @Test func zeroBytesAreNeverValid() {
    for rule in Self.rules {
      #expect(!rule.ours("a.\0b"), "\(rule.name)")
      #expect(!rule.ours("\0"), "\(rule.name)")
    }
  }

  @Test func uniqueNamesHaveTwoElements() {
    for name in [":1.42", ":a-b._c", ":1.2.3"] { #expect(Validation.isBusName(name), "\(name)") }
    for name in [":", ":1", ":.1", ":1.", ":1..2", "::1.2", ":1.ä"] { #expect(!Validation.isBusName(name), "\(name)") }
  }

  @Test func signaturesSplitIntoCompleteTypes() {
    #expect(Signature("a{sv}iaas(ib)").completeTypes.map(\.text) == ["a{sv}", "i", "aas", "(ib)"])
    #expect(Signature("").completeTypes.isEmpty)
    #expect(throws: DBusError.self) { try Signature("a{" as String) }
  }

  @Test(arguments: [
    ("", "_"), ("abc", "abc"), ("a1", "a1"), ("1a", "_31a"), ("my-app", "my_2dapp"), ("_", "_5f"), ("a_b", "a_5fb"),
    ("ä", "_c3_a4"), ("/", "_2f"), ("A Z", "A_20Z"),
  ])
  func labelsAreEncodedAsSystemdDoes(label: String, encoded: String) {
    #expect(ObjectPath.encode(label) == encoded)
    #expect(ObjectPath.decode(encoded) == label)
    let path = ObjectPath("/org/x").appending(label: label)
    #expect(path.text == "/org/x/" + encoded)
    #expect(path.label(below: "/org/x") == label)
    #expect(Validation.isObjectPath(path.text))
  }

  @Test(arguments: ["_2", "_zz", "_61", "_2D", "a-b", "1", "a_", "_ff"])
  func whatEncodeCantMakeIsntDecoded(element: String) { #expect(ObjectPath.decode(element) == nil) }

  @Test func pathsKnowTheirDescendants() {
    #expect(ObjectPath("/a/b").isDescendant(of: "/a"))
    #expect(ObjectPath("/a").isDescendant(of: "/"))
    #expect(!ObjectPath("/ab").isDescendant(of: "/a"))
    #expect(!ObjectPath("/a").isDescendant(of: "/a"))
    #expect(!ObjectPath("/").isDescendant(of: "/"))
    #expect(ObjectPath("/a/b/c").label(below: "/a") == nil)
    #expect(throws: DBusError.self) { try ObjectPath("a" as String) }
  }

  @Test func matchRulesAreQuoted() throws {
    let rule = MatchRule(sender: "a.b", pathNamespace: "/p", member: "M", arg0: "it's", arg0Namespace: "n")
    #expect(
      try rule.text()
        == "type='signal',sender='a.b',path_namespace='/p',member='M',arg0='it'\\''s',arg0namespace='n'")
  }
}
