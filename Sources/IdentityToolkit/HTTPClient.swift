import AuthCore
import CCurl
public import EventLoop
import Glibc

/// HTTP over libcurl on the event loop: the only door to libcurl.
///
/// TLS is verified, redirects aren't followed, bodies are bounded, connections are kept. The proxy variables hold, except for
/// an emulator on this machine. Nothing of a request or an answer is ever logged.
@LoopActor
public final class HTTPClient {
  /// Bytes of a body; the protocol's answers have a few thousand.
  nonisolated static let bodyLimit = 1 << 20
  /// Seconds for a connection, and for the whole exchange: a D-Bus method answers within 20 s. That also ends an answer
  /// that drips. A bound on its speed would end a server that only thinks, when the link's code may be spent already.
  private let connectTimeout: Int
  private let totalTimeout: Int
  private var library: CurlLibrary?
  private var multi: UnsafeMutableRawPointer?
  private var watches: [Int32: EventLoop.Watch] = [:]
  private var timer: EventLoop.Timer?
  private var transfers: [UnsafeMutableRawPointer: Transfer] = [:]
  private var transfersMade: UInt64 = 0

  /// A client that has loaded nothing yet.
  public init(connectTimeout: Int = 10, totalTimeout: Int = 18) {
    self.connectTimeout = connectTimeout
    self.totalTimeout = totalTimeout
  }

  /// Closes the kept connections. No request is under way: each holds its client.
  isolated deinit {
    timer?.cancel()
    for watch in watches.values { watch.cancel() }
    guard var functions = library?.functions, let multi else { return }
    // Closing calls these, and there is nobody left to call.
    _ = ccurl_multi_sockets(&functions, multi, nil, nil)
    _ = ccurl_multi_timers(&functions, multi, nil, nil)
    _ = functions.multi_cleanup(multi)
  }

  /// Whether a request is under way.
  public var isBusy: Bool { !transfers.isEmpty }

  /// Sends `request` and gives the whole answer. Cancelling the task ends the transfer.
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    guard let (curl, multi) = load() else { throw .libraryMissing }
    transfersMade += 1
    let number = transfersMade
    let transfer = Transfer(request, curl, number: number, connectTimeout: connectTimeout, totalTimeout: totalTimeout)
    guard let transfer else { throw .unreachable }
    let key = transfer.handle
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.continuation = continuation
        transfers[key] = transfer
        if Task.isCancelled { return finish(key, .failure(.cancelled)) }
        if curl.multi_add_handle(multi, key) != CURLM_OK { finish(key, .failure(.unreachable)) }
      }
    } onCancel: {
      EventLoop.shared.perform { [weak self] in self?.cancel(number) }
    }
    return try result.get()
  }

  /// By number: where a transfer ended, the next one's handle may have the same address.
  private func cancel(_ number: UInt64) {
    guard let handle = transfers.first(where: { $0.value.number == number })?.key else { return }
    finish(handle, .failure(.cancelled))
  }

  // MARK: libcurl and the loop

  private func load() -> (ccurl, UnsafeMutableRawPointer)? {
    if let library, let multi { return (library.functions, multi) }
    guard let library = CurlLibrary(), let multi = library.functions.multi_init() else { return nil }
    self.library = library
    self.multi = multi
    var functions = library.functions
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = ccurl_multi_bounds(&functions, multi, 8, 256)
    _ = ccurl_multi_sockets(
      &functions, multi,
      { _, socket, what, context, _ in
        HTTPClient.hop(context) { $0.watch(socket, what) }
        return 0
      }, context)
    _ = ccurl_multi_timers(
      &functions, multi,
      { _, milliseconds, context in
        HTTPClient.hop(context) { $0.setTimer(milliseconds) }
        return 0
      }, context)
    return (functions, multi)
  }

  /// From a callback of libcurl's, which comes on the loop's thread, to the client.
  private nonisolated static func hop(_ context: UnsafeMutableRawPointer?, _ body: @LoopActor (HTTPClient) -> Void) {
    guard let context else { return }
    let client = Unmanaged<HTTPClient>.fromOpaque(context).takeUnretainedValue()
    withoutActuallyEscaping(body) { body in LoopActor.assumeIsolated { body(client) } }
  }

  private func watch(_ socket: Int32, _ what: Int32) {
    guard what != CURL_POLL_REMOVE else {
      watches.removeValue(forKey: socket)?.cancel()
      return
    }
    var events: FileEvents = []
    if what & CURL_POLL_IN != 0 { events.insert(.read) }
    if what & CURL_POLL_OUT != 0 { events.insert(.write) }
    if let watch = watches[socket] { return watch.change(events) }
    watches[socket] = EventLoop.shared.watch(socket, events) { [weak self] ready in
      var action: Int32 = 0
      if ready.contains(.read) { action |= CURL_CSELECT_IN }
      if ready.contains(.write) { action |= CURL_CSELECT_OUT }
      if ready.contains(.error) || ready.contains(.hangUp) { action |= CURL_CSELECT_ERR }
      self?.act(socket, action)
    }
  }

  private func setTimer(_ milliseconds: Int) {
    timer?.cancel()
    timer = nil
    guard milliseconds >= 0 else { return }
    timer = EventLoop.shared.after(.milliseconds(milliseconds)) { [weak self] in self?.act(CURL_SOCKET_TIMEOUT, 0) }
  }

  private func act(_ socket: Int32, _ action: Int32) {
    guard let library, let multi else { return }
    var running: Int32 = 0
    _ = library.functions.multi_socket_action(multi, socket, action, &running)
    var left: Int32 = 0
    while let message = library.functions.multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      done(handle, ccurl_result(message))
    }
  }

  private func done(_ handle: UnsafeMutableRawPointer, _ code: CURLcode) {
    guard let transfer = transfers[handle], var functions = library?.functions else { return }
    if code == CURLE_OK {
      transfer.response.status = ccurl_status(&functions, handle)
      finish(handle, .success(transfer.response))
    } else {
      finish(handle, .failure(transfer.isTooLarge ? .tooLarge : Self.error(code)))
    }
  }

  private func finish(_ handle: UnsafeMutableRawPointer, _ result: Result<HTTPResponse, TransportError>) {
    guard let transfer = transfers.removeValue(forKey: handle) else { return }
    if let library, let multi { _ = library.functions.multi_remove_handle(multi, handle) }
    transfer.continuation?.resume(returning: result)
    transfer.continuation = nil
  }

  private static func error(_ code: CURLcode) -> TransportError {
    switch code {
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      .tls
    default: .unreachable
    }
  }
}
