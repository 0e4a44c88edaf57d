import AuthCore
import DBus
import EventLoop
import LinkHandler
import Loopback
import Texts

/// What a browser gets that comes back by loopback: a provider's redirect, or a mailed link at the app's own continue page.
@LoopActor
struct ReturnPages {
  let inbox: LinkInbox
  let coordinator: FlowCoordinator
  let apps: @LoopActor (AppID) -> App?
  let log: Log
  /// What the pages of this daemon know and no other page does.
  let pageToken = Secret(FlowIDs.random().value)

  /// A redirect counts at once, as RFC 8252 has it. A mailed link is asked about first: programs that look through mails follow
  /// every link, and none of them presses a button (behaviour: How a mail's link reaches linkd).
  func respond(_ request: LoopbackRequest) -> LoopbackResponse {
    if let id = coordinator.returns.flow(atStart: request.path) { return start(id) }
    let url = request.url.reveal()
    do throws(AuthFailure) {
      let verdict = try inbox.judge(url)
      // Nobody sees the answer to HEAD, so it's no news for anybody either.
      if request.method == .head, verdict.kind == .none {
        return LoopbackResponse(status: Self.isProvidersAnswer(verdict) ? 400 : 404)
      }
      switch (request.method, verdict.kind) {
      case (.get, .oauthRedirect): return try redirected(url, verdict)
      case (.head, .oauthRedirect): return LoopbackResponse(status: 200)
      case (.get, .emailSignIn) where verdict.handled, (.head, .emailSignIn) where verdict.handled:
        return LoopbackResponse(page: page("page.confirm", verdict, button: "page.confirm-button"))
      case (.post, .emailSignIn) where verdict.handled && isOurs(request):
        return taken(try inbox.open(url, caller: .browser))
      default: return try stray(url, verdict, isGet: request.method == .get)
      }
    } catch {
      return LoopbackResponse(status: 503, page: failure(error, locale: nil))
    }
  }

  /// On to the page that the flow waits for: the provider's, or the one that tells people from programs.
  private func start(_ id: FlowID) -> LoopbackResponse {
    guard let flow = coordinator.flow(id), flow.stage == .waitingForRedirect || flow.stage == .waitingForCaptcha,
      let url = flow.page?.url
    else { return LoopbackResponse(status: 404) }
    return LoopbackResponse(status: 303, headers: [("Location", url.reveal())])
  }

  private func taken(_ verdict: LinkInbox.Verdict) -> LoopbackResponse {
    let isNobodys = verdict.flow.flatMap(coordinator.flow)?.stage == .waitingForEmail
    return LoopbackResponse(page: page(isNobodys ? "notice.email-needed" : "page.link-taken", verdict))
  }

  private func redirected(_ url: String, _ judged: LinkInbox.Verdict) throws(AuthFailure) -> LoopbackResponse {
    let verdict = try inbox.open(url, caller: .browser)
    guard let flow = verdict.flow.flatMap(coordinator.flow) else { return refused(verdict) }
    switch flow.stage {
    case .cancelled: return LoopbackResponse(page: page("page.cancelled", verdict))
    case .succeeded: return LoopbackResponse(page: page("page.signed-in", verdict))
    case .failed, .expired, .waitingForRedirect:
      guard let why = flow.failure else { return refused(verdict) }
      return LoopbackResponse(status: 400, page: failure(why, locale: flow.locale))
    default: return LoopbackResponse(page: page("page.redirect-taken", verdict))
    }
  }

  /// `favicon.ico` and the like get nothing; what has a provider's words in it, but is nobody's, says so.
  private func stray(
    _ url: String, _ verdict: LinkInbox.Verdict, isGet: Bool
  ) throws(AuthFailure) -> LoopbackResponse {
    // One that can't even be read came from a provider too, and somebody looks at what it brings.
    let isUnreadable = isGet && verdict.kind == .none && coordinator.pendingReturns.contains(url)
    guard Self.isProvidersAnswer(verdict) || isUnreadable else { return LoopbackResponse(status: 404) }
    return refused(try inbox.open(url, caller: .browser))
  }

  private static func isProvidersAnswer(_ verdict: LinkInbox.Verdict) -> Bool {
    verdict.reason == LinkRejectionReason.noPendingRequest.rawValue
  }

  private func refused(_ verdict: LinkInbox.Verdict) -> LoopbackResponse {
    LoopbackResponse(status: 400, page: page("page.not-ours", verdict))
  }

  /// Whether the button of our own page was pressed. A browser that vouches for nothing repeats what only that page knows.
  private func isOurs(_ request: LoopbackRequest) -> Bool {
    if request.isSameOrigin { return true }
    guard request.origin == nil, request.secFetchSite == nil else { return false }
    return request.body.reveal() == Array("page=\(pageToken.reveal())".utf8)
  }

  // MARK: Pages

  private func page(_ id: String, _ verdict: LinkInbox.Verdict, button: String? = nil) -> ResultPage {
    let app = verdict.key.flatMap { apps($0.app) }
    let locale = verdict.flow.flatMap(coordinator.flow)?.locale ?? app?.languageCode
    let values = ["app": app?.displayName ?? "linkd"]
    return ResultPage(
      title: values["app"] ?? "linkd", paragraphs: [Texts.lookup(id, locale: locale, values)],
      form: button.map {
        ResultPage.Form(
          button: Texts.lookup($0, locale: locale, values), fields: [("page", pageToken.reveal())])
      })
  }

  private func failure(_ failure: AuthFailure, locale: String?) -> ResultPage {
    ResultPage(title: "linkd", paragraphs: [failure.message(locale: locale)])
  }
}

extension Caller {
  /// A browser of the user's own: the listener serves nobody else.
  static let browser = Caller(uniqueName: "browser")
}
