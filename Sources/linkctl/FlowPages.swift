import AuthCore
import DBusCore
import LinkdContract
import Texts

/// The page that a flow needs in a browser, and the address that comes back (behaviour: OAuth and OpenID Connect; field
/// reports B066, B067).
extension FlowFollower {
  /// Longest line that a terminal passes on whole (termios(3), canonical mode).
  private static let longestLine = 4095

  /// The page's URL; nil where it's not ours to know.
  func pageURL(_ path: ObjectPath) -> Secret<String>? {
    let reply = try? context.call(path, Contract.Interface.flow, "GetUrl", [context.options()])
    return (reply?.first?.asString).filled.map { Secret($0) }
  }

  /// What the browser is started with: a page of linkd's that leads there, since every user of the machine can read command
  /// lines; the page itself where no listener is wanted, or there is none.
  ///
  /// - Throws: `HandlerMissing` where the browser couldn't come back (field report B085).
  private func startURL(_ path: ObjectPath) throws(Failure) -> Secret<String>? {
    for wantsStartPage in [context.arguments.value("redirect") != "scheme", false] {
      let options = context.options(["start-page": .boolean(wantsStartPage), "opens-here": .boolean(true)])
      do throws(Failure) {
        let reply = try context.call(path, Contract.Interface.flow, "GetUrl", [options])
        return (reply.first?.asString).filled.map { Secret($0) } ?? url
      } catch {
        // Without a listener there's no such page, but the browser may still come back.
        guard !wantsStartPage else { continue }
        if error.name == AuthError.handlerMissing.dbusName { throw error }
      }
    }
    return url
  }

  /// Opens the page in the browser, whose exit status is looked at while the flow is waited for.
  func openPage(_ path: ObjectPath) throws(Failure) {
    let start: Secret<String>?
    do throws(Failure) { start = try startURL(path) } catch {
      cancel(path)
      throw error
    }
    guard let start else { return }
    browser = WebBrowser(start)
    if browser == nil { return showPage(isBrowserMissing: true) }
    askForAddress()
  }

  /// Says where to go instead.
  func showPage(isBrowserMissing: Bool) {
    browser = nil
    guard let url else { return }
    say(isBrowserMissing ? "command.no-browser" : "command.open-page")
    if !context.output.json || isBrowserMissing && WebBrowser.isThere {
      // With --json the object has it, unless the browser failed after that.
      let text = Output.printable(url.reveal())
      context.output.json ? context.output.note(text) : context.output.line(text)
    }
    askForAddress()
  }

  private func askForAddress() { say(Prompt.canAsk ? "command.paste-address" : "command.open-address") }

  /// A pasted address goes the way of a clicked one. The code in it is worth nothing without what linkd keeps.
  func pasted(_ line: String) {
    let address = LinkText.joinLines(line)
    guard !address.isEmpty else { return }
    guard line.utf8.count < Self.longestLine else { return say("command.line-too-long") }
    do throws(Failure) {
      let reply = try context.call(
        Contract.rootPath, Contract.Interface.links, "Open", [.string(address), context.options()])
      if let text = LinkAnswer.refusal(reply) { refused(address, reply, text) }
    } catch {
      context.output.note(Output.printable(error.message))
    }
  }

  /// Why a pasted address isn't taken, in words for a provider's sign-in: there is no mail.
  private func refused(_ address: String, _ reply: [DBusValue], _ text: String) {
    if let url, Self.page(address) == Self.page(url.reveal()) { return say("command.same-page") }
    let reason = LinkRejectionReason(rawValue: reply.last?.member("reason")?.asString ?? "")
    let isCheck = report?.stage == .waitingForCaptcha
    reason?.isOfMail == true
      ? say(isCheck ? "command.no-check-answer" : "command.no-answer") : context.output.note(text)
  }

  /// An address without its query and fragment.
  private static func page(_ address: String) -> String {
    String(decoding: address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }, as: UTF8.self)
  }

  func say(_ id: String, _ values: [String: String] = [:]) {
    context.output.note(Texts.lookup(id, locale: context.locale, values))
  }
}

extension LinkRejectionReason {
  /// Whether its text speaks of mails, which a provider doesn't send.
  fileprivate var isOfMail: Bool {
    switch self {
    case .noPendingRequest, .apiKeyMismatch, .ambiguousApp, .unknownAuthType: false
    case .unsupportedScheme, .untrustedHost, .insecureScheme, .userinfo, .notAuthLink, .opaqueWrapper, .malformed,
      .controlCharacter, .tooLong, .nestingTooDeep, .duplicateParameter, .missingMode, .unknownMode, .missingOobCode,
      .missingDeepLink:
      true
    }
  }
}
