import EventLoop

extension ObjectServer {
  /// The introspection data of a path, as far as the caller may see it.
  func introspect(_ path: ObjectPath, for caller: Caller) -> String {
    var xml = IntrospectionWriter()
    xml.open("node")
    if let object = visibleObject(path, for: caller) {
      for table in object.interfaces + standard.interfaces(of: object) { xml.write(table) }
    } else {
      xml.write(standard.introspectable)
    }
    xml.write(IntrospectionWriter.peer)
    for child in childNames(of: path, for: caller) { xml.leaf("node", [("name", child)]) }
    xml.close("node")
    return IntrospectionWriter.header + xml.text
  }
}

extension Interface {
  /// The interface as introspection data: `<interface>…</interface>`, indented by two spaces.
  public var introspectionXML: String {
    var xml = IntrospectionWriter(depth: 1)
    xml.write(self)
    return xml.text
  }
}

private struct IntrospectionWriter {
  static let header = """
    <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
     "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">

    """

  /// Only ever described: libdbus answers it.
  static let peer = Interface(
    "org.freedesktop.DBus.Peer",
    methods: [
      Method("Ping", handler: .sync { _ in [] }),
      Method("GetMachineId", out: [Argument("machine_uuid", "s")], handler: .sync { _ in [] }),
    ])

  private(set) var text = ""
  private var depth: Int

  init(depth: Int = 0) { self.depth = depth }

  mutating func write(_ table: Interface) {
    open("interface", [("name", table.name)])
    for method in table.methods {
      element("method", [("name", method.name)], annotations: method.annotations) { xml in
        xml.write(method.input, direction: "in")
        xml.write(method.output, direction: "out")
      }
    }
    for signal in table.signals {
      element("signal", [("name", signal.name)], annotations: signal.annotations) { xml in
        xml.write(signal.arguments, direction: nil)
      }
    }
    for property in table.properties { write(property) }
    write(table.annotations)
    close("interface")
  }

  private mutating func write(_ property: Property) {
    let attributes = [
      ("name", property.name), ("type", property.signature.text),
      ("access", property.isWritable ? "readwrite" : "read"),
    ]
    let emits = ["org.freedesktop.DBus.Property.EmitsChangedSignal": property.emitsChanged.rawValue]
    element("property", attributes, annotations: property.annotations.merging(emits) { $1 }) { _ in }
  }

  private mutating func write(_ arguments: [Argument], direction: String?) {
    for argument in arguments {
      let attributes = [("name", argument.name), ("type", argument.signature.text)]
      leaf("arg", attributes + (direction.map { [("direction", $0)] } ?? []))
    }
  }

  private mutating func write(_ annotations: [String: String]) {
    for (name, value) in annotations.sorted(by: { $0.key < $1.key }) {
      leaf("annotation", [("name", name), ("value", value)])
    }
  }

  private mutating func element(
    _ name: String, _ attributes: [(String, String)], annotations: [String: String], _ content: (inout Self) -> Void
  ) {
    var inner = IntrospectionWriter(depth: depth + 1)
    content(&inner)
    inner.write(annotations)
    if inner.text.isEmpty { return leaf(name, attributes) }
    open(name, attributes)
    text += inner.text
    close(name)
  }

  mutating func open(_ name: String, _ attributes: [(String, String)] = []) {
    line("<\(name)\(Self.text(of: attributes))>")
    depth += 1
  }

  mutating func close(_ name: String) {
    depth -= 1
    line("</\(name)>")
  }

  mutating func leaf(_ name: String, _ attributes: [(String, String)]) {
    line("<\(name)\(Self.text(of: attributes))/>")
  }

  private mutating func line(_ content: String) { text += String(repeating: "  ", count: depth) + content + "\n" }

  private static func text(of attributes: [(String, String)]) -> String {
    attributes.map { " \($0.0)=\"\(escaped($0.1))\"" }.joined()
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
