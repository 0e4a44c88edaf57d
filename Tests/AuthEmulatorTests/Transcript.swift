import AuthCore
import Foundation

/// A recording of real answers: `Tests/Transcripts/NN-name.json`.
struct Transcript: Decodable, Sendable {
  struct Request: Decodable, Sendable {
    let method: String
    let path: String
    let headers: [String: String]
    /// The JSON value sent; a text where a form or broken JSON was sent.
    let body: JSONValue?
  }

  struct Response: Decodable, Sendable {
    let status: Int
    let headers: [String: String]
    /// JSON, or text where the content type isn't JSON.
    let body: JSONValue?
  }

  /// A value of the request that comes from an earlier answer.
  struct Reference: Decodable, Sendable {
    let `in`: String
    let from: String
    let pointer: String
    /// Contained in the value, instead of being it.
    let part: Bool?
  }

  struct Exchange: Decodable, Sendable {
    let name: String
    let request: Request
    let response: Response
    let references: [Reference]?

    private enum CodingKeys: String, CodingKey {
      case name, request, response
      case references = "request_refs"
    }

    /// Method and path, without what changes from project to project.
    var operation: String {
      let path = request.path.prefix { $0 != "?" }
        .replacing(#/\/projects\/[^\/:]+/#, with: "/projects/{p}").replacing(
          #/\/tenants\/[^\/:]+/#, with: "/tenants/{t}")
      return "\(request.method) \(path)"
    }
  }

  let scenario: String
  let variableFields: Set<String>
  let exchanges: [Exchange]

  private enum CodingKeys: String, CodingKey {
    case scenario, exchanges
    case variableFields = "variable_fields"
  }

  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Transcripts")

  static func all() throws -> [Transcript] {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.pathExtension == "json" }.map {
      try JSONDecoder().decode(Transcript.self, from: Data(contentsOf: $0))
    }.sorted { $0.scenario < $1.scenario }
  }

  /// `06`, of `06-email-link`.
  var number: String { String(scenario.prefix(2)) }
}

extension JSONValue {
  /// The value a JSON pointer (RFC 6901) leads to.
  subscript(pointer pointer: String) -> JSONValue? {
    pointer.split(separator: "/").reduce(Optional(self)) { value, step in
      switch value {
      case .array(let elements): Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
      case .object(let members): members[String(step)]
      case .null, .bool, .integer, .number, .string, nil: nil
      }
    }
  }

  /// The value with another one put where the steps lead.
  func setting(_ value: JSONValue, at steps: ArraySlice<Substring>) -> JSONValue {
    guard let step = steps.first else { return value }
    switch self {
    case .array(var elements):
      guard let index = Int(step), elements.indices.contains(index) else { return self }
      elements[index] = elements[index].setting(value, at: steps.dropFirst())
      return .array(elements)
    case .object(var members):
      members[String(step)] = (members[String(step)] ?? .null).setting(value, at: steps.dropFirst())
      return .object(members)
    case .null, .bool, .integer, .number, .string: return self
    }
  }

  /// Every text in the value, changed.
  func mapTexts(_ change: (String) -> String) -> JSONValue {
    switch self {
    case .string(let text): .string(change(text))
    case .array(let elements): .array(elements.map { $0.mapTexts(change) })
    case .object(let members): .object(members.mapValues { $0.mapTexts(change) })
    case .null, .bool, .integer, .number: self
    }
  }
}
