public import AuthCore
public import DBus
public import EventLoop

/// Opens a page in the person's browser without forking one from the daemon's confined unit (behaviour: Who may ask): by
/// the OpenURI portal, else by a transient unit of the user manager.
@LoopActor
public final class Browser {
  /// What came of it.
  public enum Outcome: Sendable, Hashable {
    /// A browser has the page.
    case opened
    /// The person said no in the portal's dialog.
    case refused
    /// There's neither way, or both failed, or the URL is none that may be opened: `linkctl` or the person opens it.
    case unavailable
  }

  private let portal: BrowserPortal
  private let unit: BrowserUnit

  /// Opens pages by the services on this bus, the session bus.
  public convenience init(connection: Connection) { self.init(connection: connection, limits: Limits(), path: nil) }

  init(connection: Connection, limits: Limits, path: String?) {
    portal = BrowserPortal(connection: connection, limits: limits)
    unit = BrowserUnit(connection: connection, limits: limits, path: path)
  }

  /// Opens `url`, http or https, and waits until it's known how that went, up to about 40 s.
  ///
  /// - Parameters:
  ///   - parentWindow: the window that the portal's dialog belongs to, as portals name them; nil for none.
  ///   - activationToken: lets the browser come to the front (xdg-activation); nil for none.
  public func open(_ url: Secret<String>, parentWindow: String?, activationToken: String?) async -> Outcome {
    guard Self.isOpenable(url.reveal()) else { return .unavailable }
    let token = activationToken.flatMap { Self.isGraphic($0) ? $0 : nil }
    let outcome = await portal.open(url, parentWindow: parentWindow ?? "", activationToken: token)
    return outcome == .unavailable ? await unit.open(url, activationToken: token) : outcome
  }

  /// How long each step may take.
  struct Limits: Sendable {
    /// An answer of a service, which may have to be started first.
    var call: Duration = .seconds(5)
    /// The portal's response: it may show a dialog. Later the person has the page or will have it.
    var response: Duration = .seconds(25)
    /// The end of `xdg-open`. A browser that it started in the foreground is open by then.
    var job: Duration = .seconds(10)
  }

  /// Whether a page is one: no other scheme, a host, and only the characters of a URI (RFC 3986), of which none can end
  /// a word or a line wherever the URL goes from here.
  static func isOpenable(_ url: String) -> Bool {
    guard url.utf8.count <= 32 * 1024, isGraphic(url) else { return false }
    if url.utf8.contains(where: { #""<>\^`{|}"#.utf8.contains($0) }) { return false }
    let parts = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, ["http", "https"].contains(parts[0].lowercased()) else { return false }
    let host = parts[1].dropFirst(2).prefix { !"/?#".contains($0) }
    return parts[1].hasPrefix("//") && !host.isEmpty
  }

  /// Whether there's nothing but visible ASCII in it.
  private static func isGraphic(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }

  /// A name that nobody can guess, for what others could answer in a service's place.
  static func unguessable() -> String {
    (0..<2).reduce(into: "") { text, _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      text += String(repeating: "0", count: 16 - digits.count) + digits
    }
  }
}

/// One signal that is waited for, subscribed to before what sets it off.
@LoopActor
final class ExpectedSignal {
  private var subscription: Subscription?
  private var arguments: [DBusValue]?
  private var waiter: CheckedContinuation<[DBusValue]?, Never>?

  /// - Parameter isIt: chooses among the signals of the rule by their arguments.
  init(
    _ connection: Connection, _ rule: MatchRule, where isIt: @escaping @LoopActor ([DBusValue]) -> Bool = { _ in true }
  ) async throws(DBusError) {
    subscription = try await connection.subscribe(rule) { [weak self] signal in
      guard let self, self.arguments == nil, isIt(signal.arguments) else { return }
      self.arguments = signal.arguments
      self.waiter.take()?.resume(returning: signal.arguments)
    }
  }

  /// What it carried; nil when it hasn't come in time. For one wait.
  func wait(_ limit: Duration) async -> [DBusValue]? {
    defer { cancel() }
    if let arguments { return arguments }
    let timer = EventLoop.shared.after(limit) { [weak self] in self?.waiter.take()?.resume(returning: nil) }
    defer { timer.cancel() }
    return await withCheckedContinuation { continuation in
      // It may have come on the way into this closure.
      if let arguments { return continuation.resume(returning: arguments) }
      waiter = continuation
    }
  }

  /// Stops listening.
  func cancel() { subscription.take()?.cancel() }
}
