import EventLoop

/// Paths, visibility and announcements.
extension ObjectServer {
  func visibleObject(_ path: ObjectPath, for caller: Caller) -> ExportedObject? {
    guard let object = object(at: path), object.isVisible(caller) else { return nil }
    return object
  }

  func hasVisibleDescendant(_ path: ObjectPath, for caller: Caller) -> Bool {
    all.contains { $0.path.isDescendant(of: path) && $0.isVisible(caller) }
  }

  /// In the order of their paths.
  func visibleDescendants(of path: ObjectPath, for caller: Caller) -> [ExportedObject] {
    all.filter { $0.path.isDescendant(of: path) && $0.isVisible(caller) }.sorted { $0.path < $1.path }
  }

  /// First path elements below `path`, on the way to visible objects.
  func childNames(of path: ObjectPath, for caller: Caller) -> [String] {
    let prefix = path.prefixOfDescendants
    let names = visibleDescendants(of: path, for: caller).map { object in
      String(object.path.text.dropFirst(prefix.count).prefix { $0 != "/" })
    }
    return Set(names).sorted()
  }

  func export(_ object: ExportedObject, announce: Bool) {
    add(object)
    guard announce else { return }
    announceFromManagers(
      above: object.path, "InterfacesAdded",
      [.objectPath(object.path), propertiesByInterface(of: object, for: .broadcast)])
  }

  func unexport(_ path: ObjectPath) {
    guard let object = remove(path) else { return }
    announceFromManagers(
      above: path, "InterfacesRemoved", [.objectPath(path), .strings(object.interfaces.map(\.name))])
  }

  private func announceFromManagers(
    above path: ObjectPath, _ member: String, _ arguments: @autoclosure () -> [DBusValue]
  ) {
    for manager in managers where path.isDescendant(of: manager) {
      broadcast(manager, StandardInterfaces.objectManagerName, member, arguments())
    }
  }

  func propertiesChanged(_ path: ObjectPath, _ interface: String, _ names: [String]) {
    guard let table = object(at: path)?.interface(interface) else { return }
    var changed: [String: DBusValue] = [:]
    var invalidated: [String] = []
    for property in names.compactMap(table.property) {
      switch property.emitsChanged {
      case .true:
        if let value = property.value(for: .broadcast) {
          changed[property.name] = value
        } else {
          invalidated.append(property.name)
        }
      case .invalidates: invalidated.append(property.name)
      case .const, .false: break
      }
    }
    if changed.isEmpty && invalidated.isEmpty { return }
    broadcast(
      path, StandardInterfaces.propertiesName, "PropertiesChanged",
      [.string(interface), .dict(changed), .strings(invalidated)])
  }

  /// An `a{sa{sv}}`. For a broadcast, what is only ever invalidated is left out.
  func propertiesByInterface(of object: ExportedObject, for caller: Caller) -> DBusValue {
    let entries = object.interfaces.map { table in
      DBusValue.Entry(.string(table.name), .dict(table.values(for: caller)))
    }
    return .dictionary(key: .string, value: Signature(unchecked: "a{sv}"), entries)
  }

  func checkSignal(path: ObjectPath, interface: String, member: String, arguments: [DBusValue]) throws(DBusError) {
    guard let table = object(at: path)?.interface(interface) else { return }
    let signature = arguments.map(\.signatureText).joined()
    guard let declared = table.signal(member), declared.signature == signature
    else { throw .invalidArgs("\(interface) declares no signal \(member) with (\(signature))") }
  }

  /// Values come from tables and are sendable but for a property's mistake; a lost connection has nobody to tell.
  private func broadcast(_ path: ObjectPath, _ interface: String, _ member: String, _ arguments: [DBusValue]) {
    guard let connection, connection.isOpen else { return }
    _ = try? connection.send(
      Message.signal(member, interface: interface, path: path, destination: nil, arguments: arguments))
  }
}

extension Interface {
  /// The properties that have a value for the caller.
  @LoopActor
  func values(for caller: Caller) -> [String: DBusValue] {
    var result: [String: DBusValue] = [:]
    for property in properties where !(caller.isBroadcast && property.emitsChanged == .invalidates) {
      if let value = property.value(for: caller) { result[property.name] = value }
    }
    return result
  }
}

extension Property {
  /// Nil when there is none, getting it fails, or its type isn't the declared one.
  @LoopActor
  func value(for caller: Caller) -> DBusValue? {
    guard let value = try? get(caller), value.signatureText == signature.text else { return nil }
    return value
  }
}
