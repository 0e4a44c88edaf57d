import Glibc

/// `mimeinfo.cache`, which GLib needs to know a handler at all (linux-desktop-peers E7).
enum DesktopDatabase {
  /// How long the refresh may take; it needs a few milliseconds.
  static let patience: Int32 = 5000

  /// Runs `update-desktop-database` over a folder with applications and waits for it. A desktop without it works too:
  /// `mimeapps.list` is enough there.
  /// - Returns: whether it ran to its end.
  @discardableResult
  static func refresh(_ folder: String) -> Bool { run(["update-desktop-database", "-q", folder]) }

  /// Runs a program with exactly these arguments, found in `PATH`, without a shell. It's killed when it takes too long.
  static func run(_ arguments: [String], patience: Int32 = patience) -> Bool {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return false }
    // Only the child holds the writing end, so its end is the end of the child.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    guard let pid = spawn(arguments, output: ends[1]) else { return false }
    if !waitForEnd(of: ends[0], patience) { kill(pid, SIGKILL) }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0 { if errno != EINTR { return false } }
    return status == 0
  }

  /// Closes `output` on this side in any case.
  private static func spawn(_ arguments: [String], output: Int32) -> pid_t? {
    defer { close(output) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    // The daemon blocks the signals it reads from a descriptor; a child must not inherit that.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    let argv = arguments.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid = pid_t()
    return posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, environ) == 0 ? pid : nil
  }

  /// False when the time was up first. What the program writes is read and dropped, so that it never waits for us.
  private static func waitForEnd(of descriptor: Int32, _ patience: Int32) -> Bool {
    let deadline = ContinuousClock.now + .milliseconds(Int64(patience))
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      let left = deadline - .now
      guard left > .zero else { return false }
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      let ready = poll(&waiting, 1, Int32(left / .milliseconds(1)) + 1)
      if ready < 0, errno != EINTR { return false }
      if ready > 0, read(descriptor, &buffer, buffer.count) == 0 { return true }
    }
  }
}
