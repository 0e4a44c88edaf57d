import DBus
import EventLoop
import TestSupport
import Testing

/// Whatever is refused here would abort the process inside libdbus, or get the connection thrown off the bus.
@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct InvalidValueTests {
  static let values: [(String, DBusValue)] = [
    ("zero byte", .string("a\0b")),
    ("zero byte inside", .dict(["k": .strings(["\0"])])),
    ("zero byte in a key", .dict(["\0": .byte(1)])),
    ("element of another type", .array(of: "s", [.int32(1)])),
    ("element type of two types", .array(of: "ss", [])),
    ("element type of no type", .array(of: "", [])),
    ("empty structure", .structure([])),
    ("empty structure in a variant", .variant(.structure([]))),
    ("key that isn't basic", .dictionary(key: "v", value: "s", [])),
    ("entry of another type", .dictionary(key: "s", value: "s", [.init(.string("k"), .byte(1))])),
    ("key of another type", .dictionary(key: "s", value: "s", [.init(.byte(1), .string("v"))])),
    ("closed descriptor", .unixFD(UnixFD(owning: 1_000_000))),
    ("65 variants", (0..<65).reduce(DBusValue.byte(1)) { value, _ in .variant(value) }),
    ("33 structures", (0..<33).reduce(DBusValue.byte(1)) { value, _ in .structure([value]) }),
    (
      "64 arrays and structures in a variant",
      .variant((0..<64).reduce(DBusValue.byte(1)) { value, _ in .structure([value]) })
    ),
    ("signature of 256 bytes", .structure(Array(repeating: .byte(1), count: 254))),
    ("array over 64 MiB", .bytes([UInt8](repeating: 0, count: (64 << 20) + 1))),
    (
      "strings over 64 MiB",
      .array(of: "s", Array(repeating: .string(String(repeating: "x", count: 1 << 20)), count: 64))
    ),
  ]

  @Test @LoopActor func invalidValuesThrowAndTheConnectionLives() async throws {
    let rig = try await Rig.start(
      Interface(
        Rig.name,
        methods: [
          Method(
            "Bad", in: [Argument("index", "i")], out: [Argument("value", "v")],
            handler: .sync { call in [.variant(Self.values[Int(call.arguments[0].asInt32 ?? 0)].1)] }),
          Method("Ping", handler: .sync { _ in [] }),
        ]))
    for (index, (name, value)) in Self.values.enumerated() {
      #expect(throws: DBusError.self, "\(name)") {
        try rig.client.send(destination: Rig.name, path: Rig.path, interface: Rig.name, member: "X", arguments: [value])
      }
      #expect(throws: DBusError.self, "\(name)") {
        try rig.client.emit(path: Rig.path, interface: Rig.name, member: "X", arguments: [value])
      }
      // The same as a result: the caller gets an error, and gets it once.
      #expect(await rig.error("Bad", [.int32(Int32(index))]) != nil, "\(name)")
    }
    #expect(try await rig.call("Ping") == [])
    #expect(rig.service.callsInFlight == 0)
  }

  @Test func sizesUpToTheLimitAreFine() throws {
    // 64 MiB in an array of strings: 4 bytes of length, the text, a zero byte, padded to 4.
    let text = String(repeating: "x", count: (1 << 20) - 5)
    #expect(throws: Never.self) { try check([.array(of: "s", Array(repeating: .string(text), count: 64))]) }
    #expect(throws: DBusError.self) { try check([.array(of: "s", Array(repeating: .string(text + "y"), count: 64))]) }
    let half = DBusValue.bytes([UInt8](repeating: 0, count: 60 << 20))
    #expect(throws: Never.self) { try check([half, half]) }
    #expect(throws: DBusError.self) { try check([half, half, half]) }
  }

  /// A call that can't be delivered still has to be marshalled: there is no such bus.
  private func check(_ arguments: [DBusValue]) throws {
    try DBusTestAccess.check(arguments)
  }

  static let names: [(member: String, interface: String, destination: String)] = [
    ("", Rig.name, Rig.name), ("a.b", Rig.name, Rig.name), ("1a", Rig.name, Rig.name), ("a\0", Rig.name, Rig.name),
    (String(repeating: "a", count: 256), Rig.name, Rig.name), ("M", "", Rig.name), ("M", "nodots", Rig.name),
    ("M", "a..b", Rig.name), ("M", "a.1b", Rig.name), ("M", "ä.b", Rig.name), ("M", Rig.name, ""),
    ("M", Rig.name, "a b.c"), ("M", Rig.name, ":1"), ("M", Rig.name, "\n.\n"),
    ("M", "org.freedesktop.DBus.Local", Rig.name),
  ]

  @Test @LoopActor func invalidNamesThrow() async throws {
    let rig = try await Rig.start()
    for name in Self.names {
      #expect(throws: DBusError.self, "\(name)") {
        try rig.client.send(
          destination: name.destination, path: "/", interface: name.interface, member: name.member)
      }
    }
    #expect(throws: DBusError.self) {
      try rig.client.emit(path: "/org/freedesktop/DBus/Local", interface: Rig.name, member: "S")
    }
    await #expect(throws: DBusError.self) { try await rig.client.requestName("no dots", []) }
    await #expect(throws: DBusError.self) { try await rig.client.subscribe(MatchRule(sender: "x y")) { _ in } }
    await #expect(throws: DBusError.self) { try await rig.client.subscribe(MatchRule(arg0: "\0")) { _ in } }
    await #expect(throws: DBusError.self) {
      try await rig.client.subscribe(MatchRule(path: "/a", pathNamespace: "/a")) { _ in }
    }
    await #expect(throws: DBusError.self) { try await Connection.open(.address("nonsense")) }
    await #expect(throws: DBusError.self) { try await Connection.open(.address("unix:path=/a\0b")) }
    await #expect(throws: DBusError.self) { try await Connection.open(.address("unix:path=/nonexistent/bus")) }
    #expect(try await rig.client.nameOwner(of: Rig.name) == rig.service.uniqueName)
  }

  @Test @LoopActor func invalidErrorsOfHandlersStillReply() async throws {
    let rig = try await Rig.start(
      Interface(
        Rig.name,
        methods: [
          Method(
            "Fail", in: [Argument("name", "s"), Argument("with_zero", "b")],
            handler: .sync { call throws(DBusError) in
              throw DBusError(
                name: call.arguments[0].asString ?? "", message: call.arguments[1].asBool == true ? "a\0b" : "plain")
            }),
          Method("WrongResult", out: [Argument("x", "i")], handler: .sync { _ in [.string("not an integer")] }),
        ]))
    #expect(await rig.error("Fail", [.string("not valid"), .boolean(false)]) == DBusError.Name.failed)
    #expect(await rig.error("Fail", [.string("org.example.Error.X"), .boolean(true)]) == "org.example.Error.X")
    await #expect(throws: DBusError(name: "org.example.Error.Y", message: "plain")) {
      try await rig.call("Fail", [.string("org.example.Error.Y"), .boolean(false)])
    }
    #expect(await rig.error("WrongResult") == DBusError.Name.failed)
  }
}
