import AuthCore
import Crypto
import Glibc

/// The store's key in a file that the user alone can read: `$XDG_STATE_HOME/linkd/key` (cli-and-config: Files; field report
/// B135).
///
/// One line: `linkd-key-1:<id>:<key>`, both in hexadecimal.
public struct FileKeyStore: Sendable {
  /// Name of the file in the state folder.
  public static let fileName = "key"
  private static let form = "linkd-key-1"
  private let folder: String
  private var path: String { folder + "/" + Self.fileName }

  /// A key store in the state folder `folder`, which exists.
  public init(folder: String) { self.folder = folder }

  // MARK: Reading

  /// The key in the file; `absent` where there is no file. `failed(.permissions)` for a file that isn't ours alone (0600 or
  /// less), `failed(.malformed)` for one that holds something else.
  public func load() -> KeyLookup {
    do throws(KeyringError) {
      guard let text = try read() else { return .absent }
      return .key(try Self.parse(text))
    } catch {
      return .failed(error)
    }
  }

  private func read() throws(KeyringError) -> [UInt8]? {
    // Neither follows a link nor waits for a pipe.
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else {
      switch errno {
      case ENOENT: return nil
      case ELOOP, EACCES: throw .permissions
      default: throw .system(errno: errno)
      }
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(errno: errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw .permissions
    }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw .system(errno: errno) }
    return Array(bytes[..<count])
  }

  private static func parse(_ bytes: [UInt8]) throws(KeyringError) -> StoreKey {
    guard let text = String(validating: bytes, as: UTF8.self), text.hasSuffix("\n") else { throw .malformed }
    let parts = text.dropLast().split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0] == form, let id = try? Hex.decode(String(parts[1])), id.count == StoreKey.idLength,
      let key = try? Hex.decode(String(parts[2])), key.count == StoreKey.length
    else { throw .malformed }
    return StoreKey(key: Secret(key), id: id)
  }

  // MARK: Making

  /// Makes a key and its file, durably; the file is there whole or not at all. Throws `exists` when there is one already.
  public func create() throws(KeyringError) -> StoreKey {
    let key = try Self.fresh()
    let line = "\(Self.form):\(Hex.encode(key.id)):\(Hex.encode(key.key.reveal()))\n"
    let draft = "\(path).\(Hex.encode(Array(key.id.prefix(4)))).new"
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(errno: errno) }
    defer { unlink(draft) }
    do throws(KeyringError) {
      try Self.write(Array(line.utf8), to: descriptor)
    } catch {
      close(descriptor)
      throw error
    }
    guard close(descriptor) == 0 else { throw .system(errno: errno) }
    // Unlike a rename, a link never replaces a key.
    guard link(draft, path) == 0 else { throw errno == EEXIST ? .exists : .system(errno: errno) }
    try syncFolder()
    return key
  }

  private static func fresh() throws(KeyringError) -> StoreKey {
    do throws(CryptoError) {
      return StoreKey(
        key: Secret(try Random.bytes(StoreKey.length)), id: try Random.bytes(StoreKey.idLength))
    } catch {
      throw .noRandom
    }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32) throws(KeyringError) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { written += count } else if errno != EINTR { throw .system(errno: errno) }
    }
    guard fsync(descriptor) == 0 else { throw .system(errno: errno) }
  }

  private func syncFolder() throws(KeyringError) {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno: errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(errno: errno) }
  }
}
