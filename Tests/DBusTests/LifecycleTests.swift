import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct LifecycleTests {
  // MARK: Loss and end

  @Test @LoopActor func losingTheBusFailsWhatWaits() async throws {
    let gate = CallTests.Gate()
    let rig = try await Rig.start(CallTests.interface(gate))
    let lost = Recorder<String>()
    rig.client.onDisconnect = { lost.record("client") }
    let stream = try await rig.client.signals(MatchRule(member: "Tick"))
    let call = Task.onLoop { try await rig.call("Slow") }
    while gate.entered == 0 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    rig.bus.stop()
    let result = await call.result
    #expect(throws: DBusError.self) { try result.get() }
    #expect(await lost.first(1) == ["client"])
    for await _ in stream { Issue.record("a signal from nowhere") }
    #expect(!rig.client.isOpen)
    await #expect(throws: DBusError.disconnected) { try await rig.call("Echo", [.int32(1)]) }
    #expect(throws: DBusError.disconnected) { try rig.client.emit(path: "/", interface: "a.B", member: "S") }
    await #expect(throws: DBusError.disconnected) { try await rig.client.subscribe(MatchRule()) { _ in } }
    await rig.client.flush()
    gate.open()  // the service's handler answers into the void
    try await EventLoop.shared.sleep(for: .milliseconds(5))
    rig.client.close()
    #expect(lost.values.count == 1)
  }

  @Test @LoopActor func closingEndsQuietly() async throws {
    let gate = CallTests.Gate()
    let rig = try await Rig.start(CallTests.interface(gate))
    let lost = Recorder<Bool>()
    rig.client.onDisconnect = { lost.record(true) }
    let call = Task.onLoop { try await rig.call("Slow") }
    while gate.entered == 0 { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
    rig.client.close()
    rig.client.close()
    let result = await call.result
    #expect(throws: DBusError.disconnected) { try result.get() }
    try await EventLoop.shared.sleep(for: .milliseconds(5))
    #expect(lost.values.isEmpty)
    gate.open()
  }

  @Test @LoopActor func aConnectionMayBeClosedByItsOwnCallbacks() async throws {
    let rig = try await Rig.start(
      Interface(Rig.name, methods: [Method("Ping", handler: .sync { _ in [] })]))
    let closed = Recorder<Bool>()
    let other = try await Connection.open(.address(rig.bus.address))
    _ = try await other.subscribe(MatchRule(member: "Bye")) { [weak other] _ in
      other?.close()
      closed.record(true)
    }
    for _ in 0..<3 { try rig.client.emit(path: "/", interface: "a.B", member: "Bye") }
    #expect(await closed.first(1) == [true])
    _ = try await rig.call("Ping")
    #expect(!other.isOpen)
    #expect(closed.values.count == 1)
  }

  @Test @LoopActor func closedConnectionsAreFreed() async throws {
    let bus = try PrivateBus.start()
    weak var freed: Connection?
    do {
      let connection = try await Connection.open(.address(bus.address))
      _ = try await connection.subscribe(MatchRule(sender: "a.b", member: "X")) { _ in }
      connection.export(ExportedObject(path: "/x", interfaces: [Interface("a.B")]))
      freed = connection
      connection.close()
    }
    try await EventLoop.shared.sleep(for: .milliseconds(5))
    #expect(freed == nil)
  }

  // MARK: Names

  @Test @LoopActor func namesAreOwnedQueuedAndLost() async throws {
    let rig = try await Rig.start()
    let lost = Recorder<String>()
    let name = "org.example.Name"
    rig.service.onNameLost = { lost.record($0) }
    #expect(try await rig.service.requestName(name, .allowReplacement) == .primaryOwner)
    #expect(try await rig.service.requestName(name, .allowReplacement) == .alreadyOwner)
    #expect(try await rig.client.requestName(name, .doNotQueue) == .exists)
    #expect(try await rig.client.requestName(name) == .inQueue)
    #expect(try await rig.client.requestName(name, .replaceExisting) == .primaryOwner)
    #expect(await lost.first(1) == [name])
    #expect(try await rig.service.nameOwner(of: name) == rig.client.uniqueName)
    try await rig.client.releaseName(name)
    #expect(try await rig.service.nameOwner(of: name) == rig.service.uniqueName)
    try await rig.service.releaseName(name)
    try await rig.service.releaseName(name)
    #expect(try await rig.service.nameOwner(of: name) == nil)
  }

  @Test @LoopActor func watchesFollowNamesAndVanishedCallers() async throws {
    let rig = try await Rig.start()
    let owners = Recorder<String?>()
    let watch = try await rig.service.watchName("org.example.Other") { owners.record($0) }
    #expect(watch.owner == nil)
    let other = try await Connection.open(.address(rig.bus.address))
    let vanished = Recorder<String?>()
    let caller = try await rig.service.watchName(other.uniqueName) { vanished.record($0) }
    #expect(caller.owner == other.uniqueName)
    _ = try await other.requestName("org.example.Other")
    #expect(await owners.first(1) == [other.uniqueName])
    #expect(watch.owner == other.uniqueName)
    other.close()
    #expect(await owners.first(2).last == .some(nil))
    #expect(await vanished.first(1) == [nil])
    watch.cancel()
    watch.cancel()
    _ = try await rig.client.requestName("org.example.Other")
    _ = try await rig.service.nameOwner(of: Rig.name)
    #expect(owners.values.count == 2)
  }

  @Test @LoopActor func onlyTheBusSpeaksOfNames() async throws {
    let rig = try await Rig.start()
    let changes = Recorder<[String]>()
    _ = try await rig.service.nameOwnerChanged { changes.record([$0, $1, $2]) }
    let owners = Recorder<String?>()
    _ = try await rig.service.watchName(Rig.name) { owners.record($0) }
    try rig.client.emit(
      path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus", member: "NameOwnerChanged",
      arguments: [.string(Rig.name), .string(rig.service.uniqueName), .string(rig.client.uniqueName)],
      destination: rig.service.uniqueName)
    _ = try await rig.client.requestName("org.example.Real")
    #expect(await changes.first(1) == [["org.example.Real", "", rig.client.uniqueName]])
    #expect(owners.values.isEmpty)
  }

  @Test @LoopActor func credentialsAreTheProcess() async throws {
    let rig = try await Rig.start()
    let credentials = try await rig.service.getConnectionCredentials(of: rig.client.uniqueName)
    #expect(credentials.uid == getuid())
    #expect(credentials.pid == UInt32(getpid()))
    await #expect(throws: DBusError.self) { try await rig.service.getConnectionCredentials(of: ":1.99999") }
  }

  // MARK: Subscriptions

  @Test @LoopActor func rulesSelectSignals() async throws {
    let rig = try await Rig.start()
    let seen = Recorder<String>()
    func subscribe(_ label: String, _ rule: MatchRule) async throws -> Subscription {
      try await rig.client.subscribe(rule) { seen.record("\(label):\($0.member)") }
    }
    _ = try await subscribe("path", MatchRule(path: "/a/b"))
    _ = try await subscribe("namespace", MatchRule(pathNamespace: "/a"))
    _ = try await subscribe("arg0", MatchRule(interface: "x.Y", arg0: "it's"))
    _ = try await subscribe("arg0namespace", MatchRule(interface: "x.Y", arg0Namespace: "com.example"))
    _ = try await subscribe("sender", MatchRule(sender: Rig.name, interface: "x.Y"))
    _ = try await subscribe("foreign", MatchRule(sender: "no.Such.Name", interface: "x.Y"))
    func emit(_ member: String, _ path: ObjectPath, _ arguments: [DBusValue] = []) throws {
      try rig.service.emit(path: path, interface: "x.Y", member: member, arguments: arguments)
    }
    try emit("A", "/a/b")
    try emit("B", "/a")
    try emit("C", "/ab", [.string("it's")])
    try emit("D", "/", [.string("com.example.X")])
    try emit("E", "/", [.string("com.examples")])
    try emit("F", "/", [.objectPath("/com/example")])
    try emit("G", "/a/b", [.string("com.example")])
    _ = await seen.first(15)
    try rig.client.emit(path: "/a/b/c", interface: "x.Y", member: "Own")
    // One subscription at a time, in the order of the rules' members.
    let values = await seen.first(16)
    #expect(
      values == [
        "path:A", "namespace:A", "sender:A", "namespace:B", "sender:B", "arg0:C", "sender:C", "arg0namespace:D",
        "sender:D", "sender:E", "sender:F", "path:G", "namespace:G", "arg0namespace:G", "sender:G", "namespace:Own",
      ])
  }

  @Test @LoopActor func equalRulesAreSentOnceAndWithdrawnLast() async throws {
    let rig = try await Rig.start()
    let rule = MatchRule(sender: rig.service.uniqueName, member: "S")
    let first = Recorder<Int>(), second = Recorder<Int>()
    let one = try await rig.client.subscribe(rule) { _ in first.record(1) }
    async let again = rig.client.subscribe(rule) { _ in second.record(1) }
    let two = try await again
    try rig.service.emit(path: "/", interface: "a.B", member: "S")
    _ = await second.first(1)
    #expect(first.values.count == 1)
    one.cancel()
    one.cancel()
    try rig.service.emit(path: "/", interface: "a.B", member: "S")
    _ = await second.first(2)
    #expect(first.values.count == 1)
    two.cancel()
    try rig.service.emit(path: "/", interface: "a.B", member: "S")
    // Any reply is later than the signal would have been.
    _ = try await rig.service.nameOwner(of: Rig.name)
    _ = try await rig.client.nameOwner(of: Rig.name)
    #expect(second.values.count == 2)
    // Unicast signals need no rule, but a cancelled handler isn't called for them either.
    try rig.service.emit(path: "/", interface: "a.B", member: "S", destination: rig.client.uniqueName)
    _ = try await rig.service.nameOwner(of: Rig.name)
    _ = try await rig.client.nameOwner(of: Rig.name)
    #expect(second.values.count == 2)
  }

  @Test @LoopActor func streamsDeliverAndCancel() async throws {
    let rig = try await Rig.start()
    let stream = try await rig.client.signals(MatchRule(member: "S"))
    for number in Int32(0)..<3 {
      try rig.service.emit(path: "/", interface: "a.B", member: "S", arguments: [.int32(number)])
    }
    var seen: [Int32] = []
    for await signal in stream {
      seen.append(signal.arguments[0].asInt32 ?? -1)
      if seen.count == 3 { break }
    }
    #expect(seen == [0, 1, 2])
  }

  // MARK: Activation and short programs

  /// A bus that starts a Python service for `org.example.Activated`.
  private static func activatingBus() throws -> (bus: PrivateBus, scratch: Scratch) {
    let scratch = try Scratch()
    let script = try scratch.write(
      """
      import dbus, dbus.service, dbus.mainloop.glib, os
      from gi.repository import GLib
      dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
      class Object(dbus.service.Object):
          @dbus.service.method("org.example.Activated", in_signature="s", out_signature="s")
          def Greet(self, name): return os.environ["GREETING"] + ", " + name
      name = dbus.service.BusName("org.example.Activated", dbus.SessionBus())
      Object(name, "/")
      GLib.timeout_add_seconds(20, lambda: os._exit(0))
      GLib.MainLoop().run()
      """, to: "service.py")
    try scratch.write(
      "[D-BUS Service]\nName=org.example.Activated\nExec=/usr/bin/python3 \(script)\n",
      to: "services/org.example.Activated.service")
    let bus = try PrivateBus.start(
      serviceDirectories: [scratch.file("services")], environment: ["GREETING": "Hello"])
    return (bus, scratch)
  }

  @Test @LoopActor func servicesAreActivated() async throws {
    let (bus, scratch) = try Self.activatingBus()
    defer { withExtendedLifetime(scratch) {} }
    let connection = try await Connection.open(.address(bus.address))
    func greet(autoStart: Bool) async throws(DBusError) -> [DBusValue] {
      try await connection.call(
        destination: "org.example.Activated", path: "/", interface: "org.example.Activated", member: "Greet",
        arguments: [.string("you")], autoStart: autoStart)
    }
    await #expect(throws: DBusError.self) { try await greet(autoStart: false) }
    #expect(try await greet(autoStart: true) == [.string("Hello, you")])
    #expect(try await greet(autoStart: false) == [.string("Hello, you")])
    await #expect(throws: DBusError.self) {
      try await connection.call(destination: "no.Such.Service", path: "/", interface: "a.B", member: "C")
    }
    try await connection.callForShutdown()
  }

  @Test func theSessionBusIsFoundInTheRuntimeDirectory() async {
    await #expect(processExitsWith: .success) {
      let bus = try PrivateBus.start()
      defer { bus.stop() }
      unsetenv("DBUS_SESSION_BUS_ADDRESS")
      setenv("XDG_RUNTIME_DIR", bus.scratch.path, 1)
      #expect(try SyncConnection().uniqueName.hasPrefix(":"))
      setenv("XDG_RUNTIME_DIR", "/nonexistent", 1)
      #expect(throws: DBusError.self) { try SyncConnection() }
      setenv("DBUS_SESSION_BUS_ADDRESS", bus.address, 1)
      _ = try SyncConnection()
    }
  }

  @Test @LoopActor func shortProgramsCallOnce() async throws {
    let gate = CallTests.Gate()
    defer { gate.open() }
    let rig = try await Rig.start(CallTests.interface(gate))
    let address = Address.address(rig.bus.address)
    let outcome = await Task.detached { () -> [String] in
      var results: [String] = []
      func attempt(_ body: () throws(DBusError) -> [DBusValue]) {
        do throws(DBusError) { results.append("\(try body())") } catch { results.append(error.name) }
      }
      func once(_ member: String, _ arguments: [DBusValue], _ milliseconds: Int32) throws(DBusError) -> [DBusValue] {
        try Bus.callOnce(
          destination: Rig.name, path: Rig.path, interface: Rig.name, member: member, arguments: arguments,
          timeoutMilliseconds: milliseconds, address: address)
      }
      attempt { () throws(DBusError) in try once("Echo", [.int32(7)], 5000) }
      attempt { () throws(DBusError) in try once("Nope", [], 5000) }
      attempt { () throws(DBusError) in try once("Slow", [], 50) }
      attempt { () throws(DBusError) in try once("Echo", [.string("\0")], 50) }
      attempt { () throws(DBusError) in
        try Bus.callOnce(
          destination: "no.Such.Service", path: "/", interface: "a.B", member: "C", address: address)
      }
      attempt { () throws(DBusError) in
        let connection = try SyncConnection(address)
        for number in Int32(0)..<20 {
          let reply = try connection.call(
            destination: Rig.name, path: Rig.path, interface: Rig.name, member: "Echo", arguments: [.int32(number)])
          if reply != [.int32(number)] { throw .failed("\(reply)") }
        }
        connection.close()
        return try connection.call(destination: Rig.name, path: Rig.path, interface: Rig.name, member: "Echo")
      }
      attempt { () throws(DBusError) in
        try Bus.callOnce(
          destination: Rig.name, path: "/", interface: "a.B", member: "C",
          address: .address("unix:path=/nonexistent/bus"))
      }
      return results
    }.value
    #expect(
      outcome == [
        "\([DBusValue.int32(7)])", DBusError.Name.unknownMethod, DBusError.Name.noReply, DBusError.Name.invalidArgs,
        DBusError.Name.serviceUnknown, DBusError.Name.disconnected, "org.freedesktop.DBus.Error.FileNotFound",
      ])
  }
}

extension Connection {
  /// Ends the service that was activated, through the bus' knowledge of its process.
  fileprivate func callForShutdown() async throws {
    let credentials = try await getConnectionCredentials(of: "org.example.Activated")
    kill(pid_t(credentials.pid), SIGKILL)
  }
}
