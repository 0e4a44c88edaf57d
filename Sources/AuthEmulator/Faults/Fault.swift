import AuthCore

/// Something to go wrong with the requests of a path: slow, broken, held back or lost.
///
/// A request that meets a fault goes through its parts in this order: `delay`, `hold` before handling, handling,
/// `hold` after handling, `answer`.
public struct Fault: Sendable, Equatable {
  /// What the client gets.
  public enum Answer: Sendable, Equatable {
    /// The answer that it would have got.
    case own
    /// Nothing, until the fault is removed or the client gives up.
    case hang
    /// An error of the API: `CODE` or `CODE : detail`.
    case error(String)
    /// A page of a proxy.
    case html
    /// The own answer with its second half missing.
    case cut
    /// A body that says it's JSON and isn't.
    case wrongJSON
    /// JSON of another shape: an array.
    case otherShape
    /// No body.
    case empty
    /// The own answer padded with blanks to so many bytes.
    case huge(bytes: Int)
    /// The own answer, a byte at a time, with so many milliseconds between.
    case drip(milliseconds: Int)
    /// 302 to this address.
    case redirect(to: String)
    /// The connection is reset.
    case reset
    /// An OpenID provider answers as it must not.
    case openID(OpenIDFault)
  }

  /// Where a request is held until it's released.
  public enum Hold: Sendable, Equatable {
    /// Nothing has happened yet. A client that goes away meanwhile takes its request with it.
    case beforeHandling
    /// The request has had its effect; the answer is withheld.
    case afterHandling
  }

  /// Part of the path of the requests meant, such as `accounts:lookup`; empty: all but the control endpoints.
  public var path: String
  /// How many requests it hits; nil: all, until it's removed.
  public var times: Int?
  /// Milliseconds before anything else happens.
  public var delay = 0
  /// Where requests are held.
  public var hold: Hold?
  /// Seconds by which the emulator's clock is wrong, in `Date` and in tokens.
  public var clockOffset: Int64 = 0
  /// Seconds that Firebase's ID tokens live, in the answer and in the token; nil: an hour.
  public var tokenLifetime: Int64?
  /// What the client gets.
  public var answer: Answer
  /// The status, where it isn't the answer's own. Alone it makes an error of the API.
  public var status: Int?
  /// A `Retry-After` header: seconds or a date.
  public var retryAfter: String?
  /// Lets a request have its effect although the answer is replaced: it's the answer that gets lost.
  public var isHandled: Bool

  /// - Parameters:
  ///   - path: part of the path of the requests meant.
  ///   - times: how many requests it hits; nil: all.
  public init(
    path: String = "", _ answer: Answer = .own, times: Int? = nil, status: Int? = nil, retryAfter: String? = nil,
    delay: Int = 0, hold: Hold? = nil, clockOffset: Int64 = 0, tokenLifetime: Int64? = nil, isHandled: Bool = false
  ) {
    (self.path, self.answer, self.times, self.status) = (path, answer, times, status)
    (self.retryAfter, self.delay, self.hold) = (retryAfter, delay, hold)
    (self.clockOffset, self.tokenLifetime, self.isHandled) = (clockOffset, tokenLifetime, isHandled)
  }
}

extension Fault {
  /// Whether the request is handled: always where the answer is made of its own answer.
  var letsHandle: Bool {
    switch answer {
    case .own: isHandled || status == nil
    case .cut, .huge, .drip, .openID: true
    case .hang, .error, .html, .wrongJSON, .otherShape, .empty, .redirect, .reset: isHandled
    }
  }

  /// What is wrong with an OpenID provider.
  var openIDFault: OpenIDFault? { if case .openID(let fault) = answer { fault } else { nil } }

  /// The answer after the fault. `own` is nil where the request wasn't handled.
  func damaged(_ own: Reply?) -> Reply {
    let own = own.map { own in tokenLifetime.map { TokenLifetime.shorten(own, to: $0) } ?? own } ?? unavailable
    var reply = own
    switch answer {
    case .own: reply = status == nil ? own : unavailable
    case .openID: break
    case .hang: reply = .dropped
    case .error(let message):
      var error = APIError(message)
      error.status = status ?? 400
      reply = error.reply
    case .html: reply = .html("<!DOCTYPE html>\n<title>Bad Gateway</title>\n<h1>Bad Gateway</h1>\n", status: 502)
    case .cut: reply.delivery = .cut(after: own.body.count / 2)
    case .wrongJSON: reply = Reply(status: 200, type: "application/json", body: "{\"idToken\": ")
    case .otherShape: reply = .json([["idToken": 1], "refreshToken", nil])
    case .empty: reply = Reply(status: 200, type: "application/json", body: "")
    case .huge(let bytes): reply.delivery = .padded(to: bytes)
    case .drip(let milliseconds): reply.delivery = .drip(milliseconds: milliseconds)
    case .redirect(let address): reply = Reply(status: 302, type: nil, body: "", headers: [("Location", address)])
    case .reset: reply.delivery = .reset
    }
    if let status { reply.status = status }
    if let retryAfter { reply.headers.append(("Retry-After", retryAfter)) }
    return reply
  }

  private var unavailable: Reply {
    let status = status ?? 503
    let words = [429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED"]
    return APIError(
      status, status == 429 ? "Too many requests." : "The service is currently unavailable.", reason: "backendError",
      domain: "global", word: words[status]
    ).reply
  }
}
