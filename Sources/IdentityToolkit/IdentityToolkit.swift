public import AuthCore
public import EventLoop
import FoundationEssentials

/// The Identity Toolkit and Secure Token services, in AuthCore's words. One file per call.
@LoopActor
public final class IdentityToolkit {
  /// Told of every answer's `Date` header: backend, the server's time, ours (Unix seconds).
  public var onServerDate: (Backend, Int64, Int64) -> Void = { _, _, _ in }
  private let http: HTTPClient

  /// Calls go through `http`.
  public init(http: HTTPClient) { self.http = http }

  /// Whether a request is under way.
  public var isBusy: Bool { http.isBusy }

  /// POSTs `body` and reads the answer (identity-toolkit 1.8: the order of checks).
  ///
  /// - Parameter isOnce: for what mustn't reach the server twice: codes that count once, mails, new and deleted accounts.
  /// - Throws: what the server said by its table row; `networkUnavailable`; `serviceUnavailable` for whatever isn't this
  ///   protocol: 5xx, HTML, cut or other JSON, redirects.
  func call<Answer: Decodable>(
    _ host: ProjectContext.Host, _ path: String, _ body: some Encodable, _ project: ProjectContext,
    once isOnce: Bool = false
  ) async throws(AuthFailure) -> Answer {
    let encoded: [UInt8]
    do { encoded = Array(try JSONEncoder().encode(body)) } catch {
      throw AuthFailure(.internal, serverCode: "ENCODING")
    }
    let request = HTTPRequest(
      url: project.url(host, path), body: encoded, headers: project.headers, backend: project.backend,
      isOnce: isOnce)
    return try decode(try await send(request, project))
  }

  /// GETs `path`, and gives the answer whatever its status.
  ///
  /// - Throws: `networkUnavailable`, `serviceUnavailable` for an answer that is too large.
  func get(
    _ path: String, _ query: [(name: String, value: String)] = [], _ project: ProjectContext
  ) async throws(AuthFailure) -> HTTPResponse {
    let more = query.map { "&\($0.name)=\(Form.escaped($0.value))" }.joined()
    return try await send(
      HTTPRequest(
        url: project.url(.identityToolkit, path) + more, headers: project.headers, backend: project.backend), project)
  }

  private func send(_ request: HTTPRequest, _ project: ProjectContext) async throws(AuthFailure) -> HTTPResponse {
    let response: HTTPResponse
    do throws(TransportError) { response = try await http.send(request) } catch { throw error.failure }
    if let date = response.date { onServerDate(project.backend, date, WallClock.now) }
    return response
  }

  /// Reads an answer: what the server refuses comes before what it doesn't say (identity-toolkit 1.8).
  func decode<Answer: Decodable>(_ response: HTTPResponse) throws(AuthFailure) -> Answer {
    if let failure = ServerFailure.read(response) { throw failure }
    do {
      return try JSONDecoder().decode(Answer.self, from: Data(response.body))
    } catch {
      throw AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER")
    }
  }
}
