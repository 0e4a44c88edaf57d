import CDBus

/// One reference to a libdbus message.
package struct Message: ~Copyable {
  package let handle: OpaquePointer

  /// Takes over the caller's reference.
  package init(adopting handle: OpaquePointer) { self.handle = handle }

  /// Adds a reference.
  package init(borrowing handle: OpaquePointer) { self.handle = dbus_message_ref(handle) }

  deinit { dbus_message_unref(handle) }
}

// MARK: - Making messages

extension Message {
  /// A method call, everything validated.
  package static func call(
    _ member: String, interface: String?, path: ObjectPath, destination: String?, arguments: [DBusValue]
  ) throws(DBusError) -> Message {
    if let destination { try Validation.require(busName: destination) }
    if let interface { try Validation.require(interface: interface) }
    try Validation.require(member: member)
    try Validation.require(sendable: path)
    try MarshallingCheck.check(arguments)
    let message = try adopt(dbus_message_new_method_call(destination, path.text, interface, member))
    try message.append(arguments)
    return message
  }

  /// A signal, everything validated.
  package static func signal(
    _ member: String, interface: String, path: ObjectPath, destination: String?, arguments: [DBusValue]
  ) throws(DBusError) -> Message {
    if let destination { try Validation.require(busName: destination) }
    try Validation.require(interface: interface)
    try Validation.require(member: member)
    try Validation.require(sendable: path)
    try MarshallingCheck.check(arguments)
    let message = try adopt(dbus_message_new_signal(path.text, interface, member))
    if let destination, dbus_message_set_destination(message.handle, destination) == 0 { throw .noMemory }
    try message.append(arguments)
    return message
  }

  /// The reply to a call.
  package static func reply(to call: borrowing Message, arguments: [DBusValue]) throws(DBusError) -> Message {
    try MarshallingCheck.check(arguments)
    let message = try adopt(dbus_message_new_method_return(call.handle))
    try message.append(arguments)
    return message
  }

  /// A reply that belongs to no call yet.
  package static func reply(arguments: [DBusValue]) throws(DBusError) -> Message {
    try MarshallingCheck.check(arguments)
    let message = try adopt(dbus_message_new(DBUS_MESSAGE_TYPE_METHOD_RETURN))
    message.setNoReply()
    try message.append(arguments)
    return message
  }

  /// This reply as the one to `call`.
  package func copy(replyingTo call: borrowing Message) throws(DBusError) -> Message {
    let message = try Self.adopt(dbus_message_copy(handle))
    guard dbus_message_set_reply_serial(message.handle, dbus_message_get_serial(call.handle)) != 0,
      dbus_message_set_destination(message.handle, dbus_message_get_sender(call.handle)) != 0
    else { throw .noMemory }
    return message
  }

  /// The error reply to a call. A handler's invalid name or message is made valid: a reply there must be.
  package static func error(_ error: DBusError, replyTo call: borrowing Message) throws(DBusError) -> Message {
    let name = Validation.isErrorName(error.name) ? error.name : DBusError.Name.failed
    let text = Validation.isString(error.message) ? error.message : "(the message can't be shown)"
    return try adopt(dbus_message_new_error(call.handle, name, text))
  }

  private static func adopt(_ handle: OpaquePointer?) throws(DBusError) -> Message {
    guard let handle else { throw .noMemory }
    return Message(adopting: handle)
  }
}

// MARK: - Header

extension Message {
  /// DBUS_MESSAGE_TYPE_…
  package var type: Int32 { dbus_message_get_type(handle) }
  package var sender: String? { dbus_message_get_sender(handle).map { String(cString: $0) } }
  package var path: ObjectPath? { dbus_message_get_path(handle).map { ObjectPath(unchecked: String(cString: $0)) } }
  package var interface: String? { dbus_message_get_interface(handle).map { String(cString: $0) } }
  package var member: String? { dbus_message_get_member(handle).map { String(cString: $0) } }
  package var replySerial: UInt32 { dbus_message_get_reply_serial(handle) }
  package var expectsReply: Bool { dbus_message_get_no_reply(handle) == 0 }
  package var signatureText: String { dbus_message_get_signature(handle).map { String(cString: $0) } ?? "" }

