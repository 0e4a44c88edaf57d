/// A redirect of an own-client OAuth flow, by scheme or loopback (RFC 6749 4.1.2, RFC 9207), or of the Firebase handler.
public struct OAuthRedirect: Sendable, Hashable {
  /// What came back.
  public enum Response: Sendable, Hashable {
    /// `?code=…&state=…`; also a fragment with ready tokens, which are recognised and never used.
    case own(OwnClientResponse)
    /// `<scheme>://firebaseauth/link?deep_link_id=…authType=signInWithRedirect` (identity-toolkit 4.6).
    case handler(HandlerResponse)
  }
  /// What came back.
  public var response: Response
  /// Recognised, but it must not proceed: `missingCode`, `missingState`, `ambiguousResponse`, …
  public var reject: String?

  /// A redirect with what it says.
  public init(response: Response, reject: String? = nil) {
    self.response = response
    self.reject = reject
  }

  /// The parameters of RFC 6749 4.1.2 and 4.1.2.1.
  public struct OwnClientResponse: Sendable, Hashable {
    /// `code`.
    public var code: Secret<String>?
    /// `state`: finds the flow.
    public var state: Secret<String>?
    /// `error`.
    public var error: String?
    /// `error_description`: untrusted text.
    public var errorDescription: String?
    /// `iss` (RFC 9207).
    public var issuer: String?
    /// `id_token`: recognised, never used.
    public var idToken: Secret<String>?
    /// `access_token`: recognised, never used.
    public var accessToken: Secret<String>?
    /// True where the parameters came in the fragment.
    public var isFragment: Bool

    /// Nothing but the mode.
    public init(isFragment: Bool = false) { self.isFragment = isFragment }
  }

  /// What the Firebase handler sends back.
  public struct HandlerResponse: Sendable, Hashable {
    /// `eventId`: finds the flow.
    public var eventID: Secret<String>?
    /// The provider's whole answer, for `requestUri`.
    public var responseURL: Secret<String>?
    /// Code of `firebaseError`, `unknown` where it can't be read.
    public var error: String?

    /// Nothing yet.
    public init() {}
  }
}

/// The app verification page's return (identity-toolkit 4.7).
public struct AppVerificationReturn: Sendable, Hashable {
  /// `recaptchaToken`.
  public var recaptchaToken: Secret<String>?
  /// `eventId`: finds the flow.
  public var eventID: Secret<String>?
  /// Code of `firebaseError`, `unknown` where it can't be read.
  public var error: String?
  /// `missingToken` where there's neither token nor error.
  public var reject: String?

  /// Nothing yet.
  public init() {}
}
