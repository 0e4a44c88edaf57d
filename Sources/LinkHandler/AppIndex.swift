import AuthCore

/// What the apps claim, looked up in constant time: a foreign URL costs the same with one app as with a hundred.
final class AppIndex: Sendable {
  /// How a host belongs to apps, by their indices.
  struct HostClaim: Sendable {
    /// Action pages, hosting links and old Dynamic Links are served there.
    var linkHost: [Int] = []
    /// The continue page is there.
    var continueHost: [Int] = []
  }

  /// An app at a port of some host.
  struct PortClaim: Sendable {
    let port: UInt16
    let app: Int
  }

  let apps: [App]
  let hosts: NameTable<HostClaim>
  let schemes: NameTable<[Int]>
  private let emulators: NameTable<[PortClaim]>
  private let continuePorts: [UInt16: [Int]]

  init(_ apps: [App]) {
    self.apps = apps
    var claims = Claims()
    for (index, app) in apps.enumerated() { claims.add(app, index) }
    hosts = NameTable(claims.hosts)
    schemes = NameTable(claims.schemes)
    emulators = NameTable(claims.emulators)
    continuePorts = claims.continuePorts
  }

  /// The apps whose emulator is exactly there.
  func emulatorApps(_ authority: WebAuthority) -> [Int] {
    guard let claims = emulators.find(authority.host) else { return [] }
    return claims.compactMap { $0.port == authority.port ?? 80 ? $0.app : nil }
  }

  /// The apps whose continue page is on this machine at `port`.
  func continueApps(loopbackPort port: UInt16) -> [Int] { continuePorts[port] ?? [] }

  /// Claims as they are collected.
  private struct Claims {
    var hosts: [String: HostClaim] = [:]
    var schemes: [String: [Int]] = [:]
    var emulators: [String: [PortClaim]] = [:]
    var continuePorts: [UInt16: [Int]] = [:]

    mutating func add(_ app: App, _ index: Int) {
      for host in Set(([app.authDomain] + app.linkDomains).map { $0.lowercased() }) where !host.isEmpty {
        hosts[host, default: HostClaim()].linkHost.append(index)
      }
      var pages = Set(app.continueHosts.map { $0.lowercased() })
      addContinuePage(app, index, &pages)
      for host in pages { hosts[host, default: HostClaim()].continueHost.append(index) }
      for scheme in Set(app.callbackSchemes.map { $0.lowercased() }) { schemes[scheme, default: []].append(index) }
      if let emulator = app.emulator {
        emulators[emulator.host, default: []].append(PortClaim(port: emulator.port, app: index))
      }
    }

    private mutating func addContinuePage(_ app: App, _ index: Int, _ pages: inout Set<String>) {
      var ports: Set<UInt16> = []
      if app.continueMode == .loopback, app.loopbackPort != 0 { ports.insert(app.loopbackPort) }
      if let text = app.continueURL, let url = try? SplitURL(Array(text.utf8)[...]), let raw = url.authority,
        let authority = try? WebAuthority(raw)
      {
        if url.scheme.isName("https") { pages.insert(authority.host.lowercased) }
        // The emulator's own page counts on its exact address alone.
        let port = authority.port ?? 80
        if url.scheme.isName("http"), authority.isLoopback, port != app.emulator?.port { ports.insert(port) }
      } else if app.continueMode == .paste {
        // Nothing of the app is hosted: its mails end on the project's own site (behaviour: How a mail's link…).
        pages.insert(app.authDomain.lowercased())
      }
      for port in ports { continuePorts[port, default: []].append(index) }
    }
  }
}
