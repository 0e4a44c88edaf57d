import AuthCore

/// Text messages and their codes in the double.
extension InMemoryAccounts {
  static let attempts = 5

  /// The double has no country: numbers begin with `+`.
  static func number(_ text: String) throws(LinkdError) -> String {
    let digits = text.filter { !" -()./".contains($0) }
    guard digits.first == "+", (8...16).contains(digits.utf8.count),
      digits.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { throw InMemoryAuthService.error(.invalidPhoneNumber) }
    return digits
  }

  // MARK: Sending

  /// Where the next code of a flow goes to: a second factor's number, or its own.
  func number(of flow: InMemoryFlow) -> String? {
    let memory = flow.memory
    guard let factor = memory.factor else { return memory.number }
    return index(uid: memory.proved?.uid).flatMap { accounts[$0].numbers[factor] }
  }

  /// Asks for a message; a captcha page may come before it.
  mutating func send(_ flow: InMemoryFlow) {
    flow.move(to: .starting, reviving: true)
    guard showsCaptchas else { return deliver(flow) }
    let expiresAt = now + Self.patience
    flow.move(to: .waitingForCaptcha) { $0.expiresAt = expiresAt }
  }

  mutating func answer(_ answer: InMemoryAuthService.CaptchaAnswer, _ flow: InMemoryFlow) throws(LinkdError) {
    guard flow.status.stage == .waitingForCaptcha else { throw InMemoryFlow.notWaiting }
    switch answer {
    case .solved:
      flow.move(to: .starting)
      deliver(flow)
    case .refused where flow.memory.factor != nil: askForFactor(flow, .captchaFailed)
    case .givenUp where flow.memory.factor != nil: askForFactor(flow)
    case .refused: flow.fail(InMemoryAuthService.error(.captchaFailed), retry: true)
    case .givenUp: flow.move(to: .cancelled)
    }
  }

  private mutating func deliver(_ flow: InMemoryFlow) {
    guard let number = number(of: flow) else { return flow.fail(InMemoryAuthService.error(.factorNotFound)) }
    let code = Secret("\(100_000 + nextNumber() * 7_919 % 900_000)")
    messages.append((number, code))
    (flow.memory.code, flow.memory.sentAt) = (code, now)
    askForCode(flow, .phone)
  }

  // MARK: Asking

  /// Another code may be tried; all of them after a message that has just gone out.
  func askForCode(_ flow: InMemoryFlow, _ kind: SecondFactor.Kind, left: Int = attempts, error: AuthError? = nil) {
    let (memory, now) = (flow.memory, now)
    let factor = memory.factor.flatMap { self.factor(flow, $0) }
    let number = self.number(of: flow)
    flow.move(to: .waitingForCode) { details in
      (details.kind, details.codeLength, details.attemptsLeft) = (kind.rawValue, 6, left)
      details.error = error.map(InMemoryAuthService.error)
      details.displayName = factor?.displayName
      if kind == .phone {
        details.phoneNumber = factor == nil ? number : factor?.phoneNumber
        details.canResendAt = memory.sentAt.map { $0 + Self.resendPause }
      }
      details.expiresAt = now + Self.patience
    }
  }

  // MARK: Codes

