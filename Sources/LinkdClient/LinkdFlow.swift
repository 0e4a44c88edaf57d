import LinkdContract
public import AuthCore
import DBus

/// A flow of linkd's: a sign-in that waits for its link, for example. It lives in linkd, also when this value is gone.
///
/// ```swift
/// let flow = try await app.sendSignInLink(to: "you@example.com")
/// let status = try await flow.end()   // cancelling the task cancels the flow
/// print(status.details.user?.uid ?? "")
/// ```
public struct LinkdFlow: FlowServicing {
  /// Its public name.
  public let id: FlowID
  private let wire: Wire
  private var path: ObjectPath { Contract.flowPath(id) }

  init(_ wire: Wire, _ id: FlowID) {
    self.wire = wire
    self.id = id
  }

  /// Subscribes with each iterator, and goes on when linkd restarts.
  public var stages: Updates<FlowStatus> { Updates(wire, path) }

  /// Where it stands now. Throws `NoSuchFlow` a minute after its end.
  public func status() async throws(LinkdError) -> FlowStatus {
    let properties: [String: DBusValue]
    do throws(DBusError) {
      properties = try await wire.properties(path, FlowStatus.interface)
    } catch {
      throw error.name == DBusError.Name.unknownObject ? FlowStatus.missing : LinkdError(error)
    }
    guard let status = FlowStatus(path, properties: properties) else { throw .malformed("GetAll") }
    return status
  }

  /// Throws `InvalidEmail`, or that the flow waits for none.
  public func provideEmail(_ email: String) async throws(LinkdError) { try await call("ProvideEmail", .string(email)) }

  /// Throws where the flow waits for none.
  public func providePassword(_ password: Secret<String>) async throws(LinkdError) {
    try await call("ProvidePassword", .string(password.reveal()))
  }

  /// Throws `InvalidVerificationCode` for what can't be a code, `NoSuchFlow` where the flow waits for none.
  public func provideCode(_ code: Secret<String>) async throws(LinkdError) {
    try await call("ProvideCode", .string(code.reveal()))
  }

  /// Throws `FactorNotFound`, `RateLimited`, or `NoSuchFlow` where the flow asks for none.
  public func chooseFactor(_ uid: String) async throws(LinkdError) { try await call("ChooseFactor", .string(uid)) }

  /// Throws where there is nothing to confirm.
  public func confirm() async throws(LinkdError) { try await call("Confirm") }

  /// Throws `NoSuchFlow` where there's no conflict.
  public func resolveConflict(_ choice: ConflictChoice) async throws(LinkdError) {
    try await call("ResolveConflict", .string(choice.rawValue))
  }

  /// Throws `NoSuchFlow` where there's none yet, `AccessDenied` to any program but the one that started the flow.
  public func url() async throws(LinkdError) -> Secret<String> {
    let reply = try await wire.call(path, FlowStatus.interface, "GetUrl", options: [:])
    guard let url = reply.first?.asString else { throw .malformed("GetUrl") }
    return Secret(url)
  }

  /// Throws as ``url()``.
  public func secret() async throws(LinkdError) -> AuthenticatorSecret {
    let reply = try await wire.call(path, FlowStatus.interface, "GetSecret", options: [:])
    guard reply.count == 3, let key = reply[0].asString, let uri = reply[1].asString, let expiresAt = reply[2].asInt64
    else { throw .malformed("GetSecret") }
    return AuthenticatorSecret(key: Secret(key), uri: Secret(uri), expiresAt: expiresAt)
  }

  /// Throws `RateLimited` where it's too early, `NoSuchFlow` where there is nothing to send.
  public func resend() async throws(LinkdError) { try await call("Resend") }

  /// Harmless after the end.
  public func cancel() async throws(LinkdError) { try await call("Cancel") }

  private func call(_ member: String, _ arguments: DBusValue...) async throws(LinkdError) {
    _ = try await wire.call(path, FlowStatus.interface, member, arguments, options: [:])
  }
}
