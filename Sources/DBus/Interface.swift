import EventLoop

/// A named argument of a method or signal.
public struct Argument: Sendable, Hashable {
  /// lower_case_with_underscores, by convention.
  public let name: String
  /// One complete type.
  public let signature: Signature

  /// Pairs the two.
  public init(_ name: String, _ signature: Signature) {
    self.name = name
    self.signature = signature
  }
}

/// Who calls.
public struct Caller: Sendable, Hashable {
  /// The caller's name on the bus, for example `:1.42`.
  public let uniqueName: String
  /// The sandbox it runs in; nil for an ordinary process of the user.
  public let sandboxID: String?

  /// Puts the two together.
  public init(uniqueName: String, sandboxID: String? = nil) {
    self.uniqueName = uniqueName
    self.sandboxID = sandboxID
  }

  /// Stands for everyone who may receive a broadcast: in a sandbox that is nobody's. Properties are asked for the
  /// values to broadcast with this caller.
  public static let broadcast = Caller(uniqueName: "", sandboxID: "")
  /// Whether this is ``broadcast``.
  public var isBroadcast: Bool { uniqueName.isEmpty }
}

/// How a connection finds out who its callers are.
public struct CallerIdentity: Sendable {
  /// What is known already about a unique name; nil to have it resolved.
  public var cached: @LoopActor (String) -> Caller?
  /// Finds out. Until it returns, all calls of that caller wait, in order; if it throws, each gets the error.
  public var resolve: @LoopActor (String) async throws(DBusError) -> Caller

  /// Puts the two together.
  public init(
    cached: @escaping @LoopActor (String) -> Caller?,
    resolve: @escaping @LoopActor (String) async throws(DBusError) -> Caller
  ) {
    self.cached = cached
    self.resolve = resolve
  }
}

/// A call as its handler sees it. The arguments have the declared types.
public struct MethodCall: Sendable {
  /// Who calls.
  public let caller: Caller
  /// The object called.
  public let path: ObjectPath
  /// The interface, also when the caller left it out.
  public let interface: String
  /// The method.
  public let member: String
  /// As declared.
  public let arguments: [DBusValue]
}

/// A method of an interface table.
public struct Method: Sendable {
  /// What carries a call out: its results have to be as declared.
  public enum Handler: Sendable {
    /// Answers at once; costs no task.
    case sync(@LoopActor (MethodCall) throws(DBusError) -> [DBusValue])
    /// May wait. Runs up to its first suspension before the next message is looked at.
    case async(@LoopActor (MethodCall) async throws(DBusError) -> [DBusValue])
    /// Answers with results that are there already, or else waits: only then it costs a task.
    case prepared(@LoopActor (MethodCall) throws(DBusError) -> PreparedAnswer)
  }

  /// What a handler of prepared results gives.
  public enum PreparedAnswer: Sendable {
    /// At once.
    case now(PreparedResults)
    /// When the body has them. It runs like an async handler.
    case later(@LoopActor () async throws(DBusError) -> PreparedResults)
  }

  /// CamelCase, by convention.
  public let name: String
  /// What it takes.
  public let input: [Argument]
  /// What it gives.
  public let output: [Argument]
  /// Annotations of the introspection data.
  public let annotations: [String: String]
  let handler: Handler
  let inputSignature: String
  let outputSignature: String

  /// A row of the table.
  public init(
    _ name: String, in input: [Argument] = [], out output: [Argument] = [], annotations: [String: String] = [:],
    handler: Handler
  ) {
    self.name = name
    self.input = input
    self.output = output
    self.annotations = annotations
    self.handler = handler
    inputSignature = input.map(\.signature.text).joined()
    outputSignature = output.map(\.signature.text).joined()
  }
}

/// A property of an interface table.
public struct Property: Sendable {
  /// What a change broadcasts (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
  public enum EmitsChanged: String, Sendable {
    /// The new value.
    case `true`
    /// That there is one. The value is left out of InterfacesAdded too.
    case invalidates
    /// It never changes.
    case const
    /// Nothing.
    case `false`
  }

