import AuthCore
import EventLoop

/// Requests under way that may end an account's tokens and bring new ones. Whose tokens are refused meanwhile waits for them: the
/// session goes on with the new ones.
@LoopActor
final class PendingChanges {
  private var count = 0
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Runs such a request, and what takes its tokens over.
  func run(_ body: () async throws(AuthFailure) -> Void) async throws(AuthFailure) {
    count += 1
    defer { finish() }
    try await body()
  }

  /// Waits until none is under way.
  func answered() async {
    while count > 0 { await withCheckedContinuation { waiters.append($0) } }
  }

  private func finish() {
    count -= 1
    guard count == 0 else { return }
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}
