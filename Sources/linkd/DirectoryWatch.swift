import CLinux
import EventLoop
import Glibc

/// Says when a file in one of some folders has changed, a moment after the last change: editors write in steps.
@LoopActor
final class DirectoryWatch {
  private let descriptor: Int32
  private let folders: [String]
  /// inotify's numbers of those of them that are there.
  private var watched: Set<Int32> = []
  private let changed: () -> Void
  private var watch: EventLoop.Watch?
  private var pending: EventLoop.Timer?

  /// A folder that isn't there yet is watched from the moment it appears. Nil where the kernel gives no inotify.
  init?(_ folders: [String], changed: @escaping () -> Void) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
    self.folders = folders
    self.changed = changed
    guard descriptor >= 0 else { return nil }
    _ = watchFolders()
    watch = EventLoop.shared.watch(descriptor, .read) { [weak self] _ in self?.drain() }
  }

  /// Watches what is there, and above what isn't the nearest folder that is. True if a folder was new.
  private func watchFolders() -> Bool {
    let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
    let before = watched
    watched = []
    for folder in folders {
      var id = inotify_add_watch(descriptor, folder, events)
      if id < 0 {
        watchAbove(folder)
        // It may have appeared meanwhile.
        id = inotify_add_watch(descriptor, folder, events)
      }
      if id >= 0 { watched.insert(id) }
    }
    return !watched.subtracting(before).isEmpty
  }

  private func watchAbove(_ folder: String) {
    var path = folder[...]
    while let slash = path.lastIndex(of: "/") {
      path = path[..<slash]
      let name = path.isEmpty ? "/" : String(path)
      // Added to what is watched there already.
      if inotify_add_watch(descriptor, name, UInt32(IN_CREATE | IN_MOVED_TO) | UInt32(IN_MASK_ADD)) >= 0 { return }
    }
  }

  private func drain() {
    var isOurs = false
    withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      while true {
        let count = read(descriptor, buffer.baseAddress, buffer.count)
        guard count > 0 else { return }
        var offset = 0
        while offset + MemoryLayout<inotify_event>.size <= count {
          let event = buffer.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
          if watched.contains(event.wd) { isOurs = true }
          offset += MemoryLayout<inotify_event>.size + Int(event.len)
        }
      }
    }
    guard watchFolders() || isOurs else { return }
    pending?.cancel()
    pending = EventLoop.shared.after(.milliseconds(50)) { [weak self] in self?.changed() }
  }

  isolated deinit {
    watch?.cancel()
    pending?.cancel()
    if descriptor >= 0 { close(descriptor) }
  }
}
