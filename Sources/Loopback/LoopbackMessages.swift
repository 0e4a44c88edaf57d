public import AuthCore

/// A request that the listener has let through: for this listener's own address, by a process of the user's own.
public struct LoopbackRequest: Sendable {
  /// The methods that are let through.
  public enum Method: String, Sendable {
    /// Read.
    case get = "GET"
    /// Like `get`, but nobody sees the answer: link scanners ask so. It must spend nothing.
    case head = "HEAD"
    /// A form was sent.
    case post = "POST"
  }

  /// The method.
  public let method: Method
  /// Path and query as in the request line, undecoded; it starts with `/`. Secret: a redirect brings its code in it.
  public let target: Secret<String>
  /// `Host` as it was sent: one of the listener's own names, with the port.
  public let host: String
  /// `Origin`, if there was one.
  public let origin: String?
  /// `Sec-Fetch-Site`, if there was one.
  public let secFetchSite: String?
  /// `Content-Type`, if there was one.
  public let contentType: String?
  /// The body, at most ``LoopbackListener/largestBody`` bytes. Secret: a form may repeat what the target brought.
  public let body: Secret<[UInt8]>

  /// The whole URL that was asked for.
  public var url: Secret<String> { Secret("http://\(host)\(target.reveal())") }

  /// The part of the target before `?`, undecoded.
  public var path: String { String(target.reveal().prefix { $0 != "?" }) }

  /// Whether a browser vouches that a page of this listener's sent it. Under `Referrer-Policy: no-referrer` a form's `Origin`
  /// is `null`, and `Sec-Fetch-Site` is what counts (Fetch, "append a request `Origin` header"). A browser that sends neither
  /// vouches for nothing; there a hidden field of the form has to (``ResultPage/Form/fields``).
  public var isSameOrigin: Bool {
    let own = "http://\(host)"
    if let secFetchSite { return secFetchSite == "same-origin" && [nil, "null", own].contains(origin) }
    return origin == own
  }
}

/// What the browser gets.
public struct LoopbackResponse: Sendable {
  /// The status code, 200 to 599.
  public var status: Int
  /// HTML, or nothing. Not sent in answer to HEAD.
  public var body: String
  /// Headers besides those that every answer has, such as `Location`. One of those, or one that isn't well-formed, is left out.
  public var headers: [(name: String, value: String)]

  /// An answer with HTML, or with no body.
  public init(status: Int, body: String = "", headers: [(name: String, value: String)] = []) {
    (self.status, self.body, self.headers) = (status, body, headers)
  }

  /// An answer that shows a page.
  public init(status: Int = 200, page: ResultPage) { self.init(status: status, body: page.html) }

  /// On every answer. Nothing runs, nothing is loaded, nothing is kept, nobody learns the address, no other page frames it.
  static let fixedHeaders: [(name: String, value: String)] = [
    ("Content-Type", "text/html; charset=utf-8"),
    ("Cache-Control", "no-store"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src '\(ResultPage.styleHash)'; form-action 'self'; frame-ancestors 'none'; "
        + "base-uri 'none'"
    ),
    ("Connection", "close"),
  ]

  /// All headers that go out, apart from the length.
  var allHeaders: [(name: String, value: String)] {
    let taken = (Self.fixedHeaders.map(\.name) + ["Content-Length", "Transfer-Encoding"]).map { $0.lowercased() }
    return Self.fixedHeaders + headers.filter { !taken.contains($0.name.lowercased()) && Self.isWellFormed($0) }
  }

  private static func isWellFormed(_ header: (name: String, value: String)) -> Bool {
    let token = header.name.utf8.allSatisfy {
      (0x61...0x7a).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
    }
    return token && !header.name.isEmpty && header.value.utf8.allSatisfy { (0x20...0x7e).contains($0) }
  }
}

/// What the listener turned away by itself, for the log.
public enum LoopbackRefusal: Sendable, Hashable {
  /// Another user's process, or one that the kernel doesn't name. The connection was reset.
  case foreignUser
  /// `Host` isn't ours: a name that was made to point here (DNS rebinding). 421.
  case foreignHost
  /// A method, a size or a form that isn't served, with the status that was answered.
  case badRequest(status: Int)
}

/// Why there's no listener.
public enum LoopbackError: Error, Sendable, Hashable {
  /// libmicrohttpd isn't installed, or lacks a function.
  case libraryMissing
  /// Somebody has the port on one of the two addresses: it may be another user.
  case portTaken(UInt16)
  /// Another failure of the system's, by errno.
  case cannotListen(errno: Int32)
}
