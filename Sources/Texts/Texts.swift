/// Every sentence that a person reads, by a stable id. English is the source; translations come from catalogues.
public enum Texts {
  /// The text of `id` in `locale` (BCP 47), or in English; the id itself for one that nobody has written, so that nothing is
  /// ever silent. `{name}` in the text is replaced by the value of that name.
  public static func lookup(_ id: String, locale: String?, _ values: [String: String] = [:]) -> String {
    var text = source[id] ?? id
    for (name, value) in values { text = replacing(text, "{\(name)}", printable(value)) }
    return text
  }

  /// Foreign text (a name, a server's sentence) without what could change a terminal or a line: control, format and
  /// direction-changing characters; at most 200 characters.
  public static func printable(_ text: String) -> String {
    var out = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: continue
      default: out.append(scalar)
      }
    }
    let plain = String(out)
    return plain.count > 200 ? plain.prefix(199) + "…" : plain
  }

  private static func replacing(_ text: String, _ mark: String, _ value: String) -> String {
    var out = ""
    var rest = text[...]
    while let start = rest.firstIndex(of: "{") {
      out += rest[..<start]
      rest = rest[start...]
      if rest.hasPrefix(mark) {
        out += value
        rest = rest.dropFirst(mark.count)
      } else {
        out += "{"
        rest = rest.dropFirst()
      }
    }
    return out + rest
  }

  /// The English texts: what happened, and the next step.
  static let source: [String: String] = errors.merging(links) { a, _ in a }.merging(notices) { a, _ in a }

  static let notices: [String: String] = [
    "notice.signed-in": "Signed in as {name}.",
    "notice.reauthenticated": "Confirmed: it's you, {name}.",
    "notice.linked": "{name} can now sign in by mailed link.",
    "notice.needs-email": "A sign-in link was opened. Say which address it was sent to: linkctl email {flow} ADDRESS",
  ]

  static let links: [String: String] = [
    "link.unsupportedScheme": "This link belongs to no app that is set up here. 'linkctl app list' shows them.",
    "link.untrustedHost": "This link leads to a host that no app here lists. Open it in the browser if you trust it.",
    "link.insecureScheme": "This link isn't encrypted (http), so it isn't used. Ask for a new one.",
    "link.userinfo": "This link hides its real host behind a name and '@'. Don't open it.",
    "link.notAuthLink": "This link has nothing to do with signing in.",
    "link.apiKeyMismatch": "This link belongs to another Firebase project. Check the app's API key.",
    "link.noPendingRequest": "Nothing here waits for this link any more. Start signing in again.",
    "link.opaqueWrapper":
      "A mail gateway has replaced this link by its own. Open it in the browser and paste the address you end at.",
    "link.ambiguousApp": "Several apps here could be meant. Remove one of them, or give them different API keys.",
    "link.malformed": "This isn't a whole link. Copy it again from the mail.",
    "link.controlCharacter":
      "The link was broken into lines or damaged. Copy it again, or pipe the mail's text into 'linkctl open -'.",
    "link.tooLong": "This link is too long to be one of ours. Copy it again from the mail.",
    "link.nestingTooDeep":
      "This link is wrapped too many times. Open it in the browser and paste the address you end at.",
    "link.duplicateParameter": "This link says two different things at once, so it isn't used. Ask for a new one.",
    "link.missingMode": "The link was cut off. Copy the whole link from the mail.",
    "link.unknownMode":
      "The link was damaged, perhaps because it was copied from the mail's source. Copy it from the shown mail.",
    "link.missingOobCode": "The link was cut off: its code is missing. Copy the whole link from the mail.",
    "link.missingDeepLink": "The link was cut off: what it should hold is missing. Start again.",
    "link.unknownAuthType": "This answer belongs to a newer kind of sign-in. Update linkd.",
    "link.missingCode": "The answer holds no code; it may have been cut off. Start signing in again.",
    "link.missingState": "The answer doesn't say which request it belongs to. Start signing in again.",
    "link.missingToken": "The check wasn't finished. Start again.",
    "link.ambiguousResponse": "The answer holds both a code and an error. Start signing in again.",
  ]

  static let errors: [String: String] = [
    "error.invalid-credentials": "The address or the password is wrong. Try again.",
    "error.invalid-email": "This isn't a valid email address. Check it and try again.",
    "error.email-mismatch": "The link was sent to another address. Give the address that received it.",
    "error.email-not-found": "There is no account with this address. Check it, or create one.",
    "error.email-already-in-use": "Another account has this address. Sign in with that one instead.",
    "error.weak-password": "The password is too weak. Choose a longer one.",
    "error.user-disabled": "This account has been disabled. Ask whoever runs the app.",
    "error.user-not-found": "This account doesn't exist any more. Create a new one.",
    "error.user-mismatch": "This is somebody else's account; nothing was changed. Use the account that is signed in.",
    "error.no-current-user": "Nobody is signed in. Sign in first.",
    "error.operation-not-allowed": "The app doesn't allow this. Ask whoever runs it.",
    "error.admin-only": "Only an administrator may do this. Ask whoever runs the app.",
    "error.tenant-mismatch": "The account belongs to another tenant. Check the app's tenant.",
    "error.too-many-requests": "Too many attempts. Wait a while and try again.",
    "error.quota-exceeded": "The app's quota is used up. Try again later.",
    "error.requires-recent-login": "For this you must have signed in recently. Sign in again.",
    "error.token-revoked": "The session has ended on the server. Sign in again.",
    "error.invalid-action-code": "The link has been used already, or was cut off. Ask for a new one.",
    "error.expired-action-code": "The link is too old. Ask for a new one.",
    "error.link-cut-off": "The link was cut off. Copy the whole link from the mail.",
    "error.different-device": "The link only works on the machine that asked for it. Ask for one here.",
    "error.ambiguous-app": "Several apps could be meant. Name one with --app.",
    "error.unauthorized-domain": "The continue page's domain isn't authorized in the Firebase console. Add it there.",
    "error.invalid-continue-url": "The app has no usable continue page. Set 'continue-url' to an https address.",
    "error.account-exists-with-different-credential":
      "An account with this address exists already, with another way to sign in. Use that one first.",
    "error.credential-already-in-use": "This sign-in belongs to another account already. Sign in with that one.",
    "error.provider-already-linked": "This provider is linked already. Unlink it first to change it.",
    "error.no-such-provider": "The app has no such provider. See 'linkctl app show'.",
    "error.invalid-provider-response": "The provider's answer can't be used. Start again.",
    "error.state-mismatch": "An answer came that nobody here asked for; the sign-in goes on waiting.",
    "error.issuer-mismatch": "The answer came from another provider than the one asked. Start again.",
    "error.nonce-mismatch": "The provider's token was made for another request. Start again.",
    "error.missing-code": "The provider's answer has no code. Start again.",
    "error.handler-missing": "Links can't reach linkd yet. Run 'linkctl register'.",
    "error.invalid-phone-number": "The service doesn't accept this number. Check it, with country code.",
    "error.invalid-verification-code": "The code is wrong. Check it and try again.",
    "error.session-expired": "This took too long. Start again.",
    "error.captcha-required": "The service wants a check that you're no robot. Start again and follow the page.",
    "error.captcha-failed": "The check wasn't passed. Start again.",
    "error.second-factor-required":
      "This account is protected by a second factor, which this version can't ask for. Sign in elsewhere.",
    "error.second-factor-exists": "This second factor is enrolled already. Choose another one.",
    "error.second-factor-limit": "No more second factors can be enrolled. Remove one first.",
    "error.unsupported-first-factor": "This way to sign in can't be combined with a second factor. Use another one.",
    "error.unverified-email": "The address isn't verified yet. Verify it first.",
    "error.factor-not-found": "There is no such second factor. See 'linkctl mfa list'.",
    "error.network-unavailable": "The server can't be reached. Check the network and try again.",
    "error.service-unavailable": "The server can't answer properly at the moment. Try again later.",
    "error.invalid-api-key": "The app's API key is wrong. Check it in the Firebase console.",
    "error.app-not-authorized": "The API key isn't meant for this app. Check its restrictions in the console.",
    "error.blocking-function": "The app's own rules refused this. Ask whoever runs it.",
    "error.no-such-app": "There is no such app. 'linkctl app list' shows the apps, 'linkctl app add' adds one.",
    "error.no-such-flow": "There is no such request any more. Start again.",
    "error.access-denied": "This isn't allowed from where it was asked.",
    "error.rate-limited": "Too many requests in a short time. Wait a minute and try again.",
    "error.cancelled": "Cancelled.",
    "error.keyring-locked": "The keyring is locked. Unlock it and try again.",
    "error.keyring-absent":
      "The key of the stored sessions isn't there. Bring it back, or remove the state folder to begin anew.",
    "error.keyring-wrong-key": "The stored sessions were sealed with another key. Bring that key back.",
    "error.storage-unreadable": "The stored sessions are damaged; the file was kept. Sign in again.",
    "error.storage-too-new": "The stored sessions were written by a newer linkd. Update linkd.",
    "error.internal": "Something went wrong inside linkd. The log says more.",
  ]
}
