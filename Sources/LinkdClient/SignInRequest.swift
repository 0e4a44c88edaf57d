public import AuthCore

/// A way to sign in, with what it takes (``AuthServicing/start(_:purpose:)``).
public enum SignInRequest: Sendable, Hashable {
  /// A link mailed to an address.
  case emailLink(String)
  /// Address and password.
  case password(email: String, Secret<String>)
  /// A code in a text message to a number, as people type it.
  case phone(String, PhoneRequest = PhoneRequest())
  /// A provider in the browser: `google.com`, `oidc.example`, ….
  case provider(String, ProviderRequest = ProviderRequest())
  /// What the program has got from a provider by itself.
  case credential(OAuthCredential)
  /// A token of the app's own server. It can't be linked.
  case customToken(Secret<String>)
}

/// What may need a recent sign-in, or a code, of whoever is signed in (``AuthServicing/start(_:)``).
public enum AccountAction: Sendable, Hashable {
  /// Another password, or the account's first.
  case updatePassword(Secret<String>)
  /// A mail to another address, which counts once the mail's link is opened.
  case changeEmail(String)
  /// Another number, or the account's first, by a code sent to it.
  case changePhoneNumber(String, PhoneRequest = PhoneRequest())
  /// A number as second factor, by a code sent to it. The name may be empty.
  case enrollPhoneFactor(String, displayName: String = "", PhoneRequest = PhoneRequest())
  /// An authenticator app as second factor, by its first code (``FlowServicing/secret()``). The name may be empty.
  case enrollTOTPFactor(displayName: String = "")
  /// A second factor, by its uid, is no more.
  case unenrollFactor(String)
  /// A way of signing in is no more: a provider's id, `password`, `phone`.
  case unlink(String)
  /// The account is no more.
  case deleteUser
  /// Confirms who is signed in, by the way they signed in.
  case reauthenticate
}
