import Foundation
import TestSupport
import Testing

/// How a guest may sign in to, or become, an account.
enum UpgradeWay: String, Sendable, CaseIterable {
  case emailLink, createUser, providerPage, credential

  static let ada = World.Claims("g-ada", "ada@example.com")

  /// Starts it for `ada@example.com`, and brings it as far as it goes by itself; the flow's id.
  func go(_ world: World) async throws -> String {
    switch self {
    case .emailLink:
      let flow = try await world.sendLink("ada@example.com")
      let link = try await world.button(try await world.mail("ada@example.com"))
      #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
      return flow
    case .createUser: return try await world.begin("SignIn.CreateUser", "ada@example.com", "correct horse")
    case .providerPage: return try await world.throughPage("google.com", Self.ada)
    case .credential: return try await world.withCredential("google.com", Self.ada)
    }
  }

  var method: String {
    switch self {
    case .emailLink: "emailLink"
    case .createUser: "password"
    case .providerPage, .credential: "google.com"
    }
  }
}

/// Guests who become users, and guests who find that they have an account (behaviour: Anonymous upgrade and conflicts).
@Suite("Guests who become users", .timeLimit(.minutes(3)))
struct UpgradeTests {
  static let error = "org.linkd.Auth1.Error."

  /// How often the bus heard that `uid` is who's there now.
  private func changes(_ monitor: BusMonitor, to uid: String) -> Int { monitor.count("StateChanged", "\"\(uid)\"") }

  /// Waits until everything that was sent has been seen.
  private func settle(_ world: World, _ monitor: BusMonitor) async throws {
    try await world.run(["gdbus", "emit", "--session", "--object-path", "/probe", "--signal", "org.example.Probe.End"])
    try await world.eventually("the end") { monitor.output.contains("member=End") }
  }

  // MARK: Nobody is in the way

  @Test(
    "B027: a guest becomes the account: the uid stays, no guest is left, and the ways in are listed",
    arguments: UpgradeWay.allCases)
  func upgraded(_ way: UpgradeWay) async throws {
    let world = try await World.startUpgrading()
    let guest = try await world.becomeGuest()
    let monitor = try await BusMonitor(world)
    let flow = try await way.go(world)
    let end = try await world.flow(flow, at: "succeeded")
    #expect(end["upgraded"] as? Bool == true && end["previous-uid"] == nil, "\(end)")
    let user = try await world.whoami()
    #expect(user["uid"] as? String == guest && user["is-anonymous"] as? Bool == false)
    #expect(user["email"] as? String == "ada@example.com")
    #expect(try await world.providers() == [way.method == "google.com" ? "google.com" : "password"])
    #expect(try await world.signInMethod() == way.method)
    #expect(try await world.serverProviders(guest) == world.providers())
    try await settle(world, monitor)
    #expect(monitor.count("StateChanged", "\"authenticated\"") == 1)
    #expect(monitor.count("ProvidersChanged", "/org/linkd") == 1)
    // Nobody but the guest was ever there.
    #expect(changes(monitor, to: guest) == monitor.count("StateChanged", "/org/linkd"))
  }

  @Test(
    "B105: an address is added by the sign-in calls with the guest's token, never by an update, whatever the project hides"
  )
  func neverUpdate() async throws {
    for way in [UpgradeWay.emailLink, .createUser] {
      let world = try await World.startUpgrading()
      try await world.hideAddresses()
      let guest = try await world.becomeGuest()
      try await world.flow(try await way.go(world), at: "succeeded")
      #expect(try await world.uid() == guest)
      #expect(try await world.requests("accounts:update") == 0)
    }
  }

  @Test(
    "with the option off a sign-in is a plain one, and says whose data stayed behind", arguments: UpgradeWay.allCases)
  func optionOff(_ way: UpgradeWay) async throws {
    let world = try await World.start()
    try await world.setOptions(["auto-upgrade-anonymous": false])
    let guest = try await world.becomeGuest()
    let end = try await world.flow(try await way.go(world), at: "succeeded")
    #expect(end["upgraded"] as? Bool == false && end["previous-uid"] as? String == guest, "\(end)")
    #expect(try await world.uid() != guest)
    #expect(try await world.email() == "ada@example.com")
    #expect(try await world.signInMethod() == way.method)
    // The guest is as it was.
    #expect(try await world.serverProviders(guest) == [])
  }

