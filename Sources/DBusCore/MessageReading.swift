import CDBus

extension Message {
  /// All arguments. libdbus has validated them, nesting included.
  package func arguments() -> [DBusValue] {
    var iterator = DBusMessageIter()
    guard dbus_message_iter_init(handle, &iterator) != 0 else { return [] }
    return Self.readAll(&iterator)
  }

  /// The signal it is; nil for other messages.
  package var signal: Signal? {
    guard type == DBUS_MESSAGE_TYPE_SIGNAL, let interface, let member, let path else { return nil }
    return Signal(sender: sender ?? "", path: path, interface: interface, member: member, arguments: arguments())
  }

  /// The first argument when it is a string, for matching on arg0.
  package var firstString: String? {
    var iterator = DBusMessageIter()
    guard dbus_message_iter_init(handle, &iterator) != 0,
      dbus_message_iter_get_arg_type(&iterator) == CDBUS_STRING
    else { return nil }
    return String(cString: cdbus_get_text(&iterator))
  }

  private static func readAll(_ iterator: inout DBusMessageIter) -> [DBusValue] {
    var values: [DBusValue] = []
    while dbus_message_iter_get_arg_type(&iterator) != CDBUS_INVALID {
      values.append(read(&iterator))
      dbus_message_iter_next(&iterator)
    }
    return values
  }

  private static func read(_ iterator: inout DBusMessageIter) -> DBusValue {
    let type = dbus_message_iter_get_arg_type(&iterator)
    switch type {
    case CDBUS_STRING: return .string(String(cString: cdbus_get_text(&iterator)))
    case CDBUS_OBJECT_PATH: return .objectPath(ObjectPath(unchecked: String(cString: cdbus_get_text(&iterator))))
    case CDBUS_SIGNATURE: return .signature(Signature(unchecked: String(cString: cdbus_get_text(&iterator))))
    case CDBUS_ARRAY: return readArray(&iterator)
    case CDBUS_STRUCT: return .structure(readInside(&iterator))
    case CDBUS_VARIANT:
      var inner = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &inner)
      return .variant(read(&inner))
    default: return readFixed(type, cdbus_get_basic(&iterator))
    }
  }

  private static func readFixed(_ type: Int32, _ value: DBusBasicValue) -> DBusValue {
    switch type {
    case CDBUS_BYTE: .byte(value.byt)
    case CDBUS_BOOLEAN: .boolean(value.bool_val != 0)
    case CDBUS_INT16: .int16(value.i16)
    case CDBUS_UINT16: .uint16(value.u16)
    case CDBUS_INT32: .int32(value.i32)
    case CDBUS_UINT32: .uint32(value.u32)
    case CDBUS_INT64: .int64(Int64(value.i64))
    case CDBUS_UINT64: .uint64(UInt64(value.u64))
    case CDBUS_DOUBLE: .double(value.dbl)
    // libdbus hands out a duplicate that is ours. No other type is left.
    default: .unixFD(UnixFD(owning: value.fd))
    }
  }

  private static func readInside(_ iterator: inout DBusMessageIter) -> [DBusValue] {
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    return readAll(&inner)
  }

  private static func readArray(_ iterator: inout DBusMessageIter) -> DBusValue {
    let element = dbus_message_iter_get_element_type(&iterator)
    if element == CDBUS_BYTE {
      var count: Int32 = 0
      let start = cdbus_get_bytes(&iterator, &count)
      return .bytes(Array(UnsafeBufferPointer(start: start, count: Int(count))))
    }
    let content = elementSignature(&iterator, element)
    guard element == CDBUS_DICT_ENTRY else { return .array(of: content, readInside(&iterator)) }
    // content is `{kv…}`: a key has one character.
    let types = content.text.dropFirst().dropLast()
    return .dictionary(
      key: Signature(unchecked: String(types.prefix(1))), value: Signature(unchecked: String(types.dropFirst())),
      readEntries(&iterator))
  }

  private static func readEntries(_ iterator: inout DBusMessageIter) -> [DBusValue.Entry] {
    var entries: [DBusValue.Entry] = []
    var inner = DBusMessageIter()
    dbus_message_iter_recurse(&iterator, &inner)
    while dbus_message_iter_get_arg_type(&inner) == CDBUS_DICT_ENTRY {
      var entry = DBusMessageIter()
      dbus_message_iter_recurse(&inner, &entry)
      let key = read(&entry)
      dbus_message_iter_next(&entry)
      entries.append(DBusValue.Entry(key, read(&entry)))
      dbus_message_iter_next(&inner)
    }
    return entries
  }

  private static func elementSignature(_ iterator: inout DBusMessageIter, _ element: Int32) -> Signature {
    switch element {
    case CDBUS_STRING: return .string
    case CDBUS_OBJECT_PATH: return .objectPath
    case CDBUS_VARIANT: return .variant
    default:
      guard let text = dbus_message_iter_get_signature(&iterator) else { return .variant }
      defer { dbus_free(text) }
      return Signature(unchecked: String(cString: text + 1))
    }
  }
}
