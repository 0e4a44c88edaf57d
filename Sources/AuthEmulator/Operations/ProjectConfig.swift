import AuthCore

/// `v2/projects/{project}/config`: an administrator's settings.
enum ProjectConfig {
  static let operations: [Operation] = [
    Operation(name: "config.get", method: "GET", paths: [path]) { call, world in .json(answer(world[call.scope])) },
    Operation(name: "config.patch", method: "PATCH", paths: [path], body: .json(fields), handler: patch),
  ]

  private static let path = "/identitytoolkit.googleapis.com/v2/projects/{project}/config"

  private static let fields: [String: Shape] = [
    "tenantId": .text,
    "signIn": .record([
      "allowDuplicateEmails": .truth, "email": .record(["enabled": .truth, "passwordRequired": .truth]),
      "phoneNumber": .record(["enabled": .truth]), "anonymous": .record(["enabled": .truth]),
    ]),
    "emailPrivacyConfig": .record(["enableImprovedEmailPrivacy": .truth]),
    "blockingFunctions": .record(["triggers": .anything, "forwardInboundCredentials": .anything]),
    "mfa": .record(["state": .text, "providerConfigs": .list(.anything)]), "notification": notification,
  ]

  /// The custom action URL, where production has it too.
  static let notification = Shape.record(["sendEmail": .record(["callbackUri": .text])])

  static func actionURL(_ body: JSONValue) -> String? {
    body["notification"]?["sendEmail"]?["callbackUri"]?.string.flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func answer(_ project: Project) -> JSONValue {
    let signIn: JSONValue = ["allowDuplicateEmails": .bool(project.allowDuplicateEmails)]
    return [
      "signIn": project.otherSignIn.adding(signIn), "blockingFunctions": project.blockingFunctions,
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(project.improvedEmailPrivacy)],
    ]
  }

  private static func patch(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if call.scope.tenant != nil {
      throw APIError("((Can only update top-level configurations on agent projects.))")
    }
    if let triggers = call.body["blockingFunctions"]?["triggers"]?.object { try check(triggers) }
    let mask = call.request.parameter("updateMask")?.split(separator: ",").map(String.init)
    update(&world[call.scope], call.body, mask: mask)
    return .json(answer(world[call.scope]))
  }

  private static func check(_ triggers: [String: JSONValue]) throws(APIError) {
    for (event, trigger) in triggers.sorted(by: { $0.key < $1.key }) {
      guard ["beforeCreate", "beforeSignIn"].contains(event) else {
        throw APIError("INVALID_BLOCKING_FUNCTION : ((Event type is invalid.))")
      }
      guard URLText.isAbsolute(trigger["functionUri"]?.string ?? "") else {
        throw APIError("INVALID_BLOCKING_FUNCTION : ((Expected an absolute URI with valid scheme and host.))")
      }
    }
  }

  /// Without a mask, what isn't given becomes the default, as far as it has an effect.
  private static func update(_ project: inout Project, _ body: JSONValue, mask: [String]?) {
    func counts(_ path: String) -> Bool {
      mask?.contains { path == $0 || path.hasPrefix("\($0).") || $0.hasPrefix("\(path).") } ?? true
    }
    let signIn = body["signIn"] ?? [:]
    if counts("signIn.allowDuplicateEmails") {
      project.allowDuplicateEmails = signIn["allowDuplicateEmails"]?.bool ?? false
    }
    if counts("emailPrivacyConfig") {
      project.improvedEmailPrivacy = body["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool ?? false
    }
    if counts("blockingFunctions") { project.blockingFunctions = body["blockingFunctions"] ?? [:] }
    for (name, value) in signIn.object ?? [:] where name != "allowDuplicateEmails" && counts("signIn.\(name)") {
      project.otherSignIn = project.otherSignIn.adding(.object([name: value]))
    }
    // Not recorded, and as in production: a custom action URL, and authenticator apps, which are off at first.
    if body["notification"] != nil, counts("notification") { project.actionURL = actionURL(body) }
    if let providers = body["mfa"]?["providerConfigs"]?.array, counts("mfa") {
      project.hasTOTP = providers.contains { $0["totpProviderConfig"] != nil && $0["state"]?.string == "ENABLED" }
    }
  }
}
