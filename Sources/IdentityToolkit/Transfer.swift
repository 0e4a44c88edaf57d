import AuthCore
import CCurl
import EventLoop
import Glibc

/// One exchange: its libcurl handle, its headers, what has come in. Touched on the loop's thread alone.
final class Transfer {
  let handle: UnsafeMutableRawPointer
  /// Never used again, unlike the handle's address.
  let number: UInt64
  var response = HTTPResponse(status: 0)
  var continuation: CheckedContinuation<Result<HTTPResponse, TransportError>, Never>?
  private(set) var isTooLarge = false
  private var functions: ccurl
  private var headers: UnsafeMutablePointer<curl_slist>?

  init?(_ request: HTTPRequest, _ functions: ccurl, number: UInt64, connectTimeout: Int, totalTimeout: Int) {
    guard let handle = functions.easy_init() else { return nil }
    self.handle = handle
    self.number = number
    self.functions = functions
    for (name, value) in request.headers { headers = functions.slist_append(headers, "\(name): \(value)") }
    // libcurl would wait for `100 Continue` before a bigger body.
    headers = functions.slist_append(headers, "Expect:")
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_CONNECTTIMEOUT, connectTimeout)
    set(CURLOPT_TIMEOUT, totalTimeout)
    set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_PROTOCOLS_STR, request.backend.emulator == nil && !request.isLocal ? "https" : "http")
    if request.isLocal || request.backend.emulator?.isLoopback == true { set(CURLOPT_PROXY, "") }
    if let file = getenv("SSL_CERT_FILE"), file.pointee != 0 { set(CURLOPT_CAINFO, String(cString: file)) }
    if request.isOnce { set(CURLOPT_FRESH_CONNECT, 1) }
    set(CURLOPT_URL, request.url)
    _ = ccurl_set_headers(&self.functions, handle, headers)
    if let body = request.body {
      set(CURLOPT_POST, 1)
      _ = ccurl_set_body(&self.functions, handle, body, body.count)
    }
    setReaders()
  }

  private func setReaders() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = ccurl_set_writer(
      &self.functions, handle,
      { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.append(UnsafeRawBufferPointer(start: bytes, count: size * count))
      }, context)
    _ = ccurl_set_header_reader(
      &self.functions, handle,
      { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        transfer.read(header: UnsafeRawBufferPointer(start: bytes, count: size * count))
        return size * count
      }, context)
  }

  deinit {
    functions.easy_cleanup(handle)
    functions.slist_free_all(headers)
  }

  private func set(_ option: CURLoption, _ value: Int) { _ = ccurl_set_long(&functions, handle, option, value) }
  private func set(_ option: CURLoption, _ value: String) { _ = ccurl_set_text(&functions, handle, option, value) }

  /// Fewer bytes than were given end the transfer.
  private func append(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard response.body.count + bytes.count <= HTTPClient.bodyLimit else {
      isTooLarge = true
      return 0
    }
    response.body.append(contentsOf: bytes)
    return bytes.count
  }

  private func read(header bytes: UnsafeRawBufferPointer) {
    // A proxy's answer and interim ones (RFC 9110 15.2) come before: each begins anew.
    if bytes.starts(with: "HTTP/".utf8) {
      response = HTTPResponse(status: 0)
      return
    }
    guard bytes.count < 512, let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    let value = String(decoding: bytes[(colon + 1)...], as: UTF8.self).split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    switch name {
    case "date": response.date = time(value)
    case "retry-after":
      // Seconds, or a date (RFC 9110 10.2.3).
      let seconds = Int64(value) ?? time(value).map { $0 - WallClock.now }
      response.retryAfter = seconds.map { min(max($0, 0), 3600) }
    case "cache-control": response.maxAge = Self.maxAge(value)
    case "content-type":
      let type = value.prefix { $0 != ";" && $0 != " " }
      response.contentType = type.lowercased()
    default: break
    }
  }

  private static func maxAge(_ text: String) -> Int64? {
    var age: Int64?
    for directive in text.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }) {
      if directive == "no-store" || directive == "no-cache" { return 0 }
      let digits = directive.dropFirst("max-age=".count).filter { $0 != "\"" }
      if directive.hasPrefix("max-age="), let seconds = Int64(digits) { age = max(seconds, 0) }
    }
    return age
  }

  /// An HTTP date (RFC 9110 5.6.7) as Unix seconds.
  private func time(_ text: String) -> Int64? {
    let seconds = functions.getdate(text, nil)
    return seconds == -1 ? nil : Int64(seconds)
  }
}
