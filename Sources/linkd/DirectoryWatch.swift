import CLinux
import EventLoop
import Glibc

/// Says when a file in one of some folders has changed, a moment after the last change: editors write in steps.
@LoopActor
final class DirectoryWatch {
  private let descriptor: Int32
  private let changed: () -> Void
  private var watch: EventLoop.Watch?
  private var pending: EventLoop.Timer?

  /// Folders that aren't there are passed over. Nil where the kernel gives no inotify.
  init?(_ folders: [String], changed: @escaping () -> Void) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    self.changed = changed
    guard descriptor >= 0 else { return nil }
    let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
    for folder in folders { _ = inotify_add_watch(descriptor, folder, events) }
    watch = EventLoop.shared.watch(descriptor, .read) { [weak self] _ in self?.drain() }
  }

  private func drain() {
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while read(descriptor, buffer.baseAddress, buffer.count) > 0 {}
    }
    pending?.cancel()
    pending = EventLoop.shared.after(.milliseconds(50)) { [weak self] in self?.changed() }
  }

  isolated deinit {
    watch?.cancel()
    pending?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }
}
