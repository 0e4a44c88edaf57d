import AuthCore
import DBus
import EventLoop
import LinkHandler
import LinkdContract

/// `org.linkd.Auth1.Account`: what concerns the signed-in user.
@LoopActor
struct AccountInterface {
  let keeper: SessionKeeper
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.account,
      methods: [
        Method(
          "UpdateProfile", in: [Argument("changes", "a{sv}"), Argument("options", "a{sv}")], out: [],
          handler: .async(updateProfile)),
        Method(
          "SendEmailVerification", in: [Argument("options", "a{sv}")], out: [], handler: .async(sendEmailVerification)),
        Method(
          "Unlink", in: [Argument("provider_id", "s"), Argument("options", "a{sv}")], out: [Argument("flow", "o")],
          handler: .sync(unlink)),
        Method(
          "DeleteUser", in: [Argument("options", "a{sv}")], out: [Argument("flow", "o")], handler: .sync(deleteUser)),
        Method(
          "Reauthenticate", in: [Argument("options", "a{sv}")], out: [Argument("flow", "o")],
          handler: .sync(reauthenticate)),
      ],
      properties: [Version.property], signals: [])
  }

  private func updateProfile(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let changes = Options(call.arguments[0], called: "change")
    let (name, photo) = (try changes.string("display-name"), try changes.string("photo-url"))
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      guard keeper.machine.user != nil else { throw keeper.missingUser }
      try await keeper.updateProfile(displayName: name, photoURL: photo)
      return []
    }
  }

  private func sendEmailVerification(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let continueURL = try options.string("continue-url")
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      guard let user = keeper.machine.user else { throw keeper.missingUser }
      guard let email = user.email else { throw .noAddress }
      let url = try MailedLinks.plain(continueURL)
      // What is refused here is no mail.
      try tree.coordinator.countMail(to: email)
      try await keeper.sendEmailVerification(continueURL: url, locale: tree.locale(options, keeper))
      return []
    }
  }

  private func deleteUser(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let flow = try FlowStart(keeper: keeper, tree: tree).row(
      call, options, method: .none, purpose: .deleteUser, lifetime: waitingLifetime)
    try tree.answer(options, keeper) { () throws(AuthFailure) in try tree.coordinator.start(flow) }
    return [.objectPath(Paths.flow(flow.id))]
  }

  /// A provider, or `password` or `phone`.
  private func unlink(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    var flow = try FlowStart(keeper: keeper, tree: tree).row(
      call, options, method: .none, purpose: .unlink, lifetime: waitingLifetime)
    flow.linkProvider = call.text(0)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard keeper.machine.user?.providers.contains(where: { $0.providerID == flow.linkProvider }) == true else {
        throw AuthFailure(.noSuchProvider, cause: "cause.not-linked")
      }
      try tree.coordinator.start(flow)
    }
    return [.objectPath(Paths.flow(flow.id))]
  }

  /// In the way in which the user has signed in, or in another that the account has, if that one was taken from it.
  private func reauthenticate(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let start = FlowStart(keeper: keeper, tree: tree)
    switch keeper.machine.session?.wayBack(keeper.app) {
    case .provider(let id)?:
      let id = try ProviderSignIns(keeper: keeper, tree: tree).reauthenticate(call, options, by: id)
      return [.objectPath(Paths.flow(id))]
    case .password?:
      var flow = try start.row(call, options, method: .password, purpose: .reauthenticate, lifetime: waitingLifetime)
      try tree.answer(options, keeper) { () throws(AuthFailure) in
        guard let email = keeper.machine.user?.email else { throw .noAddress }
        flow.email = email
        try tree.coordinator.start(flow)
      }
      return [.objectPath(Paths.flow(flow.id))]
    default: break
    }
    let flow = try start.row(
      call, options, method: .emailLink, purpose: .reauthenticate, lifetime: EmailLinkFlow.lifetime)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard let email = keeper.machine.user?.email else { throw .noAddress }
      try EmailLinks(keeper: keeper, tree: tree).send(flow, to: email)
    }
    return [.objectPath(Paths.flow(flow.id))]
  }
}

extension AuthFailure {
  /// A mail has nowhere to go.
  fileprivate static let noAddress = AuthFailure(.operationNotAllowed, cause: "cause.no-address")
}
