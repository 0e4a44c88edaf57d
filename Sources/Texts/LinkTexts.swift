extension Texts {
  /// For each reason why a URL isn't handled: why, and what to do next.
  static let links: [String: String] = [
    // What most likely happened (LinkHint)
    "link.cutOff": "The link was cut off. Copy the whole link from the mail.",
    "link.copiedFromSource": "The link was copied from the mail's source. Copy it from the mail as it's shown.",
    "link.joinedLines":
      "The link is broken over several lines. Pipe the mail's text into 'linkctl open -', which joins them.",
    "link.openInBrowser": "A mail gateway hides the link. Open it in the browser, and paste the address you end at.",
    "link.resolvedTooEarly": "The link's code is gone: it was opened elsewhere first. Ask for a new one.",
    "link.encodedTwice": "The link was changed on its way. Copy it again from the mail.",
    // Not ours
    "link.unsupportedScheme": "That isn't the kind of address linkd takes. Give it a link from a sign-in mail.",
    "link.untrustedHost": "The link leads to a site that none of the apps has. If it should, add it to 'link-domains'.",
    "link.insecureScheme": "The link isn't https, so it can't be trusted. Ask for a new one.",
    "link.userinfo": "The link has a user name in front of its site, which sign-in links never have. Don't open it.",
    "link.notAuthLink": "The link isn't a sign-in link. Open it in the browser.",
    "link.apiKeyMismatch": "The link belongs to another Firebase project. Check 'api-key' in the app's file.",
    "link.noPendingRequest": "No sign-in is waiting for that answer. Start a new one.",
    "link.opaqueWrapper":
      "The link is wrapped by a mail filter in a way that can't be undone here. Open it in the browser and copy the address "
      + "of the page it ends at.",
    "link.ambiguousApp": "The link fits several apps. Say which one is meant with --app.",
    // Broken
    "link.malformed": "The link is broken. Copy it again from the mail, or ask for a new one.",
    "link.controlCharacter": "There are characters in the link that can't be. Copy it again from the mail.",
    "link.tooLong": "The link is longer than any sign-in link. Copy only the link from the mail.",
    "link.nestingTooDeep": "There are too many links inside the link. Ask for a new one.",
    "link.duplicateParameter": "The link says two different things at once. Don't use it; ask for a new one.",
    "link.missingMode": "The link was cut off: it doesn't say what it's for. Copy it whole from the mail.",
    "link.unknownMode": "The link is for something that linkd doesn't know. Open it in the browser.",
    "link.missingOobCode":
      "The link was cut off: its code is missing. Copy it whole from the mail, or ask for a new one.",
    "link.missingDeepLink": "The link was cut off: what it leads to is missing. Copy it whole from the mail.",
    "link.unknownAuthType": "The answer is of a kind that linkd doesn't know. Start the sign-in again.",
    // Recognised, but not to be gone on with
    "link.missingCode": "The provider's answer has no code; it may have been cut off. Start the sign-in again.",
    "link.missingState": "The provider's answer doesn't say which sign-in it belongs to. Start the sign-in again.",
    "link.missingToken": "The check that you're a person wasn't finished. Start the sign-in again.",
    "link.ambiguousResponse": "The provider's answer says both yes and no. Start the sign-in again.",
  ]

  /// Desktop notifications and other news.
  static let notices: [String: String] = [
    "notice.signed-in": "Signed in as {name}.",
    "notice.signed-in-nameless": "Signed in.",
    "notice.signed-in-guest": "Signed in as a guest.",
    "notice.email-needed": "Somebody opened a sign-in link. Run 'linkctl flows' and give the address it was sent to.",
    "notice.password-needed": "A link to set a new password has been opened. Run 'linkctl flows' to choose one.",
    "notice.confirmation-needed":
      "A link that changes your account has been opened. Run 'linkctl flows' to look at it.",
    "notice.guest-data-left": "You're signed in as {name}. What you did as a guest stayed with the guest.",
    "notice.signed-out": "Signed out.",
  ]
}