  package func setNoReply() { dbus_message_set_no_reply(handle, 1) }
  package func setAutoStart(_ start: Bool) { dbus_message_set_auto_start(handle, start ? 1 : 0) }

  /// The reply's arguments, or the error it is.
  package func result() throws(DBusError) -> [DBusValue] {
    if type != DBUS_MESSAGE_TYPE_ERROR { return arguments() }
    let name = dbus_message_get_error_name(handle).map { String(cString: $0) } ?? DBusError.Name.failed
    throw DBusError(name: name, message: arguments().first?.asString ?? "")
  }
}

// MARK: - Writing

extension Message {
  private func append(_ arguments: [DBusValue]) throws(DBusError) {
    if arguments.isEmpty { return }
    var iterator = DBusMessageIter()
    dbus_message_iter_init_append(handle, &iterator)
    for argument in arguments {
      guard Self.append(argument, to: &iterator) else { throw .noMemory }
    }
  }

  private static func append(_ value: DBusValue, to iterator: inout DBusMessageIter) -> Bool {
    switch value {
    case .byte(let value): appendFixed(value, CDBUS_BYTE, &iterator)
    case .boolean(let value): appendFixed(dbus_bool_t(value ? 1 : 0), CDBUS_BOOLEAN, &iterator)
    case .int16(let value): appendFixed(value, CDBUS_INT16, &iterator)
    case .uint16(let value): appendFixed(value, CDBUS_UINT16, &iterator)
    case .int32(let value): appendFixed(value, CDBUS_INT32, &iterator)
    case .uint32(let value): appendFixed(value, CDBUS_UINT32, &iterator)
    case .int64(let value): appendFixed(value, CDBUS_INT64, &iterator)
    case .uint64(let value): appendFixed(value, CDBUS_UINT64, &iterator)
    case .double(let value): appendFixed(value, CDBUS_DOUBLE, &iterator)
    case .string(let text): cdbus_append_text(&iterator, CDBUS_STRING, text)
    case .objectPath(let path): cdbus_append_text(&iterator, CDBUS_OBJECT_PATH, path.text)
    case .signature(let signature): cdbus_append_text(&iterator, CDBUS_SIGNATURE, signature.text)
    case .unixFD(let descriptor): appendFixed(descriptor.rawValue, CDBUS_UNIX_FD, &iterator)
    case .bytes(let bytes): cdbus_append_bytes(&iterator, bytes, Int32(bytes.count))
    case .array(let element, let values):
      appendContainer(CDBUS_ARRAY, element.text, &iterator) { inner in
        values.allSatisfy { append($0, to: &inner) }
      }
    case .structure(let members):
      appendContainer(CDBUS_STRUCT, nil, &iterator) { inner in members.allSatisfy { append($0, to: &inner) } }
    case .dictionary(let key, let value, let entries):
      appendContainer(CDBUS_ARRAY, "{\(key.text)\(value.text)}", &iterator) { inner in
        entries.allSatisfy { appendEntry($0, to: &inner) }
      }
    case .variant(let content):
      appendContainer(CDBUS_VARIANT, content.signatureText, &iterator) { inner in append(content, to: &inner) }
    }
  }

  private static func appendEntry(_ entry: DBusValue.Entry, to iterator: inout DBusMessageIter) -> Bool {
    appendContainer(CDBUS_DICT_ENTRY, nil, &iterator) { inner in
      append(entry.key, to: &inner) && append(entry.value, to: &inner)
    }
  }

  private static func appendFixed<Value: BitwiseCopyable>(
    _ value: Value, _ type: Int32, _ iterator: inout DBusMessageIter
  ) -> Bool {
    withUnsafePointer(to: value) { dbus_message_iter_append_basic(&iterator, type, $0) } != 0
  }

  private static func appendContainer(
    _ type: Int32, _ content: String?, _ iterator: inout DBusMessageIter, _ body: (inout DBusMessageIter) -> Bool
  ) -> Bool {
    var inner = DBusMessageIter()
    guard dbus_message_iter_open_container(&iterator, type, content, &inner) != 0 else { return false }
    if body(&inner) { return dbus_message_iter_close_container(&iterator, &inner) != 0 }
    dbus_message_iter_abandon_container(&iterator, &inner)
    return false
  }
}
