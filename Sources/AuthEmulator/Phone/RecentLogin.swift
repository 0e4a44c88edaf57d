import AuthCore

/// What is dangerous needs a login that isn't long ago (`auth_time`); the recorded service never looks.
struct RecentLogin: Sendable {
  /// Seconds that a login counts as recent; nil: for ever.
  var seconds: Int64?
  /// The logins that count as old whatever their time: Unix milliseconds, by account.
  var lapsed: [String: Int64] = [:]
}

extension Project {
  /// Makes the logins so far old.
  mutating func lapseLogins() {
    for account in accounts { recentLogin.lapsed[account.localID] = account.lastLoginAt.flatMap { Int64($0) } }
  }

  /// Refuses to an ID token of a login long ago what is dangerous.
  func checkRecentLogin(_ call: Call, now: Int64) throws(APIError) {
    guard !call.isPrivileged, let claims = call["idToken"].flatMap(JWT.claims),
      let login = claims["auth_time"]?.integer, let id = claims["user_id"]?.string
    else { return }
    let isOld = recentLogin.seconds.map { now / 1000 - login > $0 } ?? false
    if isOld || isLapsed(login, of: id) { throw APIError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN") }
  }

  /// - Parameter login: seconds. Of two logins in one second the account's last one counts.
  private func isLapsed(_ login: Int64, of id: String) -> Bool {
    guard let lapsed = recentLogin.lapsed[id], let last = account(id)?.lastLoginAt.flatMap({ Int64($0) }) else {
      return false
    }
    let second = lapsed / 1000
    return login < second || login == second && (last == lapsed || last / 1000 > second)
  }
}
