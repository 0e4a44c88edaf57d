import AuthCore

extension LinkParser.Run {
  /// URLs of this machine: a redirect that a listener waits for, the emulator's pages, the loopback continue page.
  mutating func loopback(_ url: SplitURL, _ authority: WebAuthority) throws(LinkRejection) -> Link {
    let port = authority.port ?? 80
    let parameters = Parameters(url.query, plus: .literal)
    let host = authority.host.contains(":") ? "[\(authority.host)]" : authority.host
    if let apps = index.emulators["\(host):\(port)"] { return try emulatorPage(url, apps, parameters) }
    if let apps = index.loopbackPorts[port] {
      guard parameters.has("mode") || parameters.has("oobCode") else { throw LinkRejection(.notAuthLink) }
      try narrow(to: apps)
      return try action(parameters)
    }
    let waiting = listeners.filter { $0.port == port }
    guard !waiting.isEmpty else {
      // Somebody's redirect, but nobody here waits for it.
      if parameters.has("state") || parameters.has("code") || parameters.has("error") {
        throw LinkRejection(.noPendingRequest)
      }
      throw LinkRejection(parameters.has("oobCode") ? .untrustedHost : .notAuthLink)
    }
    guard let listener = waiting.first(where: { Self.isSamePath(url.path, $0.path) }) else {
      throw LinkRejection(.notAuthLink)
    }
    try narrow(to: index.apps.indices.filter { index.apps[$0].id == listener.app })
    return try ownClientReturn(url)
  }

  /// `/emulator/action` and `/emulator/continue`, on exactly the app's emulator address.
  private mutating func emulatorPage(
    _ url: SplitURL, _ apps: [Int], _ parameters: Parameters
  ) throws(LinkRejection) -> Link {
    guard url.path.equals("/emulator/action") || url.path.equals("/emulator/continue") else {
      // The app's own continue page may be served from the same address.
      throw LinkRejection(.notAuthLink)
    }
    try narrow(to: apps)
    emulator = apps.first.flatMap { index.apps[$0].emulator }
    return try action(parameters)
  }

  /// The path, with or without one slash at the end (field report B051).
  static func isSamePath(_ path: Bytes, _ expected: String) -> Bool {
    path.elementsEqual(expected.utf8) || path.elementsEqual((expected + "/").utf8)
  }
}
