import EventLoop

/// A text message on its way.
public struct SMSCode: Sendable, Equatable {
  /// E.164.
  public let phoneNumber: String
  /// Six digits, or what a number for tests has.
  public let code: String
  /// The session that the code belongs to.
  public let sessionInfo: String
}

extension AuthEmulator {
  /// The text messages whose code nobody has used yet, oldest first.
  public var smsCodes: [SMSCode] {
    service.state.withLock { state in
      state.world[Scope(project: project)].messages.waiting.map {
        SMSCode(phoneNumber: $0.phoneNumber, code: $0.code, sessionInfo: $0.sessionInfo)
      }
    }
  }

  /// The tokens of `apple.com` that were given up, oldest first.
  public var revokedTokens: [RevokedToken] {
    service.state.withLock { $0.world[Scope(project: project)].revokedTokens }
  }

  /// Says what the project asks for before it sends a text message, and how long its code counts.
  public func setPhone(_ settings: PhoneSettings) {
    service.state.withLock { $0.world[Scope(project: project)].phone = settings }
  }

  /// Says what second factors are like.
  public func setFactors(_ settings: FactorSettings) {
    service.state.withLock { $0.world[Scope(project: project)].factorSettings = settings }
  }

  /// Lets what is dangerous take a login that isn't long ago: changes of password and address, deletion, second factors that
  /// come and go.
  /// - Parameter seconds: how long a login counts as recent; nil: for ever.
  public func setRecentLogin(seconds: Int64?) {
    service.state.withLock { $0.world[Scope(project: project)].recentLogin = RecentLogin(seconds: seconds) }
  }

  /// Makes the logins so far old, whatever the time: who has one logs in again before something dangerous.
  public func lapseLogins() { service.state.withLock { $0.world[Scope(project: project)].lapseLogins() } }
}
