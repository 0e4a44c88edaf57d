import Glibc

/// The folder `$XDG_STATE_HOME/linkd` and the permissions of what lies in it.
enum StateFolder {
  /// Makes `path` and what is missing above it (0700, as the XDG base directory specification asks), and takes the rights
  /// of others away from a folder that exists. Throws `notOurs` when it belongs to somebody else.
  static func prepare(_ path: String) throws(StoreError) {
    if mkdir(path, 0o700) != 0, errno != EEXIST {
      guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
        throw .fromErrno(errno)
      }
      try makeParents(String(path[..<slash]))
      guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .fromErrno(errno) }
    }
    var status = stat()
    guard stat(path, &status) == 0 else { throw .fromErrno(errno) }
    guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else { throw .notOurs }
    if status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 { throw .fromErrno(errno) }
  }

  private static func makeParents(_ path: String) throws(StoreError) {
    if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
    guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
      throw .fromErrno(errno)
    }
    try makeParents(String(path[..<slash]))
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw .fromErrno(errno) }
  }

  /// Makes an empty file (0600), or takes the rights of others away from the one that exists.
  ///
  /// An existing file isn't opened: closing it would drop the locks that SQLite holds on it in this process.
  static func prepareFile(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    if descriptor >= 0 {
      close(descriptor)
      return
    }
    guard errno == EEXIST else { throw .fromErrno(errno) }
    var status = stat()
    guard lstat(path, &status) == 0 else { throw .fromErrno(errno) }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid() else { throw .notOurs }
    if status.st_mode & 0o077 != 0, chmod(path, 0o600) != 0 { throw .fromErrno(errno) }
  }

  /// Makes names that were given or taken in `path` durable.
  static func sync(_ path: String) throws(StoreError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .fromErrno(errno) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .fromErrno(errno) }
  }
}
