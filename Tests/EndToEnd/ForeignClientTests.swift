import Foundation
import TestSupport
import Testing

private let hasForeignClient =
  access("/usr/bin/oathtool", X_OK) == 0
  && (try? Subprocess.runBlocking(["/usr/bin/python3", "-c", "import dbus_next"], environment: [:]).status) == 0

/// `second_factors.py`: a Python program by dbus-next, for which nothing of ours was made.
@Suite(
  "A D-Bus client that isn't ours", .timeLimit(.minutes(3)),
  .enabled(if: hasForeignClient, "needs python3-dbus-next and oathtool"))
struct ForeignClientTests {
  /// What a person would do, as `--ask` has it: messages are read, pages gone through, an authenticator app asked.
  private func person(_ world: World) throws -> String {
    let codes = "http://\(world.emulatorAddress)/emulator/v1/projects/\(World.project)/verificationCodes"
    let (asked, secret) = (world.home.file("asked"), world.home.file("secret"))
    let last = "import json, sys; print(json.load(sys.stdin)['verificationCodes'][-1]['code'])"
    return try world.home.write(
      """
      #!/bin/sh
      echo "$@" >>'\(asked)'
      case "$1" in
        password) echo 'correct horse' ;;
        code) curl -fsS '\(codes)' | /usr/bin/python3 -c "\(last)" ;;
        page) linkctl open --no-wait "$(curl -fsS -o /dev/null -w '%{redirect_url}' "$2")" >&2 ;;
        new-app) echo "$2" >'\(secret)'; oathtool --totp --base32 "$2" ;;
        # Each code counts once: every one is of another half minute.
        app-code)
          now=$(($(date +%s) + 30 * $(grep -c app-code '\(asked)')))
          oathtool --totp --base32 --now "@$now" "$(cat '\(secret)')" ;;
      esac
      """, to: "person", executable: true)
  }

  /// Runs the script; the ends of its flows.
  @discardableResult
  private func script(_ world: World, _ arguments: String...) async throws -> [[String: Any]] {
    let argv = ["/usr/bin/python3", "\(World.root)/Tests/EndToEnd/second_factors.py", "--ask", try person(world)]
    let result = try await world.run(argv + arguments)
    #expect(result.status == 0, "\(arguments): \(result.stderr)\n\(world.log)")
    return try result.stdout.split(separator: "\n").map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:]
    }
  }

  private func asked(_ world: World) -> [String] {
    ((try? String(contentsOfFile: world.home.file("asked"), encoding: .utf8)) ?? "").split(separator: "\n").map {
      String($0.split(separator: " ")[0])
    }
  }

  /// The mail to Ada is opened as soon as it's there.
  private func openMail(_ world: World) async throws {
    let link = try await world.button(try await world.mail("ada@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", link).status == 0)
  }

  @Test("signs in by a phone number, through the page that tells people from programs")
  func phone() async throws {
    let world = try await World.start()
    try await world.control("PATCH", "phone", ["captcha": true])
    try await world.pagesChoose(World.Claims("anybody"))
    let ends = try await script(world, "sign-in", "phone", World.ownNumber)
    #expect(ends.count == 1 && ends[0]["stage"] as? String == "succeeded" && ends[0]["method"] as? String == "phone")
    #expect(asked(world) == ["page", "code"])
    #expect(try await world.whoami()["phone-number"] as? String == World.ownNumber)
  }

  @Test(
    "adds an authenticator app, signs in with it after a password, a mailed link and a provider, and deletes the account after an old login",
    arguments: ["password", "link", "provider"])
  func factor(_ method: String) async throws {
    let world = try await World.start()
    try await world.offerFactors()
    let uid = try await world.signIn(by: .password)
    let claims = World.Claims("gh-ada", "ada@example.com")
    try await world.linkElsewhere("github.com", claims)
    try await world.administrate(uid, ["emailVerified": true])
    try await script(world, "enroll-totp", "My phone")
    let factors = try await world.whoami()["second-factors"] as? [[String: Any]]
    #expect(factors?.count == 1 && factors?.first?["kind"] as? String == "totp")
    #expect(factors?.first?["display-name"] as? String == "My phone")
    #expect(try await world.linkctl("sign-out").status == 0)

    let firsts = try await world.firstFactors()
    try await world.pagesChoose(claims)
    async let mail: Void = method == "link" ? openMail(world) : ()
    try await script(world, "sign-in", method, method == "provider" ? "github.com" : "ada@example.com")
    try await mail
    #expect(try await world.uid() == uid)
    #expect(asked(world).last == "app-code")
    #expect(try await world.firstFactors() == firsts + 1)

    try await world.lapseLogins()
    async let second: Void = method == "link" ? openMail(world) : ()
    let ends = try await script(world, "delete")
    try await second
    #expect(ends.map { $0["purpose"] as? String } == ["reauthenticate", "delete-user"])
    #expect(ends.allSatisfy { $0["stage"] as? String == "succeeded" })
    #expect(asked(world).filter { $0 == "app-code" }.count == 2)
    #expect(try await world.serverAccount(uid) == nil)
    #expect(try await world.uid() == nil)
    #expect(try await world.firstFactors() == firsts + 2)
  }
}
