extension EventLoop {
  /// A one-shot or repeating timer, made by ``EventLoop/after(_:_:)`` and ``EventLoop/every(_:_:)``.
  /// The loop holds it until it has fired or is cancelled; it needn't be kept.
  @LoopActor
  public final class Timer {
    /// Boot time in nanoseconds.
    var deadline: UInt64
    /// Timers of one deadline fire in the order in which they were made.
    let order: UInt64
    let interval: UInt64?
    var body: (@LoopActor () -> Void)?
    /// Place in the heap, nil while outside.
    var place: Int?

    init(deadline: UInt64, order: UInt64, interval: UInt64?, body: @escaping @LoopActor () -> Void) {
      self.deadline = deadline
      self.order = order
      self.interval = interval
      self.body = body
    }

    /// True until it has fired for the last time or was cancelled.
    public var isPending: Bool { body != nil }

    /// It won't fire any more. Harmless when it already has.
    public func cancel() {
      body = nil
      if let place { EventLoop.shared.core.timers.remove(at: place) }
    }

    func precedes(_ other: Timer) -> Bool {
      deadline == other.deadline ? order < other.order : deadline < other.deadline
    }
  }
}

/// A binary heap of timers that knows each one's place, so that cancelling costs O(log n) too.
@LoopActor
struct TimerHeap {
  private var heap: [EventLoop.Timer] = []

  nonisolated init() {}

  var earliest: EventLoop.Timer? { heap.first }
  var isEmpty: Bool { heap.isEmpty }

  mutating func insert(_ timer: EventLoop.Timer) {
    heap.append(timer)
    timer.place = heap.count - 1
    siftUp(heap.count - 1)
  }

  mutating func remove(at index: Int) {
    let last = heap.count - 1
    if index != last { swap(index, last) }
    heap.removeLast().place = nil
    guard index < heap.count else { return }
    siftDown(index)
    siftUp(index)
  }

  private mutating func swap(_ a: Int, _ b: Int) {
    heap.swapAt(a, b)
    heap[a].place = a
    heap[b].place = b
  }

  private mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].precedes(heap[parent]) else { return }
      swap(child, parent)
      child = parent
    }
  }

  private mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      var first = parent
      for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].precedes(heap[first]) {
        first = child
      }
      if first == parent { return }
      swap(parent, first)
      parent = first
    }
  }
}
