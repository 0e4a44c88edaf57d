import Foundation
import TestSupport
import Testing

/// The daemon dies around a second factor, and where one is part of something else.
@Suite("Second factors within other flows", .timeLimit(.minutes(4)))
struct SecondFactorRestartTests {
  private static let number = PhoneTests.number

  /// Gives a code to a daemon that stops at `point` and is killed there.
  private func killed(at point: String, _ flow: String, _ code: String, _ world: World) async throws {
    try await world.killDaemon()
    try world.setDaemon(["LINKD_PAUSE_AT": point])
    async let given = world.flow(flow, "ProvideCode", code)
    try await world.daemonIsPaused()
    try world.setDaemon([:])
    try await world.killDaemon()
    _ = try await given
  }

  private func ada(_ world: World) async throws -> FactoredAccount {
    try await world.withFactors("ada@example.com", phones: ["Mobile": Self.number])
  }

  // MARK: Killed

  @Test("before the server has seen the code: the next start shows it, once", arguments: ["App", "Mobile"])
  func unsent(_ name: String) async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    let flow = try await world.toSecondFactor(ada.address)
    try await world.choose(ada.factors[name], flow)
    let code = name == "App" ? try await world.totp(ada.secret) : try await world.message(Self.number)
    try await killed(at: "exchange-sent", flow, code, world)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.requests("mfaSignIn:finalize") == 1)
  }

  @Test("after the answer and before the commit: the message's code is spent, and the choice is there again")
  func answered() async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    let flow = try await world.toSecondFactor(ada.address)
    try await world.choose(ada.factors["Mobile"], flow)
    try await killed(at: "exchange-answered", flow, try await world.message(Self.number), world)
    try await world.flow(flow, at: "second-factor-required", "SessionExpired")
    try await world.choose(ada.factors["App"], flow)
    try await world.answer(flow, code: try await world.totp(ada.secret))
    #expect(try await world.uid() == ada.uid)
  }

  @Test("an enrollment goes on after the daemon's end, with the secret that the app has")
  func enrollment() async throws {
    let world = try await World.startWithFactors()
    _ = try await world.verifiedAccount("ada@example.com")
    try await world.flow(
      try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse"), at: "succeeded")
    let (flow, secret, uri) = try await world.beginTOTP()
    try await world.killDaemon()
    // Any program of the person's may have it now.
    let told = try await world.flow(flow, "GetSecret")
    #expect(told.stdout.contains(secret) && told.stdout.contains(uri), "\(told)")
    try await killed(at: "exchange-sent", flow, try await world.totp(secret), world)
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.factors().map { $0["kind"] as? String } == ["totp"])
    #expect(try await world.requests("mfaEnrollment:finalize") == 1)
    let phone = try await world.begin("Account.EnrollPhoneFactor", Self.number, "Mobile")
    let code = try await world.message(Self.number)
    try await world.flow(phone, at: "waiting-for-code")
    try await world.killDaemon()
    #expect(try await world.flow(phone, at: "waiting-for-code")["phone-number"] as? String == Self.number)
    try await world.answer(phone, code: code)
    #expect(try await world.factors().count == 2)
  }

  @Test("an enrollment whose answer was lost is there all the same, and is seen", arguments: ["App", "Mobile"])
  func enrollmentAnswered(_ kind: String) async throws {
    let world = try await World.startWithFactors()
    _ = try await world.verifiedAccount("ada@example.com")
    try await world.flow(
      try await world.begin("SignIn.SignInWithPassword", "ada@example.com", "correct horse"), at: "succeeded")
    let flow: String
    let code: String
    if kind == "App" {
      let begun = try await world.beginTOTP(kind)
      (flow, code) = (begun.flow, try await world.totp(begun.secret))
    } else {
      flow = try await world.begin("Account.EnrollPhoneFactor", Self.number, kind)
      code = try await world.message(Self.number)
      try await world.flow(flow, at: "waiting-for-code")
    }
    try await killed(at: "exchange-answered", flow, code, world)
    try await world.eventually("the end") { ["failed", "succeeded"].contains(try await world.flow(flow).stage) }
    try await world.eventually("the factor") {
      try await world.factors().map { $0["display-name"] as? String } == [kind]
    }
    #expect(try await world.linkctl("token", "--force-refresh").status == 0)
  }

  // MARK: Signing in again

  @Test("signing in again is stopped by a second factor, too, and the session stays as it was")
  func reauthentication() async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    let first = try await world.toSecondFactor(ada.address)
    try await world.choose(ada.factors["App"], first)
    try await world.answer(first, code: try await world.totp(ada.secret))
    let monitor = try await BusMonitor(world)
    let flow = try await world.begin("Account.Reauthenticate")
    try await world.flow(flow, at: "waiting-for-password")
    #expect(try await world.flow(flow, "ProvidePassword", "correct horse").status == 0)
    try await world.choose(ada.factors["Mobile"], flow)
    #expect(try await world.uid() == ada.uid)
    try await world.answer(flow, Self.number)
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.signInMethod() == "password")
    #expect(monitor.count("StateChanged", "\"unauthenticated\"") == 0)
    #expect(monitor.count("StateChanged", "\"authenticating\"") == 0)
  }

  @Test("what is parked goes on after a sign-in that a second factor stopped")
  func parked() async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    let first = try await world.toSecondFactor(ada.address)
    try await world.choose(ada.factors["App"], first)
    try await world.answer(first, code: try await world.totp(ada.secret))
    try await world.control("POST", "recentLogin:lapse")
    let parked = try await world.begin("Account.UnenrollFactor", try #require(ada.factors["Mobile"]))
    let details = try await world.flow(parked, at: "reauthentication-required")
    let way = try #require(details["reauthentication"] as? [String: Any])
    #expect(way["kind"] as? String == "password" && way["email"] as? String == ada.address)
    // A second passes: the server tells logins apart by it.
    try await world.eventually("another second") {
      let now = Int(Date().timeIntervalSince1970)
      return now > (details["expires-at"] as? Int ?? 0) - 600 + 1
    }
    let flow = try await world.begin("Account.Reauthenticate")
    try await world.flow(flow, at: "waiting-for-password")
    #expect(try await world.flow(flow, "ProvidePassword", "correct horse").status == 0)
    try await world.choose(ada.factors["App"], flow)
    #expect(try await world.flow(parked).stage == "reauthentication-required")
    try await world.answer(flow, code: try await world.totp(ada.secret))
    try await world.flow(parked, at: "succeeded")
    #expect(try await world.factors().map { $0["display-name"] as? String } == ["App"])
  }

  @Test("another account's second factor proves nothing: UserMismatch, and its tokens are dropped")
  func otherAccount() async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    _ = try await world.madeElsewhere("bob@example.com")
    let signedIn = try await world.begin("SignIn.SignInWithPassword", "bob@example.com", "correct horse")
    try await world.flow(signedIn, at: "succeeded")
    let bob = try await world.uid()
    let flow = try await world.withCredential(
      "google.com", World.Claims("ada", ada.address), options: "{'purpose': <'reauthenticate'>}")
    _ = try await world.hints(flow)
    try await world.choose(ada.factors["App"], flow)
    #expect(try await world.flow(flow, "ProvideCode", try await world.totp(ada.secret)).status == 0)
    try await world.flow(flow, at: "failed", "UserMismatch")
    #expect(try await world.uid() == bob)
  }

  // MARK: Accounts that collide

  @Test("B099: the sign-in that a conflict needs is stopped once, and the provider is linked then")
  func conflict() async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    let flow = try await world.withCredential("facebook.com", ConflictTests.unproven)
    #expect(try await world.conflict(flow)["kind"] as? String == "account-exists-with-different-credential")
    let signIn = try await world.toSecondFactor(ada.address)
    #expect(try await world.flow(flow).stage == "conflict")
    try await world.choose(ada.factors["App"], signIn)
    try await world.answer(signIn, code: try await world.totp(ada.secret))
    try await world.flow(flow, at: "succeeded")
    #expect(try await world.uid() == ada.uid)
    #expect(try await world.providers() == ["facebook.com", "password"])
    #expect(try await world.requests("mfaSignIn:finalize") == 1)
  }

  @Test("B099: who fails at the second factor has nothing linked")
  func conflictFailed() async throws {
    let world = try await World.startWithFactors()
    let ada = try await ada(world)
    let flow = try await world.withCredential("facebook.com", ConflictTests.unproven)
    _ = try await world.conflict(flow)
    let signIn = try await world.toSecondFactor(ada.address)
    #expect(try await world.flow(signIn, "Cancel").status == 0)
    #expect(try await world.flow(flow).stage == "conflict")
    #expect(try await world.serverProviders(ada.uid) == ["password"])
    #expect(try await world.uid() == nil)
  }

  @Test(
    "a guest who turns out to have an account with a second factor chooses after it", arguments: ["switch", "keep"])
  func guest(_ choice: String) async throws {
    let world = try await World.startWithFactors(upgrading: true)
    let ada = try await world.withFactors("ada@example.com")
    let guest = try await world.becomeGuest()
    // In one program: five seconds aren't long.
    let met = try await world.starter([
      ["begin", "SignIn.SignInWithPassword", [ada.address, "correct horse"], [:]], ["at", "second-factor-required"],
      ["call", "ProvideCode", [try await world.totp(ada.secret)]], ["at", "conflict"],
      ["call", "ResolveConflict", [choice]],
    ])
    let conflict = try #require((met["details"] as? [String: Any])?["conflict"] as? [String: Any])
    #expect(conflict["anonymous-uid"] as? String == guest && conflict["existing-uid"] as? String == ada.uid)
    let flow = try #require(met["flow"] as? String)
    try await world.flow(flow, at: choice == "switch" ? "succeeded" : "cancelled")
    #expect(try await world.uid() == (choice == "switch" ? ada.uid : guest))
  }

  // MARK: Many at once

  @Test("two apps and two sign-ins of each at once: each gets its own account by its own factor")
  func manyAtOnce() async throws {
    let world = try await World.startWithFactors(apps: ["demo", "other"])
    let numbers = ["+15555550111", "+15555550122"]
    let people = [
      try await world.withFactors("ada@example.com", phones: ["Mobile": numbers[0]]),
      try await world.withFactors("bob@example.com", phones: ["Mobile": numbers[1]]),
    ]
    var flows: [(person: Int, app: String, id: String)] = []
    for app in ["demo", "other"] {
      for person in 0...1 {
        flows.append((person, app, try await world.toSecondFactor(people[person].address, app: app)))
      }
    }
    // In the one app by message, in the other by authenticator app.
    for flow in flows {
      #expect(
        World.refusal(try await world.flow(flow.id, "ChooseFactor", people[1 - flow.person].factors["App"] ?? ""))
          == "FactorNotFound")
      try await world.choose(people[flow.person].factors[flow.app == "demo" ? "Mobile" : "App"], flow.id)
    }
    for flow in flows.reversed() {
      let person = people[flow.person]
      if flow.app == "demo" {
        try await world.answer(flow.id, code: try await world.message(numbers[flow.person]))
      } else {
        try await world.answer(flow.id, code: try await world.totp(person.secret))
      }
      #expect(try await world.uid(app: flow.app) == person.uid)
    }
  }
}
