import AuthCore
import EventLoop

/// Providers' documents, kept as long as they say: discovery (OpenID Connect Discovery 4) and keys (RFC 7517 5).
///
/// One request at a time for each address, whoever waits for it. Seconds of the boot clock.
@LoopActor
final class DocumentCache {
  private struct Document {
    let json: JSONValue
    var freshUntil: Int64
    let usableUntil: Int64
  }

  /// What `Cache-Control` says is taken within these bounds, and for an hour where it says nothing.
  private nonisolated static let ages: ClosedRange<Int64> = 300...86400
  private nonisolated static let usualAge: Int64 = 3600
  /// How much longer a document serves while no newer one is to be had.
  private nonisolated static let grace: Int64 = 86400
  /// The least time between two requests that aren't due.
  private nonisolated static let pause: Int64 = 60
  /// Far more addresses than any desktop's apps have.
  private nonisolated static let limit = 64

  private let http: HTTPClient
  private let now: () -> Int64
  private var documents: [EndpointURL: Document] = [:]
  /// When each address last brought a document.
  private var broughtAt: [EndpointURL: Int64] = [:]
  private var flights: [EndpointURL: Task<Result<JSONValue, AuthFailure>, Never>] = [:]

  init(http: HTTPClient, now: @escaping () -> Int64) {
    self.http = http
    self.now = now
  }

  /// What `read` makes of the document at `url`. One that it can't read isn't kept: its author may mend it any minute.
  func document<Content>(
    at url: EndpointURL, read: (JSONValue) throws(AuthFailure) -> Content
  ) async throws(AuthFailure) -> Content {
    let json = try await document(at: url)
    do throws(AuthFailure) { return try read(json) } catch {
      documents[url] = nil
      throw error
    }
  }

  /// The one that is kept while it's fresh, and for a day more while no newer one is to be had.
  private func document(at url: EndpointURL) async throws(AuthFailure) -> JSONValue {
    if let document = documents[url], now() < document.freshUntil { return document.json }
    do throws(AuthFailure) { return try await fetch(url) } catch {
      guard error.error != .cancelled, let document = documents[url], now() < document.usableUntil else { throw error }
      documents[url]?.freshUntil = now() + Self.pause
      return document.json
    }
  }

  /// A newer document than the one that is kept; nil where that one came less than a minute ago. What failed is asked again
  /// at once: a code may be spent by now.
  func newer(at url: EndpointURL) async throws(AuthFailure) -> JSONValue? {
    if flights[url] == nil, let brought = broughtAt[url], now() - brought < Self.pause { return nil }
    return try await fetch(url)
  }

  private func fetch(_ url: EndpointURL) async throws(AuthFailure) -> JSONValue {
    let flight = flights[url] ?? Task.onLoop { await self.load(url) }
    flights[url] = flight
    let result = await flight.value
    // Who gave up isn't told; the others go on.
    if Task.isCancelled { throw AuthFailure(.cancelled) }
    return try result.get()
  }

  private func load(_ url: EndpointURL) async -> Result<JSONValue, AuthFailure> {
    defer { flights[url] = nil }
    if documents.count >= Self.limit || broughtAt.count >= Self.limit { (documents, broughtAt) = ([:], [:]) }
    do throws(AuthFailure) {
      let response = try await http.answer(to: url.request())
      guard let json = JSONValue(json: response.body), json.object != nil else {
        throw AuthFailure(.serviceUnavailable, serverCode: "UNEXPECTED_ANSWER")
      }
      let age = min(max(response.maxAge ?? Self.usualAge, Self.ages.lowerBound), Self.ages.upperBound)
      documents[url] = Document(json: json, freshUntil: now() + age, usableUntil: now() + age + Self.grace)
      broughtAt[url] = now()
      return .success(json)
    } catch { return .failure(error) }
  }
}

extension HTTPClient {
  /// An answer with status 200.
  ///
  /// - Throws: what waiting may mend (network, 429, 5xx, redirects, which are never followed) as such;
  ///   `invalidProviderResponse` for what is refused for good.
  func answer(to request: HTTPRequest) async throws(AuthFailure) -> HTTPResponse {
    let response: HTTPResponse
    do throws(TransportError) { response = try await send(request) } catch { throw error.failure }
    if let failure = response.providerFailure { throw failure }
    return response
  }
}

extension HTTPResponse {
  /// What the status of a provider's answer says; nil for 200.
  var providerFailure: AuthFailure? {
    let code = "HTTP_\(status)"
    switch status {
    case 200: return nil
    case 300..<400: return AuthFailure(.serviceUnavailable, serverCode: "REDIRECT")
    case 429: return AuthFailure(.tooManyRequests, serverCode: code, retryAfter: retryAfter)
    case 408: return AuthFailure(.serviceUnavailable, serverCode: code)
    case 400..<500: return AuthFailure(.invalidProviderResponse, serverCode: code)
    default: return AuthFailure(.serviceUnavailable, serverCode: code, retryAfter: retryAfter)
    }
  }
}
