import Glibc

/// Time since boot, counted on while the machine is suspended (CLOCK_BOOTTIME). Timers are reckoned on it.
public enum BootClock {
  /// Nanoseconds since boot.
  public static var nanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Whole seconds since boot.
  public static var seconds: Int64 { Int64(nanoseconds / 1_000_000_000) }
}

/// What the wall shows. It may jump: for times that are stored or shown, never for waiting.
public enum WallClock {
  /// Unix seconds.
  public static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec)
  }

  /// Unix time in milliseconds.
  public static var milliseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

extension Duration {
  /// Whole nanoseconds; negative durations are 0, and what exceeds 292 years is cut to that.
  public var clampedNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    guard seconds < Int64.max / 1_000_000_000 else { return UInt64(Int64.max) }
    return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
  }
}
