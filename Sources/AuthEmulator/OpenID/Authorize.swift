import AuthCore

/// The page of an OpenID provider: a choice of accounts, and a way to refuse (RFC 6749, section 4.1.1; RFC 7636).
enum Authorize {
  static let operations: [Operation] = [
    Operation(name: "authorize", method: "GET", paths: OpenID.paths("authorize"), access: .anybody, handler: show),
    Operation(name: "authorize", paths: OpenID.paths("authorize"), access: .anybody, handler: answer),
  ]

  /// A request that may be redirected: client and redirect URI are in order.
  private struct Asked {
    let client: OpenIDClient
    let redirectURI: String
    let parameters: [String: String]
    let provider: String
  }

  /// What the person, or the test, says.
  private enum Choice {
    case account(ProviderAccount)
    case refuse
  }

  private static func show(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let asked: Asked
    switch check(call, world) {
    case .success(let found): asked = found
    case .failure(let refusal): return refusal.reply
    }
    if let (error, description) = fault(asked, world) { return redirect(asked, error, description, world) }
    switch world.providers.consent {
    case .refuse: return answer(asked, .refuse, &world)
    case .account(let subject):
      guard let account = known(subject, asked, world) else { return page(call, asked, world) }
      return answer(asked, .account(account), &world)
    case .ask: return page(call, asked, world)
    }
  }

  private static func answer(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let asked: Asked
    switch check(call, world) {
    case .success(let found): asked = found
    case .failure(let refusal): return refusal.reply
    }
    if let (error, description) = fault(asked, world) { return redirect(asked, error, description, world) }
    let form = call.request.form
    if form["refuse"] != nil { return answer(asked, .refuse, &world) }
    if let account = form["account"].flatMap({ known($0, asked, world) }) {
      return answer(asked, .account(account), &world)
    }
    guard let account = ProviderAccount(json: .object(form.mapValues(JSONValue.string))) else {
      return page(call, asked, world)
    }
    world.providers.add(account)
    return answer(asked, .account(account), &world)
  }

  private static func known(_ subject: String, _ asked: Asked, _ world: World) -> ProviderAccount? {
    world.providers.accounts(of: asked.provider).first { $0.subject == subject }
  }

  private struct Refusal: Error {
    let reply: Reply
  }

  /// What can't be answered by a redirect, since nobody knows where that would lead (RFC 6749, section 4.1.2.1).
  private static func check(_ call: Call, _ world: World) -> Result<Asked, Refusal> {
    func refused(_ reason: String) -> Result<Asked, Refusal> {
      .failure(Refusal(reply: HTML.page("This request is wrong", "<p>\(HTML.escape(reason))</p>", status: 400)))
    }
    let parameters = Dictionary(call.request.query.map { ($0.name, $0.value) }) { first, _ in first }
    guard Set(call.request.query.map(\.name)).count == call.request.query.count else {
      return refused("a parameter is there twice")
    }
    guard let id = parameters["client_id"], !id.isEmpty else { return refused("client_id is missing") }
    guard let client = world[openID: call.provider].client(id) else { return refused("client_id is unknown") }
    guard let address = parameters["redirect_uri"], isRedirectURI(address) else {
      return refused("redirect_uri is missing, or no absolute URI without a fragment")
    }
    guard client.admits(redirectURI: address) else { return refused("redirect_uri isn't registered") }
    return .success(
      Asked(client: client, redirectURI: address, parameters: parameters, provider: call.provider))
  }

  /// An absolute URI without a fragment (RFC 6749, section 3.1.2), such as `com.example.app:/back`.
  private static func isRedirectURI(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":") else { return false }
    return URLText.isScheme(text[..<colon]) && !text.contains { $0 == "#" || $0 == " " || $0.isNewline }
  }

  /// What is answered by a redirect: error and description; nil where the request is in order.
  private static func fault(_ asked: Asked, _ world: World) -> (String, String)? {
    if world.openIDFault == .serverError { return ("server_error", "as the fault says") }
    guard asked.parameters["response_type"] == "code" else {
      return ("unsupported_response_type", "response_type has to be code")
    }
    if let mode = asked.parameters["response_mode"], mode != "query" {
      return ("invalid_request", "response_mode has to be query")
    }
    guard asked.parameters["code_challenge_method"] == "S256", asked.parameters["code_challenge"]?.utf8.count == 43
    else { return ("invalid_request", "code_challenge with S256 is required") }
    if asked.parameters["scope"]?.isEmpty != false { return ("invalid_scope", "scope is missing") }
    return nil
  }

  private static func page(_ call: Call, _ asked: Asked, _ world: World) -> Reply {
    let choices = world.providers.accounts(of: asked.provider).map { account in
      let subject = HTML.escape(account.subject)
      return """
        <button class="choice" id="account-\(subject)" name="account" value="\(subject)">\(HTML.account(account))</button>
        """
    }
    let content = """
      <p>The client <b>\(HTML.escape(asked.client.id))</b> asks who you are. Nothing here is real: the auth-emulator shows
      this page.</p>
      <form id="choose" method="post" action="\(HTML.escape(call.request.target))">
      \(choices.joined(separator: "\n"))
      <button id="cancel" name="refuse" value="1">Cancel</button>
      </form>
      \(HTML.accountForm(action: call.request.target))
      """
    return HTML.page("Choose an account", content)
  }

  private static func answer(_ asked: Asked, _ choice: Choice, _ world: inout World) -> Reply {
    guard case .account(let account) = choice else {
      return redirect(asked, "access_denied", "The person refused.", world)
    }
    let code = RandomText.urlLetters(43)
    world[openID: asked.provider].grants[code] = OpenIDProvider.Grant(
      clientID: asked.client.id, redirectURI: asked.redirectURI, challenge: asked.parameters["code_challenge"] ?? "",
      nonce: asked.parameters["nonce"],
      scopes: Set((asked.parameters["scope"] ?? "").split(separator: " ").map(String.init)), account: account,
      issuedAt: world.now)
    return redirect(asked, [("code", code)], world)
  }

  private static func redirect(_ asked: Asked, _ error: String, _ description: String, _ world: World) -> Reply {
    redirect(asked, [("error", error), ("error_description", description)], world)
  }

  private static func redirect(_ asked: Asked, _ answer: [(name: String, value: String)], _ world: World) -> Reply {
    var parameters = answer
    if let state = asked.parameters["state"] {
      parameters.append(("state", world.openIDFault == .redirectWrongState ? RandomText.letters(22) : state))
    }
    let issuer =
      world.openIDFault == .redirectWrongIssuer ? "https://issuer.example.com" : world.statedIssuer(asked.provider)
    if world[openID: asked.provider].settings.sendsIssuer, world.openIDFault != .redirectMissingIssuer {
      parameters.append(("iss", issuer))
    }
    var address = asked.redirectURI
    if world.openIDFault == .redirectSlash { address.insert("/", at: address.firstIndex(of: "?") ?? address.endIndex) }
    return .found(URLText.adding(parameters, to: address))
  }
}