  @Test("a guest who signs in by an unknown address and a password is told so, and stays")
  func unknownAddress() async throws {
    let world = try await World.startUpgrading()
    let guest = try await world.becomeGuest()
    let lines = try await world.json(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    #expect(lines.last?["error"] as? String == Self.error + "EmailNotFound")
    #expect(try await world.uid() == guest)
  }

  @Test("a custom token signs a guest in to its account, plainly")
  func customToken() async throws {
    let world = try await World.startUpgrading()
    let guest = try await world.becomeGuest()
    let lines = try await world.json("sign-in", "custom-token", "--token-stdin", stdin: "{\"uid\":\"u-custom\"}")
    let last = try #require(lines.last)
    #expect(last["stage"] as? String == "succeeded" && last["upgraded"] as? Bool == false)
    #expect(last["previous-uid"] as? String == guest)
    #expect(try await world.uid() == "u-custom")
    #expect(try await world.signInMethod() == "custom")
  }

  // MARK: Whose guest

  @Test("B106: a sign-in that was begun without a guest is a plain one; both uids are told, and nothing was upgraded")
  func noGuestInRow() async throws {
    let world = try await World.startUpgrading()
    let flow = try await world.sendLink("ada@example.com")
    let guest = try await world.becomeGuest()
    let link = try await world.button(try await world.mail("ada@example.com"))
    let last = try #require(try await world.json("open", link).last { $0["stage"] != nil })
    #expect(last["stage"] as? String == "succeeded" && last["flow"] as? String == flow)
    #expect(last["upgraded"] as? Bool == false && last["previous-uid"] as? String == guest)
    #expect((last["user"] as? [String: Any])?["uid"] as? String != guest)
    #expect(try await world.email() == "ada@example.com")
  }

  @Test("B028: a link that another guest asked for signs in plainly")
  func otherGuest() async throws {
    let world = try await World.startUpgrading()
    let first = try await world.becomeGuest()
    _ = try await world.sendLink("ada@example.com")
    let link = try await world.button(try await world.mail("ada@example.com"))
    #expect(try await world.linkctl("sign-out").status == 0)
    let second = try await world.becomeGuest()
    #expect(second != first)
    let opened = try #require(try await world.json("open", "--no-wait", link).last?["flow"] as? String)
    #expect(try await world.flow(opened, "ProvideEmail", "ada@example.com").status == 0)
    let end = try await world.flow(opened, at: "succeeded")
    #expect(end["upgraded"] as? Bool == false && end["previous-uid"] as? String == second, "\(end)")
    #expect(![first, second].contains(try await world.uid()))
    #expect(try await world.serverProviders(first) == [])
  }

  @Test(
    "B028: a link of another device's that names this guest makes the guest the account; any other is a plain sign-in")
  func guestInLink() async throws {
    for isOurs in [true, false] {
      let world = try await World.startUpgrading()
      let guest = try await world.becomeGuest()
      let named = isOurs ? guest : "somebodyelse"
      let link = try await world.mailedElsewhere("ada@example.com", "ui_auid=\(named)")
      let flow = try #require(try await world.json("open", "--no-wait", link).last?["flow"] as? String)
      #expect(try await world.flow(flow, "ProvideEmail", "ada@example.com").status == 0)
      let end = try await world.flow(flow, at: "succeeded")
      #expect(end["upgraded"] as? Bool == isOurs, "\(end)")
      #expect((try await world.uid() == guest) == isOurs)
      #expect(end["previous-uid"] as? String == (isOurs ? nil : guest))
    }
  }

  @Test("another device's link, this guest, an address with an account: nothing is lost, and no mail goes out unasked")
  func guestInSpentLink() async throws {
    let world = try await World.startUpgrading()
    _ = try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    let link = try await world.mailedElsewhere("ada@example.com", "ui_auid=\(guest)")
    let flow = try #require(try await world.json("open", "--no-wait", link).last?["flow"] as? String)
    #expect(try await world.flow(flow, "ProvideEmail", "ada@example.com").status == 0)
    let end = try await world.flow(flow, at: "failed")
    #expect(end["error"] as? String == Self.error + "EmailAlreadyInUse")
    #expect(try await world.uid() == guest)
    #expect(try await world.mails("ada@example.com").isEmpty)
    #expect(try await world.linkctl("token").status == 0)
  }

  @Test(
    "B028: a guest who has become somebody meanwhile isn't given a second person's address: that sign-in is a plain one"
  )
  func guestBecameSomebody() async throws {
    let world = try await World.startUpgrading()
    let guest = try await world.becomeGuest()
    _ = try await world.sendLink("ada@example.com")
    let second = try await world.sendLink("bob@example.com")
    #expect(
      try await world.linkctl("open", try await world.button(try await world.mail("ada@example.com"))).status == 0)
    #expect(try await world.uid() == guest)
    #expect(
      try await world.linkctl("open", try await world.button(try await world.mail("bob@example.com"))).status == 0)
    #expect(try await world.email() == "bob@example.com")
    #expect(try await world.uid() != guest)
    #expect(try await world.serverAccount(guest)?["email"] as? String == "ada@example.com")
    #expect(try await world.flow(second).details["upgraded"] as? Bool == false)
  }

  @Test("a guest whose account is gone at the server signs in plainly, by a fresh token and by a dead one")
  func deadGuest() async throws {
    for isTokenFresh in [true, false] {
      let world = try await World.startUpgrading()
      if !isTokenFresh { try await world.fault(["path": "accounts:signUp", "expires-in": 1]) }
      let guest = try await world.becomeGuest()
      try await world.clearFaults()
      try await world.deleteElsewhere(guest)
      let lines = try await world.json("create-user", "ada@example.com", "--password-stdin", stdin: "correct horse")
      let last = try #require(lines.last)
      #expect(last["stage"] as? String == "succeeded" && last["upgraded"] as? Bool == false, "\(isTokenFresh) \(last)")
      #expect(try await world.email() == "ada@example.com")
    }
  }

  @Test("a guest's dead account keeps nobody out by a mailed link or a provider either")
  func deadGuestOtherWays() async throws {
    for way in [UpgradeWay.emailLink, .credential] {
      let world = try await World.startUpgrading()
      let guest = try await world.becomeGuest()
      try await world.deleteElsewhere(guest)
      let end = try await world.flow(try await way.go(world), at: "succeeded")
      #expect(end["upgraded"] as? Bool == false, "\(way) \(end)")
      #expect(try await world.email() == "ada@example.com")
    }
    // What the page gave out may be spent by then: the next sign-in is nobody's but Ada's.
    let world = try await World.startUpgrading()
    try await world.deleteElsewhere(try await world.becomeGuest())
    let first = try await UpgradeWay.providerPage.go(world)
    try await world.eventually("the answer") {
      let (stage, details) = try await world.flow(first)
      return ["failed", "succeeded"].contains(stage) || (stage == "waiting-for-redirect" && details["error"] != nil)
    }
    try await world.flow(try await UpgradeWay.providerPage.go(world), at: "succeeded")
    #expect(try await world.email() == "ada@example.com")
  }
}
