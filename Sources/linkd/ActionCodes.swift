import AuthCore
import Crypto
import DBus
import EventLoop
import IdentityToolkit
import LinkHandler
import Texts

/// Action codes that an app or a person brings by method call instead of a click. They go the way of a clicked link, so that a
/// code is spent once whoever comes first.
@LoopActor
struct ActionCodes {
  let keeper: SessionKeeper
  let tree: ObjectTree

  /// The action link in `url`, if it's this app's.
  ///
  /// - Throws: `LinkCutOff` for a truncated one, `InvalidArgs` saying why it's none, or another app's.
  func link(_ url: String, _ options: Options) throws(DBusError) -> ActionLink {
    switch tree.registry.parser.parse(url) {
    case .failure(let rejection):
      let locale = tree.locale(options, keeper)
      if rejection.hint == .cutOff { throw tree.reply(AuthFailure(.linkCutOff), options, keeper) }
      throw .invalidArgs(
        Texts.lookup(rejection.hint?.textID ?? "link.\(rejection.reason.rawValue)", locale: locale))
    case .success(let link):
      guard case .action(let action) = link.content, link.candidates.contains(keeper.key.app) else {
        throw .invalidArgs("The URL must be an action link of the app '\(keeper.key.app)'.")
      }
      // An emulator's code is nobody else's to see.
      if let emulator = link.emulator, keeper.key.backend != .emulator(emulator) {
        throw .invalidArgs("The URL is an action link of the emulator at \(emulator).")
      }
      return action
    }
  }

  /// What the code does. It isn't spent.
  func check(_ link: ActionLink) async throws(AuthFailure) -> ActionCodeInfo {
    try await keeper.toolkit.checkActionCode(link.oobCode, project: keeper.projectOfApp(tenant: link.tenantID))
  }

  /// Applies a code that verifies, changes or recovers an address, or removes a second factor. Calling is confirming.
  ///
  /// - Throws: `operationNotAllowed` for a code of another kind, and why it can't be applied.
  func apply(_ link: ActionLink, for caller: Caller) async throws(AuthFailure) {
    let id = try await begin(link, for: caller)
    if tree.coordinator.flow(id)?.stage == .waitingForConfirmation {
      try tree.coordinator.handle(.confirmed, id)
    }
    try await finish(id)
  }

  /// Spends a reset code for a new password.
  ///
  /// - Throws: `weakPassword`, `invalidActionCode` where another password has spent it, `operationNotAllowed` for a code of
  ///   another kind, and why it can't be spent.
  func resetPassword(_ link: ActionLink, to password: Secret<String>, for caller: Caller) async throws(AuthFailure) {
    guard !password.reveal().isEmpty else { throw AuthFailure(.weakPassword) }
    // A verification would be spent by being taken in.
    guard link.kind == .passwordReset else { throw .otherCode }
    let id = try await begin(link, for: caller)
    switch tree.coordinator.flow(id)?.stage {
    case .waitingForPassword: try tree.coordinator.handle(.passwordProvided(password), id)
    // The account has another password than this caller's.
    case .succeeded: throw AuthFailure(.invalidActionCode)
    default: break
    }
    try await finish(id)
  }

  /// The code's flow, once it's known what the code does.
  private func begin(_ link: ActionLink, for caller: Caller) async throws(AuthFailure) -> FlowID {
    guard link.kind != .emailSignIn else { throw .otherCode }
    let id = try tree.inbox.take(link, key: keeper.key, caller: caller)
    _ = await tree.coordinator.settled(id)
    return id
  }

  /// Waits for the end.
  private func finish(_ id: FlowID) async throws(AuthFailure) {
    guard let flow = await tree.coordinator.settled(id) else { throw AuthFailure(.noSuchFlow) }
    if flow.stage == .succeeded { return }
    if flow.stage == .cancelled { throw AuthFailure(.cancelled) }
    throw flow.error.map { AuthFailure($0, detail: flow.errorDetail) } ?? .otherCode
  }
}

extension AuthFailure {
  /// The code does something else than it was brought for.
  fileprivate static let otherCode = AuthFailure(.operationNotAllowed, cause: "cause.other-code")
}
