import AuthCore
import Testing

@testable import Loopback

/// What a request says of itself.
@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
  func request(origin: String? = nil, site: String? = nil) -> LoopbackRequest {
    LoopbackRequest(
      method: .post, target: Secret("/callback?code=SECRET"), host: "127.0.0.1:4711", origin: origin,
      secFetchSite: site,
      contentType: nil, body: Secret(Array("SECRET".utf8)))
  }

  @Test(
    "a form is the listener's own if the browser says so",
    arguments: [
      ("http://127.0.0.1:4711", "same-origin", true), ("null", "same-origin", true), (nil, "same-origin", true),
      ("http://127.0.0.1:4711", nil, true), ("https://127.0.0.1:4711", nil, false), ("null", nil, false),
      (nil, nil, false), ("http://127.0.0.1:4712", "same-site", false), ("http://evil.example", "cross-site", false),
      ("http://evil.example", "same-origin", false), ("http://127.0.0.1:4711", "cross-site", false),
      ("http://127.0.0.1:4711", "none", false), ("http://localhost:4711", nil, false), (nil, "none", false),
      ("http://127.0.0.1:4711, http://127.0.0.1:4711", nil, false),
    ] as [(String?, String?, Bool)])
  func sameOrigin(origin: String?, site: String?, isOwn: Bool) {
    #expect(request(origin: origin, site: site).isSameOrigin == isOwn)
  }

  @Test("what it brings is in no description")
  func secrets() {
    let request = request()
    var dumped = ""
    dump(request, to: &dumped)
    for text in ["\(request)", String(reflecting: request), dumped] {
      #expect(!text.contains("SECRET") && text.contains("<redacted>"))
    }
    #expect(request.path == "/callback")
  }
}
