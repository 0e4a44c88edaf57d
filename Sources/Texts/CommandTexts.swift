extension Texts {
  /// What `linkctl` shows and asks.
  static let commands: [String: String] = [
    // Stages of a flow (D-Bus contract: Flow)
    "stage.starting": "Starting …",
    "stage.waiting-for-link": "A link has been sent to {email}. Open it on this computer; waiting for it …",
    "stage.waiting-for-redirect": "Go on in the browser; waiting for it …",
    "stage.waiting-for-captcha": "Show in the browser that you're a person; waiting for it …",
    "stage.waiting-for-code": "A code has been sent to {phone-number}.",
    "stage.waiting-for-message": "A code has been sent by text message.",
    "stage.waiting-for-totp": "Type the code that {factor} shows.",
    "stage.enroll-totp": "Add this account to an authenticator app, then type the code that the app shows.",
    "stage.second-factor-totp": "The account has a second factor. Type the code that your authenticator app shows.",
    "stage.waiting-for-email": "A sign-in link has been opened. Give the address it was sent to.",
    "stage.waiting-for-password": "A password is needed for {email}.",
    "stage.waiting-for-new-password": "Choose a new password for {email}.",
    "stage.waiting-for-confirmation": "This changes your account. Go on only if you asked for it.",
    "stage.second-factor-required": "The account has a second factor. Choose how to get the code.",
    "stage.reauthentication-required":
      "Please sign in again to continue: 'linkctl sign-in METHOD --reauthenticate' in another terminal. Waiting for it …",
    "stage.conflict": "There's already an account with that sign-in.",
    "stage.exchanging": "Signing in …",
    "stage.working": "Working …",
    "stage.somebody": "the account",
    "stage.succeeded": "Done.",
    "done.verifyEmail": "The address has been verified.",
    "done.verifyAndChangeEmail": "The account's address is {email} now. Sign in with it the next time.",
    "done.recoverEmail": "The account's address is {email} again. Change the password to be safe.",
    "done.revertSecondFactor": "The second factor has been removed. Sign in again.",
    "done.passwordReset": "The password has been changed. Sign in with the new one.",
    "done.upgraded": "Your guest account has become this account.",
    "done.guest-data-left": "What you did as a guest stayed with the guest.",
    "done.link": "{provider} signs in to this account now.",
    "done.link-phone": "You can sign in to this account with your phone number now.",
    "done.reauthenticate": "Confirmed: you are {name}.",
    "done.update-password": "The password has been changed.",
    "done.change-email": "A mail is on its way to {email}. Its link makes that the account's address.",
    "done.change-phone": "The account's phone number is {phone-number} now.",
    "done.enroll-factor": "The second factor has been added. It's asked for from the next sign-in on.",
    "done.unenroll-factor": "The second factor has been removed.",
    "done.unlink": "That way of signing in has been removed.",
    "done.deleteUser": "The account has been deleted.",
    "done.profile": "The profile has been changed.",
    "done.mail": "A mail has been sent. Follow its link.",
    "confirm.verifyEmail": "This link proves that {email} is yours.",
    "confirm.verifyAndChangeEmail": "This link makes {email} the account's address.",
    "confirm.recoverEmail": "This link makes {email} the account's address again. Go on only if you got it in a mail.",
    "confirm.revertSecondFactor":
      "This link removes a second factor from the account. Go on only if you got it in a mail.",
    "stage.failed": "It didn't work: {message}",
    "stage.cancelled": "Cancelled.",
    "stage.expired": "Nobody went on with it in time. Start again.",
    // Questions
    "ask.email": "Email address: ",
    "ask.password": "Password: ",
    "ask.new-password": "New password: ",
    "ask.new-password-again": "New password once more: ",
    "ask.code": "Code: ",
    "ask.new-message": "Enter has a message sent: ",
    "ask.code-or-new": "Code (Enter alone sends a new one): ",
    "ask.code-or-other": "Code (o: use another second factor): ",
    "ask.code-or-new-or-other": "Code (Enter alone sends a new one, o: use another second factor): ",
    "ask.code-or-uri": "Code (u: show the otpauth address): ",
    "ask.begin-anew": "Begin anew, with a new code? [y/N] ",
    "ask.try-again": "Try again? [y/N] ",
    "ask.token": "Token: ",
    "ask.phone-number": "Phone number, with + and the country's code: ",
    "ask.factor": "Number of the second factor: ",
    "ask.only-factor": "Press Enter to have a code sent to {factor}: ",
    "ask.unenroll": "Remove the second factor {factor}? [y/N] ",
    "ask.choice": "What should be done? ",
    "ask.confirm": "Go on? [y/N] ",
    "ask.unlink-last":
      "{provider} is the only way into this account: once signed out, nobody gets in again. Remove it? [y/N] ",
    "ask.delete-user": "Delete the account {name} for good? [y/N] ",
    // Choices of a conflict
    "choice.switch": "Switch to the other account",
    "choice.sign-in-and-link": "Sign in as before and add the new way",
    "choice.link-other": "Add the new way to the account that has just signed in",
    "choice.new-link": "Send a new link",
    "choice.keep": "Stay as it is",
    "choice.cancel": "Cancel",
    // Second factors
    "factor.totp": "authenticator app",
    "factor.phone": "phone",
    "factor.your-app": "your authenticator app",
    // Answers
    "state.authenticated": "Signed in as {name}.",
    "ask.passwords-differ": "The two passwords aren't the same. Try again.",
    "command.open-page": "Open this page in a browser, on any machine:",
    "command.no-browser": "No browser could be opened here. Open this page in one, on any machine:",
    "command.paste-address":
      "If the browser ends at a page that it can't show, as it may on another machine, paste that page's address here, "
      + "and press Enter.",
    "command.open-address":
      "If the browser ends at a page that it can't show, as it may on another machine, give that page's address to "
      + "'linkctl open ADDRESS'.",
    "command.same-page":
      "That is the page that the sign-in begins with. Go through it. If it ends at 'Continue' and that does nothing, copy "
      + "the address of that link, and paste it here.",
    "command.no-answer":
      "That isn't the address that a sign-in ends at. Once the provider's page is done, copy the whole address that the "
      + "browser shows, and paste it here.",
    "command.no-check-answer":
      "That isn't the address that the check ends at. Once the page is done, copy the whole address that the browser shows, "
      + "and paste it here.",
    "command.tries-left": "Tries left: {count}.",
    "command.resend-later": "A new code can be sent in {seconds} s.",
    "command.no-code-wanted": "That flow isn't waiting for a code. 'linkctl flows' shows what it waits for.",
    "command.no-factors": "The account has no second factor. 'linkctl mfa enroll-totp' adds one.",
    "command.scan": "Scan this with the authenticator app:",
    "command.secret": "Type this secret into the authenticator app; spaces don't count:",
    "command.secret-too": "Or type this secret there; spaces don't count:",
    "command.narrow":
      "The terminal is too narrow for the QR code, which takes {columns} columns. Widen it and start again, or type the "
      + "secret.",
    "command.no-qr-library": "There's no QR code: libqrencode isn't installed. The secret below does as well.",
    "command.no-qr": "There's no QR code: the address is too long for one. The secret below does as well.",
    "command.line-too-long":
      "The terminal cuts lines of that length. Put the address into a file, and run 'linkctl open - <FILE'.",
    "command.switch-in-time": "Without an answer you switch to it in five seconds.",
    "command.sign-in-first":
      "Now sign in to {email} as before, in another terminal: {command}. The new way is added by itself then.",
    "command.other-account": "Somebody has signed in with another address than {email}.",
    "command.wrong-token": "The token is wrong or too old. Get a new one from the app's own server, then try again.",
    "command.goes-on-then": "Once that's done, {purpose} goes on. 'linkctl cancel {flow}' gives it up.",
    "command.goes-on": "No longer waiting. linkd goes on with it by itself: 'linkctl flows' shows it.",
    "command.several-apps":
      "There are several apps: {apps}. Say which one with --app, or choose one for good: 'linkctl app default {app}'.",
    "command.no-such-provider": "There's no provider '{id}'. Did you mean '{meant}'?",
    "command.nobody-to-ask": "{what} is needed, and standard input is no terminal.",
    "command.no-such-flow": "There's no such flow, or it ended a while ago. 'linkctl flows' shows those under way.",
    "command.no-service":
      "The service org.linkd.Auth1 can't be started. See that linkd is installed; its log may say more: "
      + "'journalctl --user -t linkd'.",
    "command.no-bus": "There's no session bus. Run this in your desktop session, or set DBUS_SESSION_BUS_ADDRESS.",
    "command.timeout":
      "It took longer than {seconds} s. It may still go on: 'linkctl flows' shows what is pending.",
    "command.registered": "Links of these schemes open in linkd:",
    "command.nothing-to-register": "No app has a scheme. Add one with 'linkctl app add FILE --scheme SCHEME'.",
    "command.unregistered": "No longer opened by linkd:",
    "command.nothing-registered": "No links were opened by linkd.",
    "command.no-apps": "There are no apps. Add one with 'linkctl app add FILE'.",
    "command.no-flows": "Nothing is pending.",
    "done.app-added": "Added {app}. 'linkctl register' makes its links open here.",
    "done.app-removed": "Removed {app}.",
    "done.app-default": "Commands without --app mean {app} now.",
    "done.resent": "A new mail has been sent.",
    "done.code": "A new code is on its way.",
  ]
}
