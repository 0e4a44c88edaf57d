import EventLoop

extension Connection {
  /// Makes an object callable, in place of one exported at the same path before. Object managers above it announce
  /// it with InterfacesAdded, unless `announce` is false (before the name is owned nobody listens).
  public func export(_ object: ExportedObject, announce: Bool = true) { objects.export(object, announce: announce) }

  /// The object isn't there any more. Object managers above it announce that with InterfacesRemoved.
  public func unexport(_ path: ObjectPath) { objects.unexport(path) }

  /// Whether something is exported at the very path.
  public func isExported(_ path: ObjectPath) -> Bool { objects.object(at: path) != nil }

  /// Broadcasts PropertiesChanged as the table's annotations say: values, as ``Caller/broadcast`` sees them, for
  /// `.true`; names for `.invalidates` and for what has no such value; nothing for the others.
  public func propertiesChanged(_ path: ObjectPath, _ interface: String, _ names: [String]) {
    objects.propertiesChanged(path, interface, names)
  }

  /// Calls received and not yet answered. A service that exits when idle waits for 0.
  public var callsInFlight: Int { objects.callsInFlight }

  /// Boot time in nanoseconds (``BootClock``) of the last call received or answered; 0 before the first.
  public var lastCallTime: UInt64 { objects.lastCallTime }
}

/// The objects of a connection, and the way from a call to its handler and back.
@LoopActor
final class ObjectServer {
  /// Weak: a handler may outlive a closed connection.
  weak var connection: Connection?
  /// By the path's text: texts are hashed anyway, and another type of key would cost a start 60 µs.
  private var objects: [String: ExportedObject] = [:]
  /// Those that announce what is below them: nearly always the one at the top.
  private(set) var managers: [ObjectPath] = []
  private(set) var callsInFlight = 0
  private(set) var lastCallTime: UInt64 = 0
  /// Calls of senders that are being resolved, in order.
  private var waiting: [String: [HeldMessage]] = [:]
  /// Introspectable, Properties and ObjectManager are tables like any other.
  private(set) lazy var standard = StandardInterfaces(self)

  nonisolated init() {}

  var all: some Sequence<ExportedObject> { objects.values }

  func object(at path: ObjectPath) -> ExportedObject? { objects[path.text] }

  func add(_ object: ExportedObject) {
    objects[object.path.text] = object
    managers.removeAll { $0 == object.path }
    if object.isObjectManager { managers.append(object.path) }
  }

  func remove(_ path: ObjectPath) -> ExportedObject? {
    managers.removeAll { $0 == path }
    return objects.removeValue(forKey: path.text)
  }

  // MARK: From call to caller

  func receive(_ message: borrowing Message) {
    callsInFlight += 1
    lastCallTime = BootClock.nanoseconds
    let sender = message.sender ?? ""
    guard let identity = connection?.callerIdentity else {
      return dispatch(message, Caller(uniqueName: sender))
    }
    if waiting[sender] == nil, let caller = identity.cached(sender) { return dispatch(message, caller) }
    let held = HeldMessage(message)
    if waiting[sender] != nil {
      waiting[sender]?.append(held)
      return
    }
    waiting[sender] = [held]
    Task.immediateOnLoop { await self.resolve(sender, identity) }
  }

  private func resolve(_ sender: String, _ identity: CallerIdentity) async {
    let result: Result<Caller, DBusError>
    do throws(DBusError) {
      result = .success(try await identity.resolve(sender))
    } catch {
      result = .failure(error)
    }
    for held in waiting.removeValue(forKey: sender) ?? [] {
      switch result {
      case .success(let caller): dispatch(held.message, caller)
      case .failure(let error): answer(held.message, .failure(error))
      }
    }
  }

  // MARK: From caller to handler

  private func dispatch(_ message: borrowing Message, _ caller: Caller) {
    let found: (call: MethodCall, method: Method)
    do throws(DBusError) {
      found = try find(message, caller)
    } catch {
      return answer(message, .failure(error))
    }
    switch found.method.handler {
    case .sync(let body):
      answer(message, found.method.checked { () throws(DBusError) in try body(found.call) })
    case .async(let body):
      let held = HeldMessage(message)
      Task.immediateOnLoop {
        let result: Result<[DBusValue], DBusError>
        do throws(DBusError) { result = .success(try await body(found.call)) } catch { result = .failure(error) }
        self.answer(held.message, found.method.checked { () throws(DBusError) in try result.get() })
      }
    case .prepared(let body): dispatchPrepared(message, found.method) { () throws(DBusError) in try body(found.call) }
    }
  }

