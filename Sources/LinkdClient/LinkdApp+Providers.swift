import LinkdContract
public import AuthCore
import DBus

/// How a provider is asked. What is nil or empty is left to the app's file.
public struct ProviderRequest: Sendable, Hashable {
  /// What is asked for, in the provider's words; an empty list asks for nothing.
  public var scopes: [String]?
  /// Further parameters of the provider's page: `prompt`, `hd`, ….
  public var customParameters: [String: String] = [:]
  /// Who is going to sign in there, usually an address.
  public var loginHint: String?
  /// How the browser comes back.
  public var redirect: ProviderClient.Redirect?
  /// Whether linkd opens the browser. Else the program does, with ``FlowServicing/url()``.
  public var opensBrowser = true
  /// The window that a dialog belongs to, as portals name it: `wayland:…`, `x11:…`.
  public var parentWindow: String?
  /// Lets the browser come to the front (xdg-activation).
  public var activationToken: String?

  /// As the app's file says it.
  public init() {}

  var options: [String: DBusValue] {
    var options: [String: DBusValue] = [:]
    options["scopes"] = scopes.map { .strings($0) }
    if !customParameters.isEmpty {
      options["custom-parameters"] = .dictionary(
        key: "s", value: "s",
        customParameters.sorted { $0.key < $1.key }.map { DBusValue.Entry(.string($0.key), .string($0.value)) })
    }
    options["login-hint"] = loginHint.map(DBusValue.string)
    options["redirect"] = redirect.map { .string($0.rawValue) }
    if !opensBrowser { options["open-browser"] = .boolean(false) }
    options["parent-window"] = parentWindow.map(DBusValue.string)
    options["activation-token"] = activationToken.map(DBusValue.string)
    return options
  }
}

extension LinkdApp {
  // MARK: SignIn: each gives a flow at once

  /// Signs in by a provider in the browser: `google.com`, `oidc.example`, …. The flow waits for the browser to come back.
  ///
  /// - Throws: `NoSuchProvider`; with the purpose `link`, `ProviderAlreadyLinked` and `NoCurrentUser`.
  public func startProvider(
    _ providerID: String, purpose: SignInPurpose = .signIn, request: ProviderRequest = ProviderRequest()
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(
      Contract.Interface.signIn, "SignInWithProvider", [.string(providerID)],
      request.options.merging(Self.options(purpose)) { $1 })
  }

  /// Signs in by what the program has got from a provider by itself: provider id, ID token, access token and its secret, raw
  /// nonce and name count; the rest of a credential is linkd's own.
  public func startCredential(
    _ credential: OAuthCredential, purpose: SignInPurpose = .signIn
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(
      Contract.Interface.signIn, "SignInWithCredential", [.dict(Self.members(credential))], Self.options(purpose))
  }

  /// Signs in by a token that the app's own server made. It can't be linked.
  public func startCustomToken(
    _ token: Secret<String>, purpose: SignInPurpose = .signIn
  ) async throws(LinkdError) -> LinkdFlow {
    try await start(
      Contract.Interface.signIn, "SignInWithCustomToken", [.string(token.reveal())], Self.options(purpose))
  }

  private static func members(_ credential: OAuthCredential) -> [String: DBusValue] {
    var members: [String: DBusValue] = ["provider-id": .string(credential.providerID)]
    let secrets = [
      "id-token": credential.idToken, "access-token": credential.accessToken,
      "access-token-secret": credential.accessTokenSecret, "raw-nonce": credential.rawNonce,
    ]
    for (key, secret) in secrets { members[key] = secret.map { .string($0.reveal()) } }
    members["given-name"] = (credential.fullName?.given).map(DBusValue.string)
    members["family-name"] = (credential.fullName?.family).map(DBusValue.string)
    return members
  }

  // MARK: Account

  /// Takes a way of signing in from the account. The flow may wait at `reauthentication-required`.
  public func startUnlink(_ providerID: String) async throws(LinkdError) -> LinkdFlow {
    try await start(Contract.Interface.account, "Unlink", [.string(providerID)])
  }
}
