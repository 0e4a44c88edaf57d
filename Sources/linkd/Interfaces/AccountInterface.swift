import AuthCore
import DBus
import EventLoop
import LinkHandler
import LinkdClient

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
          "Reauthenticate", in: [Argument("options", "a{sv}")], out: [Argument("flow", "o")],
          handler: .sync(reauthenticate))
      ],
      properties: [Version.property], signals: [])
  }

  /// By a link to the user's own address.
  private func reauthenticate(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = Options(call.arguments.last)
    let flow = try FlowStart(keeper: keeper, tree: tree).row(
      call, options, method: .emailLink, purpose: .reauthenticate, lifetime: EmailLinkFlow.lifetime)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard let email = keeper.machine.user?.email else { throw AuthFailure(.operationNotAllowed) }
      try EmailLinks(keeper: keeper, tree: tree).send(flow, to: email)
    }
    return [.objectPath(Paths.flow(flow.id))]
  }
}
