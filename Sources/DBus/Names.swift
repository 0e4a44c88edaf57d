public import EventLoop

/// How a name is asked for.
public struct NameFlags: OptionSet, Sendable {
  /// The bits of `RequestName`.
  public let rawValue: UInt32

  /// From the bits of `RequestName`.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Others may take the name over.
  public static let allowReplacement = NameFlags(rawValue: 1)
  /// Take the name over if its owner allows it.
  public static let replaceExisting = NameFlags(rawValue: 2)
  /// Fail rather than wait for the name.
  public static let doNotQueue = NameFlags(rawValue: 4)
}

/// What came of asking for a name.
public enum RequestNameReply: UInt32, Sendable {
  /// The name is ours now.
  case primaryOwner = 1
  /// It is ours when its owner gives it up.
  case inQueue = 2
  /// It has an owner, and we don't wait.
  case exists = 3
  /// It was ours before.
  case alreadyOwner = 4
}

/// What the bus knows about the process behind a connection.
public struct Credentials: Sendable, Hashable {
  /// Its user.
  public var uid: UInt32
  /// Its process id when it connected.
  public var pid: UInt32
  /// A pidfd, where the bus has one to give (dbus 1.16 and later).
  public var processFD: UnixFD?
  /// SELinux or AppArmor label, without the zero byte at its end.
  public var linuxSecurityLabel: String?

  /// As the bus answers, or as a test needs them.
  public init(uid: UInt32, pid: UInt32, processFD: UnixFD? = nil, linuxSecurityLabel: String? = nil) {
    self.uid = uid
    self.pid = pid
    self.processFD = processFD
    self.linuxSecurityLabel = linuxSecurityLabel
  }
}

extension Connection {
  /// Asks for a well-known name. Export objects and subscribe first: calls come as soon as the name is owned.
  public func requestName(_ name: String, _ flags: NameFlags = []) async throws(DBusError) -> RequestNameReply {
    try Validation.require(busName: name)
    let reply = try await callBus("RequestName", [.string(name), .uint32(flags.rawValue)])
    guard let code = reply.first?.asUInt32, let answer = RequestNameReply(rawValue: code)
    else { throw .failed("the bus answered RequestName with something unknown") }
    return answer
  }

  /// Gives a name up, or its place in the queue for it. Harmless when it isn't ours.
  public func releaseName(_ name: String) async throws(DBusError) {
    try Validation.require(busName: name)
    _ = try await callBus("ReleaseName", [.string(name)])
  }

  /// The unique name of a name's owner; nil when it has none.
  public func nameOwner(of name: String) async throws(DBusError) -> String? {
    try Validation.require(busName: name)
    do throws(DBusError) {
      return try await callBus("GetNameOwner", [.string(name)]).first?.asString
    } catch {
      if error.name == DBusError.Name.nameHasNoOwner { return nil }
      throw error
    }
  }

  /// User, process and labels of the connection behind a name, from the bus and so not to be forged.
  public func getConnectionCredentials(of name: String) async throws(DBusError) -> Credentials {
    try Validation.require(busName: name)
    let content = try await callBus("GetConnectionCredentials", [.string(name)]).first?.asDict ?? [:]
    guard let uid = content["UnixUserID"]?.asUInt32, let pid = content["ProcessID"]?.asUInt32
    else { throw .failed("the bus doesn't know the process behind the connection") }
    let label = content["LinuxSecurityLabel"]?.asBytes.map { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    return Credentials(uid: uid, pid: pid, processFD: content["ProcessFD"]?.asUnixFD, linuxSecurityLabel: label)
  }

  /// Calls `handler` when a name gets, changes or loses its owner (an absent owner is empty); without `name`, for
  /// every name on the bus. The bus alone can send this.
  public func nameOwnerChanged(
    of name: String? = nil, _ handler: @escaping @LoopActor (_ name: String, _ old: String, _ new: String) -> Void
  ) async throws(DBusError) -> Subscription {
    let rule = MatchRule(
      sender: BusDriver.name, interface: BusDriver.interface, member: "NameOwnerChanged", arg0: name)
    return try await subscribe(rule) { signal in
      let names = signal.arguments.compactMap(\.asString)
      if names.count == 3 { handler(names[0], names[1], names[2]) }
    }
  }

  /// Follows one name, unique or well-known, at a cost that doesn't grow with the number of names followed.
  /// `changed` is called with the owner, nil when there is none: for each change from now on, not for the present
  /// owner, which is in ``NameWatch/owner``.
  public func watchName(
    _ name: String, _ changed: @escaping @LoopActor (_ owner: String?) -> Void
  ) async throws(DBusError) -> NameWatch {
    try Validation.require(busName: name)
    let watch = NameWatch(name, subscriptions, changed)
    subscriptions.names.insert(watch)
    do throws(DBusError) {
      try await subscriptions.addMatch(watch.matchText)
      watch.owner = try await nameOwner(of: name)
      return watch
    } catch {
      watch.cancel()
      throw error
    }
  }
}

/// One name being followed, until ``cancel()`` or the end of the connection.
@LoopActor
public final class NameWatch {
  /// The name.
  public let name: String
  /// Unique name of its owner; nil when there is none.
  public fileprivate(set) var owner: String?
  fileprivate let changed: @LoopActor (String?) -> Void
  fileprivate weak var subscriptions: Subscriptions?
  fileprivate var isCancelled = false

  fileprivate init(_ name: String, _ subscriptions: Subscriptions, _ changed: @escaping @LoopActor (String?) -> Void) {
    self.name = name
    self.subscriptions = subscriptions
    self.changed = changed
  }

  fileprivate var matchText: String {
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(name)'"
  }

  /// The handler isn't called any more.
  public func cancel() {
    if isCancelled { return }
    isCancelled = true
    subscriptions?.names.remove(self)
    subscriptions?.removeMatch(matchText)
  }
}

/// The names followed, by name: thousands of them cost no more per signal than one.
@LoopActor
final class NameWatches {
  private var byName: [String: [NameWatch]] = [:]

  nonisolated init() {}

  func insert(_ watch: NameWatch) { byName[watch.name, default: []].append(watch) }

  func remove(_ watch: NameWatch) {
    byName[watch.name]?.removeAll { $0 === watch }
    if byName[watch.name]?.isEmpty == true { byName[watch.name] = nil }
  }

  func removeAll() { byName = [:] }

  func deliver(_ signal: Signal) {
    let names = signal.arguments.compactMap(\.asString)
    guard names.count == 3, let watches = byName[names[0]] else { return }
    let owner = names[2].isEmpty ? nil : names[2]
    for watch in watches where !watch.isCancelled {
      watch.owner = owner
      watch.changed(owner)
    }
  }
}
