import Foundation
import TestSupport
import Testing

/// The published links of kind `appVerification` against running programs: with the flow's own event in the place of the
/// published one, and as they are, which is somebody else's (field report B095).
@Suite("App verification vectors", .timeLimit(.minutes(3)))
struct PhoneVectorTests {
  /// What a flow does with its own page's answer.
  private struct Fate {
    let exit: Int32
    let state: FlowState
    var token: String?
  }

  private static func load() throws -> [(id: String, url: String, expect: [String: Any])] {
    let text = try String(contentsOfFile: "\(World.root)/Tests/Vectors/links.jsonl", encoding: .utf8)
    return try text.split(separator: "\n").compactMap { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      guard let id = object["id"] as? String, object["kind"] as? String == "appVerification",
        let url = object["url"] as? String, let expect = object["expect"] as? [String: Any]
      else { return nil }
      return (id, url, expect)
    }
  }

  /// The vectors' app, with the emulator's address, where the page is wanted.
  private func world() async throws -> World {
    let world = try await World.start(apps: [])
    let file = try Data(contentsOf: URL(fileURLWithPath: "\(World.root)/Tests/Vectors/app.json"))
    var app = try JSONSerialization.jsonObject(with: file) as? [String: Any] ?? [:]
    app["emulator"] = world.emulatorAddress
    let folder = world.home.file("config/linkd/apps.d")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try JSONSerialization.data(withJSONObject: app).write(to: URL(fileURLWithPath: "\(folder)/demo.json"))
    try await world.setPhone(["captcha": true])
    return world
  }

  private func fate(_ expect: [String: Any]) -> Fate {
    if let token = expect["recaptchaToken"] as? String {
      // It's none of the page's, which the server says.
      return Fate(exit: 0, state: FlowState("failed", "CaptchaFailed"), token: token)
    }
    switch expect["error"] as? String {
    case "auth/network-request-failed":
      return Fate(exit: 0, state: FlowState("waiting-for-captcha", "NetworkUnavailable"))
    case nil: return Fate(exit: 65, state: FlowState("failed", "CaptchaFailed"))
    default: return Fate(exit: 0, state: FlowState("failed", "CaptchaFailed"))
    }
  }

  @Test("B095: each ends its flow, or leaves it waiting, as published; in a foreign event's name it's nobody's")
  func all() async throws {
    let world = try await world()
    let vectors = try Self.load()
    #expect(vectors.map(\.id).sorted().filter { ["R02", "R03", "R04", "R05", "R11"].contains($0) }.count == 5)
    for (index, vector) in vectors.enumerated() {
      let note = Comment(rawValue: vector.id)
      let number = "+15555550\(200 + index)"
      let page = try await world.toPage("SignIn.SignInWithPhoneNumber", [number])
      // Somebody else's.
      for verdict in [
        try await world.json("can-handle", vector.url).last, try await world.json("open", "--no-wait", vector.url).last,
      ] {
        #expect(verdict?["handled"] as? Bool == false && verdict?["reason"] as? String == "noPendingRequest", note)
        #expect(verdict?["flow"] == nil, note)
      }
      #expect(try await world.linkctl("open", vector.url).status == 3, note)
      #expect(try await world.state(page.id) == FlowState("waiting-for-captcha"), note)
      // The flow's own.
      let own = vector.url.replacing("EVTABCDEFG", with: page.token)
      let fate = fate(vector.expect)
      let can = try #require(try await world.json("can-handle", own).last, note)
      #expect(can["kind"] as? String == "appVerification" && can["flow"] as? String == page.id, note)
      #expect(can["handled"] as? Bool == (fate.exit == 0), note)
      #expect(can["reason"] as? String == vector.expect["reject"] as? String, note)
      #expect(try await world.state(page.id) == FlowState("waiting-for-captcha"), note)
      #expect(try await world.linkctl("open", "--no-wait", own).status == fate.exit, note)
      try await world.wait(for: page, fate.state.stage, fate.state.error)
      let sent = try await world.records("sendVerificationCode").compactMap { $0["body"] as? [String: Any] }
        .filter { $0["phoneNumber"] as? String == number }
      #expect(sent.map { $0["recaptchaToken"] as? String } == [nil] + (fate.token.map { [$0] } ?? []), note)
      #expect(try await world.messages(number).isEmpty, note)
    }
  }
}
