public import AuthCore

/// The redirects that live flows wait for: what the apps' files don't say.
public struct PendingReturns: Sendable, Hashable {
  /// A flow's return URI.
  public struct Waiting: Sendable, Hashable {
    /// The app of the flow.
    public let app: AppID
    fileprivate let scheme: [UInt8]
    fileprivate let authority: [UInt8]?
    /// Set for a listener on this machine, which stands on 127.0.0.1 and [::1] alike.
    fileprivate let loopbackPort: UInt16?
    fileprivate let path: [UInt8]

    /// A flow of `app` that waits at `returnURI`: `http://127.0.0.1:<port>/callback[/<provider id>]` in any spelling of
    /// the loopback host, or a URI in one of the app's own schemes. Nil for anything else, and for one with a query or
    /// fragment.
    public init?(app: AppID, returnURI: String) {
      guard let url = try? SplitURL(Array(returnURI.utf8)[...]), url.query == nil, url.fragment == nil, !url.hasSpace
      else { return nil }
      self.app = app
      scheme = url.scheme.map(ASCII.lower)
      path = Array(url.path)
      authority = url.authority.map(Array.init)
      switch url.scheme.lowercased {
      case "https": return nil
      case "http":
        guard let authority = url.authority.flatMap({ try? WebAuthority($0) }), authority.isLoopback else { return nil }
        loopbackPort = authority.port ?? 80
      default: loopbackPort = nil
      }
    }
  }

  /// Whether `url` is at one of the URIs, whatever its query says.
  public func contains(_ url: String) -> Bool {
    guard let url = try? SplitURL(LinkCleanup.clean(Array(url.utf8)[...])) else { return false }
    if !apps(for: url).isEmpty { return true }
    guard url.scheme.isName("http"), let authority = url.authority.flatMap({ try? WebAuthority($0) }),
      authority.isLoopback
    else { return false }
    return !apps(loopbackPort: authority.port ?? 80, path: url.path).isEmpty
  }

  /// The flows that wait, in any order.
  public var waiting: [Waiting]

  /// Nothing waits, or `waiting` do.
  public init(_ waiting: [Waiting] = []) { self.waiting = waiting }

  /// The apps that wait at `path` on this machine: they may share a port.
  func apps(loopbackPort port: UInt16, path: Bytes) -> [AppID] {
    waiting.filter { $0.loopbackPort == port && path.isSamePath($0.path[...]) }.map(\.app)
  }

  /// Whether any flow waits at the port.
  func listens(atLoopbackPort port: UInt16) -> Bool { waiting.contains { $0.loopbackPort == port } }

  /// The apps that wait for `url`, which is in an own scheme.
  func apps(for url: SplitURL) -> [AppID] {
    waiting.filter { flow in
      flow.loopbackPort == nil && url.scheme.isName(flow.scheme) && url.authority.map(Array.init) == flow.authority
        && url.path.isSamePath(flow.path[...])
    }.map(\.app)
  }
}

extension Bytes {
  /// Equal but for one slash at the end (field report B051).
  func isSamePath(_ other: Bytes) -> Bool { withoutSlash == other.withoutSlash }

  /// The same for a literal path that ends without a slash.
  func isSamePath(_ other: StaticString) -> Bool { withoutSlash.equals(other) }

  private var withoutSlash: Bytes { last == UInt8(ascii: "/") ? dropLast() : self }
}
