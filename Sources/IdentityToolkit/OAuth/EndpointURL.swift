import AuthCore

/// Where a provider is asked: by HTTPS, or by plain HTTP on this machine (RFC 8252 8.3 has the same exception).
struct EndpointURL: Sendable, Hashable {
  let text: String
  /// Plain HTTP, which only this machine is spoken to with.
  let isLocal: Bool

  private static let limit = 2048

  /// Nil for another scheme, plain HTTP to elsewhere, user info, a fragment, and characters that no URI has (RFC 3986 2).
  ///
  /// - Parameter allowsLocal: whether plain HTTP may be at all.
  init?(_ text: String, allowsLocal: Bool = true) {
    guard text.utf8.count <= Self.limit, text.utf8.allSatisfy(Self.isURIByte) else { return nil }
    let isLocal = text.hasPrefix("http://")
    guard isLocal ? allowsLocal : text.hasPrefix("https://") else { return nil }
    let authority = text.dropFirst(isLocal ? 7 : 8).prefix { $0 != "/" && $0 != "?" }
    let hasPort = authority.last != "]" && authority.contains(":")
    guard let address = EmulatorAddress(hasPort ? String(authority) : "\(authority):\(isLocal ? 80 : 443)"),
      !isLocal || address.isLoopback
    else { return nil }
    self.text = text
    self.isLocal = isLocal
  }

  /// What stands in a URI but `#` and the brackets of a template.
  private static func isURIByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
      UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"), UInt8(ascii: "#"):
      false
    default: byte > 0x20 && byte < 0x7f
    }
  }

  /// A request to it: a GET, or a form that is posted once.
  func request(accept: String = "application/json", form: String? = nil) -> HTTPRequest {
    var request = HTTPRequest(url: text, isLocal: isLocal, isOnce: form != nil)
    request.headers = [
      (name: "Accept", value: accept), (name: "User-Agent", value: ProjectContext.userAgent),
    ]
    if let form {
      request.body = Array(form.utf8)
      request.headers.append((name: "Content-Type", value: Form.contentType))
    }
    return request
  }
}
