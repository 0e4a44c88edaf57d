import LinkdContract
public import AuthCore
import DBus

/// A pending sign-in, or another pending action, at one moment. Times are Unix seconds.
public struct FlowStatus: Sendable, Hashable {
  /// Its public name.
  public var id: FlowID
  /// Whose session it is about.
  public var app: AppID?
  /// What it is for; nil for a word of a later linkd.
  public var purpose: FlowPurpose?
  /// How somebody signs in; nil for a word of a later linkd.
  public var method: SignInMethod?
  /// Where it stands.
  public var stage: FlowStage
  /// What belongs to the stage.
  public var details: FlowDetails
  /// Grows with every change.
  public var sequence: UInt64
  /// When it began.
  public var createdAt: Int64
  /// When it is probably too old.
  public var expiresAt: Int64

  /// A flow that has just begun.
  public init(id: FlowID, purpose: FlowPurpose? = .signIn, method: SignInMethod? = nil, stage: FlowStage = .starting) {
    self.id = id
    self.purpose = purpose
    self.method = method
    self.stage = stage
    details = FlowDetails()
    sequence = 1
    createdAt = 0
    expiresAt = 0
  }
}

extension FlowStatus: Followed {
  static var interface: String { Contract.Interface.flow }
  static var signal: String { "StageChanged" }
  static var missing: LinkdError { .auth(.noSuchFlow, message: "That sign-in isn't pending any more.") }
  var isLast: Bool { stage.isEnd }
  var isUnderWay: Bool { stage == .starting || stage == .exchanging }

  init?(_ path: ObjectPath, properties: [String: DBusValue]) {
    guard let id = Contract.flowID(path: path),
      let stage = properties["Stage"]?.asString.flatMap(FlowStage.init(rawValue:))
    else { return nil }
    self.init(
      id: id, purpose: properties["Purpose"]?.asString.flatMap(FlowPurpose.init(rawValue:)),
      method: properties["Method"]?.asString.flatMap(SignInMethod.init), stage: stage)
    app = properties["App"]?.asPath.flatMap(Contract.appID(path:))
    details = FlowDetails(properties["Details"]?.asDict ?? [:])
    sequence = properties["Sequence"]?.asUInt64 ?? 0
    createdAt = properties["CreatedAt"]?.asInt64 ?? 0
    expiresAt = properties["ExpiresAt"]?.asInt64 ?? 0
  }

  init?(_ signal: Signal, newest: FlowStatus?, previous: FlowStatus?) {
    guard signal.arguments.count == 3, let sequence = signal.arguments[2].asUInt64,
      let stage = signal.arguments[0].asString.flatMap(FlowStage.init(rawValue:)),
      let id = Contract.flowID(path: signal.path)
    else { return nil }
    if let newest, newest.sequence == sequence {
      self = newest
      return
    }
    // The flow went on before it could be read: the signal says the most important of that stage.
    self = newest ?? previous ?? FlowStatus(id: id, purpose: nil)
    self.stage = stage
    self.sequence = sequence
    details = FlowDetails(signal.arguments[1].asDict ?? [:])
  }
}

/// What belongs to a flow's stage (docs: D-Bus API, `Details`). What doesn't is nil. Times are Unix seconds.
public struct FlowDetails: Sendable, Hashable {
  /// What went wrong last. At a waiting stage it is temporary; at `failed` it is why.
  public var error: LinkdError?
  /// At `failed`: whether ``FlowServicing/resend()`` can mend it.
  public var canRetry = false
  /// The address that a link went to, or that a password is for.
  public var email: String?
  /// The address before the change that a link makes or takes back.
  public var previousEmail: String?
  /// The number that a code went to: whole of a first factor, masked of a second one.
  public var phoneNumber: String?
  /// Name of the second factor whose code is waited for: untrusted text.
  public var displayName: String?
  /// When what is waited for is too old.
  public var expiresAt: Int64?
  /// When ``FlowServicing/resend()`` is allowed.
  public var canResendAt: Int64?
  /// Digits of the code.
  public var codeLength: Int?
  /// How many codes may still be tried.
  public var attemptsLeft: Int?
  /// Kind of the link that waits for an address or a confirmation; `phone` or `totp` of a code, see ``codeKind``.
  public var kind: String?
  /// Whether a new password is asked for.
  public var isNewPassword = false
  /// The second factors to choose from.
  public var hints: [SecondFactor] = []
  /// How to confirm who is signed in (`reauthentication-required`).
  public var reauthentication: FlowReauthentication?
  /// Which account is in the way, and what can be done about it.
  public var conflict: FlowConflict?
  /// At `succeeded`: who it was.
  public var user: User?
  /// At `succeeded`: whether the account was made by it.
  public var isNewUser = false
  /// At `succeeded`: whether a guest became that user.
  public var isUpgraded = false
  /// At `succeeded`: the uid of the guest who was signed in before.
  public var previousUID: String?

  /// Where the code comes from that is waited for (`waiting-for-code`).
  public var codeKind: SecondFactor.Kind? { kind.flatMap(SecondFactor.Kind.init(rawValue:)) }

  /// Nothing known.
  public init() {}

  init(_ dictionary: [String: DBusValue]) {
    error = dictionary["error"]?.asString.map { name in
      LinkdError(DBusError(name: name, message: dictionary["message"]?.asString ?? ""))
    }
    canRetry = dictionary["retry"]?.asBool ?? false
    email = dictionary["email"]?.asString
    previousEmail = dictionary["previous-email"]?.asString
    phoneNumber = dictionary["phone-number"]?.asString
    displayName = dictionary["display-name"]?.asString
    expiresAt = dictionary["expires-at"]?.asInteger
    canResendAt = dictionary["can-resend-at"]?.asInteger
    codeLength = dictionary["code-length"]?.asInteger.flatMap(Int.init(exactly:))
    attemptsLeft = dictionary["attempts-left"]?.asInteger.flatMap(Int.init(exactly:))
    kind = dictionary["kind"]?.asString
    isNewPassword = dictionary["new"]?.asBool ?? false
    hints = (dictionary["hints"]?.asArray ?? []).compactMap { $0.asDict.flatMap(SecondFactor.init) }
    reauthentication = dictionary["reauthentication"]?.asDict.map(FlowReauthentication.init)
    conflict = dictionary["conflict"]?.asDict.map(FlowConflict.init)
    user = dictionary["user"]?.asDict.flatMap(User.init)
    isNewUser = dictionary["is-new-user"]?.asBool ?? false
    isUpgraded = dictionary["upgraded"]?.asBool ?? false
    previousUID = dictionary["previous-uid"]?.asString
  }
}
