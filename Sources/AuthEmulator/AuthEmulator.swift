import EventLoop

/// Why the emulator can't do what it's told.
public enum EmulatorError: Error, Sendable, Equatable, CustomStringConvertible {
  /// libmicrohttpd isn't installed.
  case libraryMissing
  /// Another program has the port.
  case portTaken(UInt16)
  /// The socket or the server can't be made.
  case cannotListen(errno: Int32)
  /// A fault's description isn't understood; the part in question.
  case invalidFault(String)
  /// A provider account's description isn't understood; the part in question.
  case invalidAccount(String)

  /// A sentence for a person.
  public var description: String {
    switch self {
    case .libraryMissing: "libmicrohttpd.so.12 is not installed"
    case .portTaken(let port): "port \(port) is taken"
    case .cannotListen(let errno): "cannot listen on 127.0.0.1 (errno \(errno))"
    case .invalidFault(let part): "not a fault: \(part)"
    case .invalidAccount(let part): "not an account: \(part)"
    }
  }
}

/// An Identity Toolkit in memory, for the demo and for tests: the endpoints of the public Firebase Auth emulator, its
/// answers as recorded in `Tests/Transcripts`, and faults on request. It listens on 127.0.0.1 alone.
public final class AuthEmulator: Sendable {
  /// The port it listens on.
  public let port: UInt16
  /// The project that requests mean without saying so.
  public let project: String
  let service: Service
  private let server: LoopbackServer
  private let isStopped = Lock(false)

  /// `127.0.0.1:PORT`, as an app's `emulator` key has it.
  public var address: String { "127.0.0.1:\(port)" }

  private init(service: Service, server: LoopbackServer, project: String) {
    (self.service, self.server, self.project, port) = (service, server, project, server.port)
  }

  /// Starts an emulator; it answers when this returns.
  /// - Parameters:
  ///   - port: 0 lets the system choose.
  ///   - project: the project that requests mean without saying so.
  ///   - schemes: the schemes that the continue page may open.
  ///   - faults: what goes wrong from the start.
  public static func start(
    port: UInt16 = 0, project: String = "demo-linkd", schemes: [String] = [], faults: [Fault] = []
  ) throws(EmulatorError) -> AuthEmulator {
    let service = Service(project: project, schemes: schemes, faults: faults)
    let server = try LoopbackServer(port: port) { service.answer($0, socket: $1) }
    service.state.withLock { $0.world.origin = "http://127.0.0.1:\(server.port)" }
    return AuthEmulator(service: service, server: server, project: project)
  }

  deinit { stop() }

  /// Ends every connection, also those held or hanging, and frees the port. Harmless the second time.
  public func stop() {
    let wasStopped = isStopped.withLock { stopped in
      defer { stopped = true }
      return stopped
    }
    guard !wasStopped else { return }
    service.beginStop()
    server.stop()
  }
}
