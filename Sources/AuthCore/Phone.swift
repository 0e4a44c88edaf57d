/// What shows that somebody has a phone number (identity-toolkit 2.13).
public enum PhoneCredential: Sendable, Hashable {
  /// The code of a text message, and the session that it was sent for.
  case code(Secret<String>, sessionInfo: Secret<String>)
  /// What came with the word that the number is another account's: it signs in to that one, without a further message.
  case temporaryProof(Secret<String>, phoneNumber: String)
}

/// How much a project asks of reCAPTCHA Enterprise before it sends a text message (identity-toolkit 2.17, 6.5). The raw value
/// is the server's word.
public enum RecaptchaEnforcement: String, Sendable, Hashable, CaseIterable {
  /// Nothing; the handler's page is what tells people from programs.
  case off = "OFF"
  /// It listens: without its token the page counts.
  case audit = "AUDIT"
  /// Its token alone counts. linkd has no way to one.
  case enforce = "ENFORCE"
}

/// An authenticator app that is about to become a second factor (identity-toolkit 2.18).
public struct TOTPEnrollment: Sendable, Hashable {
  /// Base32 (RFC 4648), in capitals.
  public var secret: Secret<String>
  /// Digits of a code.
  public var digits: Int
  /// Seconds that a code counts.
  public var period: Int
  /// `SHA1`, `SHA256` or `SHA512`, as `otpauth` URIs say it.
  public var algorithm: String
  /// What the code is given back with.
  public var sessionInfo: Secret<String>
  /// Unix seconds of the last moment, by the server's clock; nil where it named none.
  public var endsAt: Int64?

  /// Every field by name.
  public init(
    secret: Secret<String>, digits: Int, period: Int, algorithm: String, sessionInfo: Secret<String>, endsAt: Int64?
  ) {
    self.secret = secret
    self.digits = digits
    self.period = period
    self.algorithm = algorithm
    self.sessionInfo = sessionInfo
    self.endsAt = endsAt
  }
}

/// What a flow has to do with a code that a person types: part of its row.
public struct PendingVerification: Sendable, Hashable {
  /// Wrong codes that are allowed for one message, or for one authenticator app.
  public static let attempts = 5

  /// What the code is given back with; nil before a message was sent, and for an authenticator app.
  public var sessionInfo: Secret<String>?
  /// The code that is at the server.
  public var code: Secret<String>?
  /// Wrong codes that are still allowed.
  public var attemptsLeft: Int
  /// Whether the server may have taken a code without our learning of it.
  public var isUnanswered = false
  /// The page that tells people from programs, while it's shown.
  public var page: PendingAuthorization?
  /// What the page gave. It counts once.
  public var recaptchaToken: Secret<String>?

  /// Nothing is known yet.
  public init() { attemptsLeft = Self.attempts }
}

/// A sign-in whose first factor was accepted, and that wants a second one: part of the flow's row (identity-toolkit 8.9).
public struct PendingSecondFactor: Sendable, Hashable {
  /// `mfaPendingCredential`: stands for the first factor, which is spent.
  public var credential: Secret<String>
  /// What the person can choose from.
  public var factors: [SecondFactor]
  /// Uid of the factor that was chosen.
  public var chosen: String?
  /// What is remembered of each factor that was chosen before: choosing it anew gives no more tries, and no earlier message.
  public var earlier: [String: Earlier] = [:]

  /// How far a factor had come.
  public struct Earlier: Sendable, Hashable {
    /// Wrong codes that are still allowed.
    public var attemptsLeft: Int
    /// When the next message may be sent, Unix seconds; nil for an authenticator app.
    public var canResendAt: Int64?

    /// Both by name.
    public init(attemptsLeft: Int, canResendAt: Int64?) {
      self.attemptsLeft = attemptsLeft
      self.canResendAt = canResendAt
    }
  }

  /// Nothing is chosen yet.
  public init(credential: Secret<String>, factors: [SecondFactor]) {
    self.credential = credential
    self.factors = factors
  }

  /// The factor that was chosen.
  public var choice: SecondFactor? { factors.first { $0.uid == chosen } }
}
