import CLinux
import EventLoop
import Glibc

/// Says when a file in one of some folders has changed, a moment after the last change: editors write in steps.
@LoopActor
final class DirectoryWatch {
  private let descriptor: Int32
  private let folders: [String]
  private let changed: () -> Void
  /// The watches of folders that are there; others wait for one to appear.
  private var present: Set<Int32> = []
  private var watch: EventLoop.Watch?
  private var pending: EventLoop.Timer?

  /// Nil where the kernel gives no inotify.
  init?(_ folders: [String], changed: @escaping () -> Void) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    self.folders = folders
    self.changed = changed
    guard descriptor >= 0 else { return nil }
    addAll()
    watch = EventLoop.shared.watch(descriptor, .read) { [weak self] _ in self?.drain() }
  }

  /// Adding a folder again is no harm: the kernel keeps one watch a folder.
  private func addAll() {
    let files = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)
    let folders = UInt32(IN_CREATE | IN_MOVED_TO)
    present = []
    for folder in self.folders {
      var place = folder
      let found = inotify_add_watch(descriptor, place, files | UInt32(IN_MASK_ADD))
      guard found < 0 else {
        present.insert(found)
        continue
      }
      // Waited for in the nearest folder above it: a package or a person may make it later.
      repeat {
        guard let slash = place.lastIndex(of: "/"), slash != place.startIndex else { break }
        place = String(place[..<slash])
      } while inotify_add_watch(descriptor, place, folders | UInt32(IN_MASK_ADD)) < 0
    }
  }

  private func drain() {
    var isNews = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          // After an overflow the watch is -1: anything may have changed.
          if event.wd < 0 || present.contains(event.wd) { isNews = true }
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
        }
      }
    }
    let before = present
    addAll()
    guard isNews || present != before else { return }
    pending?.cancel()
    pending = EventLoop.shared.after(.milliseconds(50)) { [weak self] in self?.changed() }
  }

  isolated deinit {
    watch?.cancel()
    pending?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }
}
