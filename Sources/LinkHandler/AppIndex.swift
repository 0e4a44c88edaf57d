import AuthCore

/// What the apps claim, looked up in constant time: a foreign URL costs the same with one app as with a hundred.
struct AppIndex: Sendable {
  /// How a host belongs to apps.
  struct HostClaim: Sendable {
    /// Action pages, hosting links and old Dynamic Links are served there.
    var linkHost: [Int] = []
    /// The continue page is there.
    var continueHost: [Int] = []
  }

  let apps: [App]
  private(set) var hosts: [String: HostClaim] = [:]
  private(set) var schemes: [String: [Int]] = [:]
  private(set) var emulators: [String: [Int]] = [:]
  private(set) var loopbackPorts: [UInt16: [Int]] = [:]

  init(_ apps: [App]) {
    self.apps = apps
    for (index, app) in apps.enumerated() {
      for host in Set([app.authDomain] + app.linkDomains) where !host.isEmpty {
        hosts[host.lowercased(), default: HostClaim()].linkHost.append(index)
      }
      for host in Set(app.continueHosts + [app.continueURL.flatMap(Self.host)].compactMap { $0 }) {
        hosts[host.lowercased(), default: HostClaim()].continueHost.append(index)
      }
      for scheme in app.callbackSchemes { schemes[scheme, default: []].append(index) }
      if let emulator = app.emulator { emulators[emulator.description, default: []].append(index) }
      if app.continueMode == .loopback, app.loopbackPort != 0 {
        loopbackPorts[app.loopbackPort, default: []].append(index)
      }
    }
  }

  private static func host(_ url: String) -> String? {
    guard let split = try? SplitURL(Array(url.utf8)[...]), split.scheme == "https", let authority = split.authority
    else {
      return nil
    }
    return (try? WebAuthority(authority))?.host
  }
}
