import DBus
import Glibc

/// What `/proc` says about a process. Whatever can't be read counts against the caller.
struct ProcessFolder {
  /// What was found of a process's `/.flatpak-info`.
  enum Lookup: Sendable, Hashable {
    /// The process can be looked at, and its root has no such file.
    case absent
    case content(String)
    /// The process is gone, another user's, or hidden from us.
    case unreadable
  }

  let path: String
  /// A `.flatpak-info` has about 1 KiB.
  private static let limit = 64 * 1024

  /// The file at the root of the process's own file system: Flatpak puts it there, and the process can't remove it.
  func flatpakInfo(of credentials: Credentials) -> Lookup {
    guard let pid = processID(of: credentials) else { return .unreadable }
    let root = open("\(path)/\(pid)/root", O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC)
    guard root >= 0 else { return .unreadable }
    defer { close(root) }
    let lookup = Self.read(".flatpak-info", in: root)
    // Still the same process? Then it was the same when its root was opened.
    if let process = credentials.processFD, Self.hasEnded(process) { return .unreadable }
    return lookup
  }

  /// By the pidfd where there's one: its number can't have been given to another process while it runs.
  private func processID(of credentials: Credentials) -> UInt32? {
    guard let process = credentials.processFD else { return credentials.pid }
    let file = open("\(path)/self/fdinfo/\(process.rawValue)", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    guard let text = Self.read(file) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("Pid:") }
    // A process that has ended has -1, one of another pid namespace 0.
    guard let line, let pid = UInt32(line.dropFirst(4).drop { $0 == "\t" || $0 == " " }), pid > 0 else { return nil }
    return pid
  }

  /// A pidfd becomes readable when its process ends.
  private static func hasEnded(_ process: UnixFD) -> Bool {
    var waiting = pollfd(fd: process.rawValue, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) != 0
  }

  private static func read(_ name: String, in root: Int32) -> Lookup {
    let file = openat(root, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard file >= 0 else { return errno == ENOENT ? .absent : .unreadable }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, let text = read(file) else {
      return .unreadable
    }
    return .content(text)
  }

  /// Nil for what can't be read, is too long or isn't UTF-8.
  private static func read(_ file: Int32) -> String? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      let count = Glibc.read(file, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return String(validating: bytes, as: UTF8.self) }
      bytes += chunk[..<count]
    }
    return nil
  }
}
