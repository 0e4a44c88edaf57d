import Foundation
import TestSupport
import Testing

/// An account whose second factors another program has enrolled.
struct FactoredAccount {
  let uid: String
  let address: String
  /// The uids of its factors, by their names.
  let factors: [String: String]
  /// The secret of its authenticator app, if it has one.
  let secret: String
}

extension World {
  /// A world whose app offers second factors of both kinds.
  static func startWithFactors(apps: [String] = ["demo"], upgrading: Bool = false) async throws -> World {
    let world = try await start(apps: apps)
    for app in apps { try await world.offerFactors(app: app, ["auto-upgrade-anonymous": upgrading]) }
    return world
  }

  /// An account with a password and second factors: an authenticator app, and phones by their names.
  func withFactors(
    _ address: String, app: String? = "App", phones: KeyValuePairs<String, String> = [:]
  ) async throws -> FactoredAccount {
    let uid = try await verifiedAccount(address)
    let signedIn = try await emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v1/accounts:signInWithPassword?key=x",
      "{\"email\":\"\(address)\",\"password\":\"correct horse\"}")
    let token = try #require(signedIn["idToken"] as? String)
    var secret = ""
    if let app {
      let begun = try await enrollment("start", ["idToken": token, "totpEnrollmentInfo": [String: Any]()])
      let info = try #require(begun["totpSessionInfo"] as? [String: Any])
      secret = try #require(info["sharedSecretKey"] as? String)
      let proof = ["sessionInfo": info["sessionInfo"] ?? "", "verificationCode": try await totp(secret)]
      _ = try await enrollment("finalize", ["idToken": token, "displayName": app, "totpVerificationInfo": proof])
    }
    for (name, number) in phones {
      let begun = try await enrollment("start", ["idToken": token, "phoneEnrollmentInfo": ["phoneNumber": number]])
      let info = try #require(begun["phoneSessionInfo"] as? [String: Any])
      let proof = ["sessionInfo": info["sessionInfo"] ?? "", "code": try #require(try await messages(number).last)]
      _ = try await enrollment("finalize", ["idToken": token, "displayName": name, "phoneVerificationInfo": proof])
    }
    var factors: [String: String] = [:]
    for factor in try await serverAccount(uid)?["mfaInfo"] as? [[String: Any]] ?? [] {
      factors[factor["displayName"] as? String ?? ""] = factor["mfaEnrollmentId"] as? String
    }
    return FactoredAccount(uid: uid, address: address, factors: factors, secret: secret)
  }

  private func enrollment(_ step: String, _ body: [String: Any]) async throws -> [String: Any] {
    let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
    return try await emulatorJSON(
      "POST", "/identitytoolkit.googleapis.com/v2/accounts/mfaEnrollment:\(step)?key=x", text)
  }

  /// `hints` of a flow that stands at `second-factor-required`.
  func hints(_ flow: String) async throws -> [[String: Any]] {
    try await self.flow(flow, at: "second-factor-required")["hints"] as? [[String: Any]] ?? []
  }
}
