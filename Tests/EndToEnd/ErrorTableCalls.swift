import Foundation
import TestSupport
import Testing

/// A call that linkd makes, and how a person brings it about.
enum ServerCall: String, Sendable, CaseIterable {
  case sendSignInLink, signInWithEmailLink, signUpAnonymously, lookup, refresh
  case createUser, signInWithPassword, sendPasswordReset, sendEmailVerification, checkActionCode, resetPassword
  case applyActionCode, updateProfile, deleteUser
  case signInWithIdp, signInWithCredential, signInWithCustomToken, unlink

  /// Part of the path of its requests.
  var path: String {
    switch self {
    case .sendSignInLink, .sendPasswordReset, .sendEmailVerification: "accounts:sendOobCode"
    case .signInWithEmailLink: "accounts:signInWithEmailLink"
    case .signUpAnonymously, .createUser: "accounts:signUp"
    case .lookup: "accounts:lookup"
    case .refresh: "securetoken.googleapis.com/v1/token"
    case .signInWithPassword: "accounts:signInWithPassword"
    case .checkActionCode, .resetPassword: "accounts:resetPassword"
    case .applyActionCode, .updateProfile, .unlink: "accounts:update"
    case .signInWithIdp, .signInWithCredential: "accounts:signInWithIdp"
    case .signInWithCustomToken: "accounts:signInWithCustomToken"
    case .deleteUser: "accounts:delete"
    }
  }

  /// What every call may be answered: about the key, the project, the tenant, the haste.
  private static let anywhere = """
    MISSING_API_KEY PROJECT_DISABLED CONFIGURATION_NOT_FOUND INVALID_TENANT_ID TENANT_NOT_FOUND TENANT_ID_MISMATCH
    UNSUPPORTED_TENANT_OPERATION INSUFFICIENT_PERMISSION INVALID_ARGUMENT QUOTA_EXCEEDED TOO_MANY_ATTEMPTS_TRY_LATER
    """
  /// What a call with an ID token may be answered.
  private static let ofToken = "INVALID_ID_TOKEN MISSING_ID_TOKEN TOKEN_EXPIRED USER_DISABLED USER_NOT_FOUND"
  private static let ofMail = """
    MISSING_EMAIL INVALID_EMAIL INVALID_RECIPIENT_EMAIL INVALID_MESSAGE_PAYLOAD INVALID_SENDER MISSING_IOS_BUNDLE_ID
    MISSING_ANDROID_PACKAGE_NAME UNAUTHORIZED_DOMAIN INVALID_CONTINUE_URI MISSING_CONTINUE_URI
    INVALID_HOSTING_LINK_DOMAIN MISSING_REQ_TYPE INVALID_REQ_TYPE
    """
  private static let ofCaptcha = """
    MISSING_RECAPTCHA_TOKEN INVALID_RECAPTCHA_TOKEN INVALID_RECAPTCHA_ACTION RECAPTCHA_NOT_ENABLED MISSING_CLIENT_TYPE
    MISSING_RECAPTCHA_VERSION INVALID_RECAPTCHA_VERSION CAPTCHA_CHECK_FAILED
    """
  private static let ofCode = "INVALID_OOB_CODE EXPIRED_OOB_CODE MISSING_OOB_CODE USER_DISABLED OPERATION_NOT_ALLOWED"
  private static let ofPassword = "WEAK_PASSWORD PASSWORD_DOES_NOT_MEET_REQUIREMENTS PASSWORD_LOGIN_DISABLED"

  /// The codes that the protocol knows for it (identity-toolkit 2.1 to 2.9, 2.20).
  var codes: [String] {
    let texts = self == .signInWithCredential ? [own] : [Self.anywhere, own]
    let groups = texts.flatMap { $0.split(whereSeparator: \.isWhitespace).map(String.init) }
    let codes = groups.reduce(into: [String]()) { codes, code in if !codes.contains(code) { codes.append(code) } }
    return self == .signInWithIdp || self == .signInWithCustomToken
      ? codes.filter { !Self.temporary.contains($0) } : codes
  }

  /// What a flow waits out by itself where a person can't give anything again.
  static let temporary = ["QUOTA_EXCEEDED", "TOO_MANY_ATTEMPTS_TRY_LATER"]

