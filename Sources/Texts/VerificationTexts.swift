extension Texts {
  /// Phone numbers, codes, second factors, and signing in again.
  static let verification: [String: String] = [
    "cause.number-without-country":
      "Type the number with '+' and the country's code: nobody said which country it's in.",
    "cause.number-too-short": "The number has too few digits. Check it and type it again.",
    "cause.number-too-long": "The number has too many digits. Check it and type it again.",
    "cause.number-unknown-country": "No country has that calling code. Check what follows the '+'.",
    "cause.number-has-letters": "The number has letters in it. Type its digits.",
    "cause.number-has-extension": "No message arrives at an extension. Type the number without it.",
    "cause.number-not-accepted":
      "The service doesn't accept the number, though it's well-formed. Check it, or use another one.",
    "cause.no-number": "The account has no phone number. Sign in again in another way.",
    "cause.code-length": "The code has another number of digits, or something else in it. Type its digits alone.",
    "cause.no-known-factor":
      "The account has a second factor of a kind that linkd doesn't know. Sign in where that one can be used.",
    "cause.no-way-back": "This account can't sign in again from here. Sign in anew in the app.",
    "cause.clock-drift":
      "The code is wrong. This machine's clock is more than 15 seconds off: if the authenticator app runs on it, set the "
      + "clock, then type a new code.",
    "cause.wrong-app-code":
      "The code is wrong. Type the one that the authenticator app shows now; each counts once.",
    "cause.last-code": "That was one wrong code too many. Ask for a new one, or start again.",
    "cause.not-waited-for": "The sign-in isn't waiting for that now. See what it waits for, and do that.",
    "cause.address-not-accepted":
      "The service doesn't accept that address for this account, though it's well-formed. Use another one.",
    "cause.number-beside-factors":
      "An account with second factors can't have a phone number to sign in with, and a number that is a second factor signs in "
      + "nobody. Remove the factors first, or use another way.",
    "cause.recaptcha-enterprise":
      "The app's project enforces reCAPTCHA Enterprise for phone numbers, which no program on Linux can answer. Use another "
      + "way to sign in, or ask whoever runs the app to set it to audit.",
    "cause.factor-not-offered":
      "The app doesn't offer that kind of second factor. Its file says which: 'mfa-enabled', 'allowed-second-factors'.",
    "cause.factor-switched-off":
      "The app's Firebase project doesn't allow that kind of second factor. Use another kind, or ask whoever runs the app to "
      + "switch it on.",
    "cause.phone-switched-off":
      "The app's Firebase project sends no text messages, or none to that country. Use another way to sign in.",
    "cause.apple-revocation":
      "Before the account goes, Apple is told so, which takes a fresh sign-in with Apple.",
    "reauthentication.oauth": "This needs a fresh sign-in. Sign in with {provider} again, and it goes on.",
    "reauthentication.password": "This needs a fresh sign-in. Give the password of {email} again, and it goes on.",
    "reauthentication.email-link":
      "This needs a fresh sign-in. Sign in by a link that is mailed to {email}, and it goes on.",
    "reauthentication.custom": "This needs a fresh sign-in. Sign in again in the app, which has a way of its own.",
    "reauthentication.phone":
      "This needs a fresh sign-in. Sign in by a code that is sent to {phone-number}, and it goes on.",
    "notice.second-factor-needed": "One step is left: a code from your second factor. Go back to the app.",
  ]
}
