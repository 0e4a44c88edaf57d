public import AuthCore

/// What an authenticator app reads when it becomes a second factor (``FlowServicing/secret()``).
public struct AuthenticatorSecret: Sendable, Hashable {
  /// The key in Base32, for people who type it.
  public var key: Secret<String>
  /// The same as `otpauth:` URI: the text of a QR code.
  public var uri: Secret<String>
  /// Until when the server takes the app's first code: Unix seconds.
  public var expiresAt: Int64

  /// Every field by name.
  public init(key: Secret<String>, uri: Secret<String>, expiresAt: Int64) {
    (self.key, self.uri, self.expiresAt) = (key, uri, expiresAt)
  }
}
