import AuthCore
import Testing

@Suite("Session machine", .timeLimit(.minutes(1)))
struct SessionMachineTests {
  private let key: SessionKey

  init() throws { key = SessionKey(app: try #require(AppID("demo")), backend: .production) }

  private func session(_ uid: String = "u1", token: String = "ID1", anonymous: Bool = false) -> Session {
    var user = User(uid: uid)
    user.isAnonymous = anonymous
    if !anonymous { user.email = "\(uid)@example.com" }
    return Session(
      key: key, user: user, method: anonymous ? .anonymous : .emailLink, refreshToken: Secret("RT-\(uid)"),
      idToken: Secret(token), idTokenReceivedAt: 100, idTokenLifetime: 3600)
  }

  private func machine(_ session: Session? = nil, lastUser: LastUser? = nil) -> SessionMachine {
    SessionMachine(key: key, session: session, lastUser: lastUser, sequence: 10)
  }

  private func grant(_ token: String, refresh: String = "RT2", expiresIn: Int64? = 3600) -> TokenGrant {
    TokenGrant(idToken: Secret(token), refreshToken: Secret(refresh), expiresIn: expiresIn)
  }

  @Test("what the store remembers is the state, without an event")
  func restored() {
    #expect(machine().state == .unauthenticated)
    #expect(machine().health == .ok)
    let signedIn = machine(session())
    #expect(signedIn.state == .authenticated)
    #expect(signedIn.sequence == 10)
    let last = LastUser(uid: "u1", email: nil, signInMethod: "emailLink", reason: "UserDisabled")
    let forced = machine(lastUser: last)
    #expect(forced.state == .unauthenticated)
    #expect(forced.health == .attentionNeeded)
    #expect(forced.healthReason == .userDisabled)
  }

  @Test("a sign-in")
  func adopted() {
    var machine = machine()
    #expect(machine.handle(.adopted(session())) == [.save, .idTokenChanged, .stateChanged])
    #expect(machine.state == .authenticated)
    #expect(machine.user?.uid == "u1")
    #expect(machine.sequence == 11)
  }

  // Field report B126: the same state isn't told twice.
  @Test("the same session again tells nothing")
  func adoptedAgain() {
    var machine = machine(session())
    #expect(machine.handle(.adopted(session())) == [.save])
    #expect(machine.sequence == 10)
  }

  @Test("reauthentication changes the token and not the state")
  func reauthenticated() {
    var machine = machine(session())
    #expect(machine.handle(.adopted(session(token: "ID2"))) == [.save, .idTokenChanged])
    #expect(machine.sequence == 11)
    #expect(machine.session?.idToken == Secret("ID2"))
  }

  @Test("another user takes the place of the first; that isn't a change of providers")
  func switched() {
    var machine = machine(session())
    var other = session("u2", token: "ID2")
    other.user.providers = [LinkedProvider(providerID: "google.com")]
    #expect(machine.handle(.adopted(other)) == [.save, .idTokenChanged, .stateChanged])
    #expect(machine.user?.uid == "u2")
    #expect(machine.sequence == 11)
  }

  @Test("a sign-in after a forced sign-out heals")
  func healed() {
    var machine = machine(
      lastUser: LastUser(uid: "u1", email: nil, signInMethod: "emailLink", reason: "TokenRevoked"))
    #expect(machine.handle(.adopted(session())) == [.save, .idTokenChanged, .healthChanged, .stateChanged])
    #expect(machine.lastUser == nil)
    #expect(machine.health == .ok)
    #expect(machine.healthReason == nil)
  }

  @Test("a refresh")
  func refreshed() {
    var machine = machine(session())
    #expect(machine.handle(.refreshed(grant("ID2"), receivedAt: 500)) == [.save, .idTokenChanged])
    #expect(machine.session?.idToken == Secret("ID2"))
    #expect(machine.session?.refreshToken == Secret("RT2"))
    #expect(machine.session?.idTokenReceivedAt == 500)
    #expect(machine.session?.idTokenLifetime == 3600)
    #expect(machine.sequence == 11)
    // The same token with a lifetime that nobody named.
    #expect(machine.handle(.refreshed(grant("ID2", expiresIn: nil), receivedAt: 600)) == [.save])
    #expect(machine.session?.idTokenLifetime == 0)
    #expect(machine.sequence == 11)
  }

  @Test("a refresh that answers after the sign-out brings nobody back")
  func lateRefresh() {
    var machine = machine()
    #expect(machine.handle(.refreshed(grant("ID2"), receivedAt: 500)) == [])
    #expect(machine.handle(.refreshFailed(AuthFailure(.tokenRevoked))) == [])
    #expect(machine.session == nil)
    #expect(machine.lastUser == nil)
    #expect(machine.health == .ok)
    #expect(machine.sequence == 10)
  }

  // Field report B112: the short list of what ends a session.
  @Test(
    "a definite refusal signs out and says whose session it was",
    arguments: [AuthError.tokenRevoked, .userDisabled, .userNotFound])
  func refused(_ error: AuthError) {
    var machine = machine(session())
    let actions = machine.handle(.refreshFailed(AuthFailure(error)))
    #expect(actions == [.remove(uid: "u1"), .idTokenChanged, .healthChanged, .stateChanged])
    #expect(machine.session == nil)
    #expect(machine.state == .unauthenticated)
    #expect(machine.health == .attentionNeeded)
    #expect(machine.healthReason == error)
    #expect(
      machine.lastUser
        == LastUser(uid: "u1", email: "u1@example.com", signInMethod: "emailLink", reason: error.rawValue))
    #expect(machine.sequence == 11)
  }

  // Field reports B112, B115, B117: nothing else does.
  @Test(
    "everything else keeps the session",
    arguments: AuthError.allCases.filter { ![.tokenRevoked, .userDisabled, .userNotFound].contains($0) })
  func temporary(_ error: AuthError) {
    var machine = machine(session())
    #expect(machine.handle(.refreshFailed(AuthFailure(error, retryAfter: 30))) == [.healthChanged])
    #expect(machine.session == session())
    #expect(machine.state == .authenticated)
    #expect(machine.health == .degraded)
    #expect(machine.healthReason == error)
    // Told once.
    #expect(machine.handle(.refreshFailed(AuthFailure(error))) == [])
    #expect(machine.sequence == 10)
    #expect(machine.handle(.refreshed(grant("ID2"), receivedAt: 1)) == [.save, .idTokenChanged, .healthChanged])
    #expect(machine.health == .ok)
    #expect(machine.healthReason == nil)
  }

  @Test("another reason of the same health is told")
  func reasons() {
    var machine = machine(session())
    #expect(machine.handle(.refreshFailed(AuthFailure(.networkUnavailable))) == [.healthChanged])
    #expect(machine.handle(.refreshFailed(AuthFailure(.serviceUnavailable))) == [.healthChanged])
    #expect(machine.healthReason == .serviceUnavailable)
  }

  @Test("a reload tells what changed, providers by name")
  func reloaded() {
    var first = session()
    first.user.providers = ["a.com", "b.com"].map(LinkedProvider.init(providerID:))
    var machine = machine(first)
    #expect(machine.handle(.reloaded(first.user)) == [])
    #expect(machine.sequence == 10)

    var user = first.user
    user.emailVerified = true
    #expect(machine.handle(.reloaded(user)) == [.save, .stateChanged])
    #expect(machine.sequence == 11)

    user.providers = ["z.com", "b.com", "c.com"].map(LinkedProvider.init(providerID:))
    #expect(
      machine.handle(.reloaded(user))
        == [.save, .stateChanged, .providersChanged(added: ["c.com", "z.com"], removed: ["a.com"])])
    #expect(machine.sequence == 12)

    user.providers.reverse()
    #expect(machine.handle(.reloaded(user)) == [.save, .stateChanged])
  }

