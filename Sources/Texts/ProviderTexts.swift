extension Texts {
  /// Accounts that collide, and the pages that a browser sees when it comes back from a provider.
  static let providers: [String: String] = [
    "conflict.account-exists-with-different-credential":
      "There is an account with the address {email} already. Sign in to it the way you did before, and the new way is added "
      + "to it.",
    "conflict.credential-already-in-use":
      "This account at the provider already signs in to another account of the app. Switch to that account, or stay here.",
    "conflict.phone-already-in-use":
      "The number {phone-number} already signs in to another account of the app. Switch to that account, or stay here.",
    "conflict.email-already-in-use":
      "Another account has the address {email} already. Sign in to that account instead, or stay as you are.",
    "conflict.anonymous-upgrade":
      "You have an account here already. You're about to be signed in to it; what you did as a guest stays behind.",
    "conflict.new-link-sent":
      "You have an account here already, and the link in the first mail is used up. A new link has been mailed: open that "
      + "one to sign in to your account.",
    "cause.no-return-scheme":
      "The browser couldn't come back to the app: its file names no scheme, client id or app id. Add one, then try again.",
    "cause.port-taken":
      "The port that the browser is to come back to is used by another program. End that program or choose another port in "
      + "the app's file, then try again.",
    "cause.no-page-library":
      "The browser can't come back this way, since libmicrohttpd isn't installed. Install it, or choose 'scheme'.",
    "cause.no-browser":
      "No browser could be opened. Open the page yourself, on any machine: the program that began the sign-in can show its "
      + "address.",
    "cause.port-lost":
      "The port that the browser comes back to is used by another program now. Go on in the browser, then paste the address "
      + "at which it ends with 'linkctl open'.",
    "cause.not-starter": "Only the program that began it may have its address or its secret. Start one of your own.",
    "cause.not-linked": "The account doesn't sign in that way. 'linkctl whoami' shows the ways it has.",
    "page.confirm": "Sign in to {app} on this computer?",
    "page.confirm-button": "Sign in",
    "page.link-taken": "{app} is signing you in. You can close this tab.",
    "page.redirect-taken": "{app} is signing you in. You can close this tab.",
    "page.signed-in": "You're signed in. You can close this tab.",
    "page.cancelled": "Nothing was changed: the sign-in was cancelled. You can close this tab.",
    "page.not-ours":
      "This address doesn't belong to a sign-in that is under way. If you have just signed in, go back to the app and start "
      + "again.",
  ]
}