  private var own: String {
    switch self {
    case .sendSignInLink: "EMAIL_NOT_FOUND OPERATION_NOT_ALLOWED \(Self.ofMail) \(Self.ofCaptcha)"
    case .sendPasswordReset: "EMAIL_NOT_FOUND RESET_PASSWORD_EXCEED_LIMIT \(Self.ofMail) \(Self.ofCaptcha)"
    case .sendEmailVerification: "\(Self.ofToken) \(Self.ofMail)"
    case .signInWithEmailLink:
      "INVALID_EMAIL MISSING_EMAIL EMAIL_EXISTS ADMIN_ONLY_OPERATION BLOCKING_FUNCTION_ERROR_RESPONSE \(Self.ofCode)"
    case .signUpAnonymously:
      "ADMIN_ONLY_OPERATION OPERATION_NOT_ALLOWED BLOCKING_FUNCTION_ERROR_RESPONSE UNEXPECTED_PARAMETER"
    case .createUser:
      """
      EMAIL_EXISTS INVALID_EMAIL MISSING_EMAIL MISSING_PASSWORD OPERATION_NOT_ALLOWED ADMIN_ONLY_OPERATION
      BLOCKING_FUNCTION_ERROR_RESPONSE \(Self.ofPassword) \(Self.ofCaptcha)
      """
    case .signInWithPassword:
      """
      EMAIL_NOT_FOUND INVALID_PASSWORD INVALID_LOGIN_CREDENTIALS MISSING_PASSWORD INVALID_EMAIL MISSING_EMAIL
      USER_DISABLED OPERATION_NOT_ALLOWED CAPTCHA_REQUIRED CAPTCHA_REQUIRED_INVALID_PASSWORD
      BLOCKING_FUNCTION_ERROR_RESPONSE \(Self.ofPassword) \(Self.ofCaptcha)
      """
    case .lookup, .updateProfile: Self.ofToken
    case .deleteUser, .unlink: "CREDENTIAL_TOO_OLD_LOGIN_AGAIN \(Self.ofToken)"
    case .signInWithIdp:
      """
      USER_DISABLED OPERATION_NOT_ALLOWED PASSWORD_LOGIN_DISABLED MISSING_OR_INVALID_NONCE INVALID_PROVIDER_ID
      INVALID_CREDENTIAL_OR_PROVIDER_ID BLOCKING_FUNCTION_ERROR_RESPONSE PROVIDER_ALREADY_LINKED EMAIL_EXISTS
      FEDERATED_USER_ID_ALREADY_LINKED CREDENTIAL_ALREADY_IN_USE
      """
    // After these a page's flow goes on waiting: the answer may have been another flow's.
    case .signInWithCredential:
      "INVALID_IDP_RESPONSE INVALID_PENDING_TOKEN MISSING_REQUEST_URI INVALID_REQUEST_URI REJECTED_CREDENTIAL"
    case .signInWithCustomToken:
      """
      INVALID_CUSTOM_TOKEN CREDENTIAL_MISMATCH MISSING_CUSTOM_TOKEN MISSING_IDENTIFIER INVALID_CLAIMS FORBIDDEN_CLAIM
      USER_DISABLED OPERATION_NOT_ALLOWED
      """
    case .checkActionCode: Self.ofCode
    case .resetPassword: "\(Self.ofCode) \(Self.ofPassword)"
    case .applyActionCode: "EMAIL_EXISTS \(Self.ofCode)"
    case .refresh:
      """
      INVALID_REFRESH_TOKEN MISSING_REFRESH_TOKEN INVALID_GRANT_TYPE MISSING_GRANT_TYPE PROJECT_NUMBER_MISMATCH
      \(Self.ofToken)
      """
    }
  }

  /// Name and exit code of the command that met the code.
  func expected(_ code: ServerCode) -> (name: String, exit: Int32) {
    switch (self, code.name) {
    // What the server says of an address that it didn't send the link to is about another address
    // (behaviour: Pending flows, 5).
    case (.signInWithEmailLink, "InvalidEmail"): ("EmailMismatch", code.exit)
    // A wrong or weak password is asked for again, and nobody is there to be asked (cli-and-config: Exit codes).
    case (.createUser, "WeakPassword"), (.createUser, "InvalidCredentials"), (.signInWithPassword, "WeakPassword"),
      (.signInWithPassword, "InvalidCredentials"), (.resetPassword, "WeakPassword"):
      (code.name, 4)
    // Parked until somebody signs in again.
    case (.deleteUser, "RequiresRecentLogin"), (.unlink, "RequiresRecentLogin"), (.deleteUser, "TokenRevoked"),
      (.unlink, "TokenRevoked"):
      (code.name, 4)
    default: (code.name, code.exit)
    }
  }
}

