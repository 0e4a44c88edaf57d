import AuthCore

/// At most so many events in a window of seconds.
struct RateLimit {
  let limit: Int
  let window: Int64
  private var moments: [Int64] = []

  init(limit: Int, window: Int64) {
    self.limit = limit
    self.window = window
  }

  /// Notes an event at `moment`; false if it's one too many, which isn't noted.
  mutating func take(at moment: Int64) -> Bool {
    moments.removeAll { $0 <= moment - window || $0 > moment }
    guard moments.count < limit else { return false }
    moments.append(moment)
    return true
  }

  /// Whether nothing of it matters any more.
  func isIdle(at moment: Int64) -> Bool { moments.allSatisfy { $0 <= moment - window } }
}

/// Five mails a minute to one address (behaviour: Who may ask).
struct MailLimit {
  private var addresses: [String: RateLimit] = [:]

  /// - Throws: `rateLimited` for one mail too many.
  mutating func check(_ address: String, at moment: Int64) throws(AuthFailure) {
    addresses = addresses.filter { !$0.value.isIdle(at: moment) }
    guard addresses[address.lowercased(), default: RateLimit(limit: 5, window: 60)].take(at: moment) else {
      throw AuthFailure(.rateLimited, retryAfter: 60)
    }
  }
}
