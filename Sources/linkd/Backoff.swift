import AuthCore

/// Waiting longer after each temporary failure, with jitter, and as long as the server asked (behaviour: Tokens).
///
/// Moments are milliseconds of the boot clock: in whole seconds the first wait could be none, and a storm of callers would
/// each ask a server that has just failed.
struct Backoff {
  private var failures = 0
  private var last: AuthFailure?
  private var until: Int64 = 0

  /// The failure that still counts at `moment`; nil when a new try may be made.
  func failure(at moment: Int64) -> AuthFailure? { moment < until ? last : nil }

  /// Notes a failure: half a second to a second and a half the first time, then twice as long each time, up to a minute and
  /// a half.
  mutating func failed(_ failure: AuthFailure, at moment: Int64) {
    guard failure.isTransient else { return self = Backoff() }
    last = failure
    let delay = Int64(1000) << min(failures, 6)
    failures += 1
    until = moment + (failure.retryAfter.map { $0 * 1000 } ?? delay / 2 + Int64.random(in: 0...delay))
  }
}