  @Test("a reload of somebody else changes nothing")
  func reloadedOther() {
    var machine = machine(session())
    #expect(machine.handle(.reloaded(User(uid: "u2"))) == [])
    #expect(machine.user?.uid == "u1")
    var empty = self.machine()
    #expect(empty.handle(.reloaded(User(uid: "u1"))) == [])
    #expect(empty.session == nil)
  }

  @Test("a sign-out")
  func signedOut() {
    var machine = machine(session())
    _ = machine.handle(.refreshFailed(AuthFailure(.networkUnavailable)))
    let actions = machine.handle(.signedOut)
    #expect(actions == [.remove(uid: "u1"), .idTokenChanged, .healthChanged, .stateChanged])
    #expect(machine.state == .unauthenticated)
    #expect(machine.lastUser == nil)
    #expect(machine.health == .ok)
    #expect(machine.sequence == 11)
  }

  @Test("a sign-out after a forced one forgets who it was")
  func signedOutForced() {
    var machine = machine(session())
    _ = machine.handle(.refreshFailed(AuthFailure(.userDisabled)))
    let sequence = machine.sequence
    let actions = machine.handle(.signedOut)
    #expect(!actions.contains(.stateChanged))
    #expect(actions.contains(.healthChanged))
    #expect(machine.lastUser == nil)
    #expect(machine.sequence == sequence)
  }

