/// Host and port of an emulator, as in `FIREBASE_AUTH_EMULATOR_HOST`: `127.0.0.1:9099`, `[::1]:9099`.
public struct EmulatorAddress: Sendable, Hashable, CustomStringConvertible {
  /// Lower case, without brackets.
  public let host: String
  /// 1…65535.
  public let port: UInt16

  /// Nil unless `text` is `host:port` or `[ipv6]:port` with no user info, path or scheme.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy({ $0 < 0x80 }), let colon = text.lastIndex(of: ":") else { return nil }
    let digits = text[text.index(after: colon)...]
    guard digits.allSatisfy(\.isNumber), digits.first != "0", let port = UInt16(digits), port > 0 else { return nil }
    var host = text[..<colon].lowercased()
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = String(host.dropFirst().dropLast())
      guard host.contains(":"), host.utf8.allSatisfy({ Self.isHexDigit($0) || $0 == UInt8(ascii: ":") }) else {
        return nil
      }
    } else {
      guard !host.isEmpty, host.utf8.allSatisfy(Self.isHostByte) else { return nil }
    }
    self.host = host
    self.port = port
  }

  /// Whether the address can only be this machine: `localhost`, 127.0.0.0/8 in dotted form, `::1`.
  public var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// `host:port`, an IPv6 address in brackets.
  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
    default: false
    }
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: false
    }
  }
}

/// Where an app's accounts live. Sessions and flows are keyed by app *and* backend; nothing crosses.
public enum Backend: Sendable, Hashable, CustomStringConvertible {
  case production
  case emulator(EmulatorAddress)

  /// The address of the emulator; nil in production.
  public var emulator: EmulatorAddress? { if case .emulator(let address) = self { address } else { nil } }

  /// `production`, or the emulator's `host:port`: the form in which it's stored.
  public var description: String {
    switch self {
    case .production: "production"
    case .emulator(let address): address.description
    }
  }

  /// Reads what `description` wrote.
  public init?(_ text: String) {
    if text == "production" {
      self = .production
    } else if let address = EmulatorAddress(text) {
      self = .emulator(address)
    } else {
      return nil
    }
  }
}

/// Whose session it is: one app at one backend.
public struct SessionKey: Sendable, Hashable {
  /// The app.
  public var app: AppID
  /// Where its accounts live.
  public var backend: Backend

  /// A key of `app` at `backend`.
  public init(app: AppID, backend: Backend) {
    self.app = app
    self.backend = backend
  }
}
