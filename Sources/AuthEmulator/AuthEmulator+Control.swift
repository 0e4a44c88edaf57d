import EventLoop

/// An action code on its way: what a mail would bring.
public struct OobCode: Sendable, Equatable {
  /// `EMAIL_SIGNIN`, `PASSWORD_RESET`, `VERIFY_EMAIL`, `VERIFY_AND_CHANGE_EMAIL` or `RECOVER_EMAIL`.
  public let requestType: String
  /// The address it was sent to.
  public let email: String
  /// The address it is about to change to.
  public let newEmail: String?
  /// The code.
  public let code: String
  /// The link of the mail: `http://127.0.0.1:PORT/emulator/action?…`.
  public let link: String
}

extension AuthEmulator {
  /// The requests so far, in the order of their arrival; control requests aren't among them.
  public var requests: [RequestRecord] { service.state.withLock { $0.log } }

  /// The requests whose path contains a text, such as `accounts:signInWithEmailLink`.
  public func requests(to path: String) -> [RequestRecord] { requests.filter { $0.path.contains(path) } }

  /// The action codes that nobody has used yet, oldest first.
  public var oobCodes: [OobCode] {
    service.state.withLock { state in
      state.world[Scope(project: project)].oobCodes.map {
        OobCode(requestType: $0.requestType, email: $0.email, newEmail: $0.newEmail, code: $0.code, link: $0.link)
      }
    }
  }

  /// The ids of the accounts, in the order they were made.
  public var accountIDs: [String] {
    service.state.withLock { $0.world[Scope(project: project)].accounts.map(\.localID) }
  }

  /// Sets a fault and says its number. Of several faults for a path the first one set that isn't used up counts.
  @discardableResult
  public func setFault(_ fault: Fault) -> Int { service.set(fault) }

  /// How many requests a fault holds at the moment.
  public func heldRequests(by fault: Int) -> Int {
    service.state.withLock { $0.faults.first { $0.id == fault }?.held.count ?? 0 }
  }

  /// Waits until a fault holds a request; false after the time.
  public func waitUntilHeld(by fault: Int, timeout: Duration = .seconds(10)) async -> Bool {
    let deadline = ContinuousClock.now + timeout
    while heldRequests(by: fault) == 0 {
      guard ContinuousClock.now < deadline else { return false }
      try? await Task.sleep(for: .milliseconds(2))
    }
    return true
  }

  /// Lets the requests go on that a fault holds; it stays for further ones.
  public func release(_ fault: Int) { service.release(fault, removing: false) }

  /// Removes a fault, or all; what they hold goes on.
  public func removeFault(_ fault: Int? = nil) { service.release(fault, removing: true) }

  /// Stops the emulator's clock at a Unix time in milliseconds; nil sets it going again, right.
  public func setClock(_ time: Int64?) {
    service.state.withLock { $0.world.clock = time.map { .fixed($0) } ?? .system }
  }

  /// Says which ids the next accounts and tenants get, for lists that are in the order of their ids.
  public func setNextIDs(_ ids: [String]) { service.state.withLock { $0.world.nextIDs = ids } }

  /// Forgets accounts, codes, settings, faults and the log, as if just started.
  public func reset() {
    service.release(nil, removing: true)
    service.state.withLock { state in
      (state.world.projects, state.world.nextIDs) = ([:], [])
      (state.world.clock, state.world.providers, state.world.captchas) = (.system, Providers(), [:])
      state.log = []
    }
  }
}
