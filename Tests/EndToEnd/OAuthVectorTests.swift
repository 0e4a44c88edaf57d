import Foundation
import TestSupport
import Testing

/// The published links of kind `oauthRedirect`, and their companions that are none, against running programs: what `CanHandle`
/// and `Open` say, and what becomes of the flow. The state is linkd's own: the flow's stands for `STATE1`, and its port for
/// 49152, in link and expectation alike.
@Suite("OAuth vectors", .timeLimit(.minutes(5)))
struct OAuthVectorTests {
  private struct Vector {
    let id: String
    let url: String
    let kind: String
    let expect: [String: Any]

    /// With a flow's own values.
    func of(_ flow: WaitingFlow) -> Vector {
      func own(_ text: String) -> String {
        let port = Int(flow.port ?? 49152)
        return text.replacing("STATE1", with: flow.token).replacing("49153", with: "\(port == 65535 ? 1 : port + 1)")
          .replacing("49152", with: "\(port)")
      }
      return Vector(
        id: id, url: own(url), kind: kind, expect: expect.mapValues { ($0 as? String).map(own) ?? $0 })
    }

    subscript(_ name: String) -> String? { expect[name] as? String }
  }

  private static func load() throws -> [Vector] {
    let text = try String(contentsOfFile: "\(World.root)/Tests/Vectors/links.jsonl", encoding: .utf8)
    return try text.split(separator: "\n").compactMap { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
      guard let id = object["id"] as? String, id.hasPrefix("O") || ["S27", "S28"].contains(id),
        let url = object["url"] as? String,
        let kind = object["kind"] as? String, let expect = object["expect"] as? [String: Any]
      else { return nil }
      return Vector(id: id, url: url, kind: kind, expect: expect)
    }
  }

  /// The vectors' app, with the emulator's address and a provider that may come back wherever they do. It doesn't promise
  /// `iss`, which most of the vectors lack.
  private func world() async throws -> World {
    let world = try await World.start(apps: [])
    let file = try Data(contentsOf: URL(fileURLWithPath: "\(World.root)/Tests/Vectors/app.json"))
    var app = try JSONSerialization.jsonObject(with: file) as? [String: Any] ?? [:]
    let returns = [
      "com.example.linkd://oauth/callback", "com.googleusercontent.apps.123456789012-abcdef:/oauth2redirect",
      "fb1234567890://authorize",
    ]
    app["emulator"] = world.emulatorAddress
    app["providers"] = [
      world.openID("oidc.scheme", ["redirect": "scheme", "redirect-uri": returns[0], "return-uri": returns]),
      world.openID("oidc.loopback", ["redirect-uri": "http://127.0.0.1:{port}/callback"]),
      world.openID("oidc.six", ["redirect-uri": "http://[::1]:{port}/callback", "loopback-host": "::1"]),
    ]
    let folder = world.home.file("config/linkd/apps.d")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try JSONSerialization.data(withJSONObject: app).write(to: URL(fileURLWithPath: "\(folder)/demo.json"))
    try await world.control("PATCH", "openid", ["sendsIssuer": false])
    try await world.addAccount("ada", email: "ada@example.com")
    try await world.consent("ada")
    return world
  }

  @Test("each is judged as published, and its flow does what follows")
  func all() async throws {
    let world = try await world()
    let vectors = try Self.load()
    #expect(vectors.count == 23)
    for vector in vectors {
      let isLoopback = vector.url.contains(":4915")
      let provider = !isLoopback ? "oidc.scheme" : vector.url.contains("[::1]") ? "oidc.six" : "oidc.loopback"
      let flow = try await world.goTo(provider)
      try await judged(vector.of(flow), flow, world)
      // Whatever it was, the true answer still counts, unless the person has said no.
      if vector["error"] != "access_denied" || vector["reject"] != nil {
        try await world.finish(flow)
        #expect(try await world.email() == "ada@example.com", "\(vector.id)")
        #expect(try await world.linkctl("sign-out").status == 0)
      }
    }
    // Neither a token in a URL nor an unasked parameter has gone anywhere.
    for secret in ["LEAK", "EAAB.tok", "eyJh.eyJz.sig", "eyJh.xxxx"] {
      for record in try await world.records("") { #expect(!"\(record)".contains(secret)) }
      #expect(!world.log.contains(secret))
    }
  }

  private func judged(_ vector: Vector, _ flow: WaitingFlow, _ world: World) async throws {
    let note = Comment(rawValue: vector.id)
    let before = try await world.records("/openid/token").count
    let can = try #require(try await world.json("can-handle", vector.url).last, note)
    #expect(try await world.state(flow.id) == FlowState("waiting-for-redirect"), note)
    let open = try #require(try await world.json("open", "--no-wait", vector.url).last, note)
    for verdict in [can, open] {
      #expect(verdict["kind"] as? String == vector.kind, note)
      #expect(verdict["reason"] as? String == vector["reject"] ?? vector["reason"], note)
      #expect(verdict["handled"] as? Bool == (vector.kind != "none" && vector["reject"] == nil), note)
      let path = verdict["flow"] as? String
      #expect(path == (vector["state"] == nil ? nil : flow.id), note)
    }
    try await world.wait(for: flow, fate(vector).stage, fate(vector).error)
    let asked = try await world.records("/openid/token").dropFirst(before).map { $0["body"] as? [String: Any] }
    if isExchanged(vector) {
      #expect(asked.count == 1 && asked.first??["code"] as? String == vector["code"], note)
    } else {
      #expect(asked.isEmpty, note)
    }
  }

  private func isExchanged(_ vector: Vector) -> Bool {
    vector["code"] != nil && vector["reject"] == nil && vector["iss"] == nil && vector["responseMode"] == nil
  }

  /// What the flow does: the vectors' codes are none of the provider's, which says so.
  private func fate(_ vector: Vector) -> FlowState {
    switch (vector["reject"], vector["error"]) {
    case ("missingCode", _): FlowState("waiting-for-redirect", "MissingCode")
    case ("missingState", _): FlowState("waiting-for-redirect", "StateMismatch")
    case ("ambiguousResponse", _): FlowState("waiting-for-redirect", "InvalidProviderResponse")
    case (_, "access_denied"): FlowState("cancelled")
    case _ where vector.kind == "none": FlowState("waiting-for-redirect")
    case _ where vector["iss"] != nil: FlowState("waiting-for-redirect", "IssuerMismatch")
    default: FlowState("waiting-for-redirect", "InvalidProviderResponse")
    }
  }
}
