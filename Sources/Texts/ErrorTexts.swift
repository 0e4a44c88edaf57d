extension Texts {
  /// For each error of the D-Bus contract: what happened, and what to do next.
  static let errors: [String: String] = [
    // Account
    "error.invalid-credentials":
      "The address, the password or the token is wrong. Try again, or reset the password.",
    "error.invalid-email": "That isn't an email address. Check it and type it again.",
    "error.email-mismatch": "The link was sent to another address. Give the address that the mail came to.",
    "error.email-not-found": "There's no account with that address. Check it, or create an account.",
    "error.email-already-in-use": "There's already an account with that address. Sign in instead.",
    "error.weak-password": "The password is too weak. Choose a longer one, with different kinds of characters.",
    "error.user-disabled": "This account has been disabled. Ask whoever runs the app to enable it.",
    "error.user-not-found": "The account doesn't exist any more. Sign in with another one, or create one.",
    "error.user-mismatch": "That was another account than the one signed in. Repeat it with the same account.",
    "error.no-current-user": "Nobody is signed in. Sign in first.",
    "error.operation-not-allowed":
      "This way of signing in is switched off for the app. Use another one, or ask whoever runs the app to enable it.",
    "error.admin-only": "Only an administrator may do that. Ask whoever runs the app.",
    "error.tenant-mismatch":
      "The account belongs to another part of the organisation. Check the app's 'tenant-id', or use another account.",
    "error.too-many-requests": "There have been too many attempts. Wait a few minutes and try again.",
    "error.quota-exceeded": "The app has used up its quota for today. Try again later, or use another way to sign in.",
    "error.requires-recent-login": "This needs a fresh sign-in. Sign in again, then repeat it.",
    "error.token-revoked": "The session has been ended elsewhere. Sign in again.",
    // Links
    "error.invalid-action-code": "The link has been used already, or a newer one replaced it. Ask for a new one.",
    "error.expired-action-code": "The link has expired. Ask for a new one.",
    "error.link-cut-off":
      "The link was cut off on its way here. Copy it whole from the mail and run 'linkctl open -', or ask for a new one.",
    "error.different-device":
      "The link counts only on the device that asked for it. Open it there, or ask for a new one here.",
    "error.ambiguous-app": "The link fits several apps. Say which one is meant with --app.",
    "error.unauthorized-domain":
      "The domain of the continue page or of the link isn't allowed for the app. Add it in the Firebase console: under "
      + "Authentication, Settings, Authorized domains, or under Hosting.",
    "error.invalid-continue-url":
      "The continue URL isn't one that Firebase accepts. Correct 'continue-url' in the app's file.",
    // Providers
    "error.account-exists-with-different-credential":
      "There's already an account with that address. Sign in the way you did before; the new way can then be added.",
    "error.credential-already-in-use":
      "That sign-in belongs to another account already. Sign in to that account, or use another one here.",
    "error.provider-already-linked": "The account has that way of signing in already. There's nothing left to do.",
    "error.no-such-provider": "The app doesn't offer that way of signing in. 'linkctl app show' lists those it does.",
    "error.invalid-provider-response": "The provider's answer can't be used. Try again, or use another way to sign in.",
    "error.state-mismatch":
      "That answer belongs to no sign-in of yours and was ignored. Go on in the page that linkd opened.",
    "error.issuer-mismatch":
      "The answer came from another issuer than the configured one. Check the provider's 'issuer', then try again.",
    "error.nonce-mismatch": "The provider's answer belongs to another request. Try again.",
    "error.missing-code": "The provider sent no code back. Try again.",
    "error.handler-missing": "Links wouldn't find their way back here. Run 'linkctl register', then try again.",
    // Phone and factors
    "error.invalid-phone-number": "That isn't a phone number. Type it with '+' and the country's code.",
    "error.invalid-verification-code": "The code is wrong. Type it again, or ask for a new one.",
    "error.session-expired": "That took too long. Start again.",
    "error.captcha-required":
      "Firebase asks for a check that you're a person, which can't be made here. Use another way to sign in, or ask "
      + "whoever runs the app to ease the check.",
    "error.captcha-failed": "The check that you're a person failed. Try again.",
    "error.second-factor-required": "The account has a second factor. Choose one and give its code.",
    "error.second-factor-exists": "The account has that second factor already. Use it, or remove it first.",
    "error.second-factor-limit": "The account has as many second factors as are allowed. Remove one first.",
    "error.unsupported-first-factor":
      "A second factor can't be added to an account with this way of signing in. Sign in another way first.",
    "error.unverified-email": "The address hasn't been verified yet. Follow the link in the verification mail first.",
    "error.factor-not-found": "The account has no such second factor. Use one of those it has.",
    // Service
    "error.network-unavailable": "Firebase can't be reached. Check the connection and try again.",
    "error.service-unavailable": "Firebase doesn't answer properly just now. Try again in a while.",
    "error.invalid-api-key": "Firebase doesn't know the app's API key. Correct 'api-key' in the app's file.",
    "error.app-not-authorized":
      "The API key isn't allowed for this app. Check the key's restrictions in the Google Cloud console.",
    "error.blocking-function": "The app's own rules refused this. Ask whoever runs the app.",
    "error.no-such-app":
      "There's no such app. 'linkctl app list' shows those there are, and 'linkctl app add' adds one.",
    "error.no-such-flow": "That sign-in isn't under way any more. Start a new one.",
    "error.access-denied":
      "This program may not use the app. Add it to 'allowed-clients' in the app's file if it should.",
    "error.rate-limited": "That was too much at once. Wait a minute and try again.",
    "error.cancelled": "It was cancelled. Nothing has changed.",
    "error.keyring-locked": "The keyring is locked. Unlock it and try again.",
    "error.keyring-absent":
      "The keyring that holds the key of the sessions isn't there. Start it, or log in to the desktop as usual.",
    "error.keyring-wrong-key":
      "The key doesn't fit the stored sessions. Restore the keyring that belongs to them, or remove the state and sign in "
      + "again.",
    "error.storage-unreadable": "The stored sessions can't be read. Sign in again; the damaged file has been kept.",
    "error.storage-too-new": "The stored sessions were written by a newer linkd. Update linkd.",
    "error.internal": "Something unexpected went wrong. Try again; the log says more.",
  ]
}