  mutating func take(code text: Secret<String>, _ flow: InMemoryFlow) throws(LinkdError) {
    if flow.status.stage == .secondFactorRequired, let only = onlyAuthenticator(flow) {
      flow.memory.factor = only
      askForCode(flow, .totp, left: flow.memory.left[only] ?? Self.attempts)
    }
    let details = flow.status.details
    guard flow.status.stage == .waitingForCode, let kind = details.codeKind else { throw InMemoryFlow.notWaiting }
    let code = text.reveal().filter { $0 != " " && $0 != "-" }
    guard code.utf8.count == 6, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw InMemoryAuthService.error(.invalidVerificationCode)
    }
    attempt(flow) { content throws(LinkdError) in
      try content.exchanging(flow) { content throws(LinkdError) in
        guard let right = content.rightCode(of: flow, kind) else { return content.giveUp(flow, kind, .sessionExpired) }
        if right.reveal() == code { return try content.codeWasRight(flow) }
        let left = (details.attemptsLeft ?? 1) - 1
        if let factor = flow.memory.factor { flow.memory.left[factor] = left }
        if left < 1 { return content.giveUp(flow, kind, .invalidVerificationCode) }
        content.askForCode(flow, kind, left: left, error: .invalidVerificationCode)
      }
    }
  }

  /// Nil where it is too old.
  private func rightCode(of flow: InMemoryFlow, _ kind: SecondFactor.Kind) -> Secret<String>? {
    let memory = flow.memory
    if kind == .phone { return memory.code }
    let key = memory.factor.flatMap { factor in index(uid: memory.proved?.uid).flatMap { accounts[$0].keys[factor] } }
    return (key ?? memory.secret?.key).map(InMemoryAuthService.authenticatorCode(for:))
  }

  /// No more codes for what was sent, or shown.
  private mutating func giveUp(_ flow: InMemoryFlow, _ kind: SecondFactor.Kind, _ error: AuthError) {
    flow.memory.code = nil
    guard kind == .phone, flow.memory.factor != nil else {
      return flow.fail(InMemoryAuthService.error(error), retry: kind == .phone)
    }
    askForFactor(flow, error)
  }

  private mutating func codeWasRight(_ flow: InMemoryFlow) throws(LinkdError) {
    flow.memory.code = nil
    if flow.memory.proved != nil { return finish(flow) }
    guard case .signIn(let purpose) = flow.goal else { return try change(flow) }
    guard let number = flow.memory.number else { throw InMemoryFlow.notWaiting }
    let owner = accounts.first { $0.user.phoneNumber == number }?.user
    if purpose == .link { return try link(number, owner, flow) }
    if let owner { return try firstFactor(flow, owner.uid) }
    if purpose == .reauthenticate { throw InMemoryAuthService.error(.userMismatch) }
    let index = add(nil, nil)
    accounts[index].user.set(number)
    try firstFactor(flow, accounts[index].user.uid, isNew: true)
  }

  /// A number of another account's is a conflict.
  private mutating func link(_ number: String, _ owner: User?, _ flow: InMemoryFlow) throws(LinkdError) {
    var user = try signedIn()
    guard let owner, owner.uid != user.uid else {
      user.set(number)
      adopt(user)
      return succeed(flow, with: user)
    }
    var conflict = FlowConflict(.credentialAlreadyInUse)
    (conflict.phoneNumber, conflict.options) = (number, [.switch, .keep, .cancel])
    conflict.message = "In memory: the number is another account's."
    let expiresAt = now + Self.patience
    flow.move(to: .conflict) { details in (details.conflict, details.expiresAt) = (conflict, expiresAt) }
  }

  mutating func resolve(_ choice: ConflictChoice, _ flow: InMemoryFlow) throws(LinkdError) {
    let options = flow.status.details.conflict?.options ?? []
    guard flow.status.stage == .conflict, options.contains(choice) else { throw InMemoryFlow.notWaiting }
    guard choice == .switch, let owner = accounts.first(where: { $0.user.phoneNumber == flow.memory.number })?.user
    else {
      return flow.move(to: .cancelled)
    }
    attempt(flow) { content throws(LinkdError) in
      try content.exchanging(flow) { content throws(LinkdError) in try content.firstFactor(flow, owner.uid) }
    }
  }
}

extension User {
  /// Gives the user a number to sign in with.
  mutating func set(_ number: String) {
    (phoneNumber, isAnonymous) = (number, false)
    providers.removeAll { $0.providerID == "phone" }
    var provider = LinkedProvider(providerID: "phone")
    provider.phoneNumber = number
    providers.append(provider)
  }
}
