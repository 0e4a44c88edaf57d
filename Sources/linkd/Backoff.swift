import AuthCore

/// Waiting longer after each temporary failure, with jitter, and as long as the server asked (behaviour: Tokens).
struct Backoff {
  private var failures = 0
  private var last: AuthFailure?
  private var until: Int64 = 0

  /// The failure that still counts at `moment` (boot-clock seconds); nil when a new try may be made.
  func failure(at moment: Int64) -> AuthFailure? { moment < until ? last : nil }

  /// Notes a failure.
  mutating func failed(_ failure: AuthFailure, at moment: Int64) {
    guard failure.isTransient else { return self = Backoff() }
    last = failure
    let delay = Int64(1) << min(failures, 6)
    failures += 1
    until = moment + (failure.retryAfter ?? delay / 2 + Int64.random(in: 0...delay))
  }
}
