import CLinux
import Glibc

/// UNIX signals as loop events, through one signalfd.
@LoopActor
final class SignalWatcher {
  private var descriptor: Int32 = -1
  private var mask = sigset_t()
  private var handlers: [(signal: Int32, body: @LoopActor () -> Void)] = []

  nonisolated init() { sigemptyset(&mask) }

  func handle(_ signal: Int32, _ handler: @escaping @LoopActor () -> Void) {
    handlers.removeAll { $0.signal == signal }
    handlers.append((signal, handler))
    sigaddset(&mask, signal)
    pthread_sigmask(SIG_BLOCK, &mask, nil)
    let first = descriptor < 0
    descriptor = clinux_signalfd(descriptor, &mask)
    guard first, descriptor >= 0 else { return }
    EventLoop.shared.watch(descriptor, .read) { [unowned self] _ in drain() }
  }

  private func drain() {
    while true {
      let signal = clinux_signalfd_read(descriptor)
      if signal == 0 { return }
      handlers.first { $0.signal == signal }?.body()
    }
  }
}
