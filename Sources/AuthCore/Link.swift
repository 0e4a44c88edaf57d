/// What a link is for. The raw value is the D-Bus word (D-Bus contract: Links.CanHandle).
public enum LinkKind: String, Sendable, Hashable, CaseIterable {
  case emailSignIn, passwordReset, verifyEmail, recoverEmail, verifyAndChangeEmail, revertSecondFactor
  case oauthRedirect, appVerification
  case none
}

/// A wrapper around a link, as named in `via`.
public enum LinkWrapper: String, Sendable, Hashable {
  case customScheme, hostingLink, dynamicLink, safelinks, google, proofpoint
}

/// Why a URL isn't handled. The raw value is the D-Bus word.
public enum LinkRejectionReason: String, Sendable, Hashable, CaseIterable {
  // Not ours: silent for the person, exit 3.
  case unsupportedScheme, untrustedHost, insecureScheme, userinfo, notAuthLink, apiKeyMismatch, noPendingRequest
  case opaqueWrapper, ambiguousApp
  // Broken, but recognisable: the person is told, exit 65.
  case malformed, controlCharacter, tooLong, nestingTooDeep, duplicateParameter, missingMode, unknownMode
  case missingOobCode, missingDeepLink, unknownAuthType

  /// Exit code of `linkctl open` and `can-handle` (cli-and-config: Exit codes).
  public var exitCode: Int32 {
    switch self {
    case .unsupportedScheme, .untrustedHost, .insecureScheme, .userinfo, .notAuthLink, .apiKeyMismatch,
      .noPendingRequest, .opaqueWrapper, .ambiguousApp:
      3
    case .malformed, .controlCharacter, .tooLong, .nestingTooDeep, .duplicateParameter, .missingMode, .unknownMode,
      .missingOobCode, .missingDeepLink, .unknownAuthType:
      65
    }
  }
}

/// A URL that linkd doesn't handle, and why.
public struct LinkRejection: Error, Sendable, Hashable {
  /// The word.
  public var reason: LinkRejectionReason
  /// Name of the parameter that stood twice with different values.
  public var parameter: String?
  /// Wrappers taken off before the fault showed, outermost first.
  public var via: [LinkWrapper]
  /// The apps in whose own scheme the URL is, when it isn't an auth link: `Unhandled` is for them.
  public var schemeOwners: [AppID]
  /// The URL's scheme, lower case, where it has one.
  public var scheme: String?
  /// What to tell the person, where the fault shows it.
  public var hint: LinkHint?

  /// A rejection for `reason` alone.
  public init(
    _ reason: LinkRejectionReason, parameter: String? = nil, via: [LinkWrapper] = [], schemeOwners: [AppID] = [],
    scheme: String? = nil, hint: LinkHint? = nil
  ) {
    self.reason = reason
    self.parameter = parameter
    self.via = via
    self.schemeOwners = schemeOwners
    self.scheme = scheme
    self.hint = hint
  }
}

/// An email action link (identity-toolkit 5): the shapes of behaviour, Links 3.
public struct ActionLink: Sendable, Hashable {
  /// Never `oauthRedirect`, `appVerification` or `none`.
  public var kind: LinkKind
  /// The link's own word: `signIn`, `resetPassword`, …
  public var mode: String
  /// The one-time code.
  public var oobCode: Secret<String>
  /// Nil where absent or blank: the app's own counts.
  public var apiKey: String?
  /// Nil where absent, or dropped because it isn't http(s). It holds the flow's token, and what an app put there.
  public var continueURL: Secret<String>?
  /// Whether a continue URL was dropped.
  public var continueURLRejected: Bool
  /// Whether the continue URL's host is one of the app's.
  public var continueURLTrusted: Bool
  /// `lang`.
  public var language: String?
  /// `tenantId`.
  public var tenantID: String?
  /// The `ui_*` parameters (behaviour: Links 9).
  public var hints: LinkHints

