import AuthCore

extension LinkParser.Run {
  /// The parameters of an email action link (identity-toolkit 5).
  ///
  /// - Throws: in this order: `missingOobCode`, `missingMode`, `unknownMode`, `apiKeyMismatch`, and for any of them
  ///   `duplicateParameter`, `malformed`, `controlCharacter`.
  mutating func action(_ parameters: Parameters) throws(LinkRejection) -> Link {
    guard let code = try parameters.value("oobCode") else { throw LinkRejection(.missingOobCode, hint: .cutOff) }
    guard let mode = try parameters.value("mode") else { throw LinkRejection(.missingMode) }
    guard let kind = ActionMode.kinds[mode] else { throw LinkRejection(.unknownMode) }
    let apiKey = try parameters.value("apiKey")
    try narrowByKey(apiKey)
    var link = ActionLink(kind: kind, mode: mode, oobCode: Secret(code), apiKey: apiKey)
    link.language = parameters.optional("lang")
    link.tenantID = try parameters.value("tenantId")
    try takeContinueURL(parameters, &link)
    return found(.action(link))
  }

  /// A link names its project by its key. `fake-api-key` names none: the emulator writes it into every link, and hands it on to
  /// the continue page; one on this machine believes it.
  private mutating func narrowByKey(_ apiKey: String?) throws(LinkRejection) {
    guard let apiKey else { return }
    let isEmulators = apiKey == "fake-api-key"
    if isEmulators, emulator != nil { return }
    candidates = (candidates ?? []).filter {
      index.apps[$0].apiKey == apiKey || isEmulators && isLoopbackPage && index.apps[$0].emulator != nil
    }
    guard candidates?.isEmpty == false else { throw LinkRejection(.apiKeyMismatch) }
  }

  /// The continue URL is kept for display and for the row's token; it isn't needed for the sign-in, so one that can't be
  /// read is dropped.
  private func takeContinueURL(_ parameters: Parameters, _ link: inout ActionLink) throws(LinkRejection) {
    guard try parameters.raw("continueUrl") != nil else {
      link.hints = Self.hints(parameters)
      return
    }
    guard let text = parameters.optional("continueUrl"), let url = try? SplitURL(Array(text.utf8)[...]),
      let raw = url.authority, let authority = try? WebAuthority(raw),
      let isTrusted = isTrusted(url, authority)
    else {
      link.continueURLRejected = true
      return
    }
    link.continueURL = Secret(text)
    link.continueURLTrusted = isTrusted
    link.hints = Self.hints(Parameters(url.query, plus: .literal))
  }

  /// Whether the page is the app's own; nil for what isn't a web URL.
  private func isTrusted(_ url: SplitURL, _ authority: WebAuthority) -> Bool? {
    let apps = candidates ?? []
    if url.scheme.isName("https") {
      guard let claim = index.hosts.find(authority.host) else { return false }
      return apps.contains { claim.linkHost.contains($0) || claim.continueHost.contains($0) }
    }
    guard url.scheme.isName("http") else { return nil }
    let local = index.emulatorApps(authority)
    if apps.contains(where: local.contains) { return true }
    guard authority.isLoopback else { return false }
    return apps.contains(where: index.continueApps(loopbackPort: authority.port ?? 80).contains)
  }

  /// `ui_*` (behaviour: Links 9). They only find a row: what can't be read finds none.
  private static func hints(_ parameters: Parameters) -> LinkHints {
    LinkHints(
      sessionID: parameters.optional("ui_sid").map(Secret.init), anonymousUID: parameters.optional("ui_auid"),
      sameDevice: parameters.optional("ui_sd") == "1", providerID: parameters.optional("ui_pid"))
  }
}

/// The words of a link's `mode` (identity-toolkit 5.2). The REST API's `requestType` has a table of its own (field report
/// B020).
enum ActionMode {
  static let kinds: [String: LinkKind] = [
    "signIn": .emailSignIn, "resetPassword": .passwordReset, "verifyEmail": .verifyEmail,
    "recoverEmail": .recoverEmail, "verifyAndChangeEmail": .verifyAndChangeEmail,
    "revertSecondFactorAddition": .revertSecondFactor,
  ]
}
