import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Loopback

/// Where it listens, whom it answers, how it ends.
@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct ListenerTests {
  // MARK: Answers

  @Test("a browser gets the page by every name of the listener", arguments: ["127.0.0.1", "[::1]", "localhost"])
  func page(host: String) async throws {
    let fixture = try await Fixture()
    let url = "http://\(host):\(fixture.port)/callback?code=4%2F0&state=s"
    let curl = try await Subprocess.run(["curl", "--silent", "--noproxy", "*", "--globoff", "--include", url])
    let (head, body) = (curl.stdout.components(separatedBy: "\r\n\r\n")[0], curl.stdout)
    #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && body.hasSuffix("</html>\n"))
    for line in [
      "Content-Type: text/html; charset=utf-8", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
      "X-Content-Type-Options: nosniff", "Connection: close",
      "Content-Security-Policy: default-src 'none'; style-src '\(ResultPage.styleHash)'; form-action 'self'; "
        + "frame-ancestors 'none'; base-uri 'none'",
    ] { #expect(head.contains("\r\n\(line)"), "\(line)") }
    let request = try #require(await fixture.requests.first(1).first)
    #expect(request.method == .get && request.host == "\(host):\(fixture.port)" && request.path == "/callback")
    #expect(request.target.reveal() == "/callback?code=4%2F0&state=s" && request.url.reveal() == url)
    #expect(request.origin == nil && request.body.reveal().isEmpty)
    #expect(await fixture.refusals.values == [])
  }

  @Test("a HEAD is told apart and gets no body")
  func head() async throws {
    let fixture = try await Fixture()
    let answer = try await fixture.ask("HEAD /x HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")
    #expect(answer.status == 200 && answer.body.isEmpty && answer.head.contains("\r\nContent-Length: "))
    #expect(await fixture.methods == [.head])
  }

  @Test("a form arrives with its body and what the browser says of it")
  func post() async throws {
    let fixture = try await Fixture()
    let curl = try await Subprocess.run([
      "curl", "--silent", "--noproxy", "*", "--data", "token=ab%20c", "--header", "Origin: null", "--header",
      "Sec-Fetch-Site: same-origin", "http://localhost:\(fixture.port)/finish?x=1",
    ])
    #expect(curl.stdout.contains("Signed in"))
    let request = try #require(await fixture.requests.first(1).first)
    #expect(request.method == .post && request.contentType == "application/x-www-form-urlencoded")
    #expect(String(decoding: request.body.reveal(), as: UTF8.self) == "token=ab%20c")
    #expect(request.origin == "null" && request.secFetchSite == "same-origin" && request.isSameOrigin)
  }

  @Test("extra headers go out, unless they are the listener's own or would break the answer")
  func extraHeaders() async throws {
    let page = LoopbackResponse(
      status: 303,
      headers: [
        ("Location", "/done"), ("content-security-policy", "x"), ("Connection", "keep-alive"), ("X-A", "b\r\nX-B: c"),
        ("X C", "d"), ("Content-Length", "7"),
      ])
    let fixture = try await Fixture(page: page)
    let answer = try await fixture.get()
    let names = answer.head.components(separatedBy: "\r\n").dropFirst().map { $0.prefix { $0 != ":" } }
    #expect(answer.status == 303 && answer.body.isEmpty && answer.head.contains("\r\nLocation: /done"))
    #expect(
      names.sorted() == [
        "Cache-Control", "Connection", "Content-Length", "Content-Security-Policy", "Content-Type", "Location",
        "Referrer-Policy", "X-Content-Type-Options",
      ])
    #expect(answer.head.contains("\r\nConnection: close"))
  }

  @Test("a connection carries one request")
  func pipelined() async throws {
    let fixture = try await Fixture()
    let one = "GET /1 HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"
    let answer = try await fixture.ask(one + one.replacing("/1", with: "/2"))
    #expect(answer.text.components(separatedBy: "HTTP/1.1 ").count == 2 && answer.text.hasSuffix("</html>\n"))
    #expect(await fixture.requests.values.map(\.path) == ["/1"])
  }

  // MARK: The end

  @Test("the page arrives although the listener is closed and let go before it goes out", arguments: [false, true])
  func closedAtOnce(v6: Bool) async throws {
    let page = LoopbackResponse(status: 200, body: String(repeating: "What no socket buffer holds. ", count: 300_000))
    let fixture = try await Fixture(closing: true, page: page)
    let sockets = try listeningSockets(at: fixture.port)
    let answer = try await fixture.get(v6: v6)
    #expect(answer.status == 200 && answer.bytes.suffix(page.body.utf8.count) == Array(page.body.utf8)[...])
    #expect(try await areClosed(sockets, at: fixture.port))
    #expect(await fixture.requests.values.count == 1)
  }

  @Test("closing gives the port back at once, and ends who hasn't asked yet")
  func closed() async throws {
    let fixture = try await Fixture()
    let sockets = try listeningSockets(at: fixture.port)
    let idle = try Client(port: fixture.port)
    let half = try Client(port: fixture.port, v6: true)
    half.send("GET / HTTP/1.1\r\nHost:")
    #expect(try await fixture.get().status == 200)
    await fixture.close()
    await fixture.close()
    #expect(await idle.readAll().bytes.isEmpty)
    #expect(await half.readAll().bytes.isEmpty)
    #expect(sockets.count == 2)
    #expect(try await areClosed(sockets, at: fixture.port))
    #expect(await !fixture.isBusy)
  }

  @Test("letting go closes it")
  func dropped() async throws {
    let fixture = try await Fixture()
    let sockets = try listeningSockets(at: fixture.port)
    #expect(sockets.count == 2)
    await fixture.drop()
    #expect(try await areClosed(sockets, at: fixture.port))
  }

  // MARK: Addresses

  @Test("the port is listened at on 127.0.0.1 and [::1], and nowhere else")
  func addresses() async throws {
    let fixture = try await Fixture()
    #expect(await fixture.listener?.hasIPv6 == true)
    let listening = try rows(at: fixture.port).filter { $0.state == "0A" }
    #expect(
      listening.map(\.address)
        == [
          Endpoint(v4: (127, 0, 0, 1), port: 0), Endpoint(v6Loopback: 0),
        ].map { String($0.tableText.prefix { $0 != ":" }) })
  }

  @Test("no child inherits a socket of its")
  func closeOnExec() async throws {
    let fixture = try await Fixture()
    let client = try Client(port: fixture.port)
    client.send("GET")
    let own = { (0..<Int32(1024)).filter { Endpoint(localOf: $0)?.port == fixture.port } }
    // Two that listen, one connection.
    #expect(await eventually { own().count == 3 })
    for descriptor in own() { #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0) }
  }

  @Test("it has no thread")
  func threads() async throws {
    let fixture = try await Fixture()
    #expect(try await fixture.get().status == 200)
    for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task") {
      let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
      #expect(name?.hasPrefix("MHD") != true)
    }
  }

  @Test("a port that is taken on one address alone is taken", arguments: [false, true])
  func taken(v6: Bool) async throws {
    let fixture = try await Fixture.atConfiguredPort()
    let port = fixture.port
    await fixture.close()
    let other = try await retried {
      try Listening(v6 ? Endpoint(v6Loopback: port) : Endpoint(v4: (127, 0, 0, 1), port: port))
    }
    defer { other.close() }
    await #expect(throws: LoopbackError.portTaken(port)) { try await Fixture(port: port) }
    #expect(try rows(at: port).filter { $0.state == "0A" }.count == 1)
  }

  @Test("nobody can share its port, by whatever option", arguments: [SO_REUSEADDR, SO_REUSEPORT])
  func shared(option: Int32) async throws {
    let fixture = try await Fixture()
    let port = fixture.port
    for endpoint in [
      Endpoint(v4: (127, 0, 0, 1), port: port), Endpoint(v4: (0, 0, 0, 0), port: port), Endpoint(v6Loopback: port),
      Endpoint(v6: [UInt8](repeating: 0, count: 16), port: port),
    ] { #expect(throws: POSIXFailure.self) { try Listening(endpoint, option: option) } }
  }

  @Test("a configured port can be bound again although old connections linger on it")
  func timeWait() async throws {
    let first = try await Fixture.atConfiguredPort()
    let port = first.port
    #expect(try await first.get().status == 200)
    #expect(try await first.get(v6: true).status == 200)
    await first.close()
    #expect(try await eventually { try rows(at: port).filter { $0.state == "06" }.count == 2 })
    let second = try await retried { try await Fixture(port: port) }
    #expect(second.port == port)
    #expect(try await second.get().status == 200)
    #expect(try await second.get(v6: true).status == 200)
  }
}

/// Somebody else's socket.
struct Listening {
  let socket: Int32

  init(_ endpoint: Endpoint, option: Int32? = nil) throws {
    socket = Glibc.socket(endpoint.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    if let option { setsockopt(socket, SOL_SOCKET, option, &yes, size) }
    if endpoint.family == AF_INET6 { setsockopt(socket, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, size) }
    guard endpoint.withSocketAddress({ bind(socket, $0, $1) }) == 0, listen(socket, 1) == 0 else {
      let failure = POSIXFailure("bind")
      Glibc.close(socket)
      throw failure
    }
  }

  func close() { Glibc.close(socket) }
}
