import Glibc

/// Small files, read and replaced whole.
public enum WholeFile {
  /// What a configuration file may have at most: 1 MiB.
  public static let limit = 1 << 20

  /// Why a file can't be read or written.
  public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file.
    public let path: String
    /// For a person.
    public let reason: String
    /// Whether it simply isn't there.
    public let isAbsent: Bool

    /// Path and reason.
    public var description: String { "\(path): \(reason)" }

    init(_ path: String, _ reason: String) { (self.path, self.reason, isAbsent) = (path, reason, false) }

    init(_ path: String, errno code: Int32) {
      self.path = path
      reason = String(cString: strerror(code))
      isAbsent = code == ENOENT || code == ENOTDIR
    }
  }

  /// The bytes of a regular file of at most `limit` bytes. Never waits, whatever is at the path.
  public static func read(_ path: String) throws(Fault) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw Fault(path, errno: errno) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw Fault(path, errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(path, "not a regular file") }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Fault(path, errno: errno) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= limit else { throw Fault(path, "larger than 1 MiB") }
    }
  }

  /// Puts `bytes` in the place of a file: whole or not at all, durably. Folders that are missing are made (0700).
  /// A symbolic link stays, and what it points at is replaced: people keep such files elsewhere.
  /// - Parameter mode: permissions of a new file; an existing one keeps its own.
  public static func replace(_ path: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(Fault) {
    let target = resolved(path)
    let folder = parent(of: target)
    try makeFolder(folder)
    var status = stat()
    let permissions = stat(target, &status) == 0 ? status.st_mode & 0o777 : mode
    let draft = "\(target).\(getpid()).new"
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Fault(draft, errno: errno) }
    defer { unlink(draft) }
    try fill(descriptor, with: bytes, permissions, path)
    guard rename(draft, target) == 0 else { throw Fault(path, errno: errno) }
    sync(folder)
  }

  /// Takes a file away; one that isn't there is fine.
  public static func remove(_ path: String) throws(Fault) {
    guard unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR else { throw Fault(path, errno: errno) }
  }

  /// Names of the entries of a folder, in the order of their bytes; none where there is no such folder.
  public static func names(in folder: String) -> [String] {
    guard let stream = opendir(folder) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      names.append(name)
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  // MARK: Parts

  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  private static func makeFolder(_ path: String) throws(Fault) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, path != "/" else { throw Fault(path, errno: errno) }
    try makeFolder(parent(of: path))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Fault(path, errno: errno) }
  }

  private static func fill(
    _ descriptor: Int32, with bytes: [UInt8], _ permissions: UInt32, _ path: String
  ) throws(Fault) {
    defer { close(descriptor) }
    try write(bytes, to: descriptor, path)
    guard fchmod(descriptor, permissions) == 0, fsync(descriptor) == 0 else { throw Fault(path, errno: errno) }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(Fault) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { written += count } else if errno != EINTR { throw Fault(path, errno: errno) }
    }
  }

  private static func sync(_ folder: String) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    _ = fsync(descriptor)
    close(descriptor)
  }
}
