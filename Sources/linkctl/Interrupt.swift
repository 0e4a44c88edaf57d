import Glibc

/// What ends a command that waits: it leaves with 130, and the terminal shows what is typed again. Who has something to put
/// in order first says so by ``wakes()``; a second signal doesn't wait for that.
enum Interrupt {
  /// What is done before the program ends, the newest first.
  nonisolated(unsafe) static var leaving: [() -> Void] = []
  nonisolated(unsafe) private static var isDeferred: sig_atomic_t = 0
  nonisolated(unsafe) private static var raised: sig_atomic_t = 0
  nonisolated(unsafe) private static var pipeEnds: (read: Int32, write: Int32) = (-1, -1)

  /// Whether a signal has come that is still to be handled.
  static var isRaised: Bool { raised != 0 }

  /// Whether it was typed, at a terminal that shows what is typed.
  static var isTyped: Bool { raised == SIGINT && isatty(STDIN_FILENO) == 1 }

  /// Readable once a signal has come; -1 where nobody waits for that.
  static var descriptor: Int32 { pipeEnds.read }

  /// Signals end the program at once.
  static func endsQuietly() { install(isDeferred: false) }

  /// The first signal only wakes who waits for ``descriptor``, and ``leave()`` is theirs to call.
  static func wakes() {
    if pipeEnds.read < 0 {
      var ends: [Int32] = [-1, -1]
      // Without a pipe it ends at once.
      guard pipe(&ends) == 0 else { return endsQuietly() }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      pipeEnds = (ends[0], ends[1])
    }
    install(isDeferred: true)
  }

  /// Puts things in order, and ends.
  static func leave() -> Never {
    // Whoever interrupts this wants out now.
    isDeferred = 0
    Echo.restore()
    while let last = leaving.popLast() { last() }
    exit(130)
  }

  private static func install(isDeferred: Bool) {
    self.isDeferred = isDeferred ? 1 : 0
    // Both are there before a signal can ask for them.
    _ = (isRaised, Echo.isOff)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { Interrupt.came($0) }
      var before = sigaction()
      sigaction(number, &action, &before)
      // What was ignored, such as a hangup under nohup, stays so.
      if Input.isIgnored(before) { sigaction(number, &before, nil) }
    }
  }

  /// In a signal's handler: nothing but what signal-safety(7) allows.
  private static func came(_ number: Int32) {
    guard isDeferred != 0, raised == 0 else {
      Echo.restore()
      _exit(130)
    }
    raised = number
    let code = errno
    var byte: UInt8 = 0
    _ = write(pipeEnds.write, &byte, 1)
    errno = code
  }
}

/// Whether the terminal shows what is typed.
enum Echo {
  nonisolated(unsafe) private static var before = termios()
  nonisolated(unsafe) private(set) static var isOff = false

  /// Hides what is typed from now on. What was typed ahead is dropped: it wasn't meant for here.
  /// - Returns: false where it can't be hidden.
  @discardableResult
  static func hide() -> Bool {
    if isOff { return true }
    guard tcgetattr(STDIN_FILENO, &before) == 0 else { return false }
    var silent = before
    silent.c_lflag &= ~tcflag_t(ECHO)
    isOff = true
    guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else {
      isOff = false
      return false
    }
    return true
  }

  /// Shows it again.
  static func restore() {
    guard isOff else { return }
    _ = tcsetattr(STDIN_FILENO, TCSANOW, &before)
    isOff = false
  }
}
