import Glibc

extension SessionStore {
  /// Moves a damaged file and its log aside, under a name with its date that nobody has yet, and returns the new path of
  /// the file; nil where there is none. Nothing is deleted and nothing overwritten (behaviour: Storage; field report B138).
  ///
  /// The store must be closed, that is, released, before.
  ///
  /// - Parameter now: Unix seconds.
  public static func setAside(holding lock: borrowing StateLock, now: Int64) throws(StoreError) -> String? {
    let path = lock.folder + "/" + fileName
    guard exists(path) else { return nil }
    let base = "\(path).damaged-\(stamp(now))"
    for attempt in 1...100 {
      let target = attempt == 1 ? base : "\(base)-\(attempt)"
      // The lock keeps others from taking the name meanwhile.
      if exists(target) || exists(target + "-wal") { continue }
      // The log first: SQLite would delete one that it finds beside a new, empty file.
      guard rename(path + "-wal", target + "-wal") == 0 || errno == ENOENT else { throw .fromErrno(errno) }
      guard rename(path, target) == 0 else { throw .fromErrno(errno) }
      // An index of the log, rebuilt from it at need.
      unlink(path + "-shm")
      try StateFolder.sync(lock.folder)
      return target
    }
    throw .failed(code: -EEXIST)
  }

  private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// `YYYYMMDD-HHMMSS` in UTC.
  private static func stamp(_ now: Int64) -> String {
    var seconds = time_t(now)
    var date = tm()
    gmtime_r(&seconds, &date)
    func padded(_ value: Int32, _ width: Int = 2) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return padded(date.tm_year + 1900, 4) + padded(date.tm_mon + 1) + padded(date.tm_mday) + "-" + padded(date.tm_hour)
      + padded(date.tm_min) + padded(date.tm_sec)
  }
}
