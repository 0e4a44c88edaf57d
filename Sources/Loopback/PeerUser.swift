import Glibc

/// Which user is at the other end of a TCP connection within this machine. The kernel says it of the socket there; `SO_PEERCRED`
/// is for Unix sockets alone.
enum PeerUser {
  /// Whether the far end of `socket` belongs to the user that this process runs as. What the kernel doesn't name is a stranger's.
  static func isOwn(peerOf socket: Int32) -> Bool {
    guard let peer = Endpoint(peerOf: socket), let local = Endpoint(localOf: socket), peer.family == local.family
    else { return false }
    return user(of: peer, connectedTo: local) == geteuid()
  }

  /// The user id that owns the socket at `endpoint`. One question to the kernel where that is allowed and compiled in (some
  /// 10 µs), else by its tables, which need only /proc/self, but are long to read (3 ms and more each): a stranger who comes
  /// and goes shouldn't cost us that.
  static func user(of endpoint: Endpoint, connectedTo other: Endpoint) -> uid_t? {
    switch SocketDiagnosis.owner(of: endpoint, connectedTo: other) {
    case .user(let user): return user
    case .nobody: return nil
    case .silence: break
    }
    // There's no such socket, or no such service. Our own end exists, so a service names it.
    if SocketDiagnosis.owner(of: other, connectedTo: endpoint) != .silence { return nil }
    return SocketTable.owner(of: endpoint, connectedTo: other)
  }

  /// What the kernel shows for users that have no id in this user namespace: nobody in particular.
  static let unmapped: uid_t = 65534

  /// The user, unless the entry names none: a socket that its process has closed (inode 0) is shown as root's.
  static func named(_ user: uid_t, inode: UInt64) -> uid_t? { inode == 0 || user == unmapped ? nil : user }
}

/// /proc/self/net/tcp and tcp6 (proc_pid_net(5)). They aren't read in one piece, and an entry may be missed where others come and
/// go, so a second look is worth it.
enum SocketTable {
  static func owner(of endpoint: Endpoint, connectedTo other: Endpoint) -> uid_t? {
    look(for: endpoint, other) ?? look(for: endpoint, other)
  }

  private static func look(for endpoint: Endpoint, _ other: Endpoint) -> uid_t? {
    if endpoint.family == AF_INET, let found = look(for: endpoint, other, in: "/proc/self/net/tcp") { return found }
    // A program may reach 127.0.0.1 with an IPv6 socket (::ffff:127.0.0.1); such sockets are in the other table.
    return look(for: endpoint.asV6, other.asV6, in: "/proc/self/net/tcp6")
  }

  private static func look(for endpoint: Endpoint, _ other: Endpoint, in file: String) -> uid_t? {
    guard let table = content(of: file) else { return nil }
    return owner(in: table, of: endpoint, connectedTo: other)
  }

  /// Finds the entry in a table's text.
  static func owner(in table: String, of endpoint: Endpoint, connectedTo other: Endpoint) -> uid_t? {
    let ends = " \(endpoint.tableText) \(other.tableText) "
    guard let line = table.split(separator: "\n").first(where: { contains($0, ends) }) else { return nil }
    // sl, local, remote, state, queues, timer, retransmissions, uid, timeout, inode
    let fields = line.split(separator: " ")
    guard fields.count > 9, let user = uid_t(fields[7]), let inode = UInt64(fields[9]) else { return nil }
    return PeerUser.named(user, inode: inode)
  }

  /// The two addresses stand near the start of a line.
  private static func contains(_ line: Substring, _ ends: String) -> Bool {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return false }
    return line.utf8[line.utf8.index(after: colon)...].starts(with: ends.utf8)
  }

  /// The whole text; `nil` where it can't be read.
  static func content(of file: String) -> String? {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? String(decoding: text, as: UTF8.self) : nil }
      text += buffer[..<count]
    }
  }
}

extension Endpoint {
  /// An IPv4 address within IPv6.
  var asV6: Endpoint {
    guard family == AF_INET else { return self }
    return Endpoint(v6: [UInt8](repeating: 0, count: 10) + [0xff, 0xff] + address, port: port)
  }

  /// As the tables write it: words in the machine's byte order, then the port, in upper-case hexadecimal.
  var tableText: String {
    var text = ""
    for start in stride(from: 0, to: address.count, by: 4) {
      let word = address[start..<start + 4].withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      text += hexadecimal(word, digits: 8)
    }
    return text + ":" + hexadecimal(UInt32(port), digits: 4)
  }

  private func hexadecimal(_ number: UInt32, digits: Int) -> String {
    let text = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
