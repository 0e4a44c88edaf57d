public import AuthCore

/// A request that the emulator got. It keeps codes and passwords: they belong to accounts that live in a test's memory.
public struct RequestRecord: Sendable {
  /// Counts from 0.
  public let number: Int
  /// `POST`, `GET`, …
  public let method: String
  /// The path without the query, such as `/identitytoolkit.googleapis.com/v1/accounts:lookup`.
  public let path: String
  /// The parameters of the query; of a repeated one the first counts.
  public let query: [String: String]
  /// Header values by lower-case name.
  public let headers: [String: String]
  /// The body as JSON; the fields of a form; nil where it's neither.
  public let body: JSONValue?
  /// Whether it has had its effect.
  public internal(set) var isHandled = false
  /// The status of the answer; nil while there is none.
  public internal(set) var status: Int?

  init(_ request: HTTPRequest, number: Int) {
    self.number = number
    (method, path, headers) = (request.method, request.path, request.headers)
    query = Dictionary(request.query.map { ($0.name, $0.value) }) { first, _ in first }
    if request.mediaType == "application/x-www-form-urlencoded" {
      let pairs = URLText.pairs(String(decoding: request.body, as: UTF8.self))
      body = .object(Dictionary(pairs.map { ($0.name, .string($0.value)) }) { first, _ in first })
    } else {
      body = try? JSONText.parse(request.body)
    }
  }

  var json: JSONValue {
    .record([
      "number": .integer(Int64(number)), "method": .string(method), "path": .string(path),
      "query": .object(query.mapValues(JSONValue.string)), "headers": .object(headers.mapValues(JSONValue.string)),
      "body": body, "handled": .bool(isHandled), "status": status.map { .integer(Int64($0)) },
    ])
  }
}