  @Test("authenticating only while nobody is signed in and an exchange is under way")
  func exchanging() {
    var machine = machine()
    #expect(machine.handle(.exchanging(true)) == [.stateChanged])
    #expect(machine.state == .authenticating)
    #expect(machine.handle(.exchanging(true)) == [])
    #expect(machine.handle(.exchanging(false)) == [])
    #expect(machine.state == .authenticating)
    #expect(machine.handle(.exchanging(false)) == [.stateChanged])
    #expect(machine.state == .unauthenticated)
    // One end too many doesn't count for the next beginning.
    #expect(machine.handle(.exchanging(false)) == [])
    #expect(machine.handle(.exchanging(true)) == [.stateChanged])
    #expect(machine.handle(.adopted(session())) == [.save, .idTokenChanged, .stateChanged])
    #expect(machine.handle(.exchanging(false)) == [])
    #expect(machine.sequence == 14)
  }

  @Test("an exchange beside a lasting session isn't seen")
  func exchangingSignedIn() {
    var machine = machine(session())
    #expect(machine.handle(.exchanging(true)) == [])
    #expect(machine.state == .authenticated)
    #expect(machine.sequence == 10)
  }

  @Test("a guest is a user without being signed in")
  func guest() {
    var machine = machine()
    #expect(machine.handle(.adopted(session("g", anonymous: true))) == [.save, .idTokenChanged, .stateChanged])
    #expect(machine.state == .unauthenticated)
    #expect(machine.user?.isAnonymous == true)
    #expect(machine.handle(.exchanging(true)) == [.stateChanged])
    #expect(machine.state == .authenticating)
    // The upgrade keeps the uid.
    var upgraded = session("g", token: "ID2")
    upgraded.user.providers = [LinkedProvider(providerID: "password")]
    #expect(
      machine.handle(.adopted(upgraded))
        == [.save, .idTokenChanged, .stateChanged, .providersChanged(added: ["password"], removed: [])])
    #expect(machine.state == .authenticated)
  }

  @Test(
    "a session that can't be opened is kept",
    arguments: [(SessionHealth.locked, AuthError.keyringLocked), (.unreadable, .keyringWrongKey)])
  func unavailable(_ health: SessionHealth, _ error: AuthError) {
    var machine = machine(session())
    #expect(machine.handle(.unavailable(health, error)) == [.healthChanged])
    #expect(machine.health == health)
    #expect(machine.healthReason == error)
    #expect(machine.session != nil)
    #expect(machine.handle(.unavailable(health, error)) == [])
    #expect(machine.sequence == 10)
  }

  @Test("the sequence never goes back, and grows by at most one an event")
  func sequence() {
    var machine = machine()
    let events: [SessionMachine.Event] = [
      .exchanging(true), .adopted(session()), .exchanging(false), .refreshed(grant("A"), receivedAt: 1),
      .refreshed(grant("A"), receivedAt: 2), .refreshFailed(AuthFailure(.networkUnavailable)),
      .reloaded(User(uid: "u1")),
      .signedOut, .signedOut, .adopted(session("u2")), .refreshFailed(AuthFailure(.tokenRevoked)), .signedOut,
    ]
    for event in events {
      let before = machine.sequence
      let actions = machine.handle(event)
      let signals = actions.contains { action in
        switch action {
        case .stateChanged, .idTokenChanged, .providersChanged: true
        case .save, .remove, .healthChanged: false
        }
      }
      #expect(machine.sequence == before + (signals ? 1 : 0), "\(event)")
    }
  }
}
