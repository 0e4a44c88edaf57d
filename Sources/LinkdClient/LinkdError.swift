public import AuthCore
import DBus

/// What a call to linkd can end with. What linkd itself says and what the bus says are apart.
public enum LinkdError: Error, Sendable, Hashable {
  /// linkd refused or failed (docs: errors). The message is for a person and says what to do next.
  case auth(AuthError, message: String)
  /// linkd can't be reached: not installed, can't be started, no session bus, or hidden by a sandbox.
  case unavailable(name: String, message: String)
  /// Anything else that the bus answers, under its D-Bus name.
  case bus(name: String, message: String)
}

extension LinkdError: CustomStringConvertible {
  /// What linkd means by it; nil for the bus' own errors.
  public var authError: AuthError? { if case .auth(let error, _) = self { error } else { nil } }

  /// The D-Bus name, for example `org.linkd.Auth1.Error.WeakPassword`.
  public var name: String {
    switch self {
    case .auth(let error, _): error.dbusName
    case .unavailable(let name, _), .bus(let name, _): name
    }
  }

  /// A sentence for a person: untrusted text.
  public var message: String {
    switch self {
    case .auth(_, let message), .unavailable(_, let message), .bus(_, let message): message
    }
  }

  /// Name and message in one line.
  public var description: String { message.isEmpty ? name : "\(name): \(message)" }

  /// The task was cancelled, or the flow.
  public static let cancelled = LinkdError.auth(.cancelled, message: "Cancelled.")
}

extension LinkdError {
  /// Sorts what came over the bus.
  init(_ error: DBusError) {
    if let known = AuthError(dbusName: error.name) {
      self = .auth(known, message: error.message)
    } else if error.name == DBusError.Name.cancelled {
      self = .cancelled
    } else if Self.isAbsence(error.name) {
      self = .unavailable(
        name: error.name,
        message: "linkd can't be reached. Is it installed, and may this program talk to it? "
          + "(\(error.message))")
    } else {
      self = .bus(name: error.name, message: error.message)
    }
  }

  /// The names that mean: nobody is there, or nobody that we may see.
  private static func isAbsence(_ name: String) -> Bool {
    switch name {
    case DBusError.Name.serviceUnknown, DBusError.Name.nameHasNoOwner, DBusError.Name.noServer,
      DBusError.Name.accessDenied, DBusError.Name.disconnected, "org.freedesktop.DBus.Error.FileNotFound":
      true
    default: name.hasPrefix("org.freedesktop.DBus.Error.Spawn.")
    }
  }

  /// An answer that isn't as the contract has it.
  static func malformed(_ member: String) -> LinkdError {
    .bus(name: DBusError.Name.failed, message: "linkd answered \(member) with something unknown")
  }
}
