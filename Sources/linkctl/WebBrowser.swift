import AuthCore
import Glibc

/// `xdg-open` with a page, in the person's own session, and its exit status while that says something.
///
/// The URL is an argument of `xdg-open` and of the browser, where everybody on the machine can read it: there's no other way
/// to hand one over. So it's that of a page that linkd serves to this user alone, wherever it can be.
final class WebBrowser {
  enum Outcome {
    case opening, opened, failed
  }

  /// After that long `xdg-open` has become the browser, which stays as long as it likes.
  private static let patience: Int64 = 10_000
  /// POSIX_SPAWN_SETSID of spawn.h, which Swift doesn't see.
  private static let newSession: Int16 = 0x80
  private let pid: pid_t
  private let started = Clock.milliseconds
  private var end: Outcome?

  /// Whether there's anything that could show a page: else `xdg-open` would start a text browser.
  static var isThere: Bool {
    let names: [String] = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"]
    return names.contains { name in getenv(name).map { $0.pointee != 0 } ?? false }
  }

  /// Nil for what is no web page, and where `xdg-open` can't be started.
  init?(_ url: Secret<String>) {
    let page = url.reveal()
    guard page.hasPrefix("https://") || page.hasPrefix("http://"), page.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { return nil }
    guard let pid = Self.spawn(["xdg-open", page]) else { return nil }
    self.pid = pid
  }

  /// How it stands now; doesn't wait.
  var outcome: Outcome {
    if let end { return end }
    var status: Int32 = 0
    if waitpid(pid, &status, WNOHANG) == pid {
      end = status == 0 ? .opened : .failed
    } else if Clock.milliseconds - started >= Self.patience {
      end = .opened
    }
    return end ?? .opening
  }

  /// In a session of its own, without the terminal: a browser that wants one ends at once, and none ends with us.
  private static func spawn(_ arguments: [String]) -> pid_t? {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, newSession)
    let argv = arguments.map { strdup($0) } + [nil]
    defer { argv.forEach { free($0) } }
    var pid = pid_t()
    return posix_spawnp(&pid, arguments[0], &actions, &attributes, argv, environ) == 0 ? pid : nil
  }
}
