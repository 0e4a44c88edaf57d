import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

/// A value and GLib's text for it.
struct Sample: Sendable, CustomTestStringConvertible {
  let name: String
  let value: DBusValue
  let text: String
  var testDescription: String { name }

  init(_ name: String, _ value: DBusValue, _ text: String) { (self.name, self.value, self.text) = (name, value, text) }

  static let all: [Sample] = [
    Sample("byte", .byte(42), "byte 0x2a"),
    Sample("boolean", .boolean(true), "true"),
    Sample("false", .boolean(false), "false"),
    Sample("int16", .int16(-32768), "int16 -32768"),
    Sample("uint16", .uint16(65535), "uint16 65535"),
    Sample("int32", .int32(-2_147_483_648), "-2147483648"),
    Sample("uint32", .uint32(4_294_967_295), "uint32 4294967295"),
    Sample("int64", .int64(.min), "int64 -9223372036854775808"),
    Sample("uint64", .uint64(.max), "uint64 18446744073709551615"),
    Sample("double", .double(-1.5), "-1.5"),
    Sample("string", .string("Grüße, 世界 🔑"), "'Grüße, 世界 🔑'"),
    Sample("empty string", .string(""), "''"),
    Sample("object path", .objectPath("/a/b_1"), "objectpath '/a/b_1'"),
    Sample("signature", .signature("a{sv}(ii)"), "signature 'a{sv}(ii)'"),
    Sample("empty signature", .signature(""), "signature ''"),
    Sample("bytes", .bytes([1, 2, 255]), "[byte 0x01, 0x02, 0xff]"),
    Sample("no bytes", .bytes([]), "@ay []"),
    Sample("strings", .strings(["a", "b"]), "['a', 'b']"),
    Sample("no strings", .strings([]), "@as []"),
    Sample("paths", .paths(["/", "/x"]), "[objectpath '/', '/x']"),
    Sample("array of arrays", .array(of: "ai", [.array(of: "i", [.int32(1)]), .array(of: "i", [])]), "[[1], []]"),
    Sample("array of structures", .array(of: "(ib)", [.structure([.int32(1), .boolean(true)])]), "[(1, true)]"),
    Sample("empty array of dictionaries", .dicts([]), "@aa{sv} []"),
    Sample("array of doubles", .array(of: "d", [.double(0.5), .double(2)]), "[0.5, 2.0]"),
    Sample("structure", .structure([.int32(1), .string("x"), .structure([.byte(0)])]), "(1, 'x', (byte 0x00,))"),
    Sample("dict", .dict(["k": .int32(1), "a": .string("s")]), "{'a': <'s'>, 'k': <1>}"),
    Sample("empty dict", .dict([:]), "@a{sv} {}"),
    Sample(
      "dictionary with integer keys",
      .dictionary(key: "u", value: "s", [.init(.uint32(1), .string("x"))]), "{uint32 1: 'x'}"),
    Sample(
      "dictionary of dictionaries",
      .dictionary(key: "o", value: "a{sv}", [.init(.objectPath("/o"), .dict(["b": .boolean(true)]))]),
      "{objectpath '/o': {'b': <true>}}"),
    Sample("variant in variant", .variant(.variant(.int32(1))), "<<1>>"),
  ]
}

