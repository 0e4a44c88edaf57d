import EventLoop

/// The interfaces every object has, as tables. Peer isn't among them: libdbus answers it for every path.
@LoopActor
struct StandardInterfaces {
  static let introspectableName = "org.freedesktop.DBus.Introspectable"
  static let propertiesName = "org.freedesktop.DBus.Properties"
  static let objectManagerName = "org.freedesktop.DBus.ObjectManager"

  let introspectable: Interface
  private let properties: Interface
  private let objectManager: Interface

  init(_ server: ObjectServer) {
    introspectable = Self.makeIntrospectable(server)
    properties = Self.makeProperties(server)
    objectManager = Self.makeObjectManager(server)
  }

  func interfaces(of object: ExportedObject) -> [Interface] {
    object.isObjectManager ? [introspectable, properties, objectManager] : [introspectable, properties]
  }

  private static func makeIntrospectable(_ server: ObjectServer) -> Interface {
    Interface(
      introspectableName,
      methods: [
        Method(
          "Introspect", out: [Argument("xml_data", "s")],
          handler: .sync { [unowned server] call in [.string(server.introspect(call.path, for: call.caller))] })
      ])
  }

  private static func makeProperties(_ server: ObjectServer) -> Interface {
    Interface(
      propertiesName,
      methods: [
        Method(
          "Get", in: [Argument("interface_name", "s"), Argument("property_name", "s")], out: [Argument("value", "v")],
          handler: .sync { [unowned server] call throws(DBusError) in try server.getProperty(call) }),
        Method(
          "GetAll", in: [Argument("interface_name", "s")], out: [Argument("properties", "a{sv}")],
          handler: .sync { [unowned server] call throws(DBusError) in try server.getAllProperties(call) }),
        Method(
          "Set",
          in: [Argument("interface_name", "s"), Argument("property_name", "s"), Argument("value", "v")],
          handler: .sync { [unowned server] call throws(DBusError) in try server.setProperty(call) }),
      ],
      signals: [
        SignalDescription(
          "PropertiesChanged",
          [
            Argument("interface_name", "s"), Argument("changed_properties", "a{sv}"),
            Argument("invalidated_properties", "as"),
          ])
      ])
  }

  private static func makeObjectManager(_ server: ObjectServer) -> Interface {
    Interface(
      objectManagerName,
      methods: [
        Method(
          "GetManagedObjects", out: [Argument("objects", "a{oa{sa{sv}}}")],
          handler: .sync { [unowned server] call in [server.managedObjects(below: call.path, for: call.caller)] })
      ],
      signals: [
        SignalDescription(
          "InterfacesAdded", [Argument("object", "o"), Argument("interfaces", "a{sa{sv}}")]),
        SignalDescription("InterfacesRemoved", [Argument("object", "o"), Argument("interfaces", "as")]),
      ])
  }
}

extension ObjectServer {
  fileprivate func managedObjects(below path: ObjectPath, for caller: Caller) -> DBusValue {
    let entries = visibleDescendants(of: path, for: caller).map { object in
      DBusValue.Entry(.objectPath(object.path), propertiesByInterface(of: object, for: caller))
    }
    return .dictionary(key: .objectPath, value: Signature(unchecked: "a{sa{sv}}"), entries)
  }

  fileprivate func getProperty(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let (table, property) = try findProperty(call)
    guard let value = try property.get(call.caller)
    else { throw .invalidArgs("\(table.name).\(property.name) has no value") }
    guard value.signatureText == property.signature.text
    else { throw .failed("\(table.name).\(property.name) isn't of its declared type") }
    return [.variant(value)]
  }

  fileprivate func setProperty(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    let (table, property) = try findProperty(call)
    guard let set = property.set else { throw .propertyReadOnly("\(table.name).\(property.name) can't be set") }
    guard case .variant(let value)? = call.arguments.last, value.signatureText == property.signature.text
    else { throw .invalidArgs("\(table.name).\(property.name) takes \(property.signature)") }
    try set(call.caller, value)
    return []
  }

  /// An empty interface name stands for all interfaces.
  fileprivate func getAllProperties(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    var values: [String: DBusValue] = [:]
    for table in try findTables(call) { values.merge(table.values(for: call.caller)) { first, _ in first } }
    return [.dict(values)]
  }

  private func findProperty(_ call: MethodCall) throws(DBusError) -> (Interface, Property) {
    let name = call.arguments.dropFirst().first?.asString ?? ""
    for table in try findTables(call) {
      if let property = table.property(name) { return (table, property) }
    }
    throw .unknownProperty("no such property: \(name)")
  }

  private func findTables(_ call: MethodCall) throws(DBusError) -> [Interface] {
    let name = call.arguments.first?.asString ?? ""
    guard let object = object(at: call.path) else { throw .unknownObject("no such object: \(call.path)") }
    if name.isEmpty { return object.interfaces }
    if let table = object.interface(name) { return [table] }
    // The standard interfaces exist; they have no properties.
    if name == "org.freedesktop.DBus.Peer" || standard.interfaces(of: object).contains(where: { $0.name == name }) {
      return []
    }
    throw .unknownInterface("no such interface: \(name)")
  }
}
