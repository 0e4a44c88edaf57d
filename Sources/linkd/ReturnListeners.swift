import AuthCore
import Crypto
import EventLoop
import Loopback

/// The listeners that browsers come back to, each alive as long as a flow needs it.
@LoopActor
final class ReturnListeners {
  /// Answers what arrives.
  var respond: @LoopActor (LoopbackRequest) -> LoopbackResponse = { _ in LoopbackResponse(status: 404) }
  private var listeners: [UInt16: LoopbackListener] = [:]
  private var flows: [FlowID: UInt16] = [:]
  /// The port that the system chose: one does for all flows that don't mind which, for `state` tells them apart.
  private var anyPort: UInt16?
  /// Pages that lead to an authorization request, by their path.
  private var startPages: [String: FlowID] = [:]
  /// Closed, with an answer on its way.
  private var closing: [LoopbackListener] = []
  private let log: Log

  init(log: Log) { self.log = log }

  /// Whether an answer is still on its way to a browser.
  var isBusy: Bool { listeners.values.contains(where: \.isBusy) || closing.contains(where: \.isBusy) }

  /// Whether a listener is held for the flow.
  func isListening(for flow: FlowID) -> Bool { flows[flow] != nil }

  /// Holds `port` for the flow, on 127.0.0.1 and ::1 alike; 0 lets the system choose.
  ///
  /// - Returns: the port.
  /// - Throws: `handlerMissing` where somebody else has it, or pages can't be served here.
  func listen(for flow: FlowID, at port: UInt16) throws(AuthFailure) -> UInt16 {
    release(flow)
    let wanted = port > 0 ? port : anyPort ?? 0
    let listener: LoopbackListener
    if let held = listeners[wanted] { listener = held } else { listener = try open(wanted) }
    listeners[listener.port] = listener
    flows[flow] = listener.port
    if port == 0 { anyPort = listener.port }
    return listener.port
  }

  /// A page here that sends a browser on to the flow's authorization request. Command lines can be read by every user of the
  /// machine, and whoever reads the request itself could sign in as somebody else by it and lure our browser back with the
  /// answer; this page is served to the user's own processes alone (docs/design/0005-providers.md).
  ///
  /// - Throws: `handlerMissing` where there's no listener to be had.
  func startPage(for flow: FlowID) throws(AuthFailure) -> Secret<String> {
    let port: UInt16
    if let held = flows[flow] { port = held } else { port = try listen(for: flow, at: 0) }
    let path: String
    if let made = startPages.first(where: { $0.value == flow })?.key {
      path = made
    } else {
      path = try Self.startPath()
    }
    startPages[path] = flow
    return Secret("http://127.0.0.1:\(port)\(path)")
  }

  private static func startPath() throws(AuthFailure) -> String {
    do throws(CryptoError) { return "/start/\(Base64URL.encode(try Random.bytes(16)))" } catch {
      throw AuthFailure(.internal)
    }
  }

  /// Whose start page `path` is.
  func flow(atStart path: String) -> FlowID? { startPages[path] }

  /// The flow needs no listener any more.
  func release(_ flow: FlowID) {
    startPages = startPages.filter { $0.value != flow }
    guard let port = flows.removeValue(forKey: flow), !flows.values.contains(port) else { return }
    // Its answer still goes out, and takes a moment.
    if anyPort == port { anyPort = nil }
    guard let listener = listeners.removeValue(forKey: port) else { return }
    listener.close()
    closing = closing.filter(\.isBusy) + [listener]
  }

  private func open(_ port: UInt16) throws(AuthFailure) -> LoopbackListener {
    do throws(LoopbackError) {
      return try LoopbackListener(
        port: port, refused: { [log] refusal in log.debug("a request was turned away", ["why": "\(refusal)"]) },
        respond: { [weak self] request in self?.respond(request) ?? LoopbackResponse(status: 404) })
    } catch {
      log.warning("no listener", ["port": port, "why": "\(error)"])
      throw AuthFailure(
        .handlerMissing, cause: error == .libraryMissing ? "cause.no-page-library" : "cause.port-taken")
    }
  }
}
