import AuthCore

/// A request as it came over the wire.
struct HTTPRequest: Sendable {
  var method: String
  /// The target of the request line, undecoded: path and query.
  var target: String
  /// Header values by lower-case name.
  var headers: [String: String] = [:]
  var body: [UInt8] = []

  /// The part of the target before `?`, undecoded.
  var path: String { String(target.prefix { $0 != "?" }) }

  /// The decoded pairs of the query, in their order.
  var query: [(name: String, value: String)] {
    target.firstIndex(of: "?").map { URLText.pairs(target[target.index(after: $0)...]) } ?? []
  }

  /// The first value of a query parameter.
  func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

  /// The fields of a form; of a repeated one the first counts.
  var form: [String: String] {
    let pairs = URLText.pairs(String(decoding: body, as: UTF8.self)).map { ($0.name, $0.value) }
    return Dictionary(pairs) { first, _ in first }
  }

  /// The media type of the body, lower-case, without parameters.
  var mediaType: String? {
    headers["content-type"].map { type in
      String(type.prefix { $0 != ";" }).lowercased().filter { $0 != " " }
    }
  }
}

/// An answer, and the way it goes out.
struct Reply: Sendable {
  /// How the body reaches the client. Everything but `whole` is a fault.
  enum Delivery: Sendable, Equatable {
    case whole
    /// The connection ends after so many bytes of those announced.
    case cut(after: Int)
    /// A byte at a time, with a pause after each.
    case drip(milliseconds: Int)
    /// The body, then blanks up to this size.
    case padded(to: Int)
    /// The connection is reset instead.
    case reset
    /// The connection is closed without an answer.
    case dropped
  }

  var status: Int
  var headers: [(name: String, value: String)]
  var body: [UInt8]
  var delivery = Delivery.whole
  /// It's no answer yet: this has to be asked first.
  var waitsFor: FunctionCall?

  init(status: Int, type: String?, body: String, headers: [(name: String, value: String)] = []) {
    self.status = status
    self.headers = (type.map { [("Content-Type", $0)] } ?? []) + headers
    self.body = Array(body.utf8)
  }

  /// Compact JSON, as successes have it.
  static func json(_ value: JSONValue, status: Int = 200) -> Reply {
    Reply(status: status, type: "application/json", body: value.text)
  }

  /// JSON over several lines, as errors and the status page have it.
  static func prettyJSON(_ value: JSONValue, status: Int = 200) -> Reply {
    Reply(status: status, type: "application/json; charset=utf-8", body: value.prettyText)
  }

  static func html(_ text: String, status: Int = 200) -> Reply {
    Reply(status: status, type: "text/html; charset=utf-8", body: text)
  }

  /// 303 to another address.
  static func seeOther(_ location: String) -> Reply {
    Reply(
      status: 303, type: "text/plain; charset=utf-8", body: "See Other. Redirecting to \(location)",
      headers: [("Location", location)])
  }

  /// No answer at all.
  static let dropped: Reply = {
    var reply = Reply(status: 0, type: nil, body: "")
    reply.delivery = .dropped
    return reply
  }()
}
