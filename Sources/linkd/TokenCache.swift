import AuthCore
import EventLoop

/// The current ID token as it's handed out, how long it lives on, and when another one may be asked for.
@LoopActor
struct TokenCache {
  /// Boot-clock second at which the current token was received; nil where an earlier life of the daemon did.
  private var receivedAtBoot: Int64?
  private var handed: HandedToken?
  private var backoff = Backoff()

  /// The token of `session`, where it lives for `minValidity` seconds more. `serverNow` is the server's clock, Unix seconds.
  mutating func token(of session: Session, minValidity: Int64, serverNow: @autoclosure () -> Int64) -> HandedToken? {
    guard let token = session.idToken, remaining(session, serverNow) > minValidity else { return nil }
    if let handed { return handed }
    handed = try? HandedToken(token)
    return handed
  }

  /// Seconds left, counted on the boot clock where the token was received in this life of the daemon.
  private func remaining(_ session: Session, _ serverNow: () -> Int64) -> Int64 {
    if let receivedAtBoot { return session.idTokenLifetime - (BootClock.seconds - receivedAtBoot) }
    let age = serverNow() - session.idTokenReceivedAt
    // A clock that went back says nothing about the token.
    return age < 0 ? 0 : session.idTokenLifetime - age
  }

  /// Whether the current token was received less than a minute ago.
  var isNew: Bool { receivedAtBoot.map { BootClock.seconds - $0 < 60 } ?? false }

  /// Why no other one may be asked for yet; nil where one may.
  var refusal: AuthFailure? { backoff.failure(at: Self.moment) }

  /// The session has another token, or none.
  mutating func forget() { (handed, receivedAtBoot) = (nil, nil) }

  /// The session's token came just now.
  mutating func received() { (receivedAtBoot, backoff) = (BootClock.seconds, Backoff()) }

  /// No token came.
  mutating func refreshFailed(_ failure: AuthFailure) { backoff.failed(failure, at: Self.moment) }

  /// Milliseconds of the boot clock.
  private static var moment: Int64 { Int64(BootClock.nanoseconds / 1_000_000) }
}
