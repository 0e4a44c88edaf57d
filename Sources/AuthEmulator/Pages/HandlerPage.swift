import AuthCore

/// `/emulator/auth/handler`: the page that Firebase's handler is in production, where a person signs in at any provider
/// (identity-toolkit 4.5), and its way back to the app by a scheme (4.9).
enum HandlerPage {
  static let path = "/emulator/auth/handler"

  static let operations: [Operation] = [
    Operation(name: "handler", method: "GET", paths: [path], access: .anybody, handler: show),
    Operation(name: "handler", paths: [path], access: .anybody, handler: add),
  ]

  /// A request in order.
  private struct Asked {
    let providerID: String
    /// `com.example.app://firebaseauth/link`.
    let link: String
    let eventID: String
    let sessionHash: String?
    let scope: Scope
  }

  private static func show(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if call.request.parameter("authType") == "verifyApp" { return CaptchaPage.show(call, &world) }
    let asked: Asked
    switch check(call) {
    case .success(let found): asked = found
    case .failure(let refusal): return refusal.reply
    }
    switch world.providers.consent {
    case .refuse: return .found(refusal(asked, world))
    case .account(let subject):
      if let account = known(subject, asked, world) { return .found(success(asked, account, &world)) }
    case .ask: break
    }
    guard let subject = call.request.parameter("account"), let account = known(subject, asked, world) else {
      return choice(call, asked, world)
    }
    return confirmation(asked, account, &world)
  }

  /// Adds the account of the form, and goes on with it.
  private static func add(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if case .failure(let refusal) = check(call) { return refusal.reply }
    let form = call.request.form.mapValues(JSONValue.string)
    guard let account = ProviderAccount(json: .object(form)) else { return .seeOther(call.request.target) }
    world.providers.add(account)
    return .seeOther(chosen(account, call))
  }

  private struct Refusal: Error {
    let reply: Reply
  }

  private static func check(_ call: Call) -> Result<Asked, Refusal> {
    func value(_ name: String) -> String? { call.request.parameter(name).flatMap { $0.isEmpty ? nil : $0 } }
    func wrong(_ reason: String) -> Result<Asked, Refusal> {
      .failure(Refusal(reply: HTML.page("This request is wrong", "<p>\(HTML.escape(reason))</p>", status: 400)))
    }
    guard value("apiKey") != nil, let provider = value("providerId") else {
      let answer: JSONValue = [
        "error": "missing apiKey or providerId query parameters",
        "instructions":
          "Please modify the URL to specify an apiKey and providerId, such as ...&apiKey=YOUR_API_KEY&providerId=YOUR_PROVIDER_ID",
      ]
      return .failure(Refusal(reply: .prettyJSON(["authEmulator": answer], status: 400)))
    }
    guard value("authType") == "signInWithRedirect" else { return wrong("authType has to be signInWithRedirect") }
    guard let bundle = value("ibi") else { return wrong("ibi, the app's id, is missing") }
    guard let event = value("eventId") else { return wrong("eventId is missing") }
    guard let link = link(client: value("clientId"), app: value("appId"), bundle: bundle) else {
      return wrong("clientId or appId makes no scheme")
    }
    return .success(
      Asked(
        providerID: provider, link: link, eventID: event, sessionHash: value("sessionId"),
        scope: Scope(project: call.scope.project, tenant: value("tid"))))
  }

  /// The app's scheme: its client id backwards, or its app id (identity-toolkit 4.2).
  static func link(client: String?, app: String?, bundle: String) -> String? {
    var (scheme, host) = (bundle, "google")
    if let client {
      (scheme, host) = (client.split(separator: ".").reversed().joined(separator: "."), "firebaseauth")
    } else if let app {
      (scheme, host) = ("app-" + String(app.map { $0 == ":" ? "-" : $0 }), "firebaseauth")
    }
    return URLText.isScheme(scheme) ? "\(scheme)://\(host)/link" : nil
  }

  /// Those that were added, and those that have signed in before.
  private static func accounts(_ asked: Asked, _ world: World) -> [ProviderAccount] {
    let added = world.providers.accounts(of: asked.providerID)
    let known = world[asked.scope].accounts.flatMap { $0.providers ?? [] }.filter {
      $0.providerID == asked.providerID
    }
    let returning = known.compactMap { info in
      info.rawID.map {
        ProviderAccount(subject: $0, email: info.email, displayName: info.displayName, provider: asked.providerID)
      }
    }
    return added + returning.filter { old in !added.contains { $0.subject == old.subject } }
  }

