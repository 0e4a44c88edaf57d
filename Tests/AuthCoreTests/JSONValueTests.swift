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
