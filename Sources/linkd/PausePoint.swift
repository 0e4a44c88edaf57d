import Glibc

/// Where a test stops the daemon to kill it there. Nothing of it is in a release build.
enum PausePoint: String {
  case linkStored = "link-stored"
  case exchangeSent = "exchange-sent"
  case exchangeAnswered = "exchange-answered"
  case sessionCommitted = "session-committed"

  /// Stops the process (SIGSTOP) when `LINKD_PAUSE_AT` names this point.
  func reached() {
    #if PAUSE_POINTS
      if let name = getenv("LINKD_PAUSE_AT"), String(cString: name) == rawValue { raise(SIGSTOP) }
    #endif
  }
}
