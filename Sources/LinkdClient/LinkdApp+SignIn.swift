import LinkdContract
public import AuthCore
import DBus

/// What a flow that signs in is for.
public enum SignInPurpose: String, Sendable, Hashable {
  /// Another session.
  case signIn = "sign-in"
  /// One more way to sign in for the account, or the guest, that is signed in.
  case link
  /// Confirms who is signed in.
  case reauthenticate
}

extension LinkdApp {
  // MARK: SignIn: each gives a flow at once

  /// Mails a link; the flow waits for it to be opened on this machine.
  /// - Parameters:
  ///   - continueURL: where the mailed link leads after Firebase's page; nil for the app's own.
  ///   - forceSameDevice: the link counts on this machine alone.
  ///   - linkProvider: a provider to link afterwards.
  public func startEmailLink(
    _ email: String, purpose: SignInPurpose = .signIn, continueURL: String? = nil, forceSameDevice: Bool = false,
    linkProvider: String? = nil
  ) async throws(LinkdError) -> LinkdFlow {
    var options = Self.options(purpose)
    options["continue-url"] = continueURL.map(DBusValue.string)
    options["link-provider"] = linkProvider.map(DBusValue.string)
    if forceSameDevice { options["force-same-device"] = .boolean(true) }
    return try await start(Contract.Interface.signIn, "SendSignInLink", [.string(email)], options)
  }

  /// Signs in by address and password.
  public func startPassword(
    _ email: String, _ password: Secret<String>, purpose: SignInPurpose = .signIn
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(
      Contract.Interface.signIn, "SignInWithPassword", [.string(email), .string(password.reveal())],
      Self.options(purpose))
  }

  /// Makes an account with address and password, and signs in to it.
  public func startCreateUser(
    _ email: String, _ password: Secret<String>, displayName: String? = nil
  ) async throws(LinkdError) -> LinkdFlow {
    let options = displayName.map { ["display-name": DBusValue.string($0)] } ?? [:]
    return try await start(
      Contract.Interface.signIn, "CreateUser", [.string(email), .string(password.reveal())], options)
  }

  /// Signs in as a guest.
  public func startAnonymous() async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.signIn, "SignInAnonymously")
  }

  static func options(_ purpose: SignInPurpose) -> [String: DBusValue] {
    purpose == .signIn ? [:] : ["purpose": .string(purpose.rawValue)]
  }

  // MARK: SignIn: what is answered at once

  /// The methods by which an address can sign in: `password`, `emailLink`, provider ids. Empty also where the project
  /// doesn't tell.
  public func fetchSignInMethods(_ email: String) async throws(LinkdError) -> [String] {
    let reply = try await call(Contract.Interface.signIn, "FetchSignInMethods", [.string(email)])
    guard let methods = reply.first?.asStrings else { throw .malformed("FetchSignInMethods") }
    return methods
  }

  /// What a mailed link does, and for which address, without spending it.
  public func checkActionCode(_ url: Secret<String>) async throws(LinkdError) -> [String: JSONValue] {
    let reply = try await call(Contract.Interface.signIn, "CheckActionCode", [.string(url.reveal())])
    guard let found = reply.first?.asJSON?.object else { throw .malformed("CheckActionCode") }
    return found
  }

  /// Does what a mailed link says: verifies an address, for example.
  public func applyActionCode(_ url: Secret<String>) async throws(LinkdError) {
    _ = try await call(Contract.Interface.signIn, "ApplyActionCode", [.string(url.reveal())])
  }

  /// Sets a new password by a mailed link.
  public func confirmPasswordReset(_ url: Secret<String>, newPassword: Secret<String>) async throws(LinkdError) {
    _ = try await call(
      Contract.Interface.signIn, "ConfirmPasswordReset", [.string(url.reveal()), .string(newPassword.reveal())])
  }

  // MARK: Account

  /// Confirms who is signed in, or was until the server ended the session, by the way they signed in.
  /// - Parameters:
  ///   - opensBrowser: whether linkd opens a page that's needed. Else the program does, with ``FlowServicing/url()``.
  ///   - parentWindow: the window that a dialog belongs to, as portals name it: `wayland:…`, `x11:…`.
  ///   - activationToken: lets the browser come to the front (xdg-activation).
  public func startReauthenticate(
    opensBrowser: Bool = true, parentWindow: String? = nil, activationToken: String? = nil
  ) async throws(LinkdError) -> LinkdFlow {
    var options: [String: DBusValue] = [:]
    if !opensBrowser { options["open-browser"] = .boolean(false) }
    options["parent-window"] = parentWindow.map(DBusValue.string)
    options["activation-token"] = activationToken.map(DBusValue.string)
    return try await start(Contract.Interface.account, "Reauthenticate", [], options)
  }

  /// Deletes the account. The flow may wait at `reauthentication-required`.
  public func startDeleteUser() async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.account, "DeleteUser")
  }
}
