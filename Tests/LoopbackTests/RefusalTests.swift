import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Loopback

/// What is turned away before anybody is asked, and that it keeps nobody else out.
@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct RefusalTests {
  /// Nothing got through, this was noted, and a browser is still served.
  func expectRefused(_ fixture: Fixture, _ refusals: [LoopbackRefusal]) async throws {
    #expect(await fixture.requests.values.count == 0)
    #expect(await fixture.refusals.values == refusals)
    #expect(try await fixture.get().status == 200)
  }

  // MARK: Hosts

  @Test(
    "who asks for another host is told nothing",
    arguments: [
      "Host: evil.example:{port}\r\n", "Host: evil.example\r\n", "Host: 127.0.0.1\r\n", "Host: localhost:1\r\n",
      "Host: localhost.:{port}\r\n", "Host: 127.0.0.1.example:{port}\r\n", "Host: a@127.0.0.1:{port}\r\n",
      "Host: 127.0.0.2:{port}\r\n", "Host: 0.0.0.0:{port}\r\n", "Host: [::]:{port}\r\n", "Host: \r\n",
      "Host: localhost:{port}\r\nHost: localhost:{port}\r\n", "Host: localhost:0{port}\r\n",
      "Host: localhost:{port}, localhost:{port}\r\n",
    ]) func hosts(header: String) async throws
  {
    let fixture = try await Fixture()
    let answer = try await fixture.ask("GET /?code=1 HTTP/1.1\r\n\(header)\r\n")
    #expect(answer.status == 421 && answer.body.isEmpty)
    try await expectRefused(fixture, [.foreignHost])
  }

  @Test("a request without a host is refused")
  func noHost() async throws {
    let fixture = try await Fixture()
    #expect(try await fixture.ask("GET / HTTP/1.1\r\n\r\n").status == 400)
    #expect(try await fixture.ask("GET / HTTP/1.0\r\n\r\n").status == 421)
    #expect(await fixture.requests.values.count == 0)
  }

  // MARK: Users

  @Test("another user's process gets not a byte", .enabled(if: geteuid() == 0), arguments: ["12345", "65534"])
  func otherUser(user: String) async throws {
    let fixture = try await Fixture()
    for host in ["127.0.0.1", "[::1]"] {
      let curl = try await Subprocess.run([
        "setpriv", "--reuid=\(user)", "--clear-groups", "curl", "--silent", "--noproxy", "*", "--globoff",
        "--include", "http://\(host):\(fixture.port)/",
      ])
      // 7: connecting failed, 55: sending, 56: receiving; as fast as the reset is.
      #expect(curl.stdout.isEmpty && [7, 55, 56].contains(curl.status), "\(curl.status) \(curl.stderr)")
    }
    try await expectRefused(fixture, [.foreignUser, .foreignUser])
  }

  // MARK: Forms and sizes

  @Test("other methods are refused", arguments: ["PUT", "OPTIONS", "DELETE", "CONNECT", "TRACE", "get", "BREW"])
  func methods(method: String) async throws {
    let fixture = try await Fixture()
    let answer = try await fixture.ask("\(method) / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n")
    #expect(answer.status == 405 && answer.body.isEmpty && answer.head.contains("\r\nAllow: GET, HEAD, POST"))
    try await expectRefused(fixture, [.badRequest(status: 405)])
  }

  @Test(
    "a target that is no path is refused",
    arguments: ["http://localhost:{port}/", "*", "localhost:{port}", "/a b", "/a\u{1}", "/a\u{7f}", "/a\tb"])
  func targets(target: String) async throws {
    let fixture = try await Fixture()
    // With a space in it the library hangs up by itself.
    let status = try await fixture.ask("GET \(target) HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n").status
    #expect(status == 400 || (status == 0 && target.contains(" ")))
    #expect(await fixture.requests.values.count == 0)
  }

  @Test("a target is passed on as it is, up to 32 KiB")
  func longTargets() async throws {
    let fixture = try await Fixture()
    let longest = "/" + String(repeating: "%41", count: 10922) + "b"
    #expect(longest.utf8.count == LoopbackListener.largestTarget)
    #expect(try await fixture.get(longest).status == 200)
    #expect(try await fixture.get("/é?a=%00&b=//../x#y").status == 200)
    #expect(
      await fixture.requests.values.map { $0.target.reveal() } == [longest, "/é?a=%00&b=//../x#y"])
    #expect(try await fixture.get(longest + "c").status == 414)
    #expect(await fixture.refusals.values == [.badRequest(status: 414)])
    // Beyond its memory the library answers by itself.
    #expect(try await fixture.get("/" + String(repeating: "a", count: 1 << 18)).status == 414)
    #expect(await fixture.requests.values.count == 2)
  }

  @Test("a head that is too long is refused")
  func longHeads() async throws {
    let fixture = try await Fixture()
    let headers = (0..<5000).map { "X-\($0): \(String(repeating: "a", count: 50))\r\n" }.joined()
    let answer = try await fixture.ask("GET / HTTP/1.1\r\nHost: localhost:{port}\r\n\(headers)\r\n")
    #expect([431, 0].contains(answer.status))
    try await expectRefused(fixture, [])
  }

  @Test("a body is passed on up to 16 KiB, and refused before it is read")
  func bodies() async throws {
    let fixture = try await Fixture()
    let limit = LoopbackListener.largestBody
    let post = "POST / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: "
    #expect(try await fixture.ask("\(post)\(limit)\r\n\r\n" + String(repeating: "b", count: limit)).status == 200)
    #expect(await fixture.requests.first(1).first?.body.reveal() == [UInt8](repeating: 0x62, count: limit))
    #expect(try await fixture.ask("\(post)\(limit + 1)\r\n\r\n").status == 413)
    #expect(try await fixture.ask("\(post)\(UInt64.max / 2)\r\n\r\n").status == 413)
    #expect(try await fixture.ask("\(post)\(limit + 1)\r\n\r\n" + String(repeating: "b", count: 1 << 22)).status == 413)
    for length in ["-1", "1x", "0x10", "99999999999999999999999", "1, 1", "1\r\nContent-Length: 1"] {
      #expect(try await [400, 413].contains(fixture.ask("\(post)\(length)\r\n\r\nb").status), "\(length)")
    }
    #expect(await fixture.requests.values.count == 1)
  }

  @Test("a body of unknown length is refused")
  func chunked() async throws {
    let fixture = try await Fixture()
    for more in ["", "Content-Length: 3\r\n"] {
      let head = "POST / HTTP/1.1\r\nHost: localhost:{port}\r\nTransfer-Encoding: chunked\r\n\(more)\r\n"
      #expect(try await [400, 411].contains(fixture.ask(head + "3\r\nabc\r\n0\r\n\r\n").status))
    }
    #expect(await fixture.requests.values.count == 0)
  }

  @Test("garbage ends its own connection and nothing else")
  func garbage() async throws {
    let fixture = try await Fixture(timeout: .seconds(2))
    var samples: [[UInt8]] = [
      "\r\n\r\n\r\n\r\n", "\0\0\0\0\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET\r\n\r\n",
      " / HTTP/1.1\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n", "GET / HTTP/1.1\r\nHost\r\n\r\n",
      "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "GET /\0 HTTP/1.1\r\nHost: \0\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
    ].map { Array($0.utf8) }
    samples.append(
      [0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03] + [UInt8](repeating: 7, count: 512))
    samples.append(Array("GET /\u{ff}".utf8.dropLast()) + [0xff, 0xfe] + Array(" HTTP/1.1\r\nHost: \r\n\r\n".utf8))
    var random = SystemRandomNumberGenerator()
    for _ in 0..<60 {
      samples.append((0..<Int.random(in: 1...3000, using: &random)).map { _ in .random(in: 0...255, using: &random) })
    }
    // Some are waited for to the end of their time, so side by side.
    let clients = try samples.map { sample in
      let client = try Client(port: fixture.port)
      client.send(sample)
      shutdown(client.socket, Int32(SHUT_WR))
      return client
    }
    for client in clients { _ = await client.readAll() }
    #expect(await fixture.requests.values.count == 0)
    #expect(try await fixture.get().status == 200)
  }

  // MARK: Those who wait

  @Test("a hundred who never finish their request keep nobody out")
  func slow() async throws {
    let fixture = try await Fixture()
    let slow = try (0..<100).map { number in
      let client = try Client(port: fixture.port, v6: number % 2 == 0)
      client.send("GET /\(number) HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\nX: ")
      return client
    }
    let start = ContinuousClock.now
    for v6 in [false, true] { #expect(try await fixture.get(v6: v6).status == 200) }
    #expect(ContinuousClock.now - start < .seconds(10))
    // The oldest made room.
    #expect(await slow[0].readAll().bytes.isEmpty)
    #expect(await fixture.requests.values.count == 2)
  }

  @Test("a connection ends when its time is over, however busy it is")
  func dripping() async throws {
    let fixture = try await Fixture(timeout: .milliseconds(300))
    let client = try Client(port: fixture.port)
    let start = ContinuousClock.now
    client.send("GET / HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\nX: ")
    while client.send([0x61]) == 1, ContinuousClock.now - start < .seconds(10) { usleep(20_000) }
    #expect((.milliseconds(300) ..< .seconds(10)).contains(ContinuousClock.now - start))
    try await expectRefused(fixture, [])
  }

  @Test("who doesn't read the page holds nothing after its time")
  @LoopActor func unread() async throws {
    let long = LoopbackResponse(status: 200, body: String(repeating: "x", count: 20 << 20))
    let fixture = try Fixture(timeout: .seconds(2), page: long)
    let client = try Client(port: fixture.port)
    client.send("GET / HTTP/1.1\r\nHost: localhost:\(fixture.port)\r\n\r\n")
    _ = await fixture.requests.first(1)
    #expect(fixture.isBusy)
    fixture.close()
    #expect(fixture.isBusy)
    #expect(await eventually { !fixture.isBusy })
    #expect(await client.readAll().bytes.count < 20 << 20)
  }
}