  private func dispatchPrepared(
    _ message: borrowing Message, _ method: Method, _ body: () throws(DBusError) -> Method.PreparedAnswer
  ) {
    do throws(DBusError) {
      switch try body() {
      case .now(let results): answer(message, prepared: method.checked(results))
      case .later(let wait):
        let held = HeldMessage(message)
        Task.immediateOnLoop {
          let result: Result<PreparedResults, DBusError>
          do throws(DBusError) { result = method.checked(try await wait()) } catch { result = .failure(error) }
          self.answer(held.message, prepared: result)
        }
      }
    } catch {
      answer(message, .failure(error))
    }
  }

  private func find(
    _ message: borrowing Message, _ caller: Caller
  ) throws(DBusError) -> (call: MethodCall, method: Method) {
    guard let path = message.path, let member = message.member else { throw .invalidArgs("incomplete call") }
    let interfaces = try self.interfaces(of: path, for: caller)
    let (interface, method) = try Self.find(member, of: message.interface, in: interfaces)
    guard message.signatureText == method.inputSignature else {
      throw .invalidArgs(
        "\(interface.name).\(member) takes (\(method.inputSignature)) and was called with (\(message.signatureText))")
    }
    let call = MethodCall(
      caller: caller, path: path, interface: interface.name, member: member, arguments: message.arguments())
    return (call, method)
  }

  /// An object's own interfaces and the standard ones. Throws UnknownObject for what isn't there for this caller.
  private func interfaces(
    of path: ObjectPath, for caller: Caller
  ) throws(DBusError) -> (own: ExportedObject?, standard: [Interface]) {
    if let object = visibleObject(path, for: caller) { return (object, standard.interfaces(of: object)) }
    guard path == .root || hasVisibleDescendant(path, for: caller)
    else { throw .unknownObject("no such object: \(path)") }
    return (nil, [standard.introspectable])
  }

  private static func find(
    _ member: String, of interface: String?, in tables: (own: ExportedObject?, standard: [Interface])
  ) throws(DBusError) -> (Interface, Method) {
    guard let interface else {
      // Without an interface the first method of that name is meant.
      for table in (tables.own?.interfaces ?? []) + tables.standard {
        if let method = table.method(member) { return (table, method) }
      }
      throw .unknownMethod("no such method: \(member)")
    }
    guard let table = tables.own?.interface(interface) ?? tables.standard.first(where: { $0.name == interface })
    else { throw .unknownInterface("no such interface: \(interface)") }
    guard let method = table.method(member) else { throw .unknownMethod("no such method: \(interface).\(member)") }
    return (table, method)
  }

  // MARK: From handler to reply

  private func answer(_ call: borrowing Message, _ result: Result<[DBusValue], DBusError>) {
    reply(to: call) { (call) throws(DBusError) in try Message.reply(to: call, arguments: try result.get()) }
  }

  private func answer(_ call: borrowing Message, prepared result: Result<PreparedResults, DBusError>) {
    reply(to: call) { (call) throws(DBusError) in try result.get().reply(to: call) }
  }

  /// The only place that replies, so that every call gets exactly one.
  private func reply(
    to call: borrowing Message, _ message: (borrowing Message) throws(DBusError) -> Message
  ) {
    callsInFlight -= 1
    lastCallTime = BootClock.nanoseconds
    guard call.expectsReply, let connection, connection.isOpen else { return }
    do throws(DBusError) {
      try connection.send(try message(call))
    } catch {
      // What can't be sent as a result is told as an error. If even that fails there is no memory.
      if let reply = try? Message.error(error, replyTo: call) { _ = try? connection.send(reply) }
    }
  }
}

/// A message kept for later.
@LoopActor
private final class HeldMessage {
  let message: Message

  init(_ message: borrowing Message) { self.message = Message(borrowing: message.handle) }
}

extension Method {
  /// A handler's results, refused when they aren't what the table promises.
  fileprivate func checked(
    _ body: () throws(DBusError) -> [DBusValue]
  ) -> Result<[DBusValue], DBusError> {
    do throws(DBusError) {
      let values = try body()
      let signature = values.count == 1 ? values[0].signatureText : values.map(\.signatureText).joined()
      guard signature == outputSignature else { return .failure(wrong(signature)) }
      return .success(values)
    } catch {
      return .failure(error)
    }
  }

  fileprivate func checked(_ results: PreparedResults) -> Result<PreparedResults, DBusError> {
    results.signature == outputSignature ? .success(results) : .failure(wrong(results.signature))
  }

  private func wrong(_ signature: String) -> DBusError {
    .failed("\(name) made (\(signature)) instead of (\(outputSignature))")
  }
}
