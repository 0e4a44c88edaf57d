/// A flow's public name: 1 to 64 of `[A-Za-z0-9_]`; linkd's own are 128 random bits in hexadecimal.
///
/// It stands in paths, logs and commands, and opens nothing: what finds a flow from a link is the link token.
public struct FlowID: Sendable, Hashable, CustomStringConvertible {
  /// The name itself.
  public let value: String

  /// Nil unless `value` matches `[A-Za-z0-9_]{1,64}` (D-Bus contract: handle-token).
  public init?(_ value: String) {
    guard (1...64).contains(value.utf8.count) else { return nil }
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
        continue
      default: return nil
      }
    }
    self.value = value
  }

  /// The name itself.
  public var description: String { value }
}

/// What a flow is for. The raw value is the D-Bus word.
public enum FlowPurpose: String, Sendable, Hashable {
  case signIn = "sign-in"
  case link
  case reauthenticate
  case actionCode = "action-code"
  case updatePassword = "update-password"
  case changeEmail = "change-email"
  case changePhone = "change-phone"
  case unlink
  case deleteUser = "delete-user"
  case enrollFactor = "enroll-factor"
  case unenrollFactor = "unenroll-factor"
  case present
}

/// Where a flow stands. The raw value is the D-Bus word (D-Bus contract: Flow).
public enum FlowStage: String, Sendable, Hashable, CaseIterable {
  case starting
  case waitingForLink = "waiting-for-link"
  case waitingForRedirect = "waiting-for-redirect"
  case waitingForCaptcha = "waiting-for-captcha"
  case waitingForCode = "waiting-for-code"
  case waitingForEmail = "waiting-for-email"
  case waitingForPassword = "waiting-for-password"
  case waitingForConfirmation = "waiting-for-confirmation"
  case secondFactorRequired = "second-factor-required"
  case reauthenticationRequired = "reauthentication-required"
  case conflict
  case exchanging
  case succeeded, failed, cancelled, expired

  /// Whether nothing more happens by itself.
  public var isEnd: Bool {
    switch self {
    case .succeeded, .failed, .cancelled, .expired: true
    case .starting, .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .waitingForCode, .waitingForEmail,
      .waitingForPassword, .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired, .conflict,
      .exchanging:
      false
    }
  }
}

/// How somebody signs in; `SignInMethod` and the flows' `Method` on D-Bus.
public enum SignInMethod: Sendable, Hashable, CustomStringConvertible {
  case emailLink, password, phone, anonymous, custom
  case provider(String)
  /// Flows alone.
  case actionCode, totp, none

  /// The D-Bus word.
  public var description: String {
    switch self {
    case .emailLink: "emailLink"
    case .password: "password"
    case .phone: "phone"
    case .anonymous: "anonymous"
    case .custom: "custom"
    case .provider(let id): id
    case .actionCode: "action-code"
    case .totp: "totp"
    case .none: "none"
    }
  }

  /// Reads the D-Bus word; anything with a dot is a provider id.
  public init?(_ word: String) {
    switch word {
    case "emailLink": self = .emailLink
    case "password": self = .password
    case "phone": self = .phone
    case "anonymous": self = .anonymous
    case "custom": self = .custom
    case "action-code": self = .actionCode
    case "totp": self = .totp
    case "none": self = .none
    default:
      guard word.contains(".") else { return nil }
      self = .provider(word)
    }
  }
}

/// A pending sign-in (or other action) as a row: nothing about it lives only in memory (behaviour: Pending flows).
///
/// Times are Unix seconds.
public struct Flow: Sendable, Hashable {
  /// Its public name.
  public var id: FlowID
  /// Whose session it is about.
  public var key: SessionKey
  /// What it is for.
  public var purpose: FlowPurpose
  /// How somebody signs in.
  public var method: SignInMethod
  /// Where it stands.
  public var stage: FlowStage
  /// Grows by one with each change a client can see.
  public var sequence: UInt64
  /// When the row was made.
  public var createdAt: Int64
  /// When the row is given up.
  public var expiresAt: Int64
  /// Who started it: a sandbox id, or nil for a process of the user.
  public var caller: String?
  /// Unique bus name of the starter, while it lives.
  public var starter: String?

  /// The address the link was sent to or is believed to be for: from the starter or the person, never from a URL.
  public var email: String?
  /// SHA-256 of the link token; nil for a flow that a link made.
  public var linkTokenHash: [UInt8]?
  /// The uid that reauthentication or linking must end with.
  public var protectedUID: String?
  /// The guest who was signed in at the start.
  public var anonymousUID: String?
  /// Provider to link after the sign-in, or to unlink.
  public var linkProvider: String?
  /// The account that the exchange adds the method to; nil for a plain sign-in.
  public var linkUID: String?
  /// Whether the link counts on this machine alone.
  public var forceSameDevice: Bool
  /// The caller's own continue URL, without what linkd adds.
  public var continueURL: String?
  /// Language of texts and mails for this flow, BCP 47.
  public var locale: String?
  /// Identity Platform tenant of its calls.
  public var tenantID: String?
  /// When `Resend` is allowed again.
  public var canResendAt: Int64?
  /// No link is known to work before it: the mail of the last send wasn't confirmed by the server.
  public var mailPending: Bool

