import Glibc

/// The right to open the store: a lock on `<state folder>/lock`, held as long as this value lives and gone with the process
/// (D-Bus contract: Start order; field report B138).
public struct StateLock: ~Copyable {
  /// The state folder.
  public let folder: String
  private let descriptor: Int32

  private init(folder: String, descriptor: Int32) {
    self.folder = folder
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// Takes the lock of `folder`, which is made where it's missing; waits for another holder up to `patience`, by looking
  /// again every few milliseconds (flock(2) has no timeout). Nil when the other keeps it: the caller is superfluous.
  ///
  /// Throws `notOurs`, `readOnly`, `full`, `failed`.
  public static func acquire(folder: String, patience: Duration = .seconds(2)) throws(StoreError) -> StateLock? {
    try StateFolder.prepare(folder)
    let path = folder + "/lock"
    let deadline = ContinuousClock.now + patience
    while true {
      let descriptor = open(path)
      guard descriptor >= 0 else { throw .fromErrno(errno) }
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
        // Somebody may have removed the file that was locked.
        if isFile(descriptor, at: path) { return StateLock(folder: folder, descriptor: descriptor) }
        close(descriptor)
        continue
      }
      let reason = errno
      close(descriptor)
      guard reason == EWOULDBLOCK || reason == EINTR else { throw .fromErrno(reason) }
      guard ContinuousClock.now < deadline else { return nil }
      usleep(20_000)
    }
  }

  /// Where nothing can be written, a file that is there can be locked all the same: why nothing can be kept is then said by
  /// a daemon that runs.
  private static func open(_ path: String) -> Int32 {
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor < 0, errno == EROFS || errno == EACCES else { return descriptor }
    return Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
  }

  private static func isFile(_ descriptor: Int32, at path: String) -> Bool {
    var opened = stat()
    var named = stat()
    return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0 && opened.st_ino == named.st_ino
      && opened.st_dev == named.st_dev
  }
}
