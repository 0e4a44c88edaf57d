import EventLoop
import Glibc
import Texts

/// The daemon. Normally started by D-Bus or systemd, without arguments.
@main
struct Linkd {
  static let usage = """
    linkd – Firebase Auth for the Linux desktop, the per-user service

    Usage: linkd [--help | --version]

    D-Bus starts it when an app or a clicked link needs it; it ends by itself when idle.
    Talk to it with linkctl(1), or over D-Bus as org.linkd.Auth1.

    Environment:
      LINKD_LOG         error, warning, info (default) or debug
      LINKD_IDLE_EXIT   seconds without work before it ends, 0 for never (default 300)
      LINKD_STATE_DIR   instead of $XDG_STATE_HOME/linkd
      LINKD_CONFIG_DIR  instead of $XDG_CONFIG_HOME/linkd

    """

  static func main() {
    switch CommandLine.arguments.dropFirst().first {
    case nil: exit(run())
    case "--help", "-h": print(usage, terminator: "")
    case "--version": print("linkd \(Release.version)")
    case let other?:
      let text = "linkd: There is no option '\(Texts.printable(other))'. 'linkd --help' lists them.\n"
      text.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
      exit(64)
    }
  }

  private static func run() -> Int32 {
    let environment = Environment.all
    let status = ExitStatus()
    Task.onLoop {
      let daemon = Daemon(environment: environment)
      status.daemon = daemon
      EventLoop.shared.onSignal(SIGTERM) { daemon.stop() }
      EventLoop.shared.onSignal(SIGINT) { daemon.stop() }
      do throws(Daemon.StartError) {
        if try await daemon.start() == false { EventLoop.shared.stop() }
      } catch {
        let line = "<3>linkd: \(error.message)\n"
        line.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
        status.code = error.exitCode
        EventLoop.shared.stop()
      }
    }
    EventLoop.shared.run()
    return status.final
  }

  /// What the loop leaves behind for `main`: written on the loop, read after it has ended.
  private final class ExitStatus: @unchecked Sendable {
    @LoopActor var daemon: Daemon?
    // Protected by order: the loop has ended when `final` is read.
    nonisolated(unsafe) var code: Int32 = 0
    var final: Int32 { code }
  }
}
