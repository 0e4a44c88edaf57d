import AuthCore

/// A request, as the calls make it.
struct HTTPRequest: Sendable {
  var url: String
  /// What is posted; nil makes it a GET.
  var body: [UInt8]?
  var headers: [(name: String, value: String)] = []
  /// Production is asked by HTTPS alone, an emulator by plain HTTP alone.
  var backend = Backend.production
  /// Whether it goes to a provider of sign-in on this machine: by plain HTTP, and past any proxy, as to an emulator there.
  var isLocal = false
  /// Whether a second time isn't the same as one: it then has a connection of its own, for libcurl sends a request again by
  /// itself when a kept one turns out to be dead, though the server may have seen it.
  var isOnce = false
}

/// An answer that came whole.
struct HTTPResponse: Sendable {
  var status: Int
  var body: [UInt8] = []
  /// Unix seconds of the `Date` header.
  var date: Int64?
  /// Seconds of `Retry-After`, at most an hour.
  var retryAfter: Int64?
  /// Seconds that the answer may be kept: `Cache-Control` (RFC 9111 5.2.2); 0 for `no-store` and `no-cache`.
  var maxAge: Int64?
  /// `Content-Type` without parameters, lower case.
  var contentType: String?
}

/// Why no answer came.
public enum TransportError: Error, Sendable, Hashable {
  /// libcurl isn't installed.
  case libraryMissing
  /// Name not resolved, connection refused or lost, time-out.
  case unreachable
  /// The server's certificate isn't trusted, or TLS failed otherwise.
  case tls
  /// More than the bound.
  case tooLarge
  case cancelled

  /// The error that a client meets; its code names the kind for the log and for `status`.
  var failure: AuthFailure {
    switch self {
    case .libraryMissing: AuthFailure(.networkUnavailable, serverCode: "LIBCURL_MISSING")
    case .unreachable: AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE")
    case .tls: AuthFailure(.networkUnavailable, serverCode: "TLS")
    case .tooLarge: AuthFailure(.serviceUnavailable, serverCode: "TOO_LARGE")
    case .cancelled: AuthFailure(.cancelled)
    }
  }
}
