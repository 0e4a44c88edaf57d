import AuthCore
import DBusCore
import Texts

/// A second factor, as `hints` and `second-factors` list it.
struct SecondFactor: Sendable, Equatable {
  let uid: String
  let isTOTP: Bool
  private let name: String?
  private let number: String?

  init(_ value: DBusValue) {
    uid = value.member("uid")?.asString ?? ""
    isTOTP = value.member("kind")?.asString == "totp"
    name = (value.member("display-name")?.asString).filled
    number = (value.member("phone-number")?.asString).filled
  }

  /// Its name and number, or what it is.
  func label(locale: String?) -> String {
    let what =
      isTOTP ? Texts.lookup("factor.totp", locale: locale) : number ?? Texts.lookup("factor.phone", locale: locale)
    return Output.printable(name.map { "\($0) (\(what))" } ?? what)
  }
}

/// Codes and second factors of a flow.
extension FlowReport {
  /// The second factors to choose from.
  var factors: [SecondFactor] { (details["hints"]?.asArray ?? []).map(SecondFactor.init) }

  /// Whether an authenticator app is the only second factor: its code is taken without a choice.
  var needsOnlyTOTP: Bool { stage == .secondFactorRequired && factors.count == 1 && factors[0].isTOTP }

  /// Whether a code is what the flow waits for.
  var takesCode: Bool { stage == .waitingForCode || needsOnlyTOTP }

  /// Whether the code is an authenticator app's.
  var isTOTP: Bool { needsOnlyTOTP || details["kind"]?.asString == "totp" || methodName == "totp" }

  /// Whether an authenticator app is being added, and the flow waits for its first code.
  var isEnrollingTOTP: Bool { stage == .waitingForCode && isTOTP && purpose == .enrollFactor }

  /// Whether no message could be sent: there's no code to give.
  var hasNoMessage: Bool { stage == .waitingForCode && !isTOTP && errorName != nil && details["code-length"] == nil }

  /// When the next message may be sent, in Unix seconds.
  var canResendAt: Int64? { details["can-resend-at"]?.asInteger }

  /// Whether a new message or page mends the failure.
  var canBeginAnew: Bool {
    guard stage == .failed, details["retry"]?.asBool == true, let errorName else { return false }
    return [AuthError.invalidVerificationCode, .sessionExpired, .captchaFailed].contains { $0.dbusName == errorName }
  }

  /// What a person reads at a stage that has to do with codes; nil for any other.
  var codeTextID: String? {
    switch stage {
    case .waitingForCode where isEnrollingTOTP: "stage.enroll-totp"
    case .waitingForCode where isTOTP: "stage.waiting-for-totp"
    case .waitingForCode where details["phone-number"] == nil: "stage.waiting-for-message"
    case .secondFactorRequired where needsOnlyTOTP: "stage.second-factor-totp"
    default: nil
    }
  }

  /// How many tries are left after a wrong code.
  func triesLeft(locale: String?) -> String? {
    guard stage == .waitingForCode, errorName == AuthError.invalidVerificationCode.dbusName,
      let count = details["attempts-left"]?.asInteger
    else { return nil }
    return Texts.lookup("command.tries-left", locale: locale, ["count": String(count)])
  }
}
