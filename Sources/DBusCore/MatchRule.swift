/// Which signals a subscription is for. What is nil matches everything.
public struct MatchRule: Sendable, Hashable {
  /// Unique or well-known name of the sender. A well-known one stands for whoever owns it when the signal comes.
  public var sender: String?
  /// The very object.
  public var path: ObjectPath?
  /// The object and everything below it.
  public var pathNamespace: ObjectPath?
  /// The signal's interface.
  public var interface: String?
  /// The signal's name.
  public var member: String?
  /// The first argument, which has to be a string.
  public var arg0: String?
  /// The first argument is this name or begins with it and a dot.
  public var arg0Namespace: String?

  /// A rule for signals.
  public init(
    sender: String? = nil, path: ObjectPath? = nil, pathNamespace: ObjectPath? = nil, interface: String? = nil,
    member: String? = nil, arg0: String? = nil, arg0Namespace: String? = nil
  ) {
    self.sender = sender
    self.path = path
    self.pathNamespace = pathNamespace
    self.interface = interface
    self.member = member
    self.arg0 = arg0
    self.arg0Namespace = arg0Namespace
  }

  /// The rule as the bus takes it. Throws InvalidArgs for invalid names, and for `path` with `pathNamespace`.
  package func text() throws(DBusError) -> String {
    if let sender { try Validation.require(busName: sender) }
    if let interface { try Validation.require(interface: interface) }
    if let member { try Validation.require(member: member) }
    if let arg0 { try Validation.require(string: arg0) }
    if let arg0Namespace, !Validation.isNameNamespace(arg0Namespace) {
      throw .invalidArgs("arg0namespace isn't the beginning of a bus name")
    }
    if path != nil, pathNamespace != nil { throw .invalidArgs("a match has path or path_namespace, not both") }
    let parts: [(String, String?)] = [
      ("sender", sender), ("path", path?.text), ("path_namespace", pathNamespace?.text), ("interface", interface),
      ("member", member), ("arg0", arg0), ("arg0namespace", arg0Namespace),
    ]
    return parts.reduce(into: "type='signal'") { text, part in
      if let value = part.1 { text += ",\(part.0)='\(Self.quoted(value))'" }
    }
  }

  /// Inside quotes only the quote itself is special: it ends them.
  private static func quoted(_ value: String) -> String {
    value.contains("'")
      ? value.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") : value
  }
}

/// A signal as it arrived.
public struct Signal: Sendable, Hashable {
  /// The sender's unique name, or `org.freedesktop.DBus`.
  public let sender: String
  /// The object it comes from.
  public let path: ObjectPath
  /// Its interface.
  public let interface: String
  /// Its name.
  public let member: String
  /// What it carries.
  public let arguments: [DBusValue]

  package init(sender: String, path: ObjectPath, interface: String, member: String, arguments: [DBusValue]) {
    self.sender = sender
    self.path = path
    self.interface = interface
    self.member = member
    self.arguments = arguments
  }
}

extension MatchRule {
  /// Judges a signal as the bus does, which delivers what any of a connection's rules matches. `owner` is who owns
  /// the rule's sender if that is a well-known name.
  package func matches(_ signal: Signal, owner: String?) -> Bool {
    if let member, member != signal.member { return false }
    if let interface, interface != signal.interface { return false }
    if let path, path != signal.path { return false }
    if let pathNamespace, signal.path != pathNamespace, !signal.path.isDescendant(of: pathNamespace) { return false }
    if let sender, signal.sender != sender, signal.sender != owner { return false }
    if arg0 == nil, arg0Namespace == nil { return true }
    guard case .string(let first)? = signal.arguments.first else { return false }
    if let arg0, arg0 != first { return false }
    if let arg0Namespace, first != arg0Namespace, !first.hasPrefix(arg0Namespace + ".") { return false }
    return true
  }
}
