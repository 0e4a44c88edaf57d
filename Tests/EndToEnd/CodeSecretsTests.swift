import Foundation
import TestSupport
import Testing

/// What phones and second factors must keep to themselves (behaviour: Phone, Second factors; contract: What is broadcast).
@Suite("Nothing of phones and factors gets out", .timeLimit(.minutes(2)))
struct CodeSecretsTests {
  private static let number = "+15555550147"
  private static let second = "+15555550158"

  /// All that anybody may read of the flows and the app by D-Bus.
  private func objects(_ world: World) async throws -> String {
    try await world.gdbus("/org/linkd/Auth1", "org.freedesktop.DBus.ObjectManager.GetManagedObjects").stdout
  }

  /// Every value of a member of that name in the requests that the server has got.
  private func sent(_ name: String, _ world: World) async throws -> Set<String> {
    func values(_ value: Any) -> [String] {
      if let object = value as? [String: Any] {
        return (object[name] as? String).map { [$0] } ?? [] + object.values.flatMap(values)
      }
      return (value as? [Any])?.flatMap(values) ?? []
    }
    return Set(try await world.records("").flatMap { values($0["body"] ?? "") })
  }

  /// - Parameter shown: what was in properties, besides the values that may be read there.
  private func nowhere(
    _ secrets: [String: String], _ world: World, _ monitor: BusMonitor, shown: String, besides: Set<String> = []
  ) throws {
    #expect(world.log.contains("<6>"))
    let folder = world.home.file("state/linkd")
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0 != "key" }
    #expect(!files.isEmpty)
    for (name, value) in secrets {
      #expect(value.count > 5, "\(name) is missing")
      #expect(!world.log.contains(value), "\(name) is in the log")
      #expect(!monitor.output.contains(value), "\(name) was broadcast")
      if !besides.contains(name) { #expect(!shown.contains(value), "\(name) is in properties") }
      for file in files {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)"))
        #expect(bytes.range(of: Data(value.utf8)) == nil, "\(name) is in \(file)")
      }
    }
  }

  private func settled(_ monitor: BusMonitor, _ world: World) async throws {
    try await world.run(["gdbus", "emit", "--session", "--object-path", "/probe", "--signal", "org.example.Probe.End"])
    try await world.eventually("the last signal") { monitor.output.contains("member=End") }
  }

  @Test("by phone: number, code, session, the page's event and token")
  func phone() async throws {
    let world = try await World.start()
    try await world.setPhone(["captcha": true])
    let monitor = try await BusMonitor(world)
    let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [Self.number])
    var shown = try await objects(world)
    let back = try await world.press("continue", page)
    // A foreign one, the true one, a second one.
    try await world.linkctl("open", "--no-wait", back.replacing(page.token, with: "EVTABCDEFG"))
    #expect(try await world.linkctl("open", "--no-wait", back).status == 0)
    try await world.flow(page.id, at: "waiting-for-code")
    try await world.linkctl("open", "--no-wait", back)
    shown += try await objects(world)
    // A wrong one, one that gets no answer, the true one while somebody looks, and one too late.
    let code = try await world.message(Self.number)
    let wrong = World.wrong(code)
    #expect(try await world.flow(page.id, "ProvideCode", wrong).status == 0)
    try await world.flow(page.id, at: "waiting-for-code", "InvalidVerificationCode")
    try await world.fault(["path": "signInWithPhoneNumber", "hold-before-handling": true, "times": 1])
    #expect(try await world.flow(page.id, "ProvideCode", code).status == 0)
    try await world.eventually("the request") { try await world.requests("signInWithPhoneNumber") == 2 }
    shown += try await objects(world)
    let session = try #require(try await sent("sessionInfo", world).first)
    let token = try #require(try await sent("recaptchaToken", world).first)
    let secrets = [
      "number": Self.number, "number without plus": String(Self.number.dropFirst()), "code": code, "wrong code": wrong,
      "session": session, "captcha token": token, "event": page.token, "query": "recaptchaToken",
      "API key": "AIzaEXAMPLEKEY0000",
    ]
    // The number that the starter gave is theirs to read.
    try nowhere(secrets, world, monitor, shown: shown, besides: ["number", "number without plus"])
    try await world.clearFaults()
    try await world.flow(page.id, at: "succeeded")
    try await world.flow(page.id, "ProvideCode", code)
    try await settled(monitor, world)
    try nowhere(secrets, world, monitor, shown: shown, besides: ["number", "number without plus"])
  }

  @Test("second factors: the secret, its URI, codes, the pending credential, numbers")
  func factors() async throws {
    let world = try await World.startWithFactors()
    let monitor = try await BusMonitor(world)
    _ = try await world.verifiedAccount("planted.user@example.com")
    func signIn() async throws -> String {
      try await world.begin("SignIn.SignInWithPassword", "planted.user@example.com", "correct horse")
    }
    try await world.flow(try await signIn(), at: "succeeded")
    var shown = ""
    let (flow, secret, uri) = try await world.beginTOTP("Planted app")
    shown += try await objects(world)
    let first = try await world.totp(secret)
    try await world.answer(flow, code: first)
    let enrol = try await world.begin("Account.EnrollPhoneFactor", Self.second, "Planted phone")
    let enrolled = try await world.message(Self.second)
    try await world.answer(enrol, code: enrolled)
    shown += try await objects(world)
    #expect(try await world.linkctl("sign-out").status == 0)

    let stopped = try await signIn()
    let hints = try await world.hints(stopped)
    shown += try await objects(world)
    let phone = try #require(hints.first { $0["kind"] as? String == "phone" }?["uid"] as? String)
    try await world.choose(phone, stopped)
    let message = try await world.message(Self.second)
    let wrong = World.wrong(message)
    #expect(try await world.flow(stopped, "ProvideCode", wrong).status == 0)
    try await world.flow(stopped, at: "waiting-for-code", "InvalidVerificationCode")
    let app = try #require(hints.first { $0["kind"] as? String == "totp" }?["uid"] as? String)
    try await world.choose(app, stopped)
    let code = try await world.totp(secret)
    try await world.fault(["path": "mfaSignIn:finalize", "hold-before-handling": true, "times": 1])
    let asked = try await world.requests("mfaSignIn:finalize")
    #expect(try await world.flow(stopped, "ProvideCode", code).status == 0)
    try await world.eventually("the request") { try await world.requests("mfaSignIn:finalize") == asked + 1 }
    shown += try await objects(world)
    let pending = try #require(try await sent("mfaPendingCredential", world).first)
    let sessions = try await sent("sessionInfo", world)
    #expect(sessions.count == 3)
    var secrets = [
      "secret": secret, "URI": String(uri.suffix(60)), "first code": first, "enrolled by": enrolled, "message": message,
      "wrong code": wrong, "code": code, "pending credential": pending, "number": Self.second,
      "number without plus": String(Self.second.dropFirst()), "scheme": "otpauth:",
    ]
    for (index, session) in sessions.enumerated() { secrets["session \(index)"] = session }
    let readable: Set = ["number", "number without plus"]
    try nowhere(secrets, world, monitor, shown: "", besides: readable)
    // The number is its starter's while it's enrolled, and masked ever after.
    #expect(!shown.contains(secret) && !shown.contains("otpauth:") && !shown.contains(pending))
    try await world.clearFaults()
    try await world.flow(stopped, at: "succeeded")
    try await settled(monitor, world)
    let after = try await objects(world)
    #expect(!after.contains(Self.second) && after.contains("0158"))
    try nowhere(secrets, world, monitor, shown: "", besides: readable)
  }
}
