public import AuthCore
import EventLoop

/// What a test does with the double, and sees of it.
extension InMemoryAuthService {
  /// The next call fails with `error`, and changes nothing.
  public func failNext(_ error: LinkdError) { content.withLock { $0.nextFailure = error } }

  // MARK: Mails

  /// The mails that would have been sent, in order.
  public var mails: [(kind: MailKind, email: String)] { content.withLock { $0.mails } }

  /// Does what opening the newest link mailed to `email` does: its flow ends with a session, or asks for a second factor.
  /// - Returns: false where none is pending.
  @discardableResult
  public func openSignInLink(of email: String) -> Bool {
    content.withLock { content in
      content.expireOverdue()
      guard let email = try? Self.address(email),
        let flow = content.flows.last(where: { $0.memory.email == email && $0.status.stage == .waitingForLink })
      else { return false }
      return (try? content.take(.link, flow)) != nil
    }
  }

  /// Does what opening a mail of ``AuthServicing/sendEmailVerification()`` does; the user is told by the next change.
  /// - Returns: false where nobody has the address.
  @discardableResult
  public func openVerificationLink(of email: String) -> Bool {
    content.withLock { content in
      guard let email = try? Self.address(email), let index = content.index(of: email) else { return false }
      content.accounts[index].user.emailVerified = true
      if content.status.user?.uid == content.accounts[index].user.uid { content.adopt(content.accounts[index].user) }
      return true
    }
  }

  /// Does what opening the mail to a new address does: the account has it.
  /// - Returns: false where none is pending.
  @discardableResult
  public func openEmailChangeLink(of email: String) -> Bool {
    content.withLock { content in
      guard let email = try? Self.address(email), content.index(of: email) == nil,
        let index = content.index(uid: content.newEmails.removeValue(forKey: email) ?? "")
      else { return false }
      content.accounts[index].user.email = email
      content.accounts[index].user.emailVerified = true
      if content.status.user?.uid == content.accounts[index].user.uid { content.adopt(content.accounts[index].user) }
      return true
    }
  }

  // MARK: Text messages

  /// The text messages that would have been sent, in order, with their codes.
  public var messages: [(number: String, code: Secret<String>)] { content.withLock { $0.messages } }

  /// The codes sent so far are too old, as after some minutes: `SessionExpired`.
  public func expireCodes() {
    content.withLock { content in for flow in content.flows { flow.memory.code = nil } }
  }

  /// Whether a captcha page comes before each message; at first none does.
  public func showCaptchas(_ shown: Bool) { content.withLock { $0.showsCaptchas = shown } }

  /// Does what a person does with the captcha page of the newest flow that shows one.
  /// - Returns: false where none does.
  @discardableResult
  public func answerCaptcha(_ answer: CaptchaAnswer = .solved) -> Bool {
    content.withLock { content in
      guard let flow = content.flows.last(where: { $0.status.stage == .waitingForCaptcha }) else { return false }
      return (try? content.take(.captcha(answer), flow)) != nil
    }
  }

  // MARK: Second factors

  /// What an authenticator app shows that has read `key`. It never changes here.
  public static func authenticatorCode(for key: Secret<String>) -> Secret<String> {
    // FNV-1a.
    let hash = key.reveal().utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 }
    return Secret("\(100_000 + hash % 900_000)")
  }

  /// Gives an account a phone as second factor.
  /// - Returns: nil where nobody has the address.
  @discardableResult
  public func addSecondFactor(phone number: String, displayName: String = "", to email: String) -> SecondFactor? {
    add(number, nil, displayName, email)
  }

  /// Gives an account an authenticator app, which has read `key`, as second factor.
  /// - Returns: nil where nobody has the address.
  @discardableResult
  public func addSecondFactor(
    authenticator key: Secret<String>, displayName: String = "", to email: String
  ) -> SecondFactor? {
    add(nil, key, displayName, email)
  }

  private func add(_ number: String?, _ key: Secret<String>?, _ name: String, _ email: String) -> SecondFactor? {
    content.withLock { content in
      guard let email = try? Self.address(email), let index = content.index(of: email) else { return nil }
      content.accounts[index].user.emailVerified = true
      let factor = content.addFactor(number: number, key: key, displayName: name, to: index)
      if content.status.user?.uid == content.accounts[index].user.uid { content.adopt(content.accounts[index].user) }
      return factor
    }
  }
}