extension ServerCall {
  /// What the server adds to the code, and whether a person may read it (identity-toolkit 3.2, 3.5).
  static func detail(_ code: String, raw: String) -> String {
    switch code {
    case "WEAK_PASSWORD": "Password should be at least 6 characters"
    case "PASSWORD_DOES_NOT_MEET_REQUIREMENTS": "Missing password requirements: [Password must contain a digit]"
    case "BLOCKING_FUNCTION_ERROR_RESPONSE":
      "((HTTP request to http://h/\(raw) returned HTTP error 400: {\"error\":{\"message\":\"Not today.\"}}))"
    default: "((\(raw) {\"a\":1}))"
    }
  }

  /// Makes the call fail that way, and gives what `linkctl --json` said.
  func drive(_ message: String, number: Int, _ world: World) async throws -> Subprocess.Result {
    let address = "user\(number)@example.com"
    let command = try await prepare(address, world)
    try await world.fault(["path": path, "error": message, "times": 1])
    let result = try await world.run(
      ["\(World.programs)/linkctl", "--json"] + command, stdin: "correct horse battery\n")
    let faults = try await world.emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/faults")["faults"]
    #expect((faults as? [[String: Any]])?.first?["remaining"] as? Int == 0, "the call wasn't made: \(message)")
    try await world.clearFaults()
    return result
  }

  /// Everything up to the command that makes the call.
  private func prepare(_ address: String, _ world: World) async throws -> [String] {
    switch self {
    case .sendSignInLink: return ["sign-in", "email-link", address]
    case .signInWithEmailLink:
      _ = try await world.sendLink(address)
      return ["open", "--", try await world.button(try await world.mail(address))]
    case .signUpAnonymously: return ["sign-in", "anonymous"]
    case .refresh:
      try await world.linkctl("sign-in", "anonymous")
      return ["token", "--force-refresh"]
    case .createUser: return ["create-user", address, "--password-stdin"]
    case .signInWithPassword: return ["sign-in", "password", address, "--password-stdin"]
    case .sendPasswordReset: return ["account", "reset-password", address]
    case .sendEmailVerification:
      try await signIn(address, world)
      return ["account", "verify-email"]
    // A changed profile is looked at anew.
    case .updateProfile, .lookup:
      try await signIn(address, world)
      return ["account", "profile", "--display-name", "Ada"]
    case .deleteUser:
      try await signIn(address, world)
      return ["account", "delete", "--yes"]
    case .unlink:
      try await signIn(address, world)
      return ["account", "unlink", "password", "--yes"]
    case .signInWithCustomToken: return ["sign-in", "custom-token", "--token-stdin"]
    case .signInWithCredential:
      let claims = World.Claims("sub-\(address)")
      _ = try await world.madeElsewhere(by: "google.com", claims)
      try await signIn(address, world)
      let flow = try await world.withCredential("google.com", claims, options: "{'purpose': <'link'>}")
      _ = try await world.conflict(flow)
      return ["resolve", flow, "switch"]
    case .signInWithIdp:
      try await world.pagesChoose(World.Claims("g-1", address))
      let started = try await world.linkctl("sign-in", "google.com", "--no-browser", "--no-wait")
      let page = try #require(started.stdout.split(separator: "\n").last.map(String.init), "\(started)")
      let back = try await world.run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", page])
      return ["open", "--", back.stdout]
    case .checkActionCode, .applyActionCode:
      return ["open", "--", try await mailedLink("VERIFY_EMAIL", address, world)]
    case .resetPassword:
      let link = try await mailedLink("PASSWORD_RESET", address, world)
      let flow = try #require(try await world.json("open", link).first?["flow"] as? String)
      // What the code does is known.
      try await world.eventually("the check") {
        try await world.json("flows").contains { $0["flow"] as? String == flow && $0["email"] != nil }
      }
      return ["password", flow, "--password-stdin"]
    }
  }

  private func signIn(_ address: String, _ world: World) async throws {
    try await world.linkctl("create-user", address, "--password-stdin", stdin: "correct horse battery\n")
  }

  /// A link that the server mailed to an account of its own.
  private func mailedLink(_ type: String, _ address: String, _ world: World) async throws -> String {
    let base = "/identitytoolkit.googleapis.com/v1/accounts:"
    let account = try await world.emulatorJSON(
      "POST", "\(base)signUp?key=x", "{\"email\":\"\(address)\",\"password\":\"correct horse\"}")
    let token = try #require(account["idToken"] as? String)
    let who = type == "VERIFY_EMAIL" ? "\"idToken\":\"\(token)\"" : "\"email\":\"\(address)\""
    _ = try await world.emulatorJSON("POST", "\(base)sendOobCode?key=x", "{\"requestType\":\"\(type)\",\(who)}")
    return try await world.mail(address)
  }
}
