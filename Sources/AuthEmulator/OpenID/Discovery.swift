import AuthCore

/// What an OpenID provider says about itself: discovery document and key set.
enum Discovery {
  static let operations: [Operation] = [
    Operation(
      name: "discovery", method: "GET", paths: OpenID.paths(".well-known/openid-configuration"), access: .anybody
    ) { call, world in .json(document(call, world)) },
    Operation(name: "jwks", method: "GET", paths: OpenID.paths("jwks"), access: .anybody) { call, world in
      world[openID: call.provider].makeKey()
      return .json(["keys": .array(world[openID: call.provider].keys.map(\.jwk))])
    },
  ]

  private static func document(_ call: Call, _ world: World) -> JSONValue {
    let issuer = world.issuer(call.provider)
    let isPromised = world[openID: call.provider].settings.sendsIssuer && world.openIDFault != .issuerNotPromised
    return .record([
      "issuer": .string(
        world.openIDFault == .otherIssuer ? "https://issuer.example.com" : world.statedIssuer(call.provider)),
      "authorization_endpoint": .string("\(issuer)/authorize"), "token_endpoint": .string("\(issuer)/token"),
      "jwks_uri": .string("\(issuer)/jwks"), "response_types_supported": ["code"],
      "response_modes_supported": ["query"], "grant_types_supported": ["authorization_code"],
      "subject_types_supported": ["public"], "id_token_signing_alg_values_supported": ["RS256", "ES256"],
      "code_challenge_methods_supported": ["S256"], "scopes_supported": ["openid", "email", "profile"],
      "token_endpoint_auth_methods_supported": ["none", "client_secret_post", "client_secret_basic"],
      "authorization_response_iss_parameter_supported": isPromised ? true : nil,
    ])
  }
}
