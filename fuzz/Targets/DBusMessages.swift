import CDBus
@testable import DBus

/// Messages as they come over the bus, of any sender: through libdbus' own check, then our reader.
enum DBusMessages {
  static func check(_ input: [UInt8]) throws(Fault) {
    // A body behind its signature gets past the header more often than a whole message does.
    let bytes = input.first == UInt8(ascii: "l") || input.first == UInt8(ascii: "B") ? input : whole(input)
    guard let message = LibDBus.message(bytes) else { return }
    _ = (message.sender, message.path, message.interface, message.member, message.replySerial, message.expectsReply)
    let arguments = message.arguments()
    try require(
      arguments.reduce(into: "") { $0 += $1.signatureText } == message.signatureText,
      "the values have the types that the message says")
    let first = message.firstString
    if case .string(let text)? = arguments.first {
      try require(first == text, "the first string is the first argument")
    } else {
      try require(first == nil, "there's no first string")
    }
    for argument in arguments { look(argument) }
    try DBusValues.writtenAndRead(arguments)
  }

  /// Every accessor, on whatever type.
  private static func look(_ value: DBusValue) {
    _ = (value.asString, value.asBool, value.asByte, value.asInt32, value.asUInt32, value.asInt64, value.asUInt64)
    _ = (value.asDouble, value.asPath, value.asSignature, value.asUnixFD, value.asBytes, value.asStructure)
    _ = (value.asEntries, value.asInteger, value.asArray, value.asStrings, value.asPaths, value.asDict)
  }

  /// A signal with the body that follows a signature in `input`, little endian.
  private static func whole(_ input: [UInt8]) -> [UInt8] {
    let length = min(Int(input.first ?? 0), 255, max(0, input.count - 1))
    let signature = Array(input.dropFirst().prefix(length))
    let body = Array(input.dropFirst(1 + length))
    var fields = field(1, "o", text(Array("/a".utf8)))
    pad(&fields)
    fields += field(2, "s", text(Array("a.b".utf8)))
    pad(&fields)
    fields += field(3, "s", text(Array("M".utf8)))
    pad(&fields)
    fields += field(8, "g", [UInt8(length)] + signature + [0])
    let start: [UInt8] = [UInt8(ascii: "l"), 4, 1, 1]
    var bytes = start + number(body.count) + number(1) + number(fields.count) + fields
    pad(&bytes)
    return bytes + body
  }

  private static func field(_ code: UInt8, _ type: Unicode.Scalar, _ value: [UInt8]) -> [UInt8] {
    [code, 1, UInt8(ascii: type), 0] + value
  }

  private static func text(_ text: [UInt8]) -> [UInt8] { number(text.count) + text + [0] }

  private static func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func pad(_ bytes: inout [UInt8]) { while bytes.count % 8 != 0 { bytes.append(0) } }
}

/// What of libdbus is asked here and not by the library.
enum LibDBus {
  /// The message in `bytes`; nil for what libdbus refuses.
  static func message(_ bytes: [UInt8]) -> Message? {
    guard !bytes.isEmpty else { return nil }
    let text = bytes.map { CChar(bitPattern: $0) }
    guard let handle = dbus_message_demarshal(text, Int32(text.count), nil) else { return nil }
    return Message(adopting: handle)
  }

  /// The bytes of `message`; nil where there are none.
  static func bytes(_ message: borrowing Message) -> [UInt8]? {
    var start: UnsafeMutablePointer<CChar>?
    var count: Int32 = 0
    // As a connection does when it sends: zero is no serial.
    dbus_message_set_serial(message.handle, 1)
    guard dbus_message_marshal(message.handle, &start, &count) != 0, let start else { return nil }
    defer { dbus_free(start) }
    return UnsafeBufferPointer(start: start, count: Int(count)).map { UInt8(bitPattern: $0) }
  }
}
