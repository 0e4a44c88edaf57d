import AuthCore

/// The status page, what the recorded service tells tests, and the project's public settings.
enum ProjectControl {
  static let operations: [Operation] = [
    Operation(name: "status", method: "GET", paths: ["/"], access: .anybody) { _, _ in
      .prettyJSON([
        "authEmulator": [
          "ready": true, "docs": "https://firebase.google.com/docs/emulator-suite", "apiSpec": "/emulator/openapi.json",
        ]
      ])
    },
    Operation(name: "oobCodes", method: "GET", paths: paths("oobCodes"), access: .anybody) { call, world in
      .json(["oobCodes": .array(world[call.scope].oobCodes.map(\.json))])
    },
    Operation(name: "config", method: "GET", paths: [base + "config"], access: .anybody) { call, world in
      .json(settings(world[call.scope]))
    },
    Operation(
      name: "config", method: "PATCH", paths: [base + "config"], access: .anybody, body: .json(settingShapes)
    ) { call, world in
      // Nothing named sets everything back.
      let isEmpty = call.body.object?.isEmpty == true
      if let isAllowed = isEmpty ? false : call.body["signIn"]?["allowDuplicateEmails"]?.bool {
        world[call.scope].allowDuplicateEmails = isAllowed
      }
      if let isPrivate = isEmpty ? false : call.body["emailPrivacyConfig"]?["enableImprovedEmailPrivacy"]?.bool {
        world[call.scope].improvedEmailPrivacy = isPrivate
      }
      if isEmpty || call.body["notification"] != nil {
        world[call.scope].actionURL = ProjectConfig.actionURL(call.body)
      }
      return .json(settings(world[call.scope]))
    },
    Operation(name: "accounts", method: "GET", paths: paths("accounts"), access: .anybody) { call, world in
      .json(["users": .array(world[call.scope].accounts.map(\.json))])
    },
    Operation(name: "accounts", method: "DELETE", paths: paths("accounts"), access: .anybody) { call, world in
      world[call.scope].deleteAllAccounts()
      return .json([:])
    },
    Operation(
      name: "projects", method: "GET",
      paths: [
        "/identitytoolkit.googleapis.com/v1/projects",
        "/www.googleapis.com/identitytoolkit/v3/relyingparty/getProjectConfig",
      ]
    ) { _, _ in .json(["projectId": "12345", "authorizedDomains": ["localhost"]]) },
    Operation(
      name: "recaptchaParams", method: "GET", paths: ["/identitytoolkit.googleapis.com/v1/recaptchaParams"]
    ) { _, _ in
      .json([
        "kind": "identitytoolkit#GetRecaptchaParamResponse",
        "recaptchaStoken":
          "This-is-a-fake-token__Dont-send-this-to-the-Recaptcha-service__The-Auth-Emulator-does-not-support-Recaptcha",
        "recaptchaSiteKey": "Fake-key__Do-not-send-this-to-Recaptcha_",
      ])
    },
  ]

  private static let base = "/emulator/v1/projects/{project}/"

  /// A control endpoint of a project and of its tenants.
  static func paths(_ name: String) -> [String] { [base + name, base + "tenants/{tenant}/" + name] }

  private static let settingShapes: [String: Shape] = [
    "signIn": .record(["allowDuplicateEmails": .truth]),
    "emailPrivacyConfig": .record(["enableImprovedEmailPrivacy": .truth]), "notification": ProjectConfig.notification,
  ]

  private static func settings(_ project: Project) -> JSONValue {
    [
      "signIn": ["allowDuplicateEmails": .bool(project.allowDuplicateEmails)],
      "emailPrivacyConfig": ["enableImprovedEmailPrivacy": .bool(project.improvedEmailPrivacy)],
    ]
  }
}