  /// The code in hand: delivered and not yet refused, or the last one refused while another may come.
  public var code: Secret<String>?
  /// A second, different code that arrived during an exchange.
  public var queuedCode: Secret<String>?
  /// Exchanges begun for `code`; a row found `exchanging` after a crash is retried once.
  public var attempts: Int
  /// The server's answer to the exchange, held until the account has been looked up.
  public var answer: TokenGrant?

  /// What an action code does, by the server's word once `isCodeChecked`; before that, by the link's.
  public var actionKind: LinkKind?
  /// Whether the server was asked what the code does: a link's own word isn't believed.
  public var isCodeChecked: Bool
  /// Whether somebody agreed to what an action code, or an operation that can't be undone, does.
  public var isConfirmed: Bool
  /// The address that an applied action code replaces.
  public var previousEmail: String?
  /// Whether a password makes a new account, or is a new one (`new` of `Details`).
  public var wantsNewPassword: Bool
  /// Name of the account to be made, or of the factor.
  public var displayName: String?

  /// What the authorization request is to be like.
  public var authorizationOptions: AuthorizationOptions?
  /// Whether the daemon is to open the browser; else whoever asked does.
  public var opensBrowser: Bool
  /// The authorization request that the browser has, or had.
  public var authorization: PendingAuthorization?
  /// The provider's credential in hand, or kept for linking while the flow stands in `conflict`.
  public var credential: OAuthCredential?
  /// How the conflict's address signs in, by the server's word, where the app wants to know.
  public var signInMethods: [String]
  /// Which accounts collide; it stays once the conflict is solved.
  public var conflict: ConflictKind?
  /// The account that a guest's sign-in found, with its tokens in `answer`, held aside; in another conflict, who has signed
  /// in since it began.
  public var existingUID: String?

  /// The number that a message goes to as a first factor, or that becomes a second one: E.164.
  public var phoneNumber: String?
  /// The code that the person is to type, and what belongs to it.
  public var verification: PendingVerification?
  /// The second factor that is wanted, once the first one was accepted.
  public var secondFactor: PendingSecondFactor?
  /// The authenticator app that is to become a second factor.
  public var totpEnrollment: TOTPEnrollment?
  /// What signs in to the other account that has the number (identity-toolkit 2.13).
  public var phoneProof: PhoneCredential?
  /// The second factor that is to be taken away.
  public var factorUID: String?

  /// Why the last step failed; at `failed`, why the flow ended.
  public var error: AuthError?
  /// The server's sentence for people about `error`: untrusted text.
  public var errorDetail: String?
  /// Id of a text that says more exactly why, where one error stands for several causes.
  public var errorCause: String?
  /// Whether a new mail can mend a failure in one step.
  public var canRetry: Bool
  /// At `succeeded`: who it was.
  public var resultUID: String?
  /// At `succeeded`: whether the account was made by it.
  public var isNewUser: Bool
  /// At `succeeded`: whether a guest's account has become this one.
  public var isUpgraded: Bool
  /// At `succeeded`: the guest whose data stayed behind.
  public var previousUID: String?
  /// When it ended.
  public var endedAt: Int64?

  /// A flow that stands at `starting`.
  public init(
    id: FlowID, key: SessionKey, purpose: FlowPurpose, method: SignInMethod, createdAt: Int64, expiresAt: Int64
  ) {
    self.id = id
    self.key = key
    self.purpose = purpose
    self.method = method
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    stage = .starting
    sequence = 1
    forceSameDevice = false
    mailPending = false
    opensBrowser = false
    isCodeChecked = false
    isConfirmed = false
    wantsNewPassword = false
    attempts = 0
    canRetry = false
    isNewUser = false
    isUpgraded = false
    signInMethods = []
  }
}

extension Flow {
  /// The page that the flow's browser has, or had, and that belongs to the stage at which it stands.
  public var page: PendingAuthorization? { stage == .waitingForCaptcha ? verification?.page : authorization }

  /// Digits of the code that it waits for.
  public var codeLength: Int { totpEnrollment?.digits ?? 6 }

  /// Why the last step failed, with all that is known about it.
  public var failure: AuthFailure? { error.map { AuthFailure($0, detail: errorDetail, cause: errorCause) } }
}
