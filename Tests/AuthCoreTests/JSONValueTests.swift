import AuthCore
import Foundation
import Testing

@Suite("JSON", .timeLimit(.minutes(1)))
struct JSONValueTests {
  static let texts: [(JSONValue, String)] = [
    (nil, "null"), (true, "true"), (false, "false"), (0, "0"), (-7, "-7"),
    (.integer(.max), "9223372036854775807"), (.integer(.min), "-9223372036854775808"), (.number(1.5), "1.5"),
    (.number(.nan), "null"), (.number(.infinity), "null"), ("", #""""#), ("a\"b\\c/d", #""a\"b\\c/d""#),
    ("\n\r\t\u{0}\u{1f}\u{7f}", #""\n\r\t\u0000\u001f\u007f""#), ("zoë 😀\u{2028}", "\"zoë 😀\u{2028}\""),
    ([], "[]"), ([1, [true], "x"], #"[1,[true],"x"]"#), (.object([:]), "{}"),
    (["b": 1, "a": nil, "ä": 2, "B": 3], #"{"B":3,"a":null,"b":1,"ä":2}"#), (["a\"": []], #"{"a\"":[]}"#),
  ]

  @Test("texts", arguments: texts)
  func text(_ value: JSONValue, _ text: String) { #expect(value.text == text) }

  @Test(
    "another reader reads the same",
    arguments: texts.map(\.0).filter { $0 != .number(.infinity) && $0.text != "null" || $0 == nil })
  func roundTrip(_ value: JSONValue) throws {
    #expect(try JSONDecoder().decode(JSONValue.self, from: Data(value.text.utf8)) == value)
    #expect(try JSONDecoder().decode(JSONValue.self, from: try JSONEncoder().encode(value)) == value)
  }

  @Test("numbers as they're read")
  func numbers() throws {
    func read(_ text: String) throws -> JSONValue { try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) }
    #expect(try read("3600").integer == 3600)
    #expect(try read("3600.0").integer == 3600)
    #expect(try read("1e3").integer == 1000)
    #expect(try read("1.5").integer == nil)
    #expect(try read("18446744073709551616") == .number(18_446_744_073_709_551_616))
    #expect(try read("18446744073709551616").integer == nil)
    #expect(try read("\"3600\"").integer == nil)
    #expect(try read("true").integer == nil)
    #expect(try read("1").bool == nil)
  }

  @Test(
    "text is read (RFC 8259)",
    arguments: [
      (#" [ ] "#, []), (#"{"a":{"b":[1,{}]} , "c":null}"#, ["a": ["b": [1, .object([:])]], "c": nil]), ("-0", 0),
      (#""\u0041\u00e9\ud83d\ude00\n\/\b\f\r\t\\\"""#, "Aé😀\n/\u{8}\u{c}\r\t\\\""), ("1.0", 1), ("1e2", 100),
      ("0.1e1", 1), ("1.5", .number(1.5)), ("1e-7", .number(1e-7)), ("\t\r\ntrue\n", true),
      ("\"\u{2028}\u{7f}\"", "\u{2028}\u{7f}"),
      (#"{"a":1,"a":2}"#, ["a": 1]), ("-9223372036854775808", .integer(.min)), ("1E+2", 100),
      ("18446744073709551616", .number(18_446_744_073_709_551_616)),
    ] as [(String, JSONValue)])
  func reading(_ text: String, _ value: JSONValue) throws {
    #expect(JSONValue(json: text.utf8) == value)
    #expect(try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) == value, "another reader says so too")
  }

  @Test(
    "what isn't JSON isn't read",
    arguments: [
      "", " ", "nul", "truex", "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "NaN", "Infinity", "1e999", "[1,]",
      "[,]",
      "[1 2]", "[", "]", "{", "{}}", "{a:1}", "{'a':1}", #"{"a":1,}"#, #"{"a"}"#, #"{"a":}"#, #"{1:2}"#, #"{,}"#, "'a'",
      #"""#, #""\"#, #""\x""#, #""\u12""#, #""\u12g4""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#, "\"\n\"",
      "\"\u{0}\"", "\u{feff}1", "1 1", "// c\n1", "[1]x", "\u{a0}1",
    ])
  func notJSON(_ text: String) { #expect(JSONValue(json: text.utf8) == nil) }

  @Test(
    "a name may come twice, unless it mayn't",
    arguments: [#"{"a":1,"a":1}"#, #"{"a":1,"\u0061":2}"#, #"[{"b":{"a":1,"a":2}}]"#, #"{"":1,"":1}"#])
  func repeatedNames(_ text: String) {
    #expect(JSONValue(json: text.utf8) != nil)
    #expect(JSONValue(json: text.utf8, repeatedNames: false) == nil)
    #expect(JSONValue(json: #"[{"a":1},{"a":1,"b":{"a":1}}]"#.utf8, repeatedNames: false) != nil)
  }

  @Test("bytes that aren't UTF-8 aren't read")
  func notUTF8() {
    for bytes in [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf]] as [[UInt8]] {
      #expect(JSONValue(json: [0x22] + bytes + [0x22]) == nil)
      #expect(JSONValue(json: [0x22, 0x5c, 0x6e] + bytes + [0x22]) == nil)
    }
  }

  // Found by hand beside the fuzzing: a kilobyte of brackets took a decoder seconds.
  @Test("nesting has a limit, and takes no time")
  func nesting() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"a":["#, count: depth / 2) + "1" + String(repeating: "]}", count: depth / 2)
    }
    #expect(JSONValue(json: nested(JSONValue.nestingLimit).utf8) != nil)
    #expect(JSONValue(json: nested(JSONValue.nestingLimit + 2).utf8) == nil)
    #expect(JSONValue(json: String(repeating: "[", count: 1 << 20).utf8) == nil)
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(JSONValue.self, from: Data(nested(34).utf8))
    }
    let wide = "[" + Array(repeating: nested(100), count: 1000).joined(separator: ",") + "]"
    var count: Int?
    let time = ContinuousClock().measure { count = JSONValue(json: wide.utf8)?.array?.count }
    #expect(count == 1000)
    #expect(time < .seconds(5))
  }

  @Test("members keep the order given")
  func ordered() {
    #expect(JSONValue.object(text: [(key: "z", value: 1), (key: "a", value: ["b": 2])]) == #"{"z":1,"a":{"b":2}}"#)
    #expect(JSONValue.object(text: []) == "{}")
  }

  @Test("a value is of one kind")
  func kinds() {
    let value: JSONValue = ["s": "x", "b": true, "i": 1, "a": [1], "o": ["k": nil]]
    #expect(value["s"]?.string == "x")
    #expect(value["b"]?.bool == true)
    #expect(value["i"]?.integer == 1)
    #expect(value["a"]?.array == [1])
    #expect(value["o"]?.object == ["k": .null])
    #expect(value["missing"] == nil)
    #expect(value["s"]?["k"] == nil)
    #expect(value["s"]?.bool == nil)
    #expect(value["i"]?.string == nil)
    #expect(value["o"]?.array == nil)
    #expect(value.array == nil)
    #expect((["k": 1, "k": 2] as JSONValue)["k"] == 2)
  }
}
