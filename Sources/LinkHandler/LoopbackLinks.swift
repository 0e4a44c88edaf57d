import AuthCore

extension LinkParser.Run {
  /// http: only this machine and the apps' emulators: a redirect that a flow waits for, the emulator's pages, the loopback
  /// continue page.
  mutating func plain(_ url: SplitURL, _ authority: WebAuthority) throws(LinkRejection) -> Link {
    let emulatorApps = index.emulatorApps(authority)
    if !emulatorApps.isEmpty { return try emulatorPage(url, emulatorApps) }
    guard authority.isLoopback else { throw LinkRejection(.insecureScheme) }
    let port = authority.port ?? 80
    let waiting = pending.apps(loopbackPort: port, path: url.path)
    if !waiting.isEmpty {
      try narrow(to: index.apps.indices.filter { waiting.contains(index.apps[$0].id) })
      return try ownClientReturn(url)
    }
    let parameters = Parameters(url.query, plus: .literal)
    let continueApps = index.continueApps(loopbackPort: port)
    if !continueApps.isEmpty {
      guard Self.hasAction(parameters) else { throw LinkRejection(.notAuthLink) }
      try narrow(to: continueApps)
      isLoopbackPage = true
      return try action(parameters)
    }
    throw LinkRejection(Self.strayReason(parameters, isListening: pending.listens(atLoopbackPort: port)))
  }

  /// Why a URL of this machine is nobody's.
  private static func strayReason(_ parameters: Parameters, isListening: Bool) -> LinkRejectionReason {
    // Whatever else a browser asks of a port where a flow waits.
    if isListening { return .notAuthLink }
    if parameters.has("state") || parameters.has("code") || parameters.has("error") { return .noPendingRequest }
    return parameters.has("oobCode") ? .untrustedHost : .notAuthLink
  }

  /// `/emulator/action` and `/emulator/continue`, on exactly the app's emulator address.
  private mutating func emulatorPage(_ url: SplitURL, _ apps: [Int]) throws(LinkRejection) -> Link {
    guard url.path.equals("/emulator/action") || url.path.equals("/emulator/continue") else {
      throw LinkRejection(.notAuthLink)
    }
    try narrow(to: apps)
    emulator = apps.first.flatMap { index.apps[$0].emulator }
    return try action(Parameters(url.query, plus: .literal))
  }
}
