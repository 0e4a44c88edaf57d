import DBus
import EventLoop
import TestSupport
import Testing

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct VisibilityTests {
  static let manager: ObjectPath = "/org/example"

  /// `/org/example` manages `app/one`, which everyone sees, and `app/two`, which sandboxed callers don't.
  static func objects() -> [ExportedObject] {
    func interface(_ id: String) -> Interface {
      Interface(
        "org.example.App",
        methods: [Method("Hello", out: [Argument("id", "s")], handler: .sync { _ in [.string(id)] })],
        properties: [
          Property("Id", "s", emitsChanged: .const, get: { _ in .string(id) }),
          Property("User", "s", emitsChanged: .invalidates, get: { _ in .string("user of \(id)") }),
          Property("Private", "s", get: { $0.sandboxID == nil ? .string("private") : nil }),
        ])
    }
    return [
      ExportedObject(path: manager, interfaces: [Interface("org.example.Root")], isObjectManager: true),
      ExportedObject(path: "/org/example/app/one", interfaces: [interface("one")]),
      ExportedObject(path: "/org/example/app/two", interfaces: [interface("two")], isVisible: { $0.sandboxID == nil }),
    ]
  }

  private static let objectManager = "org.freedesktop.DBus.ObjectManager"

  /// A rig whose client is in a sandbox, with a second, ordinary client.
  @LoopActor
  private static func start() async throws -> (rig: Rig, ordinary: Connection) {
    let rig = try await Rig.start(objects())
    let sandboxed = rig.client.uniqueName
    var known: [String: Caller] = [:]
    rig.service.callerIdentity = CallerIdentity(
      cached: { known[$0] },
      resolve: { [unowned service = rig.service] name async throws(DBusError) in
        _ = try await service.getConnectionCredentials(of: name)
        let caller = Caller(uniqueName: name, sandboxID: name == sandboxed ? "org.example.Sandboxed" : nil)
        known[name] = caller
        return caller
      })
    return (rig, try await Connection.open(.address(rig.bus.address)))
  }

  @Test @LoopActor func invisibleObjectsAreLikeAbsentOnes() async throws {
    let (rig, ordinary) = try await Self.start()
    let (hidden, absent): (ObjectPath, ObjectPath) = ("/org/example/app/two", "/org/example/app/abc")
    let probes: [(interface: String, member: String, arguments: [DBusValue])] = [
      ("org.example.App", "Hello", []), ("org.example.App", "Nope", []), ("no.Such", "Hello", []),
      ("org.freedesktop.DBus.Introspectable", "Introspect", []),
      ("org.freedesktop.DBus.Properties", "Get", [.string("org.example.App"), .string("Id")]),
      ("org.freedesktop.DBus.Properties", "GetAll", [.string("org.example.App")]),
      ("org.freedesktop.DBus.Properties", "Set", [.string("org.example.App"), .string("Id"), .variant(.string("x"))]),
      ("org.freedesktop.DBus.Peer", "Ping", []), (Self.objectManager, "GetManagedObjects", []),
    ]
    for probe in probes {
      func outcome(_ path: ObjectPath) async -> String {
        do throws(DBusError) {
          return "\(try await rig.call(probe.member, probe.arguments, path: path, interface: probe.interface))"
        } catch {
          return error.description.replacing(path.text, with: "PATH")
        }
      }
      #expect(await outcome(hidden) == outcome(absent), "\(probe)")
    }
    #expect(
      try await ordinary.call(destination: Rig.name, path: hidden, interface: "org.example.App", member: "Hello")
        == [.string("two")])
  }

  @Test @LoopActor func introspectionAndManagerAnswerPerCaller() async throws {
    let (rig, ordinary) = try await Self.start()
    func managed(_ connection: Connection) async throws -> [String: [String: DBusValue]] {
      let reply = try await connection.call(
        destination: Rig.name, path: Self.manager, interface: Self.objectManager, member: "GetManagedObjects")
      var result: [String: [String: DBusValue]] = [:]
      for entry in reply.first?.asEntries ?? [] {
        #expect(entry.value.asEntries?.count == 1)
        result[entry.key.asPath?.text ?? ""] = entry.value.asEntries?.first?.value.asDict
      }
      return result
    }
    #expect(
      try await managed(rig.client) == [
        "/org/example/app/one": ["Id": .string("one"), "User": .string("user of one")]
      ])
    #expect(
      try await managed(ordinary) == [
        "/org/example/app/one": [
          "Id": .string("one"), "User": .string("user of one"), "Private": .string("private"),
        ],
        "/org/example/app/two": [
          "Id": .string("two"), "User": .string("user of two"), "Private": .string("private"),
        ],
      ])
    let xml = try await rig.call(
      "Introspect", path: "/org/example/app", interface: "org.freedesktop.DBus.Introspectable")
    #expect(xml.first?.asString?.contains("\"one\"") == true)
    #expect(xml.first?.asString?.contains("\"two\"") == false)
  }

  @Test @LoopActor func comingAndGoingIsAnnouncedWithoutPrivateValues() async throws {
    let (rig, _) = try await Self.start()
    let seen = Recorder<Signal>()
    _ = try await rig.client.subscribe(MatchRule(path: Self.manager, interface: Self.objectManager)) { seen.record($0) }
    let object = Self.objects()[1]
    rig.service.unexport(object.path)
    rig.service.unexport(object.path)
    rig.service.export(object, announce: false)
    rig.service.export(object)
    let signals = await seen.first(2)
    #expect(signals.map(\.member) == ["InterfacesRemoved", "InterfacesAdded"])
    #expect(signals[0].arguments == [.objectPath(object.path), .strings(["org.example.App"])])
    #expect(
      signals[1].arguments == [
        .objectPath(object.path),
        .dictionary(
          key: "s", value: "a{sv}", [.init(.string("org.example.App"), .dict(["Id": .string("one")]))]),
      ])
    #expect(rig.service.isExported(object.path))
  }

  @Test @LoopActor func callsOfAnUnknownCallerWaitInOrder() async throws {
    let order = Recorder<Int32>()
    let rig = try await Rig.start(
      Interface(
        Rig.name,
        methods: [
          Method(
            "Number", in: [Argument("n", "i")],
            handler: .sync { call in
              order.record(call.arguments[0].asInt32 ?? -1)
              return []
            })
        ]))
    var resolutions = 0
    var known: Caller?
    rig.service.callerIdentity = CallerIdentity(
      cached: { _ in known },
      resolve: { name async throws(DBusError) in
        resolutions += 1
        do { try await EventLoop.shared.sleep(for: .milliseconds(20)) } catch { throw .cancelled }
        known = Caller(uniqueName: name)
        return Caller(uniqueName: name)
      })
    for number in Int32(0)..<10 {
      try rig.client.send(
        destination: Rig.name, path: Rig.path, interface: Rig.name, member: "Number", arguments: [.int32(number)])
    }
    #expect(await order.first(10) == Array(0..<10))
    #expect(resolutions == 1)
    #expect(rig.service.callsInFlight == 0)
    #expect(rig.service.lastCallTime > 0)
  }

  @Test @LoopActor func callersThatCantBeResolvedGetTheError() async throws {
    let rig = try await Rig.start(Self.objects())
    rig.service.callerIdentity = CallerIdentity(
      cached: { _ in nil }, resolve: { _ async throws(DBusError) in throw .accessDenied("who are you?") })
    #expect(
      await rig.error("Hello", path: "/org/example/app/one", interface: "org.example.App")
        == DBusError.Name.accessDenied)
    #expect(rig.service.callsInFlight == 0)
  }
}
