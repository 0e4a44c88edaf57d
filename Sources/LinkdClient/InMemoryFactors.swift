import AuthCore

/// Second factors of the double.
extension InMemoryAccounts {
  /// Firebase's limit.
  private static let limit = 5

  /// What somebody does about a flow.
  mutating func take(_ input: InMemoryFlow.Input, _ flow: InMemoryFlow) throws(LinkdError) {
    switch input {
    case .password(let password): try take(password: password, flow)
    case .code(let code): try take(code: code, flow)
    case .factor(let uid): try choose(uid, flow)
    case .choice(let choice): try resolve(choice, flow)
    case .captcha(let answer): try self.answer(answer, flow)
    case .link: attempt(flow) { content throws(LinkdError) in try content.openLink(flow) }
    case .resend: try resend(flow)
    }
  }

  private mutating func take(password: Secret<String>, _ flow: InMemoryFlow) throws(LinkdError) {
    if password.reveal().isEmpty { throw InMemoryAuthService.error(.weakPassword) }
    guard flow.status.stage == .waitingForPassword else { throw InMemoryFlow.notWaiting }
    switch flow.goal {
    case .action(.updatePassword): perform(.updatePassword(password), flow)
    case .signIn, .action: attempt(flow) { content throws(LinkdError) in try content.compare(password, flow) }
    }
  }

  private mutating func resend(_ flow: InMemoryFlow) throws(LinkdError) {
    let status = flow.status
    let isCode = status.stage == .waitingForCode && status.details.codeKind == .phone
    guard isCode || status.stage == .waitingForLink || status.details.canRetry else { throw InMemoryFlow.notWaiting }
    if let sentAt = flow.memory.sentAt, now < sentAt + Self.resendPause {
      throw InMemoryAuthService.error(.rateLimited)
    }
    if status.stage == .waitingForLink { mail(flow) } else { send(flow) }
  }

  // MARK: Resolving

  func factor(_ flow: InMemoryFlow, _ uid: String) -> SecondFactor? {
    hints(flow).first { $0.uid == uid }
  }

  private func hints(_ flow: InMemoryFlow) -> [SecondFactor] {
    index(uid: flow.memory.proved?.uid).map { accounts[$0].user.secondFactors } ?? []
  }

  func onlyAuthenticator(_ flow: InMemoryFlow) -> String? {
    let hints = hints(flow)
    return hints.count == 1 && hints[0].kind == .totp ? hints[0].uid : nil
  }

  /// The first factor counts, and isn't asked for again.
  func askForFactor(_ flow: InMemoryFlow, _ error: AuthError? = nil) {
    // Of the one that was chosen last.
    let canResendAt = flow.memory.factor.flatMap { flow.memory.sent[$0] }.map { $0 + Self.resendPause }
    flow.memory.factor = nil
    let (hints, expiresAt) = (hints(flow), now + Self.patience)
    flow.move(to: .secondFactorRequired) { details in
      (details.hints, details.expiresAt, details.canResendAt) = (hints, expiresAt, canResendAt)
      details.error = error.map(InMemoryAuthService.error)
    }
  }

  private mutating func choose(_ uid: String, _ flow: InMemoryFlow) throws(LinkdError) {
    switch flow.status.stage {
    case .secondFactorRequired: break
    case .waitingForCode where flow.memory.factor != nil, .waitingForCaptcha where flow.memory.factor != nil: break
    default: throw InMemoryFlow.notWaiting
    }
    guard let factor = factor(flow, uid) else { throw InMemoryAuthService.error(.factorNotFound) }
    // Each message costs.
    if let sentAt = flow.memory.sent[uid], now < sentAt + Self.resendPause {
      throw InMemoryAuthService.error(.rateLimited)
    }
    flow.memory.factor = uid
    // Choosing an app again gives no more wrong codes.
    factor.kind == .totp ? askForCode(flow, .totp, left: flow.memory.left[uid] ?? Self.attempts) : send(flow)
  }

  // MARK: Enrolling

  /// As the server does, before it asks for a recent sign-in.
  func checkEnrollment(of number: String?) throws(LinkdError) {
    let user = try signedIn()
    if !user.emailVerified { throw InMemoryAuthService.error(.unverifiedEmail) }
    if signedInBy == .phone { throw InMemoryAuthService.error(.unsupportedFirstFactor) }
    if user.secondFactors.count >= Self.limit { throw InMemoryAuthService.error(.secondFactorLimit) }
    if let number, index(uid: user.uid).map({ accounts[$0].numbers.values.contains(number) }) == true {
      throw InMemoryAuthService.error(.secondFactorExists)
    }
  }

  mutating func showSecret(_ flow: InMemoryFlow) {
    let letters = "\(nextNumber())".utf8.map { String(UnicodeScalar($0 - 0x30 + 0x41)) }.joined()
    let key = "INMEMORYKEY\(letters)"
    let uri = "otpauth://totp/In%20memory:\(flow.memory.owner ?? "")?secret=\(key)&issuer=In%20memory"
    flow.memory.secret = AuthenticatorSecret(
      key: Secret(key), uri: Secret("\(uri)&algorithm=SHA1&digits=6&period=30"), expiresAt: now + Self.patience)
    askForCode(flow, .totp)
  }

  @discardableResult
  mutating func addFactor(
    number: String?, key: Secret<String>?, displayName: String, to index: Int
  ) -> SecondFactor {
    var factor = SecondFactor(uid: "factor\(nextNumber())", kind: number == nil ? .totp : .phone)
    factor.displayName = displayName.isEmpty ? nil : displayName
    factor.phoneNumber = number.map(PhoneMask.masked)
    factor.enrolledAt = now
    accounts[index].user.secondFactors.append(factor)
    (accounts[index].numbers[factor.uid], accounts[index].keys[factor.uid]) = (number, key)
    return factor
  }
}
