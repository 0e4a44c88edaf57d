import Glibc

/// Asks the kernel for one TCP socket by its two ends (sock_diag(7)). The messages of <linux/inet_diag.h> are laid out by hand:
/// they are the kernel's binary interface, and no module has them.
enum SocketDiagnosis {
  /// The user that owns the socket at `endpoint`; nil where there's none, or where the kernel can't be asked.
  static func owner(of endpoint: Endpoint, connectedTo other: Endpoint) -> uid_t? {
    let socket = socket(AF_NETLINK, Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue), protocolSocketDiagnosis)
    guard socket >= 0 else { return nil }
    defer { close(socket) }
    let question = question(endpoint, other)
    // The kernel answers within send(2): what hasn't come then never will.
    guard send(socket, question, question.count, Int32(MSG_NOSIGNAL)) == question.count else { return nil }
    var answer = [UInt8](repeating: 0, count: 4096)
    let count = recv(socket, &answer, answer.count, Int32(MSG_DONTWAIT))
    guard count >= 0 else { return nil }
    return owner(in: answer[..<count], asked: question)
  }

  private static let protocolSocketDiagnosis: Int32 = 4  // NETLINK_SOCK_DIAG
  private static let byFamily: UInt16 = 20  // SOCK_DIAG_BY_FAMILY
  private static let headerSize = 16  // struct nlmsghdr
  /// Family, protocol, extensions, padding and states before the ends of the socket that is asked for.
  private static let endsInQuestion = headerSize + 8
  /// Family, state, timer and retransmissions before the ends of the socket that was found.
  private static let endsInAnswer = headerSize + 4
  /// Both ports and both addresses of struct inet_diag_sockid.
  private static let endsSize = 36

  /// struct nlmsghdr, struct inet_diag_req_v2.
  static func question(_ endpoint: Endpoint, _ other: Endpoint) -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }
    append(UInt32(headerSize + 56))
    append(byFamily)
    append(UInt16(1))  // NLM_F_REQUEST: this one, not a list
    append(UInt64(0))  // sequence, port
    bytes += [UInt8(endpoint.family), UInt8(IPPROTO_TCP), 0, 0]
    append(UInt32.max)  // whatever its state
    append(endpoint.port.bigEndian)
    append(other.port.bigEndian)
    for address in [endpoint.address, other.address] {
      bytes += address + [UInt8](repeating: 0, count: 16 - address.count)
    }
    append(UInt32(0))  // on any interface
    append(UInt64.max)  // INET_DIAG_NOCOOKIE
    return bytes
  }

  /// Reads struct nlmsghdr, struct inet_diag_msg. Without a connection the kernel may name who listens at the port: that one has
  /// other ends.
  static func owner(in answer: ArraySlice<UInt8>, asked question: [UInt8]) -> uid_t? {
    let answer = Array(answer)
    func number<Number: FixedWidthInteger>(at offset: Int) -> Number {
      answer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
    }
    guard answer.count >= headerSize + 72, number(at: 4) == byFamily else { return nil }
    let found = answer[endsInAnswer..<endsInAnswer + endsSize]
    guard found == question[endsInQuestion..<endsInQuestion + endsSize] else { return nil }
    // After the ends: interface and cookie (12 bytes), time left and two queues (12 bytes).
    let user = endsInAnswer + endsSize + 24
    return PeerUser.named(number(at: user), inode: UInt64(number(at: user + 4) as UInt32))
  }
}
