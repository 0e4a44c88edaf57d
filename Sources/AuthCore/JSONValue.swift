/// A JSON value (RFC 8259) as it travels between files, tokens and the command line.
///
/// Read by `init(json:)` and written by `text`, without Foundation. `Codable` is for values inside of typed ones.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The member `key` of an object; nil for anything else.
  public subscript(_ key: String) -> JSONValue? {
    if case .object(let members) = self { members[key] } else { nil }
  }

  /// The text of a string; nil for anything else.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The whole number; a number without fraction counts.
  public var integer: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value)
    case .null, .bool, .string, .array, .object: nil
    }
  }

  /// The truth value; nil for anything else.
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }

  /// The elements of an array; nil for anything else.
  public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

  /// The members of an object; nil for anything else.
  public var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object; of a repeated key the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
  /// `null`.
  public init(nilLiteral: ()) { self = .null }
}

extension JSONValue: Codable {
  /// Reads whatever JSON value is there. Whole numbers outside `Int64` become doubles.
  ///
  /// - Throws: a `DecodingError` also for what is nested deeper than 32: each level costs as much as all above it.
  public init(from decoder: any Decoder) throws {
    guard decoder.codingPath.count <= 32 else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "nested too deeply"))
    }
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  /// Writes the value.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSONValue {
  /// Compact JSON text on one line; the members of an object in the order of their keys' bytes.
  public var text: String {
    var out = ""
    write(to: &out)
    return out
  }

  private func write(to out: inout String) {
    switch self {
    case .null: out += "null"
    case .bool(let value): out += value ? "true" : "false"
    case .integer(let value): out += String(value)
    // JSON has no infinity and no NaN.
    case .number(let value): out += value.isFinite ? "\(value)" : "null"
    case .string(let value): Self.write(value, to: &out)
    case .array(let elements):
      out += "["
      for (index, element) in elements.enumerated() {
        if index > 0 { out += "," }
        element.write(to: &out)
      }
      out += "]"
    case .object(let members):
      Self.write(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }, to: &out)
    }
  }

  /// An object with its members in the order given, for output whose order is part of the manner.
  public static func object(text members: [(key: String, value: JSONValue)]) -> String {
    var out = ""
    write(members, to: &out)
    return out
  }

  private static func write(_ members: [(key: String, value: JSONValue)], to out: inout String) {
    out += "{"
    for (index, member) in members.enumerated() {
      if index > 0 { out += "," }
      write(member.key, to: &out)
      out += ":"
      member.value.write(to: &out)
    }
    out += "}"
  }

  private static func write(_ text: String, to out: inout String) {
    out += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": out += "\\\""
      case "\\": out += "\\\\"
      case "\n": out += "\\n"
      case "\r": out += "\\r"
      case "\t": out += "\\t"
      case let scalar where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: out.unicodeScalars.append(scalar)
      }
    }
    out += "\""
  }
}
