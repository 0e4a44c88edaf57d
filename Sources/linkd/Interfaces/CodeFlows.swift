import AuthCore
import DBus
import EventLoop
import Glibc
import LinkHandler
import PhoneVerification

/// What starts a flow that a code ends: a phone number that somebody typed, an authenticator app.
@LoopActor
struct CodeFlows {
  let keeper: SessionKeeper
  let tree: ObjectTree

  /// Bytes of a factor's name.
  private static let nameLimit = 256
  /// Bytes of a number or a code as somebody types it.
  static let typedLimit = 256

  private var start: FlowStart { FlowStart(keeper: keeper, tree: tree) }

  /// - Throws: `InvalidPhoneNumber` with what is wrong with the number; `UserMismatch` where reauthentication is asked for
  ///   another number than the user's own; `ProviderAlreadyLinked` where the account to be linked has a number already
  ///   (identity-toolkit 8.4).
  func signIn(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    let flow = try start.row(call, options, method: .phone, lifetime: waitingLifetime)
    let user = keeper.machine.user
    return try begin(flow, call.text(0), options) { number throws(AuthFailure) in
      if flow.purpose == .reauthenticate, number != user?.phoneNumber ?? keeper.machine.lastUser?.phoneNumber {
        throw AuthFailure(.userMismatch)
      }
      if flow.purpose == .link, user?.providers.contains(where: { $0.providerID == "phone" }) == true {
        throw AuthFailure(.providerAlreadyLinked)
      }
    }
  }

  /// The user proves who they are by their own number.
  func reauthenticate(_ call: MethodCall, _ options: Options, number: String) throws(DBusError) -> FlowID {
    let flow = try start.row(call, options, method: .phone, purpose: .reauthenticate, lifetime: waitingLifetime)
    return try begin(flow, number, options)
  }

  func changePhoneNumber(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    try begin(
      try start.row(call, options, method: .phone, purpose: .changePhone, lifetime: waitingLifetime), call.text(0),
      options)
  }

  func enrollPhone(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try start.row(call, options, method: .phone, purpose: .enrollFactor, lifetime: waitingLifetime)
    flow.displayName = try name(call.text(1))
    return try begin(flow, call.text(0), options) { _ throws(AuthFailure) in try requireFactors(.phone) }
  }

  func enrollTOTP(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try start.row(call, options, method: .totp, purpose: .enrollFactor, lifetime: waitingLifetime)
    flow.displayName = try name(call.text(0))
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      try requireFactors(.totp)
      try tree.coordinator.start(flow)
    }
    return flow.id
  }

  /// The name of a factor comes back with each lookup of the account.
  private func name(_ text: String) throws(DBusError) -> String? {
    guard text.utf8.count <= Self.nameLimit else {
      throw .invalidArgs("The name must have at most \(Self.nameLimit) bytes.")
    }
    return text.isEmpty ? nil : text
  }

  private func begin(
    _ row: Flow, _ typed: String, _ options: Options,
    check: (String) throws(AuthFailure) -> Void = { _ throws(AuthFailure) in }
  ) throws(DBusError) -> FlowID {
    let region = try region(options)
    let wish = try start.browserWish(options)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      var flow = row
      let number = try Self.number(typed, region)
      try check(number)
      flow.phoneNumber = number
      try tree.coordinator.start(flow, browser: wish)
    }
    return row.id
  }

  /// Whether the app wants second factors of that kind.
  private func requireFactors(_ kind: SecondFactor.Kind) throws(AuthFailure) {
    let options = keeper.app.options
    guard options.mfaEnabled, options.allowedSecondFactors.contains(kind.rawValue) else {
      throw AuthFailure(.operationNotAllowed, cause: "cause.factor-not-offered")
    }
  }

  /// Where a number without a calling code is dialled: nobody is taken to be anywhere.
  private func region(_ options: Options) throws(DBusError) -> Region? {
    guard let code = try options.string("region") else {
      // As the daemon's own settings say.
      return Region(of: { getenv($0).map { String(cString: $0) } })
    }
    guard let region = Region(code) else {
      throw .invalidArgs("The option 'region' must be a country's two letters, such as 'AT'.")
    }
    return region
  }

  private static func number(_ typed: String, _ region: Region?) throws(AuthFailure) -> String {
    guard typed.utf8.count <= typedLimit else { throw AuthFailure(.invalidPhoneNumber, cause: "cause.number-too-long") }
    do throws(PhoneNumberError) {
      return try PhoneNumber(typed, region: region).e164
    } catch {
      throw AuthFailure(.invalidPhoneNumber, cause: error.cause)
    }
  }
}

extension PhoneNumberError {
  /// Id of the text that says what is wrong.
  fileprivate var cause: String? {
    switch self {
    case .noRegion: "cause.number-without-country"
    case .unknownCallingCode: "cause.number-unknown-country"
    case .tooShort: "cause.number-too-short"
    case .tooLong: "cause.number-too-long"
    case .hasLetters: "cause.number-has-letters"
    case .hasExtension: "cause.number-has-extension"
    case .empty, .foreignCharacter: nil
    }
  }
}

extension SessionKeeper {
  /// What an authenticator app reads of `enrollment`: the issuer is the app, the account the address or what else people know.
  func otpAuthURI(_ enrollment: TOTPEnrollment) -> OTPAuthURI? {
    guard let algorithm = OTPAuthURI.Algorithm(server: enrollment.algorithm) else { return nil }
    let user = machine.user
    return OTPAuthURI(
      issuer: app.options.mfaIssuer ?? app.displayName,
      account: user?.email ?? user?.phoneNumber ?? user?.displayName ?? user?.uid ?? "", secret: enrollment.secret,
      algorithm: algorithm, digits: enrollment.digits, period: enrollment.period)
  }
}