@Suite(.loopRunning, .timeLimit(.minutes(1)))
struct ValueTests {
  private static let interface = Interface(
    Rig.name,
    methods: [
      Method("Echo", in: [Argument("value", "v")], out: [Argument("value", "v")], handler: .sync { $0.arguments }),
      Method(
        "Check", in: [Argument("name", "s"), Argument("value", "v")], out: [Argument("same", "b")],
        handler: .sync { call in
          let sample = Sample.all.first { $0.name == call.arguments[0].asString }
          return [.boolean(sample.map { .variant($0.value) } == call.arguments[1])]
        }),
      Method(
        "Many", in: [Argument("a", "y"), Argument("b", "as"), Argument("c", "(ix)")],
        out: [Argument("c", "(ix)"), Argument("b", "as"), Argument("a", "y")],
        handler: .sync { $0.arguments.reversed() }),
      Method(
        "Upper", in: [Argument("fd", "h")], out: [Argument("fd", "h")],
        handler: .sync { call throws(DBusError) in
          guard let descriptor = call.arguments.first?.asUnixFD else { throw .invalidArgs("no descriptor") }
          var bytes = [UInt8](repeating: 0, count: 100)
          let count = read(descriptor.rawValue, &bytes, 100)
          let text = String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self).uppercased()
          guard let pipe = try? Subprocess.Pipe.make() else { throw .failed("no pipe") }
          defer { close(pipe.write) }
          _ = write(pipe.write, text, text.utf8.count)
          return [.unixFD(UnixFD(owning: pipe.read))]
        }),
    ])

  @Test @LoopActor func everyTypeComesBackUnchanged() async throws {
    let rig = try await Rig.start(Self.interface)
    for sample in Sample.all {
      let reply = try await rig.call("Echo", [.variant(sample.value)])
      #expect(reply == [.variant(sample.value)], "\(sample.name)")
    }
  }

  @Test @LoopActor func gdbusSeesAndSendsTheSameValues() async throws {
    let rig = try await Rig.start(Self.interface)
    for sample in Sample.all {
      #expect(try await rig.gdbus("\(Rig.name).Echo", ["<\(sample.text)>"]) == "(<\(sample.text)>,)")
      #expect(try await rig.gdbus("\(Rig.name).Check", ["'\(sample.name)'", "<\(sample.text)>"]) == "(true,)")
    }
  }

  @Test @LoopActor func dbusSendSeesSeveralArguments() async throws {
    let rig = try await Rig.start(Self.interface)
    #expect(
      try await rig.gdbus("\(Rig.name).Many", ["byte 7", "['p', 'q']", "(-1, int64 -2)"])
        == "((-1, int64 -2), ['p', 'q'], byte 0x07)")
    let result = try await Subprocess.run([
      "dbus-send", "--bus=\(rig.bus.address)", "--print-reply=literal", "--dest=\(Rig.name)", Rig.path.text,
      "\(Rig.name).Echo", "variant:double:2.5",
    ])
    #expect(result.stdout.split(separator: " ") == ["variant", "double", "2.5\n"], "\(result.stderr)")
  }

  @Test @LoopActor func pythonSeesTypesAndDescriptors() async throws {
    let rig = try await Rig.start(Self.interface)
    let result = try await rig.python(
      """
      value = dbus.Dictionary({"n": dbus.UInt64(2**63), "l": dbus.Array([dbus.Int16(-1)], signature="n")}, signature="sv")
      back = proxy.Echo(value, dbus_interface="\(Rig.name)", signature="v")
      assert back == value, back
      assert type(back["n"]) is dbus.UInt64 and back["l"].signature == "n", back
      r, w = os.pipe()
      os.write(w, b"shout")
      os.close(w)
      fd = proxy.Upper(dbus.types.UnixFd(r), dbus_interface="\(Rig.name)").take()
      print(os.read(fd, 100).decode())
      """)
    #expect(result.stdout == "SHOUT\n", "\(result.stderr)")
  }

  @Test @LoopActor func descriptorsTravelBothWays() async throws {
    let rig = try await Rig.start(Self.interface)
    let pipe = try Subprocess.Pipe.make()
    _ = write(pipe.write, "hello", 5)
    close(pipe.write)
    let sent = UnixFD(owning: pipe.read)
    let reply = try await rig.call("Upper", [.unixFD(sent)])
    #expect(fcntl(sent.rawValue, F_GETFD) >= 0, "the sender's descriptor stays open")
    let received = try #require(reply.first?.asUnixFD)
    var bytes = [UInt8](repeating: 0, count: 10)
    #expect(read(received.rawValue, &bytes, 10) == 5)
    #expect(bytes.prefix(5).elementsEqual("HELLO".utf8))
  }

  @Test @LoopActor func largeByteArraysAreWhole() async throws {
    let rig = try await Rig.start(Self.interface)
    let bytes = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0) }
    let isWhole = try await rig.call("Echo", [.variant(.bytes(bytes))]) == [.variant(.bytes(bytes))]
    #expect(isWhole)
  }

  @Test @LoopActor func deepestPermittedNestingTravels() async throws {
    let rig = try await Rig.start(Self.interface)
    let nested = (0..<63).reduce(DBusValue.int32(1)) { value, _ in .variant(value) }
    #expect(try await rig.call("Echo", [.variant(nested)]) == [.variant(nested)])
  }

  @Test func accessorsLookThroughVariants() {
    #expect(DBusValue.variant(.variant(.string("a"))).asString == "a")
    #expect(DBusValue.byte(1).asString == nil)
    #expect(DBusValue.variant(.uint64(7)).asUInt64 == 7)
    #expect(DBusValue.uint16(7).asInteger == 7)
    #expect(DBusValue.uint64(.max).asInteger == nil)
    #expect(DBusValue.dict(["a": .boolean(true)]).asDict == ["a": .boolean(true)])
    #expect(DBusValue.dict(["b": .byte(1), "a": .byte(2)]) == .dict(["a": .byte(2), "b": .byte(1)]))
    #expect(DBusValue.strings(["x"]).asStrings == ["x"])
    #expect(DBusValue.paths(["/x"]).asStrings == nil)
    #expect(DBusValue.paths(["/x"]).asPaths == ["/x"])
    #expect(DBusValue.bytes([1]).asBytes == [1])
    let twice = DBusValue.dictionary(
      key: "s", value: "v",
      [
        .init(.string("a"), .variant(.byte(1))), .init(.string("a"), .variant(.byte(2))),
        .init(.string("b"), .variant(.string(""))),
      ])
    for name in ["a", "b", "c"] { #expect(twice.member(name) == twice.asDict?[name]) }
    #expect(DBusValue.variant(twice).member("a") == .byte(2))
    #expect(DBusValue.dictionary(key: "u", value: "s", []).member("a") == nil)
    #expect(DBusValue.dictionary(key: "u", value: "s", []).asDict == nil)
    #expect(DBusValue.structure([.byte(1), .bytes([])]).signature == "(yay)")
  }
}
