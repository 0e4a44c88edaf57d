import AuthCore
import DBusCore
import Glibc
import LinkdContract

/// What is printed where: results on standard output, everything about them on standard error. With `--json` standard
/// output has one object a line and nothing else.
struct Output: Sendable {
  let json: Bool

  /// One object, its members in the order given; a member without value is left out.
  func object(_ members: [(key: String, value: JSONValue?)]) {
    line(
      JSONValue.object(
        text: members.compactMap { member in member.value.map { (key: member.key, value: $0) } }))
  }

  /// A line of standard output.
  func line(_ text: String) { write(STDOUT_FILENO, text) }

  /// A line of standard error, for a person. Foreign text in it has been made printable by who puts it there.
  func note(_ text: String) { write(STDERR_FILENO, text) }

  /// The failed command's last line, and the text.
  func failure(_ failure: Failure) {
    if json { object(failure.members) }
    note("linkctl: \(Self.printable(failure.message))")
  }

  /// Without what could change a terminal: control and direction-changing characters.
  static func printable(_ text: String) -> String {
    // Nearly every text: Unicode's tables needn't be loaded for it.
    if text.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return text }
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: continue
      default: out.append(scalar)
      }
    }
    return String(out)
  }

  private func write(_ descriptor: Int32, _ text: String) {
    var text = text
    text += "\n"
    text.withUTF8 { bytes in
      var sent = 0
      while sent < bytes.count, let base = bytes.baseAddress {
        let count = Glibc.write(descriptor, base + sent, bytes.count - sent)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        sent += count
      }
    }
  }
}

extension DBusValue {
  /// The value as JSON: objects by id, bytes as numbers.
  var json: JSONValue {
    switch self {
    case .objectPath(let path):
      if let flow = Contract.flowID(path: path) { return .string(flow.value) }
      if let app = Contract.appID(path: path) { return .string(app.value) }
      return .string(path.text)
    case .variant(let value): return value.json
    case .double(let number): return .number(number)
    default: break
    }
    if let members = asDict { return .object(members.mapValues(\.json)) }
    if let text = asString { return .string(text) }
    if let flag = asBool { return .bool(flag) }
    if let number = asInteger { return .integer(number) }
    return .array((asArray ?? []).map(\.json))
  }
}
