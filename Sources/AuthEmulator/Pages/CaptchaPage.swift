import AuthCore

/// `/emulator/auth/handler` with `authType=verifyApp`: the page that tells people from programs before a text message is sent
/// (identity-toolkit 4.7), and its way back to the app (4.9). The recorded service has none; this one takes everybody's word.
enum CaptchaPage {
  static func show(_ call: Call, _ world: inout World) -> Reply {
    func value(_ name: String) -> String? { call.request.parameter(name).flatMap { $0.isEmpty ? nil : $0 } }
    func wrong(_ reason: String) -> Reply {
      HTML.page("This request is wrong", "<p>\(HTML.escape(reason))</p>", status: 400)
    }
    guard value("apiKey") != nil else { return wrong("apiKey is missing") }
    guard let event = value("eventId") else { return wrong("eventId is missing") }
    let link = HandlerPage.link(client: value("clientId"), app: value("appId"), bundle: value("ibi") ?? "")
    guard let link else { return wrong("clientId or appId makes no scheme") }
    switch world.providers.consent {
    case .refuse: return .found(refusal(link, event, world))
    case .account: return .found(success(link, event, &world))
    case .ask: break
    }
    return HTML.page(
      "Are you a robot?",
      """
      <p>Nothing here is real: the auth-emulator shows this page in place of reCAPTCHA's.</p>
      <p>Your browser may ask whether it may open the app.</p>
      <a class="choice" id="continue" href="\(HTML.escape(success(link, event, &world)))">I'm not a robot</a>
      <a class="choice" id="cancel" href="\(HTML.escape(refusal(link, event, world)))">Cancel</a>
      """)
  }

  /// The way back with a token that counts once.
  private static func success(_ link: String, _ event: String, _ world: inout World) -> String {
    let token = RandomText.urlLetters(120)
    world.captchas[token] = CaptchaToken(madeAt: world.now)
    return HandlerPage.wayBack(link, event, [("authType", "verifyApp"), ("recaptchaToken", token)], world)
  }

  private static func refusal(_ link: String, _ event: String, _ world: World) -> String {
    HandlerPage.wayBack(
      link, event, [("firebaseError", HandlerPage.cancelled.text), ("authType", "verifyApp")], world)
  }
}
