/// Values as they come, the current one first. Each iterator has its own subscription and sees everything; nothing comes
/// twice. It ends when the task is cancelled, throws when the bus or the object is lost, and outlives linkd's own restarts.
///
/// ```swift
/// for try await status in app.states {
///   print(status.state, status.user?.uid ?? "nobody")
/// }
/// ```
public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
  /// What ends the values before their time.
  public typealias Failure = LinkdError
  typealias Feed = AsyncStream<Result<Element, LinkdError>>.Continuation

  private let start: @Sendable (Feed) -> Void

  /// `start` begins to feed an iterator, and stops at the feed's termination.
  init(_ start: @escaping @Sendable (Feed) -> Void) { self.start = start }

  /// Subscribes.
  public func makeAsyncIterator() -> Iterator {
    let (stream, feed) = AsyncStream.makeStream(of: Result<Element, LinkdError>.self)
    start(feed)
    return Iterator(base: stream.makeAsyncIterator())
  }

  /// One subscription.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<Result<Element, LinkdError>>.Iterator

    /// The next value; nil after the last one or when the task is cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(LinkdError) -> Element? {
      try await base.next(isolation: actor)?.get()
    }

    /// The same, isolated to nobody.
    public mutating func next() async throws(LinkdError) -> Element? { try await next(isolation: nil) }
  }
}
