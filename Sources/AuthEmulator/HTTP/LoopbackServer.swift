import CMicroHTTPD
import Glibc

/// The functions of libmicrohttpd, once loaded.
private struct Library: @unchecked Sendable {
  // @unchecked: function pointers, written before the first reader and never again.
  let table: cmicrohttpd

  static let loaded: Library? = {
    var table = cmicrohttpd()
    return cmicrohttpd_load(&table) ? Library(table: table) : nil
  }()
}

/// An HTTP/1.1 server on one socket of 127.0.0.1. A connection has a thread of its own, so that answering may block.
final class LoopbackServer: Sendable {
  /// Answers a request on its connection's thread. `socket` is the connection's.
  typealias Responder = @Sendable (_ request: HTTPRequest, _ socket: Int32) -> Reply

  /// Largest request body; longer ones end the connection.
  static let largestBody = 8 << 20

  let port: UInt16
  private let daemon: Daemon
  private let context: Unmanaged<Context>

  /// - Parameter port: 0 lets the system choose.
  init(port: UInt16, responder: @escaping Responder) throws(EmulatorError) {
    guard let library = Library.loaded else { throw .libraryMissing }
    let socket = try Self.listen(port: port)
    self.port = cmicrohttpd_loopback_port(socket)
    let context = Unmanaged.passRetained(Context(library: library, responder: responder))
    self.context = context
    let started = withUnsafePointer(to: library.table) {
      cmicrohttpd_start($0, socket, context.toOpaque(), requestStarted, requestContinues, requestEnded)
    }
    guard let started else {
      let reason = errno
      close(socket)
      context.release()
      throw .cannotListen(errno: reason)
    }
    daemon = Daemon(handle: started)
  }

  /// Ends every connection and waits for their threads. To be called once; who waits in a responder has to be woken first.
  func stop() {
    context.takeUnretainedValue().library.table.stop_daemon(daemon.handle)
    context.release()
  }

  private struct Daemon: @unchecked Sendable {
    // @unchecked: libmicrohttpd's daemon may be stopped from any thread, and nothing else is done with the handle.
    let handle: OpaquePointer
  }

  private static func listen(port: UInt16) throws(EmulatorError) -> Int32 {
    let socket = Loopback.socket()
    guard socket >= 0 else { throw .cannotListen(errno: errno) }
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let bound = Loopback.withAddress(port) { bind(socket, $0, $1) }
    guard bound == 0, Glibc.listen(socket, 128) == 0 else {
      let reason = errno
      close(socket)
      throw reason == EADDRINUSE ? .portTaken(port) : .cannotListen(errno: reason)
    }
    return socket
  }
}

/// What the C callbacks get as their context.
private final class Context: Sendable {
  let library: Library
  let responder: LoopbackServer.Responder

  init(library: Library, responder: @escaping LoopbackServer.Responder) {
    (self.library, self.responder) = (library, responder)
  }
}

/// A request while it comes in. Touched by its connection's thread alone.
private final class Exchange {
  let target: String
  var isReading = false
  var body: [UInt8] = []

  init(target: String) { self.target = target }
}

// A request that is too broken for `requestContinues` never reaches `requestEnded`: its few bytes are lost.
private let requestStarted:
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
  ) -> UnsafeMutableRawPointer? = { _, target, _ in
    Unmanaged.passRetained(Exchange(target: target.map { String(cString: $0) } ?? "/")).toOpaque()
  }

private let requestEnded:
  @convention(c) (
    UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    MHD_RequestTerminationCode
  ) -> Void = { _, _, state, _ in
    guard let state, let exchange = state.pointee else { return }
    Unmanaged<Exchange>.fromOpaque(exchange).release()
    state.pointee = nil
  }

private let requestContinues: MHD_AccessHandlerCallback = { cls, connection, _, method, _, data, size, state in
  guard let cls, let connection, let method, let size, let raw = state?.pointee else { return .NO }
  let context = Unmanaged<Context>.fromOpaque(cls).takeUnretainedValue()
  let exchange = Unmanaged<Exchange>.fromOpaque(raw).takeUnretainedValue()
  if !exchange.isReading {
    exchange.isReading = true
    return .YES
  }
  if size.pointee > 0 {
    let bytes = UnsafeRawBufferPointer(start: data, count: size.pointee)
    guard exchange.body.count + bytes.count <= LoopbackServer.largestBody else { return .NO }
    exchange.body += bytes
    size.pointee = 0
    return .YES
  }
  let request = HTTPRequest(
    method: String(cString: method), target: exchange.target,
    headers: headers(of: connection, library: context.library), body: exchange.body)
  return answer(request, context: context, connection: connection)
}

private func headers(of connection: OpaquePointer, library: Library) -> [String: String] {
  var found: [String: String] = [:]
  withUnsafeMutablePointer(to: &found) { found in
    withUnsafePointer(to: library.table) {
      cmicrohttpd_headers(
        $0, connection,
        { context, _, name, value in
          guard let context, let name else { return .YES }
          context.assumingMemoryBound(to: [String: String].self).pointee[String(cString: name).lowercased()] =
            value.map { String(cString: $0) } ?? ""
          return .YES
        }, found)
    }
  }
  return found
}

private func answer(_ request: HTTPRequest, context: Context, connection: OpaquePointer) -> MHD_Result {
  let socket = withUnsafePointer(to: context.library.table) { cmicrohttpd_socket($0, connection) }
  let reply = context.responder(request, socket)
  switch reply.delivery {
  case .dropped: return .NO
  case .reset:
    cmicrohttpd_reset(socket)
    return .NO
  case .whole, .cut, .drip, .padded: break
  }
  let table = context.library.table
  guard let response = ReplyBody.response(to: reply, create: table) else { return .NO }
  defer { table.destroy_response(response) }
  for (name, value) in reply.headers { _ = table.add_response_header(response, name, value) }
  return table.queue_response(connection, UInt32(reply.status), response)
}
