import Foundation
import TestSupport
import Testing

@testable import Loopback

/// Whose socket is at the other end: both ways of asking the kernel.
@Suite(.timeLimit(.minutes(1)))
struct PeerUserTests {
  static let v4 = Endpoint(v4: (127, 0, 0, 1), port: 0)
  static let v6 = Endpoint(v6Loopback: 0)
  /// An IPv6 socket that goes to an IPv4 address.
  static let mapped = Endpoint(v4: (127, 0, 0, 1), port: 0).asV6

  /// A connection, and what its server sees of it.
  func connect(to: Endpoint, at listening: Endpoint) throws -> (client: Client, accepted: Int32, server: Listening) {
    let server = try Listening(listening)
    let port = try #require(Endpoint(localOf: server.socket)?.port)
    let client = try Client(to: Endpoint(family: to.family, address: to.address, port: port))
    return (client, accept(server.socket, nil, nil), server)
  }

  @Test("one's own socket is known as one's own", arguments: [(v4, v4), (v6, v6), (mapped, v4)])
  func own(to: Endpoint, at listening: Endpoint) throws {
    let (client, accepted, server) = try connect(to: to, at: listening)
    defer { [accepted, server.socket].forEach { close($0) } }
    let peer = try #require(Endpoint(peerOf: accepted))
    let local = try #require(Endpoint(localOf: accepted))
    #expect(PeerUser.isOwn(peerOf: accepted))
    #expect(SocketTable.owner(of: peer, connectedTo: local) == geteuid())
    #expect(SocketDiagnosis.owner(of: peer, connectedTo: local) == .user(geteuid()))
    // The other direction is another socket, which is also here; a third is nowhere.
    #expect(PeerUser.user(of: local, connectedTo: peer) == geteuid())
    let nowhere = Endpoint(family: peer.family, address: peer.address, port: peer.port ^ 1)
    #expect(PeerUser.user(of: nowhere, connectedTo: local) == nil)
    _ = client
  }

  @Test("who only listens at a port is no peer")
  func listening() throws {
    let server = try Listening(Self.v4)
    defer { server.close() }
    let end = try #require(Endpoint(localOf: server.socket))
    let other = Endpoint(v4: (127, 0, 0, 1), port: 9)
    #expect(SocketDiagnosis.owner(of: end, connectedTo: other) == .silence)
    #expect(SocketTable.owner(of: end, connectedTo: other) == nil)
  }

  @Test("another user's socket is known as such, both ways", .enabled(if: geteuid() == 0))
  func foreign() throws {
    let server = try Listening(Self.v4)
    defer { server.close() }
    let port = try #require(Endpoint(localOf: server.socket)?.port)
    let pid = try Subprocess.spawn([
      "setpriv", "--reuid=12345", "--clear-groups", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); read -r x <&3",
    ])
    let accepted = accept(server.socket, nil, nil)
    let peer = try #require(Endpoint(peerOf: accepted))
    let local = try #require(Endpoint(localOf: accepted))
    #expect(SocketDiagnosis.owner(of: peer, connectedTo: local) == .user(12345))
    #expect(SocketTable.owner(of: peer, connectedTo: local) == 12345)
    #expect(!PeerUser.isOwn(peerOf: accepted))
    close(accepted)
    Subprocess.wait(pid)
  }

  @Test("a socket that its process has closed already is nobody's")
  func orphaned() async throws {
    let (client, accepted, server) = try connect(to: Self.v4, at: Self.v4)
    defer { [accepted, server.socket].forEach { Glibc.close($0) } }
    client.send("GET / HTTP/1.1\r\n")
    // The data isn't read: the far end stays in the kernel without a process.
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), client.socket)
    let peer = try #require(Endpoint(peerOf: accepted))
    let local = try #require(Endpoint(localOf: accepted))
    // A program that another test starts at this moment has the socket, too, until it's running.
    #expect(await eventually { SocketDiagnosis.owner(of: peer, connectedTo: local) == .nobody })
    #expect(SocketTable.owner(of: peer, connectedTo: local) == nil)
    #expect(!PeerUser.isOwn(peerOf: accepted))
  }

  @Test("a peer that has reset the connection is nobody's, without a look at the tables")
  func reset() async throws {
    let (client, accepted, server) = try connect(to: Self.v4, at: Self.v4)
    defer { [accepted, server.socket].forEach { Glibc.close($0) } }
    let peer = try #require(Endpoint(peerOf: accepted))
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(client.socket, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), client.socket)
    #expect(await eventually { Endpoint(peerOf: accepted) == nil })
    #expect(!PeerUser.isOwn(peerOf: accepted))
    #expect(try SocketDiagnosis.owner(of: peer, connectedTo: #require(Endpoint(localOf: accepted))) == .silence)
  }

  @Test("an answer of the kernel's is read to the letter")
  func answers() {
    let (peer, local) = (Endpoint(v4: (127, 0, 0, 1), port: 0xc001), Endpoint(v4: (127, 0, 0, 1), port: 0xa1b2))
    // struct nlmsghdr (type 20), struct inet_diag_msg of a connection of user 1000, inode 4242; little-endian.
    let zero = { [UInt8](repeating: 0, count: $0) }
    let ends = [0xc0, 0x01, 0xa1, 0xb2, 127, 0, 0, 1] + zero(12) + [127, 0, 0, 1] + zero(12)
    let answer =
      [88, 0, 0, 0, 20, 0, 0, 0] + zero(8) + [2, 1, 0, 0] + ends + zero(24) + [0xe8, 3, 0, 0, 0x92, 0x10, 0, 0]
    #expect(answer.count == 88)
    #expect(SocketDiagnosis.read(answer[...], about: peer, local) == .user(1000))
    #expect(SocketDiagnosis.read(answer[...], about: local, peer) == .silence)
    for count in 0..<88 { #expect(SocketDiagnosis.read(answer[..<count], about: peer, local) == .silence) }
    // An error (type 2), and a socket without a process.
    #expect(SocketDiagnosis.read([88, 0, 0, 0, 2] + answer[5...], about: peer, local) == .silence)
    #expect(SocketDiagnosis.read((answer[..<84] + zero(4))[...], about: peer, local) == .nobody)
  }

  // proc_pid_net(5), from a little-endian machine.
  static let table = """
      sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
       0: 0100007F:A1B2 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0 100 0 0 10 0
       1: 0100007F:C001 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000  1001        0 4243 1 0 20 4 30 10 -1
       2: 0100007F:C002 0100007F:A1B2 04 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20 4 30 10 -1
       3: 0100007F:C003 0100007F:A1B2 01 00000000:00000000 00:00000000 00000000 65534        0 4244 1 0 20 4 30 10 -1
       4: 0100007F:C004 0100007F:A1B2 01
    """

  @Test("the table is read by both ends", arguments: [(0xc001, 1001), (0xc002, nil), (0xc003, nil), (0xc004, nil)])
  func reading(port: UInt16, user: uid_t?) {
    let local = Endpoint(v4: (127, 0, 0, 1), port: 0xa1b2)
    let peer = Endpoint(v4: (127, 0, 0, 1), port: port)
    #expect(SocketTable.owner(in: Self.table, of: peer, connectedTo: local) == user)
    #expect(SocketTable.owner(in: Self.table, of: peer, connectedTo: peer) == nil)
  }
}
