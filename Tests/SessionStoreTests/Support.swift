import AuthCore
import Crypto
import Foundation
import TestSupport
import Testing

@testable import SessionStore

/// A state folder with its lock, and stores in it.
final class Fixture {
  let scratch: Scratch
  let lock: StateLock
  let key = Secret([UInt8](repeating: 0x5a, count: 32))
  let header = StoreHeader(keyID: [UInt8](repeating: 1, count: 16), keyStore: "file")

  init() throws {
    scratch = try Scratch()
    // Moved out by hand: #require can't take what isn't copyable.
    guard let lock = try StateLock.acquire(folder: scratch.file("state")) else { throw StoreError.busy }
    self.lock = lock
  }

  var path: String { lock.folder + "/linkd.sqlite" }

  /// A store without its key.
  func openLocked(busyTimeout: Int32 = 2000) throws -> SessionStore {
    try SessionStore(holding: lock, busyTimeout: busyTimeout)
  }

  func open() throws -> SessionStore {
    let store = try openLocked()
    try store.unlock(key, header: header)
    return store
  }

  /// What sqlite3 says to `sql`: a program that knows nothing of ours.
  @discardableResult
  func sqlite3(_ sql: String) throws -> String {
    let result = try Subprocess.runBlocking(["sqlite3", "-batch", path], stdin: sql + "\n")
    try #require(result.status == 0, "\(result.stderr)")
    return result.stdout
  }

  var bytes: [UInt8] {
    get throws { try [UInt8](Data(contentsOf: URL(fileURLWithPath: path))) }
  }

  func write(_ bytes: [UInt8]) throws {
    for name in [path + "-wal", path + "-shm"] { unlink(name) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }

  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: lock.folder).sorted() }
  }
}

func mode(_ path: String) throws -> mode_t {
  var status = stat()
  try #require(lstat(path, &status) == 0)
  return status.st_mode & 0o7777
}

let production = SessionKey(app: AppID("demo")!, backend: .production)
let emulator = SessionKey(app: AppID("demo")!, backend: Backend("127.0.0.1:9099")!)
let other = SessionKey(app: AppID("other")!, backend: .production)

func makeFlow(_ id: String, _ key: SessionKey = production, createdAt: Int64 = 1000) -> Flow {
  var flow = Flow(
    id: FlowID(id)!, key: key, purpose: .signIn, method: .emailLink, createdAt: createdAt,
    expiresAt: createdAt + 86_400)
  flow.email = "\(id)@example.com"
  flow.linkTokenHash = SHA256.hash("token of \(id)")
  flow.stage = .waitingForLink
  return flow
}

func makeSession(_ key: SessionKey = production, uid: String = "uid-1") -> Session {
  Session(
    key: key, user: User(uid: uid), method: .emailLink, refreshToken: Secret("refresh of \(uid)"),
    idToken: Secret("id token of \(uid)"), idTokenReceivedAt: 5000, idTokenLifetime: 3600)
}

/// A flow of which every property differs from a fresh one's.
func fullFlow() -> Flow {
  var flow = Flow(
    id: FlowID("full")!, key: emulator, purpose: .link, method: .provider("google.com"), createdAt: 11, expiresAt: 22)
  flow.stage = .exchanging
  flow.sequence = 7
  flow.caller = "flatpak:com.example.App"
  flow.starter = ":1.42"
  flow.email = "zoë@example.com"
  flow.linkTokenHash = SHA256.hash("token")
  flow.protectedUID = "protected"
  flow.anonymousUID = "guest"
  flow.linkProvider = "github.com"
  flow.forceSameDevice = true
  flow.continueURL = "https://app.example.com/done?a=1#b"
  flow.locale = "zh-Hant-TW"
  flow.tenantID = "tenant"
  flow.canResendAt = -1
  flow.mailPending = true
  flow.code = Secret("code-one")
  flow.queuedCode = Secret("code-two")
  flow.attempts = 3
  flow.answer = TokenGrant(
    idToken: Secret("granted id"), refreshToken: Secret("granted refresh"), expiresIn: 3599, isNewUser: true)
  flow.error = .networkUnavailable
  flow.canRetry = true
  flow.resultUID = "result"
  flow.isNewUser = true
  flow.actionKind = .verifyAndChangeEmail
  flow.isCodeChecked = true
  flow.isConfirmed = true
  flow.previousEmail = "before@example.com"
  flow.wantsNewPassword = true
  flow.displayName = "Ada"
  flow.errorDetail = "Why it failed"
  flow.errorCause = "cause.port-taken"
  flow.opensBrowser = true
  flow.linkUID = "linked"
  flow.authorizationOptions = fullAuthorizationOptions()
  flow.authorization = fullAuthorization()
  flow.credential = fullCredential()
  flow.conflict = .credentialAlreadyInUse
  flow.existingUID = "existing"
  flow.isUpgraded = true
  flow.previousUID = "previous"
  flow.signInMethods = ["password", "google.com"]
  flow.endedAt = .max
  flow.phoneNumber = "+15555550100"
  flow.verification = fullVerification()
  flow.secondFactor = fullSecondFactor()
  flow.totpEnrollment = TOTPEnrollment(
    secret: Secret("JBSWY3DPEHPK3PXP"), digits: 8, period: 60, algorithm: "SHA256", sessionInfo: Secret("enrollment"),
    endsAt: 33)
  flow.phoneProof = .temporaryProof(Secret("proof"), phoneNumber: "+15555550101")
  flow.factorUID = "factor"
  return flow
}

