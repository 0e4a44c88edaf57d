import DBus
import EventLoop
import TestSupport
import Testing

@testable import Desktop

/// A notification service that writes down what it is given.
@LoopActor
final class Desk {
  static let name = "org.freedesktop.Notifications"
  static let path: ObjectPath = "/org/freedesktop/Notifications"
  let bus: PrivateBus
  let service: Connection
  let client: Connection
  private(set) var calls: [[DBusValue]] = []
  private var nextID: UInt32 = 7
  private var waiters: [CheckedContinuation<Void, Never>] = []
  /// Holds the answer back while true.
  var isSlow = false

  init() async throws {
    bus = try PrivateBus.start()
    service = try await Connection.open(.address(bus.address))
    client = try await Connection.open(.address(bus.address))
    service.export(ExportedObject(path: Self.path, interfaces: [interface]))
    _ = try await service.requestName(Self.name)
  }

  private var interface: Interface {
    Interface(
      Self.name,
      methods: [
        Method(
          "Notify",
          in: [
            Argument("app_name", "s"), Argument("replaces_id", "u"), Argument("app_icon", "s"),
            Argument("summary", "s"),
            Argument("body", "s"), Argument("actions", "as"), Argument("hints", "a{sv}"), Argument("timeout", "i"),
          ], out: [Argument("id", "u")], handler: .async { [weak self] in await self?.notify($0) ?? [] })
      ],
      signals: [
        SignalDescription("ActivationToken", [Argument("id", "u"), Argument("token", "s")]),
        SignalDescription("ActionInvoked", [Argument("id", "u"), Argument("action", "s")]),
        SignalDescription("NotificationClosed", [Argument("id", "u"), Argument("reason", "u")]),
      ])
  }

  private func notify(_ call: MethodCall) async -> [DBusValue] {
    calls.append(call.arguments)
    while isSlow { try? await EventLoop.shared.sleep(for: .milliseconds(1)) }
    let replaced = call.arguments[1].asUInt32 ?? 0
    if replaced == 0 { nextID += 1 }
    return [.uint32(replaced == 0 ? nextID : replaced)]
  }

  func wait(for count: Int) async throws {
    while calls.count < count { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
  }

  func emit(_ member: String, _ id: UInt32, _ value: DBusValue) throws {
    try service.emit(path: Self.path, interface: Self.name, member: member, arguments: [.uint32(id), value])
  }
}

/// Desktop notifications (behaviour: People, Who may ask; field report B084).
@Suite(.loopRunning, .timeLimit(.minutes(1))) struct NotifierTests {
  @Test func foreignTextIsNoMarkup() {
    let notice = Notice(title: "A & <b>\u{202e}\n", body: "Signed in as <b>\"x\"</b> & \u{1b}[1m\u{2067}y\nz.")
    #expect(notice.summary == "A & <b> ")
    #expect(notice.markup == "Signed in as &lt;b&gt;\"x\"&lt;/b&gt; &amp; [1my z.")
    #expect(Notice(title: "", body: String(repeating: "<", count: 5000)).markup.utf8.count == 4000)
  }

  @Test @LoopActor func aNewerOneTakesThePlaceOfTheLast() async throws {
    let desk = try await Desk()
    let notifier = Notifier(connection: desk.client)
    notifier.show(Notice(title: "Demo", body: "one"))
    try await desk.wait(for: 1)
    notifier.show(Notice(title: "Demo", body: "two"))
    try await desk.wait(for: 2)
    #expect(desk.calls.map { $0[1].asUInt32 } == [0, 8])
    #expect(desk.calls.map { $0[4].asString } == ["one", "two"])
    #expect(desk.calls[0][3].asString == "Demo" && desk.calls[0][5].asStrings == [])
    #expect(desk.calls[0][6].asDict?["desktop-entry"]?.asString == "org.linkd.Auth1")
  }

  @Test @LoopActor func ofManyThatComeAtOnceTheLastIsShown() async throws {
    let desk = try await Desk()
    desk.isSlow = true
    let notifier = Notifier(connection: desk.client)
    notifier.show(Notice(title: "Demo", body: "first"))
    try await desk.wait(for: 1)
    for number in 1...50 { notifier.show(Notice(title: "Demo", body: "\(number)")) }
    desk.isSlow = false
    try await desk.wait(for: 2)
    #expect(desk.calls.map { $0[4].asString } == ["first", "50"])
    #expect(desk.calls[1][1].asUInt32 == 8)
  }

  @Test @LoopActor func anActionBringsItsActivationToken() async throws {
    let desk = try await Desk()
    let notifier = Notifier(connection: desk.client)
    var seen: [String] = []
    notifier.onAction = { action, token in seen.append("\(action) \(token ?? "-")") }
    notifier.show(Notice(title: "Demo", body: "x", actions: [Notice.Action(key: "default", label: "Show")]))
    try await desk.wait(for: 1)
    #expect(desk.calls[0][5].asStrings == ["default", "Show"])
    // Another program's notification isn't ours.
    try desk.emit("ActionInvoked", 99, .string("default"))
    try desk.emit("ActivationToken", 8, .string("token-1"))
    try desk.emit("ActionInvoked", 8, .string("default"))
    try desk.emit("ActionInvoked", 8, .string("default"))
    while seen.count < 2 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    #expect(seen == ["default token-1", "default -"])
    // What is closed isn't replaced.
    try desk.emit("NotificationClosed", 8, .uint32(2))
    // The answer comes from the same sender, so behind the signal.
    _ = try await desk.client.call(
      destination: Desk.name, path: Desk.path, interface: "org.freedesktop.DBus.Peer", member: "Ping")
    notifier.show(Notice(title: "Demo", body: "y"))
    try await desk.wait(for: 2)
    #expect(desk.calls[1][1].asUInt32 == 0)
  }

  @Test @LoopActor func withoutAServiceNothingHappens() async throws {
    let bus = try PrivateBus.start()
    let connection = try await Connection.open(.address(bus.address))
    let notifier = Notifier(connection: connection)
    notifier.show(Notice(title: "Demo", body: "x", actions: [Notice.Action(key: "default", label: "Show")]))
    let desk = try await Connection.open(.address(bus.address))
    #expect(try await desk.nameOwner(of: Desk.name) == nil)
    #expect(connection.isOpen)
  }
}
