import AuthCore
import DBus
import EventLoop
import LinkdContract
import Texts

/// `org.linkd.Auth1.Links`: what becomes of a URL. Open to everybody; a sandboxed caller learns the names of its own apps
/// and flows alone.
@LoopActor
struct LinksInterface {
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.links,
      methods: [
        Method(
          "CanHandle", in: [Argument("url", "s"), Argument("options", "a{sv}")],
          out: [Argument("handled", "b"), Argument("link", "a{sv}")], handler: .sync(canHandle)),
        Method(
          "Open", in: [Argument("url", "s"), Argument("options", "a{sv}")],
          out: [Argument("handled", "b"), Argument("result", "a{sv}")], handler: .sync(open)),
        Method(
          "TakeUnhandled", in: [Argument("id", "t"), Argument("options", "a{sv}")], out: [Argument("url", "s")],
          handler: .sync(takeUnhandled)),
      ],
      properties: [Version.property],
      signals: [
        SignalDescription("Unhandled", [Argument("scheme", "s"), Argument("app", "s"), Argument("id", "t")])
      ])
  }

  private func canHandle(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let verdict = try tree.answer(options) { () throws(AuthFailure) in
      try tree.inbox.judge(call.arguments[0].asString ?? "")
    }
    return [.boolean(verdict.handled), .dict(dictionary(verdict, for: call.caller, options))]
  }

  private func open(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let verdict = try tree.answer(options) { () throws(AuthFailure) in
      try tree.inbox.open(call.arguments[0].asString ?? "", caller: call.caller)
    }
    return [.boolean(verdict.handled), .dict(dictionary(verdict, for: call.caller, options))]
  }

  private func takeUnhandled(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let url = try tree.answer(Options(call)) { () throws(AuthFailure) in
      try tree.inbox.takeUnhandled(call.arguments[0].asUInt64 ?? 0) { id in
        tree.registry.apps[id].map { tree.maySee(call.caller, $0) } ?? false
      }
    }
    return [.string(url)]
  }

  private func dictionary(
    _ verdict: LinkInbox.Verdict, for caller: Caller, _ options: Options
  ) -> [String: DBusValue] {
    var out: [String: DBusValue] = [
      "kind": .string(verdict.kind.rawValue), "via": .strings(verdict.via.map(\.rawValue)),
    ]
    if let reason = verdict.reason {
      out["reason"] = .string(reason)
      out["message"] = .string(
        Texts.lookup(verdict.hint?.textID ?? "link.\(reason)", locale: tree.locale(options, nil)))
    }
    guard let key = verdict.key, let app = tree.registry.apps[key.app], tree.maySee(caller, app) else { return out }
    out["app"] = .objectPath(tree.path(of: key))
    out["flow"] = verdict.flow.map { .objectPath(Paths.flow($0)) }
    return out
  }
}

/// `org.freedesktop.Application`, so that `org.linkd.Auth1.desktop` can be `DBusActivatable` (desktop-entry spec 8).
@LoopActor
struct ApplicationInterface {
  let tree: ObjectTree

  var table: Interface {
    Interface(
      "org.freedesktop.Application",
      methods: [
        Method("Activate", in: [Argument("platform_data", "a{sv}")], out: [], handler: .sync(activate)),
        Method(
          "Open", in: [Argument("uris", "as"), Argument("platform_data", "a{sv}")], out: [], handler: .sync(open)),
        Method(
          "ActivateAction",
          in: [Argument("action_name", "s"), Argument("parameter", "av"), Argument("platform_data", "a{sv}")], out: [],
          handler: .sync(activateAction)),
      ], properties: [], signals: [])
  }

  private func activate(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    throw .notSupported("The sign-in page isn't part of this version; use 'linkctl sign-in'.")
  }

  private func activateAction(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    try tree.requireUnsandboxed(call.caller)
    throw .invalidArgs("There is no such action.")
  }

  private func open(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    var failure: AuthFailure?
    for url in call.arguments[0].asStrings ?? [] {
      do throws(AuthFailure) {
        _ = try tree.inbox.open(url, caller: call.caller)
      } catch {
        failure = error
      }
    }
    // One bad link keeps none of the others out.
    if let failure { throw tree.reply(failure, Options(), nil) }
    return []
  }
}