func fullVerification() -> PendingVerification {
  var verification = PendingVerification()
  verification.sessionInfo = Secret("session info")
  verification.code = Secret("123456")
  verification.attemptsLeft = 2
  verification.isUnanswered = true
  verification.page = fullAuthorization()
  verification.recaptchaToken = Secret("recaptcha")
  return verification
}

func fullSecondFactor() -> PendingSecondFactor {
  var phone = SecondFactor(uid: "one", kind: .phone)
  phone.displayName = "Mine"
  phone.phoneNumber = "+*******0100"
  phone.enrolledAt = 44
  var pending = PendingSecondFactor(
    credential: Secret("pending"), factors: [phone, SecondFactor(uid: "two", kind: .totp)])
  pending.chosen = "two"
  pending.earlier = [
    "one": PendingSecondFactor.Earlier(attemptsLeft: 5, canResendAt: 55),
    "two": PendingSecondFactor.Earlier(attemptsLeft: 3, canResendAt: nil),
  ]
  return pending
}

func fullAuthorizationOptions() -> AuthorizationOptions {
  var options = AuthorizationOptions()
  options.scopes = ["openid", "a b"]
  options.customParameters = ["prompt": "consent", "": "x"]
  options.loginHint = "zoë@example.com"
  options.redirect = .loopback
  return options
}

func fullAuthorization() -> PendingAuthorization {
  PendingAuthorization(
    url: Secret("https://id.example.com/authorize?state=s"),
    returnURIs: ["http://127.0.0.1:5000/callback", "com.example.linkd://oauth/callback"], sessionID: Secret("session"),
    client: PendingAuthorization.Client(
      metadata: ProviderMetadata(
        issuer: "https://id.example.com", authorizationEndpoint: "https://id.example.com/authorize",
        tokenEndpoint: "https://id.example.com/token", jwksURI: "https://id.example.com/keys", promisesIssuer: true,
        usesBasicAuthentication: true),
      clientID: "client", redirectURI: "http://127.0.0.1:5000/callback", codeVerifier: Secret("verifier"),
      rawNonce: Secret("nonce")))
}

func fullCredential() -> OAuthCredential {
  var credential = OAuthCredential(providerID: "oidc.line")
  credential.idToken = Secret("id token")
  credential.accessToken = Secret("access token")
  credential.accessTokenSecret = Secret("access token secret")
  credential.rawNonce = Secret("raw nonce")
  credential.pendingToken = Secret("pending token")
  credential.requestURI = Secret("request uri")
  credential.sessionID = Secret("session id")
  credential.expiresIn = 3599
  credential.fullName = OAuthCredential.FullName(given: "Ada", family: "Lovelace")
  return credential
}

/// A user of whom every property differs from a fresh one's.
func fullUser() -> User {
  var provider = LinkedProvider(providerID: "google.com")
  provider.uid = "g-1"
  provider.email = "g@example.com"
  provider.displayName = "G"
  provider.photoURL = "https://example.com/g.png"
  provider.phoneNumber = "+491"
  var factor = SecondFactor(uid: "f-1", kind: .totp)
  factor.displayName = "Phone"
  factor.phoneNumber = "+49***1"
  factor.enrolledAt = 99
  var user = User(uid: "full")
  user.email = "full@example.com"
  user.emailVerified = true
  user.displayName = "Full\0Name"
  user.photoURL = "https://example.com/p.png"
  user.phoneNumber = "+492"
  user.isAnonymous = true
  user.tenantID = "tenant"
  user.createdAt = 1
  user.lastSignInAt = 2
  user.providers = [provider, LinkedProvider(providerID: "password")]
  user.secondFactors = [factor, SecondFactor(uid: "f-2", kind: .phone)]
  return user
}

/// Names of the properties that `full` and `fresh` have in common: a test that compares `full` after a round trip would miss
/// them. A new property is among them until the test sets it.
func unset(_ full: some Any, _ fresh: some Any) -> [String] {
  zip(Mirror(reflecting: full).children, Mirror(reflecting: fresh).children).compactMap { full, fresh in
    String(reflecting: full.value) == String(reflecting: fresh.value) ? full.label : nil
  }
}