  /// Every field by name.
  public init(
    kind: LinkKind, mode: String, oobCode: Secret<String>, apiKey: String? = nil, continueURL: Secret<String>? = nil,
    continueURLRejected: Bool = false, continueURLTrusted: Bool = false, language: String? = nil,
    tenantID: String? = nil, hints: LinkHints = LinkHints()
  ) {
    self.kind = kind
    self.mode = mode
    self.oobCode = oobCode
    self.apiKey = apiKey
    self.continueURL = continueURL
    self.continueURLRejected = continueURLRejected
    self.continueURLTrusted = continueURLTrusted
    self.language = language
    self.tenantID = tenantID
    self.hints = hints
  }
}

/// What the server says of an action code (identity-toolkit 2.6), in the words of Firebase's `ActionCodeInfo`.
public struct ActionCodeInfo: Sendable, Hashable {
  /// What the code does; nil for a type that isn't known.
  public var kind: LinkKind?
  /// The address that the account has once the code is applied. Nil for a sign-in code: the server doesn't tell.
  public var email: String?
  /// The address it has until then, where it changes.
  public var previousEmail: String?

  /// Every field by name.
  public init(kind: LinkKind?, email: String? = nil, previousEmail: String? = nil) {
    self.kind = kind
    self.email = email
    self.previousEmail = previousEmail
  }
}

/// What FirebaseUI and linkd write into the continue URL. Nothing here is believed; it only finds the row.
public struct LinkHints: Sendable, Hashable {
  /// `ui_sid`: linkd's link token, or another FirebaseUI's session id.
  public var sessionID: Secret<String>?
  /// `ui_auid`: uid of the guest who asked for the mail.
  public var anonymousUID: String?
  /// `ui_sd`: only the same device may finish.
  public var sameDevice: Bool
  /// `ui_pid`: provider to link after the sign-in.
  public var providerID: String?

  /// No hints, or the given ones.
  public init(
    sessionID: Secret<String>? = nil, anonymousUID: String? = nil, sameDevice: Bool = false, providerID: String? = nil
  ) {
    self.sessionID = sessionID
    self.anonymousUID = anonymousUID
    self.sameDevice = sameDevice
    self.providerID = providerID
  }
}

/// A URL that is an auth link of one of the apps.
public struct Link: Sendable, Hashable {
  /// The three kinds of content.
  public enum Content: Sendable, Hashable {
    case action(ActionLink)
    case oauthRedirect(OAuthRedirect)
    case appVerification(AppVerificationReturn)
  }
  /// What it holds.
  public var content: Content
  /// Wrappers around it, outermost first.
  public var via: [LinkWrapper]
  /// The apps it can belong to by key, host or scheme (behaviour: Links 8), in the order of their ids; never empty.
  public var candidates: [AppID]
  /// The emulator at whose own address the link is.
  public var emulator: EmulatorAddress?

  /// A link with what was found in it.
  public init(content: Content, via: [LinkWrapper], candidates: [AppID], emulator: EmulatorAddress? = nil) {
    self.content = content
    self.via = via
    self.candidates = candidates
    self.emulator = emulator
  }

  /// The D-Bus word.
  public var kind: LinkKind {
    switch content {
    case .action(let link): link.kind
    case .oauthRedirect: .oauthRedirect
    case .appVerification: .appVerification
    }
  }

  /// Why a recognised link must not proceed.
  public var reject: String? {
    switch content {
    case .action: nil
    case .oauthRedirect(let redirect): redirect.reject
    case .appVerification(let result): result.reject
    }
  }

  /// The token that finds the pending flow: `ui_sid`, `state` or `eventId`.
  public var flowToken: Secret<String>? {
    switch content {
    case .action(let link): link.hints.sessionID
    case .oauthRedirect(let redirect):
      switch redirect.response {
      case .own(let response): response.state
      case .handler(let response): response.eventID
      }
    case .appVerification(let result): result.eventID
    }
  }
}
