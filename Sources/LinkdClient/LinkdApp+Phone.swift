import LinkdContract
public import AuthCore
import DBus

/// How a text message is asked for. What is nil is left to linkd.
public struct PhoneRequest: Sendable, Hashable {
  /// The country of a number without `+`: ISO 3166, two letters. Nil for that of the user's locale.
  public var region: String?
  /// Whether linkd opens the browser for the captcha page. Else the program does, with ``FlowServicing/url()``.
  public var opensBrowser = true
  /// The window that a dialog belongs to, as portals name it: `wayland:…`, `x11:…`.
  public var parentWindow: String?
  /// Lets the browser come to the front (xdg-activation).
  public var activationToken: String?

  /// - Parameter region: of a number without `+`.
  public init(region: String? = nil) { self.region = region }

  var options: [String: DBusValue] {
    var options: [String: DBusValue] = [:]
    options["region"] = region.map(DBusValue.string)
    if !opensBrowser { options["open-browser"] = .boolean(false) }
    options["parent-window"] = parentWindow.map(DBusValue.string)
    options["activation-token"] = activationToken.map(DBusValue.string)
    return options
  }
}

extension LinkdApp {
  // MARK: SignIn

  /// Sends a text message with a code; the flow waits for it at `waiting-for-code`, maybe after a captcha page in the
  /// browser (`waiting-for-captcha`).
  /// - Parameter number: as people type it.
  /// - Throws: `InvalidPhoneNumber`, also for a number without `+` where no country is known; `RateLimited`.
  public func startPhone(
    _ number: String, purpose: SignInPurpose = .signIn, request: PhoneRequest = PhoneRequest()
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(
      Contract.Interface.signIn, "SignInWithPhoneNumber", [.string(number)],
      request.options.merging(Self.options(purpose)) { $1 })
  }

  // MARK: Account: each flow may wait at `reauthentication-required`

  /// Gives the account another password, or its first. A weak one leaves the flow at `waiting-for-password`.
  public func startUpdatePassword(_ new: Secret<String>) async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.account, "UpdatePassword", [.string(new.reveal())])
  }

  /// Mails a link to a new address. The flow ends well when the mail is on its way; the account has the address when the link
  /// is opened.
  /// - Parameter continueURL: where the mailed link leads after Firebase's page; nil for the app's own.
  public func startChangeEmail(_ new: String, continueURL: String? = nil) async throws(LinkdError) -> LinkdFlow {
    let options = continueURL.map { ["continue-url": DBusValue.string($0)] } ?? [:]
    return try await start(Contract.Interface.account, "ChangeEmail", [.string(new)], options)
  }

  /// Gives the account another number, or its first; the flow waits for the code that is sent to it. It fails with
  /// `CredentialAlreadyInUse` where the number is another account's.
  public func startChangePhoneNumber(
    _ number: String, request: PhoneRequest = PhoneRequest()
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.account, "ChangePhoneNumber", [.string(number)], request.options)
  }

  /// Makes a number a second factor; the flow waits for the code that is sent to it.
  /// - Parameter displayName: what the person calls it; may be empty.
  /// - Throws: `SecondFactorExists`, `SecondFactorLimit`, `UnverifiedEmail`, `UnsupportedFirstFactor`, `OperationNotAllowed`,
  ///   now or as the flow's end.
  public func startEnrollPhoneFactor(
    _ number: String, displayName: String = "", request: PhoneRequest = PhoneRequest()
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(
      Contract.Interface.account, "EnrollPhoneFactor", [.string(number), .string(displayName)], request.options)
  }

  /// Makes an authenticator app a second factor; at `waiting-for-code` ``FlowServicing/secret()`` has what the app reads, and
  /// its first code is waited for. Throws as ``startEnrollPhoneFactor(_:displayName:request:)``.
  /// - Parameter displayName: what the person calls it; may be empty.
  public func startEnrollTOTPFactor(displayName: String = "") async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.account, "EnrollTotpFactor", [.string(displayName)])
  }

  /// Removes a second factor: one of `secondFactors` of the user. Throws `FactorNotFound`.
  public func startUnenrollFactor(_ uid: String) async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.account, "UnenrollFactor", [.string(uid)])
  }
}
