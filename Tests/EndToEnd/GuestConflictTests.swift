import Foundation
import TestSupport
import Testing

/// A guest whose sign-in leads to an account that exists: the `anonymous-upgrade` conflict.
@Suite("Guests who have an account already", .timeLimit(.minutes(3)))
struct GuestConflictTests {
  static let error = "org.linkd.Auth1.Error."
  static let options = ["switch", "keep", "cancel"]

  /// A guest, an account of Ada's, and a sign-in by password that stands in conflict.
  func inConflict(_ world: World) async throws -> (guest: String, ada: String, flow: String) {
    let ada = try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    let flow = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    let conflict = try await world.conflict(flow)
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == ada)
    return (guest, ada, flow)
  }

  /// The guest is who's there, and their tokens work.
  func isStill(_ guest: String, _ world: World) async throws {
    #expect(try await world.uid() == guest)
    #expect(try await world.whoami()["is-anonymous"] as? Bool == true)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  // MARK: Mailed links

  @Test(
    "B026: the first link is used up, a second is mailed and says so; then both uids, and one change to the account")
  func mailedLink() async throws {
    let world = try await World.startUpgrading()
    let ada = try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    let monitor = try await BusMonitor(world)
    let flow = try await world.sendLink("ada@example.com")
    let first = try await world.mail("ada@example.com")
    let used = try await world.button(first)
    #expect(try await world.linkctl("open", "--no-wait", used).status == 0)
    // The server spent the code on saying no: that mail is gone, another one is there.
    try await world.eventually("the second mail") {
      let mails = try await world.mails("ada@example.com")
      return mails.count == 1 && mails[0] != first
    }
    let waiting = try await world.flow(flow, at: "waiting-for-link")
    #expect(waiting["error"] as? String == Self.error + "EmailAlreadyInUse")
    #expect((waiting["message"] as? String)?.contains("A new link has been mailed") == true)
    #expect(waiting["email"] as? String == "ada@example.com")
    try await isStill(guest, world)
    // The used up one changes nothing.
    try await world.linkctl("open", "--no-wait", used)
    #expect(try await world.flow(flow).stage == "waiting-for-link")
    let second = try await world.button(try await world.mail("ada@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", second).status == 0)
    let conflict = try await world.conflict(flow)
    #expect(conflict["kind"] as? String == "anonymous-upgrade" && conflict["options"] as? [String] == Self.options)
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == ada)
    #expect(conflict["email"] as? String == "ada@example.com")
    #expect((conflict["message"] as? String)?.contains("what you did as a guest stays behind") == true)
    #expect(try await world.uid() == guest)
    let end = try await world.flow(flow, at: "succeeded")
    #expect(end["upgraded"] as? Bool == false && end["previous-uid"] as? String == guest)
    #expect(end["is-new-user"] as? Bool == false)
    #expect(try await world.uid() == ada)
    #expect(try await world.signInMethod() == "emailLink")
    try await world.run(["gdbus", "emit", "--session", "--object-path", "/probe", "--signal", "org.example.Probe.End"])
    try await world.eventually("the end") { monitor.output.contains("member=End") }
    #expect(monitor.count("StateChanged", "\"\(ada)\"") == 1)
    // Nobody saw a moment without anybody, nor an address.
    let all = monitor.output.components(separatedBy: "signal time=").filter { $0.contains("member=StateChanged") }
    #expect(all.allSatisfy { $0.contains(guest) || $0.contains(ada) })
    #expect(!monitor.output.contains("ada@example.com"))
    // Both mails and both flows are this one's.
    #expect(try await world.requests("accounts:sendOobCode") == 2)
    #expect(try await world.requests("accounts:signInWithEmailLink") == 3)
  }

  @Test("B108: what goes on after the conflict is the inner link that was used, not the wrapper it came in")
  func wrapped() async throws {
    let world = try await World.startUpgrading()
    let ada = try await world.madeElsewhere("ada@example.com")
    _ = try await world.becomeGuest()
    let flow = try await world.sendLink("ada@example.com")
    func safelink(_ link: String) -> String {
      let inner = link.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
      return "https://eur01.safelinks.protection.outlook.com/?url=\(inner)&data=05%7C02&sdata=x&reserved=0"
    }
    let first = try await world.mail("ada@example.com")
    #expect(try await world.linkctl("open", "--no-wait", safelink(first)).status == 0)
    try await world.eventually("the second mail") { try await world.mails("ada@example.com").first != first }
    try await world.flow(flow, at: "waiting-for-link")
    let second = safelink(try await world.mail("ada@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", second).status == 0)
    #expect(try await world.conflict(flow)["email"] as? String == "ada@example.com")
    #expect(try await world.flow(flow, "ResolveConflict", "switch").status == 0)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == ada)
  }

  // MARK: The choices

  @Test(
    "B109: the conflict is an event with its two uids, and what is chosen happens at once",
    arguments: ["switch", "keep", "cancel"])
  func choices(_ choice: String) async throws {
    let world = try await World.startUpgrading()
    let monitor = try await BusMonitor(world)
    let (guest, ada, flow) = try await inConflict(world)
    try await world.eventually("the signal") { monitor.count("StageChanged", "\"conflict\"") == 1 }
    for word in ["new-link", "both"] {
      let refused = try await world.flow(flow, "ResolveConflict", word)
      #expect(refused.stderr.contains("InvalidArgs"), "\(word): \(refused)")
    }
    #expect(try await world.flow(flow).stage == "conflict")
    #expect(try await world.flow(flow, "ResolveConflict", choice).status == 0)
    let end = try await world.flow(flow, at: choice == "switch" ? "succeeded" : "cancelled")
    if choice == "switch" {
      #expect(end["previous-uid"] as? String == guest && end["upgraded"] as? Bool == false)
      #expect(try await world.uid() == ada)
      #expect(try await world.signInMethod() == "password")
    } else {
      try await isStill(guest, world)
    }
    let late = try await world.flow(flow, "ResolveConflict", choice)
    #expect(late.stderr.contains("NoSuchFlow"), "\(late)")
    #expect(try await world.serverAccount(ada) != nil)
  }

  @Test("at the terminal: the question, an answer, and what became of the guest; in a script it settles itself")
  func terminal() async throws {
    let world = try await World.startUpgrading()
    let ada = try await world.madeElsewhere("ada@example.com")
    let guest = try await world.becomeGuest()
    let asked = try WorldTerminal(world, "sign-in", "password", "ada@example.com")
    try await asked.shows("Password:", isSecret: true)
    asked.type("correct horse")
    try await asked.shows("What should be done?")
    asked.type("2")
    #expect(asked.end() == 130)
    try await isStill(guest, world)
    let flow = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    _ = try await world.conflict(flow)
    #expect(try await world.linkctl("resolve", flow, "keep").status == 130)
    try await isStill(guest, world)
    let lines = try await world.json(
      "sign-in", "password", "ada@example.com", "--password-stdin", stdin: "correct horse")
    let met = try #require(lines.first { $0["stage"] as? String == "conflict" }?["conflict"] as? [String: Any])
    #expect(met["anonymous-uid"] as? String == guest && met["existing-uid"] as? String == ada)
    #expect(lines.last?["stage"] as? String == "succeeded" && lines.last?["previous-uid"] as? String == guest)
    #expect(try await world.uid() == ada)
    // Answered by another command, and waited for.
    #expect(try await world.linkctl("sign-out").status == 0)
    let next = try await world.becomeGuest()
    let again = try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse")
    _ = try await world.conflict(again)
    let resolved = try await world.linkctl("resolve", again, "switch")
    #expect(resolved.status == 0 && resolved.stderr.contains("stayed with the guest"), "\(resolved)")
    #expect(next != guest)
    #expect(try await world.uid() == ada)
  }

  // MARK: What happens meanwhile

  @Test("killed while both accounts are there: the guest is still who's there, and the account comes by itself")
  func killed() async throws {
    let world = try await World.startUpgrading()
    let (guest, ada, flow) = try await inConflict(world)
    try await world.killDaemon()
    let conflict = try await world.conflict(flow)
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == ada)
    #expect(try await world.uid() == guest)
    let end = try await world.flow(flow, at: "succeeded")
    #expect(end["previous-uid"] as? String == guest)
    #expect(try await world.uid() == ada)
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  @Test("who signs out while both accounts are there is signed out of both")
  func signedOut() async throws {
    let world = try await World.startUpgrading()
    let (_, _, flow) = try await inConflict(world)
    #expect(try await world.linkctl("sign-out").status == 0)
    try await world.flow(flow, at: "cancelled")
    #expect(try await world.uid() == nil)
  }

  @Test("the guests of two apps, and two sign-ins of one, don't get each other's accounts")
  func twoAtOnce() async throws {
    let world = try await World.startUpgrading(apps: ["demo", "other"])
    let (ada, bob) = (
      try await world.madeElsewhere("ada@example.com"), try await world.madeElsewhere("bob@example.com")
    )
    let guest = try await world.becomeGuest()
    let otherGuest = try await world.becomeGuest(app: "other")
    #expect(guest != otherGuest)
    func begin(_ name: String, _ app: String) async throws -> String {
      try await world.begin("SignIn.SignInWithPassword", "\(name)@example.com", "correct horse", app: app)
    }
    // All at the same moment, for nobody waits for long there.
    try await world.fault(["path": "accounts:lookup", "hold-before-handling": true])
    let flows = [try await begin("ada", "demo"), try await begin("bob", "demo"), try await begin("ada", "other")]
    try await world.eventually("the lookups") { try await world.requests("accounts:signInWithPassword") == 3 }
    try await world.clearFaults()
    for (flow, uids) in zip(flows, [(guest, ada), (guest, bob), (otherGuest, ada)]) {
      let conflict = try await world.conflict(flow)
      #expect(conflict["anonymous-uid"] as? String == uids.0 && conflict["existing-uid"] as? String == uids.1)
    }
    #expect(try await world.flow(flows[1], "ResolveConflict", "cancel").status == 0)
    #expect(try await world.flow(flows[0], "ResolveConflict", "switch").status == 0)
    try await world.flow(flows[0], at: "succeeded")
    #expect(try await world.uid() == ada)
    #expect(try await world.flow(flows[1]).stage == "cancelled")
    #expect(try await world.flow(flows[2], "ResolveConflict", "keep").status == 0)
    #expect(try await world.uid(app: "other") == otherGuest)
  }
}
