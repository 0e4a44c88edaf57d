import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct ObjectServerTests {
  /// What the tables below change.
  @LoopActor
  final class Model {
    var label = "first"
    var secret = "hidden"
    nonisolated init() {}
  }

  static func interface(_ model: Model) -> Interface {
    Interface(
      Rig.name,
      methods: [
        Method(
          "Add", in: [Argument("a", "i"), Argument("b", "i")], out: [Argument("sum", "i")],
          annotations: ["org.freedesktop.DBus.Deprecated": "true"],
          handler: .sync { call in
            [.int32((call.arguments[0].asInt32 ?? 0) + (call.arguments[1].asInt32 ?? 0))]
          }),
        Method("Fail", handler: .async { _ throws(DBusError) in throw .accessDenied("not <you> & “me”") }),
        Method("WhoAmI", out: [Argument("who", "s")], handler: .sync { [.string($0.caller.uniqueName)] }),
      ],
      properties: [
        Property("Version", "u", emitsChanged: .const, get: { _ in .uint32(1) }),
        Property(
          "Label", "s", get: { _ in .string(model.label) },
          set: { _, value throws(DBusError) in
            guard let text = value.asString, !text.isEmpty else { throw .invalidArgs("an empty label") }
            model.label = text
          }),
        Property("Secret", "s", emitsChanged: .invalidates, get: { _ in .string(model.secret) }),
        Property("Absent", "s", get: { _ in nil }),
        Property("ForOthers", "b", emitsChanged: .false, get: { $0.sandboxID == nil ? .boolean(true) : nil }),
        Property("Broken", "s", get: { _ throws(DBusError) in throw .failed("broken") }),
        Property("WrongType", "s", get: { _ in .byte(1) }),
      ],
      signals: [SignalDescription("Changed", [Argument("what", "s"), Argument("times", "u")])],
      annotations: ["org.example.Note": "a \"b\" <c>"])
  }

  @Test("an object's tables are made once, when somebody needs them") @LoopActor
  func tablesAreMadeWhenNeeded() async throws {
    let made = Recorder<ObjectPath>()
    let objects = (0..<3).map { number in
      let path = Rig.path.appending(label: "n\(number)")
      return ExportedObject(path: path) {
        made.record(path)
        return [Self.interface(Model())]
      }
    }
    let rig = try await Rig.start(objects)
    #expect(made.values.isEmpty)
    for _ in 0..<2 {
      #expect(try await rig.call("Add", [.int32(1), .int32(2)], path: objects[1].path) == [.int32(3)])
    }
    #expect(made.values == [objects[1].path])
  }

  // MARK: Introspection

  @Test @LoopActor func gdbusUnderstandsTheIntrospectionData() async throws {
    let rig = try await Rig.start(Self.interface(Model()))
    let result = try await Subprocess.run([
      "gdbus", "introspect", "--address", rig.bus.address, "--dest", Rig.name, "--object-path", Rig.path.text,
    ])
    #expect(result.status == 0, "\(result.stderr)")
    for line in [
      "interface org.freedesktop.DBus.Introspectable {", "interface org.freedesktop.DBus.Properties {",
      "interface org.freedesktop.DBus.Peer {", "interface org.example.Test1 {", "Add(in  i a,", "in  i b,",
      "out i sum);", "Changed(s what,", "u times);", "readonly u Version = 1;", "readwrite s Label = 'first';",
      "@org.freedesktop.DBus.Property.EmitsChangedSignal(\"invalidates\")",
      "@org.freedesktop.DBus.Deprecated(\"true\")", #"@org.example.Note("a "b" <c>")"#,
    ] { #expect(result.stdout.contains(line), "\(line)") }
    #expect(!result.stdout.contains("ObjectManager"))
  }

  @Test func xmlOfATableIsStable() {
    let table = Interface(
      "a.B",
      methods: [Method("M", in: [Argument("x", "a{sv}")], annotations: ["k.v": "1"], handler: .sync { _ in [] })],
      properties: [Property("P", "s", emitsChanged: .const, get: { _ in nil })], signals: [SignalDescription("S")])
    #expect(
      table.introspectionXML == """
          <interface name="a.B">
            <method name="M">
              <arg name="x" type="a{sv}" direction="in"/>
              <annotation name="k.v" value="1"/>
            </method>
            <signal name="S"/>
            <property name="P" type="s" access="read">
              <annotation name="org.freedesktop.DBus.Property.EmitsChangedSignal" value="const"/>
            </property>
          </interface>

        """)
  }

  @Test @LoopActor func nodesOnTheWayListTheirChildren() async throws {
    let objects = ["/a/x", "/a/x/deep", "/a/y/z"].map { path in
      ExportedObject(path: try! ObjectPath(path as String), interfaces: [Interface("a.B")])
    }
    let rig = try await Rig.start(objects)
    func children(_ path: ObjectPath) async throws -> [String] {
      let reply = try await rig.call("Introspect", path: path, interface: "org.freedesktop.DBus.Introspectable")
      return (reply.first?.asString ?? "").matches(of: #/<node name="(.*?)"\/>/#).map { String($0.1) }
    }
    #expect(try await children("/") == ["a"])
    #expect(try await children("/a") == ["x", "y"])
    #expect(try await children("/a/x") == ["deep"])
    #expect(try await children("/a/y/z") == [])
    #expect(await rig.error("X", path: "/a", interface: "a.B") == DBusError.Name.unknownInterface)
  }

  // MARK: Errors

  @Test @LoopActor func whatIsntThereHasTheRightError() async throws {
    let rig = try await Rig.start(Self.interface(Model()))
    let properties = "org.freedesktop.DBus.Properties"
    #expect(await rig.error("Nope") == DBusError.Name.unknownMethod)
    #expect(await rig.error("Add", interface: "no.such.Interface") == DBusError.Name.unknownInterface)
    #expect(await rig.error("Add", path: "/nowhere") == DBusError.Name.unknownObject)
    #expect(await rig.error("Introspect", path: "/nowhere", interface: properties) == DBusError.Name.unknownObject)
    #expect(await rig.error("Add", [.int32(1)]) == DBusError.Name.invalidArgs)
    #expect(await rig.error("Add", [.int32(1), .uint32(1)]) == DBusError.Name.invalidArgs)
    #expect(await rig.error("WhoAmI", [.int32(1)]) == DBusError.Name.invalidArgs)
    let arguments: [DBusValue] = [.string(Rig.name), .string("Nope")]
    #expect(await rig.error("Get", arguments, interface: properties) == DBusError.Name.unknownProperty)
    #expect(
      await rig.error("Get", [.string("x.Y"), .string("P")], interface: properties) == DBusError.Name.unknownInterface)
    #expect(await rig.error("GetAll", [.string("x.Y")], interface: properties) == DBusError.Name.unknownInterface)
    await #expect(throws: DBusError.accessDenied("not <you> & “me”")) { try await rig.call("Fail") }
    #expect(try await rig.call("Add", [.int32(2), .int32(3)]) == [.int32(5)])
    #expect(rig.service.callsInFlight == 0)
  }

  @Test @LoopActor func callsWithoutAnInterfaceFindTheirMethod() async throws {
    let rig = try await Rig.start(Self.interface(Model()))
    let result = try await rig.python(
      """
      print(proxy.Add(1, 2, dbus_interface=None, signature="ii"))
      print(proxy.Get("\(Rig.name)", "Version", dbus_interface=None))
      try: proxy.Nope(dbus_interface=None)
      except dbus.DBusException as e: print(e.get_dbus_name())
      """)
    #expect(result.stdout == "3\n1\norg.freedesktop.DBus.Error.UnknownMethod\n", "\(result.stderr)")
  }

  @Test @LoopActor func peerAnswersEverywhere() async throws {
    let rig = try await Rig.start(Self.interface(Model()))
    #expect(try await rig.call("Ping", interface: "org.freedesktop.DBus.Peer") == [])
    #expect(try await rig.call("GetMachineId", interface: "org.freedesktop.DBus.Peer").count == 1)
  }

  // MARK: Properties

  @Test @LoopActor func propertiesAreReadAndWritten() async throws {
    let model = Model()
    let rig = try await Rig.start(Self.interface(model))
    #expect(try await rig.get("Label") == .variant(.string("first")))
    #expect(try await rig.get("Version", interface: "") == .variant(.uint32(1)))
    let properties = "org.freedesktop.DBus.Properties"
    func set(_ name: String, _ value: DBusValue) async -> String? {
      await rig.error("Set", [.string(Rig.name), .string(name), .variant(value)], interface: properties)
    }
    #expect(await set("Label", .string("second")) == nil)
    #expect(model.label == "second")
    #expect(await set("Label", .string("")) == DBusError.Name.invalidArgs)
    #expect(await set("Label", .byte(1)) == DBusError.Name.invalidArgs)
    #expect(await set("Version", .uint32(2)) == DBusError.Name.propertyReadOnly)
    #expect(await set("Nope", .uint32(2)) == DBusError.Name.unknownProperty)
    await #expect(throws: DBusError.self) { try await rig.get("Absent") }
    await #expect(throws: DBusError.failed("broken")) { try await rig.get("Broken") }
    await #expect(throws: DBusError.self) { try await rig.get("WrongType") }
    let all = try await rig.call("GetAll", [.string(Rig.name)], interface: properties)
    #expect(
      all.first?.asDict == [
        "Version": .uint32(1), "Label": .string("second"), "Secret": .string("hidden"), "ForOthers": .boolean(true),
      ])
    #expect(try await rig.call("GetAll", [.string(properties)], interface: properties).first?.asDict == [:])
    #expect(try await rig.gdbus("\(properties).Get", [Rig.name, "Label"]) == "(<'second'>,)")
  }

  @Test @LoopActor func changesAreBroadcastAsAnnotated() async throws {
    let model = Model()
    let rig = try await Rig.start(Self.interface(model))
    let seen = Recorder<[DBusValue]>()
    let rule = MatchRule(sender: Rig.name, interface: "org.freedesktop.DBus.Properties", member: "PropertiesChanged")
    _ = try await rig.client.subscribe(rule) { seen.record($0.arguments) }
    rig.service.propertiesChanged(Rig.path, Rig.name, ["Version"])  // const: nothing
    rig.service.propertiesChanged(Rig.path, Rig.name, ["ForOthers"])  // false: nothing
    rig.service.propertiesChanged(Rig.path, "x.Y", ["Label"])
    rig.service.propertiesChanged("/nowhere", Rig.name, ["Label"])
    rig.service.propertiesChanged(Rig.path, Rig.name, ["Secret", "Label", "Absent"])
    rig.service.propertiesChanged(Rig.path, Rig.name, ["Label"])
    let signals = await seen.first(2)
    #expect(
      signals[0] == [.string(Rig.name), .dict(["Label": .string("first")]), .strings(["Secret", "Absent"])])
    #expect(signals[1] == [.string(Rig.name), .dict(["Label": .string("first")]), .strings([])])
  }

  @Test @LoopActor func signalsHaveToBeAsDeclared() async throws {
    let rig = try await Rig.start(Self.interface(Model()))
    func emit(_ member: String, _ arguments: [DBusValue]) throws(DBusError) {
      try rig.service.emit(path: Rig.path, interface: Rig.name, member: member, arguments: arguments)
    }
    #expect(throws: Never.self) { try emit("Changed", [.string("x"), .uint32(1)]) }
    #expect(throws: DBusError.self) { try emit("Changed", [.string("x")]) }
    #expect(throws: DBusError.self) { try emit("Undeclared", []) }
  }
}
