public import DBus
import Glibc

/// Who is at the other end of a connection (behaviour: Who may ask).
public enum Sandbox: Sendable, Hashable {
  /// A process of the user outside any sandbox: it is the user.
  case ordinary
  /// `flatpak:com.example.App`, `snap:example`.
  case sandboxed(id: String)
  /// It can't be told, or it's another user's: nothing is shown to it.
  case refused

  /// Judges the process that the bus named, never what the caller says of itself.
  ///
  /// - Parameter processes: the mounted proc(5).
  public static func identify(_ credentials: Credentials, processes: String = "/proc", user: UInt32? = nil) -> Sandbox {
    guard credentials.uid == user ?? getuid() else { return .refused }
    // A snap can't change its label; it needs no look at files.
    if let snap = snapName(credentials.linuxSecurityLabel) { return .sandboxed(id: "snap:\(snap)") }
    return flatpak(credentials, processes)
  }

  /// `example` for the AppArmor label `snap.example.app (enforce)`.
  static func snapName(_ label: String?) -> String? {
    guard let parts = label?.split(separator: " ").first?.split(separator: "."), parts.count >= 3, parts[0] == "snap"
    else { return nil }
    return String(parts[1])
  }

  /// Flatpak puts `/.flatpak-info` into every sandbox, where the sandboxed process can't replace it.
  private static func flatpak(_ credentials: Credentials, _ processes: String) -> Sandbox {
    let root = open("\(processes)/\(credentials.pid)/root", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // Gone, or not ours to look at: fail closed.
    guard root >= 0 else { return .refused }
    defer { close(root) }
    // The number may have been given to another process since: the pidfd says whether ours still lives.
    if let descriptor = credentials.processFD, !isAlive(descriptor.rawValue) { return .refused }
    let file = openat(root, ".flatpak-info", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return errno == ENOENT ? .ordinary : .refused }
    defer { close(file) }
    guard let name = applicationName(contents(file)) else { return .refused }
    return .sandboxed(id: "flatpak:\(name)")
  }

  /// A pidfd is readable once its process has ended (pidfd_open(2)).
  private static func isAlive(_ descriptor: Int32) -> Bool {
    var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&ended, 1, 0) == 0
  }

  /// At most 64 KiB: the file has a few lines.
  private static func contents(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 64 * 1024 {
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `name` in the group `[Application]`, or in `[Runtime]` for a runtime started by itself.
  static func applicationName(_ text: String) -> String? {
    var group = ""
    for line in text.split(whereSeparator: \.isNewline) {
      if line.hasPrefix("[") { group = String(line) }
      guard group == "[Application]" || group == "[Runtime]", line.hasPrefix("name=") else { continue }
      let name = line.dropFirst("name=".count)
      guard !name.isEmpty, name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || "._-/".contains($0)) }) else {
        return nil
      }
      return String(name)
    }
    return nil
  }
}
