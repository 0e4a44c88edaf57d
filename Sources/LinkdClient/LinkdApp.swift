import LinkdContract
public import AuthCore
import DBus

/// An app in linkd: its session, and what starts a sign-in to it.
///
/// ```swift
/// let app = try await LinkdService.connect().app("demo")
/// let token = try await app.idToken()
/// print("a token until \(token.expiresAt)")
/// ```
public struct LinkdApp: Sendable {
  /// Its name.
  public let id: AppID
  let wire: Wire
  let path: ObjectPath
  /// The emulator that the caller named.
  private let backend: [String: DBusValue]

  init(_ wire: Wire, id: AppID, path: ObjectPath, backend: [String: DBusValue]) {
    (self.wire, self.id, self.path, self.backend) = (wire, id, path, backend)
  }

  func call(
    _ interface: String, _ member: String, _ arguments: [DBusValue] = [], _ options: [String: DBusValue] = [:]
  ) async throws(LinkdError) -> [DBusValue] {
    try await wire.call(path, interface, member, arguments, options: options.merging(backend) { $1 })
  }

  /// A call that answers with a flow. It isn't given up half-way: a flow that nobody knows of couldn't be cancelled.
  func start(
    _ interface: String, _ member: String, _ arguments: [DBusValue] = [], _ options: [String: DBusValue] = [:]
  ) async throws(LinkdError) -> LinkdFlow {
    let started = Task { () -> Result<LinkdFlow, LinkdError> in
      do throws(LinkdError) {
        guard let flow = try await call(interface, member, arguments, options).flow else { throw .malformed(member) }
        return .success(LinkdFlow(wire, flow))
      } catch {
        return .failure(error)
      }
    }
    let flow = try await started.value.get()
    guard Task.isCancelled else { return flow }
    await Task { try? await flow.cancel() }.value
    throw .cancelled
  }

  private func properties(_ interface: String) async throws(LinkdError) -> [String: DBusValue] {
    do throws(DBusError) {
      return try await wire.properties(path, interface)
    } catch {
      throw error.name == DBusError.Name.unknownObject ? SessionStatus.missing : LinkdError(error)
    }
  }

  // MARK: App

  /// What its file says, without anything secret.
  public func description() async throws(LinkdError) -> AppDescription {
    AppDescription(id: id, properties: try await properties(Contract.Interface.app))
  }

  // MARK: Session

  /// State, user, health and what else there is.
  public func report() async throws(LinkdError) -> SessionReport {
    guard let report = SessionReport(path, properties: try await properties(Contract.Interface.session)) else {
      throw .malformed("GetAll")
    }
    return report
  }

  /// An ID token that lives for another `minValidity` seconds; refreshed where needed, or always with `forceRefresh`.
  /// - Parameter uid: fail with `UserMismatch` unless this user is signed in.
  public func idToken(
    minValidity: UInt32 = 300, forceRefresh: Bool = false, uid: String?
  ) async throws(LinkdError) -> IdentityToken {
    var options: [String: DBusValue] = ["min-validity": .uint32(minValidity)]
    if forceRefresh { options["force-refresh"] = .boolean(true) }
    options["uid"] = uid.map(DBusValue.string)
    let reply = try await call(Contract.Interface.session, "GetIdToken", [], options)
    guard reply.count == 3, let token = reply[0].asString, let expiresAt = reply[1].asInt64 else {
      throw .malformed("GetIdToken")
    }
    return IdentityToken(token: Secret(token), expiresAt: expiresAt, claims: reply[2].asJSON?.object ?? [:])
  }
}

/// What an app's file says, without anything secret.
public struct AppDescription: Sendable, Hashable {
  /// Its name on this machine.
  public var id: AppID
  /// The Firebase project.
  public var projectID: String
  /// What people call it.
  public var displayName: String
  /// Host of the Firebase pages.
  public var authDomain: String
  /// Address of the emulator; nil for the real servers.
  public var emulator: String?
  /// The tenant.
  public var tenantID: String?
  /// Language of mails and texts, BCP 47.
  public var languageCode: String?
  /// Every scheme whose URLs belong to the app.
  public var schemes: [String]
  /// The ways to sign in, in the order of the buttons: `id`, `kind`, `display-name`, ….
  public var providers: [[String: JSONValue]]
  /// The file's options.
  public var options: [String: JSONValue]

  init(id: AppID, properties: [String: DBusValue]) {
    func text(_ name: String) -> String? { properties[name]?.asString.flatMap { $0.isEmpty ? nil : $0 } }
    self.id = id
    projectID = text("ProjectId") ?? ""
    displayName = text("DisplayName") ?? ""
    authDomain = text("AuthDomain") ?? ""
    emulator = text("Emulator")
    tenantID = text("TenantId")
    languageCode = text("LanguageCode")
    schemes = properties["Schemes"]?.asStrings ?? []
    providers = (properties["Providers"]?.asArray ?? []).compactMap { $0.asJSON?.object }
    options = properties["Options"]?.asJSON?.object ?? [:]
  }
}
