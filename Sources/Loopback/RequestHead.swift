import AuthCore

/// A request line and its headers, before anything is believed of them.
struct RequestHead {
  var method: String
  /// Nil where it isn't UTF-8.
  var target: String?
  /// In their order, names as they were sent.
  var headers: [(name: String, value: String)]

  /// Why a request isn't let through, and what the client gets: a status without a page.
  struct Rejection: Error {
    let reason: LoopbackRefusal
    let response: LoopbackResponse

    init(_ status: Int, _ reason: LoopbackRefusal? = nil, headers: [(name: String, value: String)] = []) {
      self.reason = reason ?? .badRequest(status: status)
      response = LoopbackResponse(status: status, headers: headers)
    }
  }

  /// The request without its body. Who asks for a foreign host is told nothing else.
  func checked(hosts: Set<String>) throws(Rejection) -> LoopbackRequest {
    let named = values(of: "host")
    guard named.count == 1, hosts.contains(named[0]) else { throw Rejection(421, .foreignHost) }
    guard let method = LoopbackRequest.Method(rawValue: method) else {
      throw Rejection(405, headers: [("Allow", "GET, HEAD, POST")])
    }
    let target = try checkedTarget()
    try checkLength()
    return LoopbackRequest(
      method: method, target: Secret(target), host: named[0], origin: joined("origin"),
      secFetchSite: joined("sec-fetch-site"), contentType: joined("content-type"), body: Secret([]))
  }

  /// A path, and perhaps a query, of printable characters; not the form for proxies.
  private func checkedTarget() throws(Rejection) -> String {
    guard let target, target.utf8.first == UInt8(ascii: "/") else { throw Rejection(400) }
    guard target.utf8.count <= LoopbackListener.largestTarget else { throw Rejection(414) }
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { throw Rejection(400) }
    return target
  }

  /// Browsers say how long a form is.
  private func checkLength() throws(Rejection) {
    guard values(of: "transfer-encoding").isEmpty else { throw Rejection(411) }
    let lengths = values(of: "content-length")
    guard let first = lengths.first else { return }
    guard lengths.count == 1, !first.isEmpty, first.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw Rejection(400)
    }
    guard let length = Int(first), length <= LoopbackListener.largestBody else { throw Rejection(413) }
  }

  private func values(of name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// What comes twice is equal to nothing that is expected.
  private func joined(_ name: String) -> String? {
    let values = values(of: name)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}

extension LoopbackRequest {
  /// The same with its body.
  func with(body: [UInt8]) -> LoopbackRequest {
    LoopbackRequest(
      method: method, target: target, host: host, origin: origin, secFetchSite: secFetchSite, contentType: contentType,
      body: Secret(body))
  }
}
