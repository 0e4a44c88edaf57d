import Glibc

/// The process environment, read once.
enum Environment {
  static var all: [String: String] {
    var out: [String: String] = [:]
    var entry = environ
    while let pair = entry.pointee {
      let text = String(cString: pair)
      if let equals = text.firstIndex(of: "=") {
        out[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      entry += 1
    }
    return out
  }
}
