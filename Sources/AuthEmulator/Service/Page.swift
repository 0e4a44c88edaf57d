import AuthCore

/// One page of a list that is in the order of its ids.
struct Page {
  private let size: Int
  private let after: String?

  /// - Parameters:
  ///   - size: the parameter with the length of a page, in the query or the body.
  ///   - token: the parameter with the id that the page before ended at.
  ///   - fallback: the length where none is asked for.
  init(_ call: Call, size: String, token: String, fallback: Int) {
    let asked = call.request.parameter(size).flatMap { Int($0) } ?? call.body[size]?.integer.map { Int(clamping: $0) }
    self.size = asked ?? fallback
    after = call.request.parameter(token) ?? call[token]
  }

  /// The page, and the token of the next one. A full page has one, also the last.
  func cut<Element>(_ all: [Element], id: (Element) -> String) -> (shown: [Element], next: String?) {
    var rest = all
    if let after { rest = all.filter { id($0) > after } }
    // Less than nothing asked for is everything (the recorded service says so of itself).
    let shown = size < 0 ? rest : Array(rest.prefix(size))
    return (shown, size > 0 && shown.count >= size ? shown.last.map(id) : nil)
  }
}
