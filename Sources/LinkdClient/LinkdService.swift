import LinkdContract
public import AuthCore
import DBus

/// linkd itself, and where a program begins:
///
/// ```swift
/// let app = try await LinkdService.connect().app("demo")
/// let user = try await app.signIn(email: "you@example.com", password: Secret("…"))
/// print("signed in: \(user.uid)")
/// ```
///
/// The proxies share one connection, which is served by a thread of its own and closes with the last of them.
public struct LinkdService: Sendable {
  private let wire: Wire

  /// Connects to the bus. linkd is started by the first call.
  /// - Parameters:
  ///   - busAddress: nil for the user's session bus.
  ///   - language: of messages for people, BCP 47; nil leaves it to the app's file and linkd.
  /// - Throws: `unavailable` where there is no bus.
  public static func connect(
    busAddress: String? = nil, language: String? = nil
  ) async throws(LinkdError) -> LinkdService {
    let address = busAddress.map(Address.address) ?? .session
    return LinkdService(wire: try await Wire.open(address, language: language))
  }

  /// Closes the connection before its time: calls and sequences of all its proxies end with `Disconnected`.
  public func close() async { await wire.close() }

  /// An app that linkd knows.
  /// - Parameters:
  ///   - id: its name; empty for the default app.
  ///   - emulator: an emulator in place of the app's own backend. Its session is another one.
  /// - Throws: `NoSuchApp`, also for an app that isn't shown to this sandbox; `unavailable` where linkd isn't there.
  public func app(_ id: String = "", emulator: EmulatorAddress? = nil) async throws(LinkdError) -> LinkdApp {
    let backend = emulator.map { ["emulator": DBusValue.string($0.description)] } ?? [:]
    let reply = try await manager("GetApp", .string(id), options: backend)
    guard let path = reply.first?.asPath, let id = Contract.appID(path: path) else { throw .malformed("GetApp") }
    return LinkdApp(wire, id: id, path: path, backend: backend)
  }

  /// A flow by its name, for example from another process. Whether there is one shows at the first call.
  public func flow(_ id: FlowID) -> LinkdFlow { LinkdFlow(wire, id) }

  /// What linkd says about itself. Times are Unix seconds.
  public func report() async throws(LinkdError) -> ServiceReport {
    do throws(DBusError) {
      return ServiceReport(properties: try await wire.properties(Contract.rootPath, Contract.Interface.manager))
    } catch {
      throw LinkdError(error)
    }
  }

  /// Whether linkd would take a URL: no network, no change.
  public func canHandle(_ url: String) async throws(LinkdError) -> Bool {
    let reply = try await wire.call(
      Contract.rootPath, Contract.Interface.links, "CanHandle", [.string(url)], options: [:])
    guard let handled = reply.first?.asBool else { throw .malformed("CanHandle") }
    return handled
  }

  /// Hands a URL that the program was opened with to linkd, which has stored it when this returns.
  /// - Returns: the flow that it belongs to.
  /// - Throws: why it is none of linkd's links, as `bus` with linkd's reason.
  public func open(_ url: Secret<String>) async throws(LinkdError) -> LinkdFlow? {
    let reply = try await wire.call(
      Contract.rootPath, Contract.Interface.links, "Open", [.string(url.reveal())], options: [:])
    guard reply.count == 2, reply[0].asBool == true else { return nil }
    return reply[1].asDict?["flow"]?.asPath.flatMap(Contract.flowID(path:)).map { LinkdFlow(wire, $0) }
  }

  /// Reads the apps' files again.
  public func reloadApps() async throws(LinkdError) { _ = try await manager("ReloadApps") }

  private func manager(
    _ member: String, _ arguments: DBusValue..., options: [String: DBusValue] = [:]
  ) async throws(LinkdError) -> [DBusValue] {
    try await wire.call(Contract.rootPath, Contract.Interface.manager, member, arguments, options: options)
  }
}

/// What linkd says about itself.
public struct ServiceReport: Sendable, Hashable {
  /// Its version.
  public var version: String
  /// The apps it knows, and that this process may see.
  public var apps: [AppID]
  /// The app that is meant where none is named.
  public var defaultApp: AppID?
  /// The flows that haven't ended.
  public var activeFlows: [FlowID]
  /// Where the store's key is kept.
  public var keyStore: String

  init(properties: [String: DBusValue]) {
    version = properties["ServiceVersion"]?.asString ?? ""
    apps = (properties["Apps"]?.asPaths ?? []).compactMap(Contract.appID(path:))
    defaultApp = properties["DefaultApp"]?.asString.flatMap(AppID.init)
    activeFlows = (properties["ActiveFlows"]?.asPaths ?? []).compactMap(Contract.flowID(path:))
    keyStore = properties["KeyStore"]?.asString ?? ""
  }
}
