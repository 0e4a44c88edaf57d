import AuthCore
import Crypto
import EventLoop
import LinkHandler
import SessionStore

/// What the machines want kept: rows, used codes and sessions.
extension FlowCoordinator {
  /// The durable part of one flow's `actions`. Nothing is kept if this throws.
  func commit(_ flow: Flow, _ actions: [FlowAction], code: Secret<String>?) throws(AuthFailure) {
    for action in actions where action.isDurable {
      switch action {
      // A redirect's code counts as used once it's exchanged: what came with a foreign issuer wasn't.
      case .save: try save(flow, code: flow.stage == .waitingForRedirect ? nil : code)
      case .adopt(let user, let grant): try adopt(flow, user, grant)
      case .endSession:
        // Whoever has signed in meanwhile stays.
        if isOthersNow(flow) {
          try save(flow, code: code)
        } else {
          try keeper(flow.key)?.signOut { store throws(StoreError) in try store.save(flow) }
        }
      // Requests: `perform`.
      default: break
      }
    }
  }

  private func save(_ flow: Flow, code: Secret<String>?) throws(AuthFailure) {
    let now = services.now
    try services.stored { store throws(StoreError) in
      guard let code else { return try store.save(flow) }
      try store.transaction { () throws(StoreError) in
        try store.save(flow)
        try store.recordCode(SHA256.hash(code.reveal()), flow: flow.id, at: now)
      }
    }
    if code != nil { PausePoint.linkStored.reached() }
  }

  private func adopt(_ flow: Flow, _ user: User, _ grant: TokenGrant) throws(AuthFailure) {
    guard let keeper = keeper(flow.key) else { throw AuthFailure(.noSuchApp) }
    // Linking and reauthentication keep what the session says about how somebody signed in; a guest hadn't.
    let kept = keeper.machine.session.flatMap { $0.method == .anonymous || $0.user.uid != user.uid ? nil : $0.method }
    // Who was signed out by the server, and has done this nevertheless, signed in as before.
    let last = keeper.machine.lastUser.flatMap { $0.uid == user.uid ? SignInMethod($0.signInMethod) : nil }
    let isSignIn = flow.purpose == .signIn && flow.linkUID == nil || flow.purpose == .reauthenticate && kept == nil
    let method = isSignIn ? flow.method : kept ?? last ?? flow.method
    let apple = appleTokens[flow.id]
    // What waits for this goes on, also if the daemon ends before it does.
    let freed = parked(until: flow, by: user.uid)
    try keeper.adopt(keeper.session(user: user, grant: grant, method: method)) { store throws(StoreError) in
      try store.save(flow)
      for var row in freed {
        row.isConfirmed = true
        try store.save(row)
      }
    }
    if let apple { keeper.appleToken = (user.uid, apple) }
  }

  /// Many rows, as one commit.
  func save(_ flows: [Flow]) throws(AuthFailure) {
    if flows.isEmpty { return }
    try services.stored { store throws(StoreError) in
      try store.transaction { () throws(StoreError) in for flow in flows { try store.save(flow) } }
    }
  }
}
