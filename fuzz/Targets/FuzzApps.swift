import AuthCore
import LinkHandler

/// Apps of every kind, as a machine with several has them; `demo` is the one of Tests/Vectors/app.json.
enum FuzzApps {
  static let all = [demo, loopback, pasted]
  static let ids = Set(all.map(\.id))

  static let demo: App = {
    var app = make("demo", "demo-linkd", "AIzaEXAMPLEKEY0000")
    app.appID = "1:123456789012:linux:0a1b2c3d4e5f"
    app.clientID = "123456789012-abcdef.apps.googleusercontent.com"
    app.linkDomains = ["demo-linkd.web.app", "auth.example.com", "demo.page.link", "links.example.com"]
    app.continueURL = "https://app.example.com/done"
    app.continueHosts = ["app.example.com"]
    app.schemes = ["com.example.linkd", "fb1234567890"]
    app.emulator = EmulatorAddress("127.0.0.1:9099")
    return app
  }()

  private static let loopback: App = {
    var app = make("loopback", "loopback-linkd", "AIzaLOOPBACK")
    app.continueMode = .loopback
    app.loopbackPort = 8123
    app.continueURL = "http://localhost:8123/done"
    app.linkDomains = ["links.example.com"]
    app.providers = [Provider(id: "github.com", kind: .oauth, displayName: "GitHub")]
    return app
  }()

  private static let pasted: App = {
    var app = make("pasted", "pasted-linkd", "AIzaPASTED")
    app.continueMode = .paste
    app.emulator = EmulatorAddress("[::1]:9099")
    return app
  }()

  static let pending = PendingReturns(
    [
      PendingReturns.Waiting(app: demo.id, returnURI: "http://127.0.0.1:49152/callback"),
      PendingReturns.Waiting(app: loopback.id, returnURI: "http://[::1]:49153/callback/github.com"),
      PendingReturns.Waiting(app: demo.id, returnURI: "com.example.linkd:/oauth2redirect"),
    ].compactMap { $0 })

  private static func make(_ id: String, _ project: String, _ key: String) -> App {
    guard let id = AppID(id) else { preconditionFailure("not an app's id") }
    return App(id: id, projectID: project, apiKey: key)
  }
}
