import CMicroHTTPD
import EventLoop

/// The functions of libmicrohttpd, once loaded.
struct MicroHTTPDLibrary: @unchecked Sendable {
  // @unchecked: function pointers, written before the first reader and never again.
  let table: cmicrohttpd

  /// Loaded at first use; nil where it isn't installed.
  static let loaded: MicroHTTPDLibrary? = {
    var table = cmicrohttpd()
    return cmicrohttpd_load(&table) ? MicroHTTPDLibrary(table: table) : nil
  }()

  /// The number that `HTTPServer.begin()` gave a connection; 0 where it has none.
  func number(of connection: OpaquePointer) -> Int {
    Int(bitPattern: withUnsafePointer(to: table) { cmicrohttpd_connection_context($0, connection) })
  }

  /// The headers of a request, repeated ones too.
  func headers(of connection: OpaquePointer) -> [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    withUnsafeMutablePointer(to: &found) { found in
      withUnsafePointer(to: table) { cmicrohttpd_headers($0, connection, headerFound, found) }
    }
    return found
  }

  /// Queues the answer to a connection's request.
  func send(_ response: LoopbackResponse, on connection: OpaquePointer) -> Bool {
    let body = Array(response.body.utf8)
    let handle = withUnsafePointer(to: table) { table in
      body.withUnsafeBytes { cmicrohttpd_response(table, $0.baseAddress, $0.count) }
    }
    guard let handle else { return false }
    defer { table.destroy_response(handle) }
    for (name, value) in response.allHeaders { _ = table.add_response_header(handle, name, value) }
    let status = (200...599).contains(response.status) ? response.status : 500
    return table.queue_response(connection, UInt32(status), handle) == .YES
  }
}

// MARK: Callbacks, all of which come from within `run`, `add_connection` and `stop_daemon`, so on the loop's thread

typealias CallbackContext = UnsafeMutableRawPointer

private let headerFound: MHD_KeyValueIterator = { context, _, name, value in
  guard let context, let name else { return .YES }
  context.assumingMemoryBound(to: [(name: String, value: String)].self).pointee
    .append((String(cString: name), value.map { String(cString: $0) } ?? ""))
  return .YES
}

/// `MHD_OPTION_URI_LOG_CALLBACK`. The request's own context isn't used: the library forgets it for a request that is too broken.
let requestStarted: @convention(c) (CallbackContext?, UnsafePointer<CChar>?, OpaquePointer?) -> CallbackContext? = {
  context, target, handle in
  let text = target.flatMap { String(validatingCString: $0) }
  if let handle { onLoop(context, handle) { $0.setTarget(text, of: $1) } }
  return nil
}

/// The access handler.
let requestContinues: MHD_AccessHandlerCallback = { context, handle, _, method, _, data, size, _ in
  guard let handle, let method, let size else { return .NO }
  let piece = Array(UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size.pointee))
  let name = String(cString: method)
  size.pointee = 0
  return onLoop(context, handle) { $0.proceed($1, method: name, piece: piece) } == true ? .YES : .NO
}

/// `MHD_OPTION_NOTIFY_CONNECTION`.
let connectionChanged: MHD_NotifyConnectionCallback = { context, handle, number, change in
  guard let handle, let number else { return }
  if change == .CONNECTION_NOTIFY_STARTED {
    number.pointee = CallbackContext(bitPattern: onLoop(context, handle) { server, _ in server.begin() } ?? 0)
  } else {
    let ended = Int(bitPattern: number.pointee)
    onLoop(context, handle) { server, _ in server.end(ended) }
  }
}

/// From a callback to the server.
@discardableResult
private func onLoop<Result: Sendable>(
  _ context: CallbackContext?, _ handle: OpaquePointer, _ body: @LoopActor (HTTPServer, OpaquePointer) -> Result
) -> Result? {
  guard let context else { return nil }
  let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  // The library is inside a call that came from the loop: nothing changes threads.
  nonisolated(unsafe) let handle = handle
  return withoutActuallyEscaping(body) { body in LoopActor.assumeIsolated { body(server, handle) } }
}
