import AuthCore
import Glibc

/// What comes in on standard input, read from the descriptor: a text that Swift repaired would be another password.
enum Input {
  /// Bytes of a line; a password of Firebase's has at most 4096 characters.
  private static let limit = 64 * 1024
  /// What ends a program that waits for somebody.
  private static let interrupts = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// The first line of standard input, without its end (`\n` or `\r\n`); nil if nothing is there.
  ///
  /// - Throws: exit 65 for what is no text that D-Bus can carry, or longer than 64 KiB.
  static func firstLine() throws(Failure) -> String? {
    guard let bytes = bytes(waitingBy: { true }) else { return nil }
    guard bytes.count <= limit else { throw refused("is too long") }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw refused("isn't valid UTF-8") }
    guard !bytes.contains(0) else { throw refused("holds a zero byte") }
    return text
  }

  private static func refused(_ why: String) -> Failure {
    Failure(name: nil, message: "The text on standard input \(why).", exitCode: 65)
  }

  /// A line typed at the terminal; nil at the end of input, or if `hide` can't. An interrupt ends the program as it ends one
  /// that doesn't ask, once `restore` has put the terminal in order: none comes between the two unseen.
  static func typedLine(hide: () -> Bool, restore: () -> Void) -> [UInt8]? {
    var blocked = sigset_t()
    sigemptyset(&blocked)
    for signal in interrupts { sigaddset(&blocked, signal) }
    var before = sigset_t()
    pthread_sigmask(SIG_BLOCK, &blocked, &before)
    let handlers = interrupts.map(interrupting)
    defer {
      for (signal, var handler) in zip(interrupts, handlers) { sigaction(signal, &handler, nil) }
      pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    // One that came before is not to be forgotten.
    if Interrupt.isRaised { Interrupt.leave() }
    guard hide() else { return nil }
    defer { restore() }
    return bytes(waitingBy: {
      // They come through here alone, where none is missed (pselect(2)). Under an event loop they are blocked otherwise.
      var open = before
      for signal in interrupts { sigdelset(&open, signal) }
      var input = fd_set()
      input.__fds_bits.0 = 1 << STDIN_FILENO
      guard pselect(STDIN_FILENO + 1, &input, nil, nil, nil, &open) < 0, errno == EINTR else { return true }
      restore()
      Prompt.show("\n")
      Interrupt.leave()
    })
  }

  /// Lets `signal` end a wait and do nothing else; gives what it did before.
  private static func interrupting(_ signal: Int32) -> sigaction {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in }
    var before = sigaction()
    sigaction(signal, &action, &before)
    // What was ignored, such as a hangup under nohup, stays so.
    if isIgnored(before) { sigaction(signal, &before, nil) }
    return before
  }

  static func isIgnored(_ action: sigaction) -> Bool {
    guard let handler = action.__sigaction_handler.sa_handler else { return false }
    // SIG_IGN, which is a number in a pointer's place and no function.
    return unsafeBitCast(handler, to: Int.self) == 1
  }

  /// Bytes up to the end of the line, or of the input; nil if that comes first.
  private static func bytes(waitingBy wait: () -> Bool) -> [UInt8]? {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    var isAnything = false
    while bytes.count <= limit, wait() {
      let count = read(STDIN_FILENO, &byte, 1)
      if count < 0, errno == EINTR { continue }
      guard count == 1 else { break }
      isAnything = true
      guard byte != UInt8(ascii: "\n") else {
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        break
      }
      bytes.append(byte)
    }
    return isAnything ? bytes : nil
  }
}
