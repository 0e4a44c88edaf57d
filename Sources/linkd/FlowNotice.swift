import AuthCore
import Desktop
import Texts

/// What a desktop notification says of a link's flow: how it ended, or what is needed next (behaviour: People). Cancelling
/// says nothing.
enum FlowNotice {
  /// Nil where nothing is said.
  static func text(_ flow: Flow, user: User?, _ app: App?) -> Notice? {
    switch flow.method {
    case .emailLink, .actionCode, .provider: break
    case .password, .phone, .anonymous, .custom, .totp, .none: return nil
    }
    let locale = flow.locale ?? app?.languageCode
    guard let body = body(flow, user, locale) else { return nil }
    return Notice(title: app?.displayName ?? "linkd", body: body)
  }

  private static func body(_ flow: Flow, _ user: User?, _ locale: String?) -> String? {
    switch flow.stage {
    case .succeeded:
      if let kind = flow.actionKind {
        return Texts.lookup("done.\(kind.rawValue)", locale: locale, ["email": flow.email ?? ""])
      }
      guard let name = user?.displayName ?? user?.email else {
        return Texts.lookup("notice.signed-in-nameless", locale: locale)
      }
      return Texts.lookup("notice.signed-in", locale: locale, ["name": name])
    // Something came to the flow that isn't its answer, and it goes on waiting.
    case .failed, .waitingForRedirect:
      return flow.failure?.message(locale: locale)
    // A guest's link is spent, and another is on its way.
    case .waitingForLink where flow.conflict == .anonymousUpgrade:
      return Texts.lookup("conflict.new-link-sent", locale: locale)
    case .conflict:
      guard flow.conflict != nil else { return nil }
      return Texts.lookup(flow.conflictTextID, locale: locale, ["email": flow.email ?? ""])
    case .waitingForEmail: return Texts.lookup("notice.email-needed", locale: locale)
    case .waitingForPassword: return Texts.lookup("notice.password-needed", locale: locale)
    case .waitingForConfirmation: return Texts.lookup("notice.confirmation-needed", locale: locale)
    case .secondFactorRequired: return Texts.lookup("notice.second-factor-needed", locale: locale)
    case .cancelled, .expired, .starting, .waitingForLink, .waitingForCaptcha, .waitingForCode,
      .reauthenticationRequired, .exchanging:
      return nil
    }
  }
}
