import Foundation
import TestSupport
import Testing

/// A way in which a server, or the way to it, fails.
struct ServerFault: Sendable, CustomTestStringConvertible {
  enum Cause: Sendable {
    /// A fault of the emulator's (`auth-emulator --fault`).
    case emulator([String: any Sendable])
    /// Nobody listens.
    case refused
    /// The connection is made, and then there is silence.
    case silent
    /// Production, by a certificate that nobody vouches for.
    case untrusted
  }

  let name: String
  let cause: Cause
  /// The name of the error, on D-Bus and in `HealthReason`. Each of them ends a command with 75.
  let error: String
  /// The request had its effect and the answer got lost: a link's code is spent.
  var isHandled = false
  /// Seconds the server asked to wait.
  var retryAfter = 0

  var testDescription: String { name }

  init(
    _ name: String, _ cause: Cause, _ error: String, isHandled: Bool = false, retryAfter: Int = 0
  ) {
    (self.name, self.cause, self.error) = (name, cause, "org.linkd.Auth1.Error.\(error)")
    (self.isHandled, self.retryAfter) = (isHandled, retryAfter)
  }

  static let all = [
    ServerFault("server down", .silent, "NetworkUnavailable"),
    ServerFault("refused", .refused, "NetworkUnavailable"),
    ServerFault("reset", .emulator(["reset": true]), "NetworkUnavailable"),
    ServerFault("time-out", .emulator(["hang": true]), "NetworkUnavailable"),
    ServerFault("TLS error", .untrusted, "NetworkUnavailable"),
    ServerFault("429", .emulator(["status": 429]), "TooManyRequests"),
    ServerFault(
      "429 with Retry-After", .emulator(["status": 429, "retry-after": "4"]), "TooManyRequests", retryAfter: 4),
    ServerFault("500", .emulator(["status": 500]), "ServiceUnavailable"),
    ServerFault("503", .emulator(["status": 503]), "ServiceUnavailable"),
    ServerFault("HTML 200", .emulator(["html": true, "status": 200]), "ServiceUnavailable"),
    ServerFault("HTML 403", .emulator(["html": true, "status": 403]), "ServiceUnavailable"),
    ServerFault("body cut", .emulator(["cut": true]), "NetworkUnavailable", isHandled: true),
    ServerFault("JSON cut", .emulator(["wrong-json": true]), "ServiceUnavailable"),
    ServerFault("JSON of another shape", .emulator(["other-shape": true]), "ServiceUnavailable"),
    ServerFault("empty body", .emulator(["empty": true]), "ServiceUnavailable"),
    ServerFault("100 MB body", .emulator(["huge": 104_857_600]), "ServiceUnavailable", isHandled: true),
    ServerFault("slow drip", .emulator(["drip": 1000]), "NetworkUnavailable", isHandled: true),
    ServerFault("redirect", .emulator(["redirect": "http://127.0.0.1:9/"]), "ServiceUnavailable"),
  ]
}

/// The fault matrix of servers: for each fault, what a request answers, what stays, and that it mends by itself once the
/// server does. Nothing is started anew.
@Suite("Fault matrix: servers", .timeLimit(.minutes(10)))
struct FaultMatrixTests {
  @Test(
    "B112, B115, B117: a refresh fails by name, keeps session and token, and works again", arguments: ServerFault.all)
  func refresh(_ fault: ServerFault) async throws {
    try await Turnstile.pass {
      let faulty = try await FaultyWorld.start(fault)
      let world = faulty.world
      try await signIn(faulty)
      let before = try await faulty.command("token").last["token"] as? String
      try await faulty.fail("v1/token")

      let failed = try await faulty.command("token", "--force-refresh")
      #expect(failed.last["error"] as? String == fault.error && failed.exit == 75, "\(failed)")
      #expect((failed.last["message"] as? String)?.isEmpty == false)
      var status = try #require(try await world.json("status").last)
      #expect(status["state"] as? String == "authenticated")
      #expect(status["health"] as? String == "degraded" && status["health-reason"] as? String == fault.error)
      #expect(try await world.email() == "user@example.com")
      // What lives is still handed out.
      let cached = try await faulty.command("token")
      #expect(cached.exit == 0 && cached.last["token"] as? String == before)

      try await faulty.mend()
      #expect(try await faulty.command("token", "--force-refresh").exit == 0)
      status = try #require(try await world.json("status").last)
      #expect(status["health"] as? String == "ok" && status["health-reason"] == nil)
    }
  }

  @Test(
    "B112: an exchange that fails keeps flow and code, and the same link works once the server does",
    arguments: ServerFault.all)
  func exchange(_ fault: ServerFault) async throws {
    try await Turnstile.pass {
      let faulty = try await FaultyWorld.start(fault)
      let flow = try await faulty.world.sendLink("user@example.com")
      let link = try await faulty.button("user@example.com")
      try await faulty.fail("accounts:signInWithEmailLink")

      let failed = try await faulty.command("open", link)
      #expect(failed.last["error"] as? String == fault.error && failed.exit == 75, "\(failed)")
      #expect(failed.stage["flow"] as? String == flow && failed.stage["stage"] as? String == "waiting-for-link")
      #expect(try await faulty.world.json("status").last?["state"] as? String == "unauthenticated")

      try await faulty.mend()
      let again = try await faulty.command("open", link)
      if fault.isHandled {
        // The server did its part: the code is spent, and a new mail is one step.
        #expect(again.last["error"] as? String == "org.linkd.Auth1.Error.InvalidActionCode" && again.exit == 1)
        #expect(again.stage["flow"] as? String == flow && again.stage["retry"] as? Bool == true)
        try await signIn(faulty)
      } else {
        #expect(again.exit == 0 && again.stage["flow"] as? String == flow, "\(again)")
      }
      #expect(try await faulty.world.email() == "user@example.com")
    }
  }

  @Test("a mail that can't be sent keeps the flow, and is sent once the server is well", arguments: ServerFault.all)
  func mail(_ fault: ServerFault) async throws {
    try await Turnstile.pass {
      let faulty = try await FaultyWorld.start(fault)
      try await faulty.fail("accounts:sendOobCode")

      let failed = try await faulty.command("sign-in", "email-link", "user@example.com")
      #expect(failed.last["error"] as? String == fault.error && failed.exit == 75, "\(failed)")
      #expect(failed.stage["stage"] as? String == "waiting-for-link")
      let flow = try #require(failed.stage["flow"] as? String)

      try await faulty.mend()
      if fault.retryAfter > 0 {
        let early = try await faulty.command("resend", flow)
        #expect(early.last["error"] as? String == "org.linkd.Auth1.Error.RateLimited" && early.exit == 75)
        try await faulty.world.eventually("the time the server asked for") {
          try await faulty.command("resend", flow).exit == 0
        }
      } else {
        #expect(try await faulty.command("resend", flow).exit == 0)
      }
      // A request that had its effect sent a mail too.
      let link = try await faulty.button("user@example.com", count: fault.isHandled ? 2 : 1)
      #expect(try await faulty.command("open", link).exit == 0)
      #expect(try await faulty.world.email() == "user@example.com")
    }
  }

  private func signIn(_ faulty: FaultyWorld) async throws {
    let sent = try await faulty.world.mails("user@example.com").count
    _ = try await faulty.world.sendLink("user@example.com")
    let opened = try await faulty.command("open", try await faulty.button("user@example.com", count: sent + 1))
    #expect(opened.exit == 0, "\(opened)")
  }
}
