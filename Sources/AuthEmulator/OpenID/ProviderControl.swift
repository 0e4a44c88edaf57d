import AuthCore

/// The control endpoints of our own below `/emulator/v1/projects/{project}/` for the handler's page and the OpenID
/// providers. Accounts and providers are the emulator's, whatever the project.
///
/// `POST providerAccounts` adds `{"sub", "email", "emailVerified", "name", "provider"}`; `GET` and `DELETE` list and
/// remove all. `PATCH consent` takes `{"account": SUB}`, `{"refuse": true}` or `{}`, for a person; `GET` says which.
/// `PATCH productionRules` takes `{"on": true}` (`AuthEmulator.setProductionRules`).
/// `PATCH openid` and `PATCH openid/NAME` take settings: `clients` (`[{"id", "secret", "redirectUris"}]`), `issuer`,
/// `algorithm`, `sendsIssuer`, `extraClaims`; what isn't named is as at first. `POST …:rotate` takes `{"keepsOld": true}`.
enum ProviderControl {
  static let operations: [Operation] = [
    Operation(name: "providerAccounts", method: "GET", paths: [base + "providerAccounts"], access: .anybody) {
      _, world in .json(["accounts": .array(world.providers.accounts.map(\.json))])
    },
    Operation(
      name: "providerAccounts", paths: [base + "providerAccounts"], access: .anybody, body: .json(accountFields)
    ) { (call, world) throws(APIError) in
      guard let account = ProviderAccount(json: call.body) else { throw APIError("MISSING_SUB") }
      world.providers.add(account)
      return .json(account.json)
    },
    Operation(name: "providerAccounts", method: "DELETE", paths: [base + "providerAccounts"], access: .anybody) {
      _, world in
      world.providers.removeAccounts()
      return .json([:])
    },
    Operation(name: "consent", method: "GET", paths: [base + "consent"], access: .anybody) { _, world in
      .json(consent(world))
    },
    Operation(
      name: "consent", method: "PATCH", paths: [base + "consent"], access: .anybody,
      body: .json(Shape.fields(texts: ["account"], truths: ["refuse"]))
    ) { call, world in
      let account = call.filled("account").map { Consent.account(subject: $0) }
      world.providers.consent = call.body["refuse"] == true ? .refuse : account ?? .ask
      return .json(consent(world))
    },
    Operation(
      name: "productionRules", method: "PATCH", paths: [base + "productionRules"], access: .anybody,
      body: .json(Shape.fields(truths: ["on"]))
    ) { call, world in
      world.providers.hasProductionRules = call.body["on"] == true
      return .json(["on": .bool(world.providers.hasProductionRules)])
    },
    Operation(name: "openid", method: "PATCH", paths: paths(""), access: .anybody, body: .json(settingFields)) {
      (call, world) throws(APIError) in
      world[openID: call.provider].settings = try settings(call.body)
      return .json(["issuer": .string(world.issuer(call.provider))])
    },
    Operation(
      name: "rotate", paths: paths(":rotate"), access: .anybody, body: .json(Shape.fields(truths: ["keepsOld"]))
    ) { call, world in
      world[openID: call.provider].rotateKeys(keepsOld: call.body["keepsOld"] == true)
      return .json(["keys": .array(world[openID: call.provider].keys.map(\.jwk))])
    },
  ]

  private static let base = "/emulator/v1/projects/{project}/"

  private static func paths(_ verb: String) -> [String] {
    ["\(base)openid\(verb)", "\(base)openid/{provider}\(verb)"]
  }

  private static let accountFields = Shape.fields(
    texts: ["sub", "email", "name", "provider"], truths: ["emailVerified"])

  private static let settingFields = Shape.fields(
    texts: ["issuer"], truths: ["sendsIssuer"],
    others: [
      "algorithm": .word(["RS256", "ES256"]), "extraClaims": .anything,
      "clients": .list(.record(["id": .text, "secret": .text, "redirectUris": .list(.text)])),
    ])

  private static func consent(_ world: World) -> JSONValue {
    switch world.providers.consent {
    case .ask: [:]
    case .account(let subject): ["account": .string(subject)]
    case .refuse: ["refuse": true]
    }
  }

  private static func settings(_ body: JSONValue) throws(APIError) -> OpenIDSettings {
    var settings = OpenIDSettings()
    for client in body["clients"]?.array ?? [] {
      guard let id = client["id"]?.string, !id.isEmpty else { throw APIError("MISSING_CLIENT_ID") }
      settings.clients.append(
        OpenIDClient(
          id: id, secret: client["secret"]?.string,
          redirectURIs: (client["redirectUris"]?.array ?? []).compactMap(\.string)))
    }
    settings.issuer = body["issuer"]?.string
    settings.usesES256 = body["algorithm"] == "ES256"
    settings.sendsIssuer = body["sendsIssuer"]?.bool ?? true
    settings.extraClaims = body["extraClaims"]?.object ?? [:]
    return settings
  }
}
