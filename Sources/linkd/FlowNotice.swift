import AuthCore
import Desktop
import Texts

/// What a desktop notification says when a link's flow ends (behaviour: People). Cancelling says nothing.
enum FlowNotice {
  /// Nil where nothing is said.
  static func text(_ flow: Flow, user: User?, _ app: App?) -> Notice? {
    guard flow.method == .emailLink else { return nil }
    let locale = flow.locale ?? app?.languageCode
    let title = app?.displayName ?? "linkd"
    switch flow.stage {
    case .succeeded:
      guard let name = user?.displayName ?? user?.email else {
        return Notice(title: title, body: Texts.lookup("notice.signed-in-nameless", locale: locale))
      }
      return Notice(title: title, body: Texts.lookup("notice.signed-in", locale: locale, ["name": name]))
    case .failed:
      return flow.error.map { Notice(title: title, body: Texts.lookup($0.textID, locale: locale)) }
    case .cancelled, .expired, .starting, .waitingForLink, .waitingForRedirect, .waitingForCaptcha, .waitingForCode,
      .waitingForEmail, .waitingForPassword, .waitingForConfirmation, .secondFactorRequired, .reauthenticationRequired,
      .conflict, .exchanging:
      return nil
    }
  }
}