  /// CamelCase, by convention.
  public let name: String
  /// One complete type.
  public let signature: Signature
  /// What a change broadcasts.
  public let emitsChanged: EmitsChanged
  /// Annotations of the introspection data besides EmitsChangedSignal.
  public let annotations: [String: String]
  let get: @LoopActor (Caller) throws(DBusError) -> DBusValue?
  let set: (@LoopActor (Caller, DBusValue) throws(DBusError) -> Void)?

  /// A row of the table. `get` gives nil when there is no value for that caller: GetAll leaves it out, Get fails with
  /// InvalidArgs. `set`, for writable properties, gets a value of the declared type, and reports the change itself
  /// with ``Connection/propertiesChanged(_:_:_:)``.
  public init(
    _ name: String, _ signature: Signature, emitsChanged: EmitsChanged = .true, annotations: [String: String] = [:],
    get: @escaping @LoopActor (Caller) throws(DBusError) -> DBusValue?,
    set: (@LoopActor (Caller, DBusValue) throws(DBusError) -> Void)? = nil
  ) {
    self.name = name
    self.signature = signature
    self.emitsChanged = emitsChanged
    self.annotations = annotations
    self.get = get
    self.set = set
  }

  /// Whether it can be set.
  public var isWritable: Bool { self.set != nil }
}

/// A signal of an interface table.
public struct SignalDescription: Sendable, Hashable {
  /// CamelCase, by convention.
  public let name: String
  /// What it carries.
  public let arguments: [Argument]
  /// Annotations of the introspection data.
  public let annotations: [String: String]
  let signature: String

  /// A row of the table.
  public init(_ name: String, _ arguments: [Argument] = [], annotations: [String: String] = [:]) {
    self.name = name
    self.arguments = arguments
    self.annotations = annotations
    signature = arguments.map(\.signature.text).joined()
  }
}

/// An interface as a table of values: dispatch, checks and introspection all come from it. Names are checked when it
/// is made: an invalid or doubled one is a mistake of the programmer and stops the program.
public struct Interface: Sendable {
  /// For example `org.linkd.Auth1.Links`.
  public let name: String
  /// In the order of the introspection data.
  public let methods: [Method]
  /// In the order of the introspection data.
  public let properties: [Property]
  /// In the order of the introspection data.
  public let signals: [SignalDescription]
  /// Annotations of the introspection data.
  public let annotations: [String: String]
  private let methodIndex: [String: Int]
  private let propertyIndex: [String: Int]

  /// The table.
  public init(
    _ name: String, methods: [Method] = [], properties: [Property] = [], signals: [SignalDescription] = [],
    annotations: [String: String] = [:]
  ) {
    self.name = name
    self.methods = methods
    self.properties = properties
    self.signals = signals
    self.annotations = annotations
    methodIndex = Dictionary(uniqueKeysWithValues: methods.enumerated().map { ($1.name, $0) })
    propertyIndex = Dictionary(uniqueKeysWithValues: properties.enumerated().map { ($1.name, $0) })
    precondition(Validation.isInterfaceName(name), "not an interface name: \(name)")
    let arguments = methods.flatMap { $0.input + $0.output } + signals.flatMap(\.arguments)
    precondition(
      (methods.map(\.name) + properties.map(\.name) + signals.map(\.name)).allSatisfy(Validation.isMemberName)
        && (arguments.map(\.signature) + properties.map(\.signature)).allSatisfy(\.isSingle),
      "a member of \(name) has an invalid name or type")
  }

  func method(_ name: String) -> Method? { methodIndex[name].map { methods[$0] } }
  func property(_ name: String) -> Property? { propertyIndex[name].map { properties[$0] } }
  func signal(_ name: String) -> SignalDescription? { signals.first { $0.name == name } }
}
