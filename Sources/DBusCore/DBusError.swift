/// An error as it crosses the bus: a name, which is the contract, and a message for a person.
public struct DBusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// For example `org.freedesktop.DBus.Error.InvalidArgs`.
  public var name: String
  /// May be empty.
  public var message: String

  /// Any name is accepted here; one that isn't a valid error name is sent as `…Error.Failed`.
  public init(name: String, message: String) {
    self.name = name
    self.message = message
  }

  /// Name and message in one line.
  public var description: String { message.isEmpty ? name : "\(name): \(message)" }
}

extension DBusError {
  /// The standard names, and two of ours for what happens on this side of the bus.
  public enum Name {
    /// Something went wrong.
    public static let failed = "org.freedesktop.DBus.Error.Failed"
    /// Out of memory.
    public static let noMemory = "org.freedesktop.DBus.Error.NoMemory"
    /// Arguments of the wrong type or value.
    public static let invalidArgs = "org.freedesktop.DBus.Error.InvalidArgs"
    /// No such method.
    public static let unknownMethod = "org.freedesktop.DBus.Error.UnknownMethod"
    /// No such interface on the object.
    public static let unknownInterface = "org.freedesktop.DBus.Error.UnknownInterface"
    /// No such object.
    public static let unknownObject = "org.freedesktop.DBus.Error.UnknownObject"
    /// No such property.
    public static let unknownProperty = "org.freedesktop.DBus.Error.UnknownProperty"
    /// The property can't be set.
    public static let propertyReadOnly = "org.freedesktop.DBus.Error.PropertyReadOnly"
    /// Not allowed.
    public static let accessDenied = "org.freedesktop.DBus.Error.AccessDenied"
    /// No reply came in time.
    public static let noReply = "org.freedesktop.DBus.Error.NoReply"
    /// Nobody owns the name, and nobody can be started for it.
    public static let serviceUnknown = "org.freedesktop.DBus.Error.ServiceUnknown"
    /// Nobody owns the name.
    public static let nameHasNoOwner = "org.freedesktop.DBus.Error.NameHasNoOwner"
    /// There is no bus at the address.
    public static let noServer = "org.freedesktop.DBus.Error.NoServer"
    /// The connection to the bus is lost or closed.
    public static let disconnected = "org.freedesktop.DBus.Error.Disconnected"
    /// A limit of the bus or of the protocol.
    public static let limitsExceeded = "org.freedesktop.DBus.Error.LimitsExceeded"
    /// Not supported.
    public static let notSupported = "org.freedesktop.DBus.Error.NotSupported"
    /// The task that waited for the reply was cancelled. Never on the wire.
    public static let cancelled = "org.freedesktop.DBus.Local.Cancelled"
  }

  /// Something went wrong.
  public static func failed(_ message: String) -> DBusError { .init(name: Name.failed, message: message) }
  /// Arguments of the wrong type or value.
  public static func invalidArgs(_ message: String) -> DBusError { .init(name: Name.invalidArgs, message: message) }
  /// No such method.
  public static func unknownMethod(_ message: String) -> DBusError {
    .init(name: Name.unknownMethod, message: message)
  }
  /// No such interface on the object.
  public static func unknownInterface(_ message: String) -> DBusError {
    .init(name: Name.unknownInterface, message: message)
  }
  /// No such object.
  public static func unknownObject(_ message: String) -> DBusError {
    .init(name: Name.unknownObject, message: message)
  }
  /// No such property.
  public static func unknownProperty(_ message: String) -> DBusError {
    .init(name: Name.unknownProperty, message: message)
  }
  /// The property can't be set.
  public static func propertyReadOnly(_ message: String) -> DBusError {
    .init(name: Name.propertyReadOnly, message: message)
  }
  /// Not allowed.
  public static func accessDenied(_ message: String) -> DBusError { .init(name: Name.accessDenied, message: message) }
  /// Not supported.
  public static func notSupported(_ message: String) -> DBusError { .init(name: Name.notSupported, message: message) }
  /// A limit of the bus or of the protocol.
  public static func limitsExceeded(_ message: String) -> DBusError {
    .init(name: Name.limitsExceeded, message: message)
  }
  /// There is no bus at the address.
  public static func noServer(_ message: String) -> DBusError { .init(name: Name.noServer, message: message) }
  /// No reply came in time.
  public static let noReply = DBusError(name: Name.noReply, message: "no reply came in time")
  /// The connection to the bus is lost or closed.
  public static let disconnected = DBusError(name: Name.disconnected, message: "the connection to the bus is closed")
  /// The task that waited for the reply was cancelled.
  public static let cancelled = DBusError(name: Name.cancelled, message: "cancelled")
  /// libdbus found no memory.
  package static let noMemory = DBusError(name: Name.noMemory, message: "out of memory")
}
