import AuthCore
import EventLoop

/// The control endpoints of our own below `/emulator/v1/projects/{project}/`: faults, and the log of requests. The
/// recorded service has none of them.
///
/// `POST faults` with a fault as an object (`Fault.init(json:)`) sets one and answers its `id`; `GET faults` lists them with
/// the number of requests `held`; `POST faults/ID/release` lets those go on; `DELETE faults/ID` and `DELETE faults` remove,
/// which releases too. `GET requests` and `DELETE requests` read and clear the log.
enum FaultControl {
  /// Nil for a path that isn't one of these.
  static func answer(_ request: HTTPRequest, service: Service) -> Reply? {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count >= 5, Array(parts[0..<3]) == ["emulator", "v1", "projects"] else { return nil }
    switch (request.method, parts[4], Array(parts[5...])) {
    case ("POST", "faults", []): return set(request, service: service)
    case ("GET", "faults", []):
      return service.state.withLock { .json(["faults": .array($0.faults.map(\.json))]) }
    case ("DELETE", "faults", []): service.release(nil, removing: true)
    case ("DELETE", "faults", let rest) where rest.count == 1 && Int(rest[0]) != nil:
      service.release(Int(rest[0]), removing: true)
    case ("POST", "faults", let rest) where rest.count == 2 && rest[1] == "release" && Int(rest[0]) != nil:
      service.release(Int(rest[0]), removing: false)
    case ("GET", "requests", []):
      return service.state.withLock { .json(["requests": .array($0.log.map(\.json))]) }
    case ("DELETE", "requests", []): service.state.withLock { $0.log = [] }
    default: return nil
    }
    return .json([:])
  }

  private static func set(_ request: HTTPRequest, service: Service) -> Reply {
    do throws(EmulatorError) {
      let fault = try Fault(json: (try? JSONText.parse(request.body)) ?? .null)
      return .json(["id": .integer(Int64(service.set(fault)))])
    } catch {
      return APIError("INVALID_FAULT : \(error)").reply
    }
  }
}
