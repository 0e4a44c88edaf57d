import EventLoop

extension AuthEmulator {
  /// The address of an OpenID provider, which is its issuer: discovery is below it.
  /// - Parameter name: empty for the one without a name. Every name is somebody, with keys and settings of his own.
  public func issuer(_ name: String = "") -> String { service.state.withLock { $0.world.issuer(name) } }

  /// The accounts that the pages offer: those that were added.
  public var providerAccounts: [ProviderAccount] { service.state.withLock { $0.world.providers.accounts } }

  /// Adds an account that the pages offer, or replaces the one with its subject and provider.
  public func add(_ account: ProviderAccount) { service.state.withLock { $0.world.providers.add(account) } }

  /// Says who answers the pages: a person, or they themselves at once.
  public func setConsent(_ consent: Consent) { service.state.withLock { $0.world.providers.consent = consent } }

  /// Lets `accounts:signInWithIdp` do what production does and the recorded service doesn't: a conflict comes with a
  /// `pendingToken`, which is then taken for the credential; and with `autoCreate: false` nobody is made. Nor does
  /// `accounts:signInWithPhoneNumber` make anybody with `operation: REAUTH`.
  ///
  /// Of phones and second factors: numbers must be E.164, a number that is a second factor is no first one, a used code is told
  /// by `SESSION_EXPIRED`, a temporary proof signs in once, a pending credential is spent by success, and who has second
  /// factors changes his address by mail alone.
  public func setProductionRules(_ areOn: Bool) {
    service.state.withLock { $0.world.providers.hasProductionRules = areOn }
  }

  /// Changes how an OpenID provider behaves.
  /// - Parameter name: empty for the one without a name.
  public func setOpenID(_ settings: OpenIDSettings, of name: String = "") {
    service.state.withLock { $0.world[openID: name].settings = settings }
  }

  /// Lets an OpenID provider sign with new keys.
  /// - Parameters:
  ///   - name: empty for the one without a name.
  ///   - keepsOld: whether the old keys stay in its key set.
  public func rotateKeys(of name: String = "", keepsOld: Bool) {
    service.state.withLock { $0.world[openID: name].rotateKeys(keepsOld: keepsOld) }
  }
}
