import AuthCore
import AuthEmulator
import Foundation
import TestSupport

/// Sends a transcript's requests to a fresh emulator, over HTTP, and compares the answers.
struct Replay {
  struct Outcome: Sendable {
    let transcript: Transcript
    let exchange: Transcript.Exchange
    /// Empty: as recorded.
    let differences: [String]

    var title: String { "\(transcript.number) \(exchange.name)" }
  }

  private let transcript: Transcript
  private let emulator: AuthEmulator
  private let probe: HTTPProbe
  private let functions: Functions
  /// When each exchange was recorded, in seconds, as far as its answer tells.
  private let times: [Int64?]
  /// Recorded and actual bodies by the name of their exchange.
  private var answers: [String: (recorded: JSONValue, actual: JSONValue)] = [:]
  /// What stands here for an id of the recording.
  private var ids: [String: String] = [:]

  static func run(_ transcript: Transcript) throws -> [Outcome] {
    var replay = try Replay(transcript)
    defer {
      replay.emulator.stop()
      replay.functions.stop()
    }
    return try transcript.exchanges.indices.map { index in
      let exchange = transcript.exchanges[index]
      replay.emulator.setClock(replay.time(at: index))
      replay.emulator.setNextIDs(replay.recordedIDs(exchange))
      return Outcome(transcript: transcript, exchange: exchange, differences: try replay.perform(exchange))
    }
  }

  private init(_ transcript: Transcript) throws {
    self.transcript = transcript
    times = transcript.exchanges.map { Self.time($0.response.body) }
    emulator = try AuthEmulator.start(project: "demo-project")
    probe = HTTPProbe(port: emulator.port)
    functions = try Functions()
  }

  /// When the exchange was recorded, as its tokens or those of the next one tell: tokens die by the second.
  private func time(at index: Int) -> Int64 {
    let later = times[index...].lazy.compactMap(\.self).first
    let earlier = times[..<index].lazy.compactMap(\.self).last
    return (later ?? earlier ?? 1_796_008_160) * 1000 + Int64(index)
  }

  /// The id that the exchange made for an account or a tenant: with the same ones, lists are in the recorded order.
  private func recordedIDs(_ exchange: Transcript.Exchange) -> [String] {
    let body = exchange.response.body
    return ["localId", "tenantId"].compactMap { body?[$0]?.string }.filter { ids[$0] == nil }
  }

  private static func time(_ body: JSONValue?) -> Int64? {
    guard let body, case .string(let token)? = body["idToken"] ?? body["id_token"] else { return nil }
    return Token(jwt: token)?.issuedAt
  }

  private mutating func perform(_ exchange: Transcript.Exchange) throws -> [String] {
    functions.begin(exchange.name)
    // Nobody listens at port 1.
    let origin = exchange.name == "function not reachable" ? "http://127.0.0.1:1" : functions.origin
    if origin != functions.origin { try moveFunctions(to: origin) }
    var path = exchange.request.path
    var body = exchange.request.body.map { value in
      value.mapTexts { forged($0).replacing(Functions.recordedOrigin, with: origin) }
    }
    for reference in exchange.references ?? [] {
      guard let source = answers[reference.from], let recorded = source.recorded[pointer: reference.pointer]?.string,
        let actual = source.actual[pointer: reference.pointer]?.string
      else { return ["\(reference.from) has no \(reference.pointer)"] }
      if reference.in == "/path" {
        path = Self.replace(recorded, by: actual, in: path)
      } else if reference.part == true {
        body = body?.mapTexts { Self.replace(recorded, by: actual, in: $0) }
      } else {
        body = body?.setting(.string(actual), at: reference.in.split(separator: "/").dropFirst())
      }
    }
    let text: String? = if case .string(let text)? = body { text } else { body?.text }
    let answer = try probe.request(exchange.request.method, path, headers: exchange.request.headers, body: text)
    return compare(answer, exchange, functionsAt: origin)
  }

  private func moveFunctions(to origin: String) throws {
    let body: JSONValue = [
      "blockingFunctions": ["triggers": ["beforeCreate": ["functionUri": .string("\(origin)/create")]]]
    ]
    _ = try probe.request(
      "PATCH", "/identitytoolkit.googleapis.com/v2/projects/demo-project/config?updateMask=blockingFunctions",
      headers: ["Authorization": "Bearer owner", "Content-Type": "application/json"], body: body.text)
  }

  private mutating func compare(
    _ answer: HTTPAnswer, _ exchange: Transcript.Exchange, functionsAt origin: String
  ) -> [String] {
    var comparison = Comparison(variable: transcript.variableFields)
    comparison.compare(
      .integer(Int64(answer.status)), with: .integer(Int64(exchange.response.status)), at: "status", key: "")
    for (name, value) in exchange.response.headers {
      // Parameters of the media type aren't recorded throughout.
      let have =
        name == "content-type" ? answer.headers[name].map { String($0.prefix { $0 != ";" }) } : answer.headers[name]
      let want = name == "content-type" ? String(value.prefix { $0 != ";" }) : value
      comparison.compare(have.map { .string($0) }, with: .string(want), at: "header \(name)", key: name)
    }
    let isJSON = answer.headers["content-type"]?.hasPrefix("application/json") == true
    var body: JSONValue? =
      isJSON
      ? try? JSONDecoder().decode(JSONValue.self, from: Data(answer.body))
      : answer.body.isEmpty ? nil : .string(answer.text)
    body = body?.mapTexts { $0.replacing(origin, with: Functions.recordedOrigin) }
    comparison.compare(body, with: exchange.response.body)
    if let body, let recorded = exchange.response.body {
      answers[exchange.name] = (recorded, body)
      if let id = recorded["localId"]?.string, let actual = body["localId"]?.string { ids[id] = actual }
    }
    return comparison.differences
  }

  private static func replace(_ recorded: String, by actual: String, in text: String) -> String {
    func encode(_ text: String) -> String {
      text.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-_.!~*'()"))) ?? text
    }
    return text.replacing(recorded, with: actual).replacing(encode(recorded), with: encode(actual))
  }

  /// Tokens that the recorder made itself name accounts of the recording.
  private func forged(_ text: String) -> String {
    guard let token = Token(jwt: text), let id = token.content["user_id"]?.string, let actual = ids[id] else {
      return text
    }
    let payload = token.content.mapTexts { $0 == id ? actual : $0 }.text
    let encoded = Data(payload.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
      .replacing("=", with: "")
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return "\(parts[0]).\(encoded).\(parts[2])"
  }
}