  private static func known(_ subject: String, _ asked: Asked, _ world: World) -> ProviderAccount? {
    accounts(asked, world).first { $0.subject == subject }
  }

  private static func chosen(_ account: ProviderAccount, _ call: Call) -> String {
    let others = call.request.query.filter { $0.name != "account" }
    return URLText.adding(others + [("account", account.subject)], to: path)
  }

  private static func choice(_ call: Call, _ asked: Asked, _ world: World) -> Reply {
    let links = accounts(asked, world).map { account in
      """
      <a class="choice" id="account-\(HTML.escape(account.subject))" href="\(HTML.escape(chosen(account, call)))">\
      \(HTML.account(account))</a>
      """
    }
    let content = """
      <p>Nothing here is real: the auth-emulator shows this page in place of the provider's.</p>
      \(links.joined(separator: "\n"))
      \(cancel(asked, world))
      \(HTML.accountForm(action: call.request.target))
      """
    return HTML.page("Sign in with \(asked.providerID)", content)
  }

  private static func confirmation(_ asked: Asked, _ account: ProviderAccount, _ world: inout World) -> Reply {
    let content = """
      <p>\(HTML.account(account))</p>
      <p>The app learns name and address, and your browser may ask whether it may open the app.</p>
      <a class="choice" id="continue" href="\(HTML.escape(success(asked, account, &world)))">Continue</a>
      \(cancel(asked, world))
      """
    return HTML.page("Sign in with \(asked.providerID)", content)
  }

  private static func cancel(_ asked: Asked, _ world: World) -> String {
    "<a class=\"choice\" id=\"cancel\" href=\"\(HTML.escape(refusal(asked, world)))\">Cancel</a>"
  }

  /// The way back with what the provider said; `accounts:signInWithIdp` takes it for this session alone.
  private static func success(_ asked: Asked, _ account: ProviderAccount, _ world: inout World) -> String {
    let state = RandomText.letters(43)
    world.providers.returns[state] = Providers.PendingReturn(
      providerID: asked.providerID, sessionHash: asked.sessionHash)
    let answer = [("providerId", asked.providerID), ("id_token", account.claims.text), ("state", state)]
    let address = world.origin + path + "?" + query(answer)
    return wayBack(asked.link, asked.eventID, [("authType", "signInWithRedirect"), ("link", address)], world)
  }

  private static func refusal(_ asked: Asked, _ world: World) -> String {
    wayBack(
      asked.link, asked.eventID, [("firebaseError", cancelled.text), ("authType", "signInWithRedirect")], world)
  }

  /// What the app is told of somebody who doesn't go on.
  static let cancelled: JSONValue = [
    "code": "auth/user-cancelled",
    "message": "The user did not grant your application the permissions it requested.",
  ]

  /// The link that hands an answer to the app.
  static func wayBack(_ link: String, _ event: String, _ answer: [(String, String)], _ world: World) -> String {
    let inner = world.origin + "/__/auth/callback?" + query(answer + [("eventId", event)])
    return link + "?deep_link_id=" + URLText.encodeComponent(inner)
  }

  private static func query(_ pairs: [(String, String)]) -> String {
    pairs.map { "\($0)=\(URLText.encodeComponent($1))" }.joined(separator: "&")
  }
}

extension World {
  /// Takes back what the handler's page gave out: once, and for the session alone that it was given to. The recorded
  /// service does neither; production does. An address that isn't the page's passes.
  mutating func redeemReturn(
    _ address: String, providerID: String, session: String?
  ) throws(APIError) {
    guard address.hasPrefix(origin + HandlerPage.path + "?") else { return }
    let pairs = URLText.pairs(address.drop { $0 != "?" }.dropFirst())
    guard let state = pairs.first(where: { $0.name == "state" })?.value else { return }
    guard let pending = providers.returns[state] else {
      throw APIError("INVALID_IDP_RESPONSE : The response is unknown, or has been used.")
    }
    guard pending.providerID == providerID else {
      throw APIError("INVALID_IDP_RESPONSE : The response is another provider's.")
    }
    if let hash = pending.sessionHash {
      guard let session, Digest.hexadecimal(Digest.sha256(Array(session.utf8))) == hash else {
        throw APIError("INVALID_IDP_RESPONSE : The response belongs to another session.")
      }
    }
    providers.returns[state] = nil
  }
}
