import AuthCore

/// What a value of an app's file may look like. Pure; the words for a person are beside the keys.
enum Checks {
  // MARK: Hosts and URLs

  /// A host name in ASCII (RFC 1123 2.1; international names as A-labels), lower or upper case, without a port.
  static func isHost(_ text: String) -> Bool {
    guard (1...253).contains(text.utf8.count) else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
      (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
        && label.utf8.allSatisfy { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
    }
  }

  /// An https URL, or http to this machine: with a host, without user info, in printable ASCII.
  static func isURL(_ text: String) -> Bool {
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return false }
    for (scheme, isSecure) in [("https://", true), ("http://", false)] where text.hasPrefix(scheme) {
      let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
      return isAuthority(String(authority), mustBeLocal: !isSecure)
    }
    return false
  }

  private static func isAuthority(_ text: String, mustBeLocal: Bool) -> Bool {
    // EmulatorAddress knows `host:port` and brackets; a URL may go without the port.
    let hasPort = text.hasSuffix("]") ? false : text.split(separator: "]").last?.contains(":") == true
    guard let address = EmulatorAddress(hasPort ? text : "\(text):1") else { return false }
    if mustBeLocal { return address.isLoopback }
    return text.hasPrefix("[") || isHost(address.host)
  }

  /// What URLs are shown to people as links, or as pictures: https alone.
  static func isWebPage(_ text: String) -> Bool { text.hasPrefix("https://") && isURL(text) }

  // MARK: Schemes

  /// Why `text` can't be an app's scheme; nil when it can (cli-and-config: Files).
  static func schemeFault(_ text: String) -> String? {
    let rule = "a scheme in lower case with a dot (com.example.app), 'fb' and digits, or 'app-…'"
    guard (2...128).contains(text.utf8.count), let first = text.utf8.first, isLower(first),
      text.utf8.allSatisfy({ isLower($0) || isDigit($0) || "+-.".utf8.contains($0) })
    else { return rule }
    if wellKnownSchemes.contains(text) { return "a scheme of the app's own; '\(text)' is everybody's" }
    if text.hasPrefix("app-"), text.count > 4 { return nil }
    if text.hasPrefix("fb"), text.count > 2, text.dropFirst(2).utf8.allSatisfy(isDigit) { return nil }
    let labels = text.split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && labels.allSatisfy { !$0.isEmpty } ? nil : rule
  }

  /// Schemes of other programs, which an app must never take over. Those with a dot would pass the rule otherwise.
  private static let wellKnownSchemes: Set<String> = [
    "http", "https", "mailto", "file", "ftp", "sftp", "ssh", "tel", "sms", "data", "javascript", "about", "blob", "ws",
    "wss", "magnet", "irc", "ircs", "xmpp", "sip", "sips", "geo", "webcal", "view-source", "chrome", "vnc", "smb",
    "git",
    "soap.beep", "soap.beeps", "xmlrpc.beep", "xmlrpc.beeps", "iris.beep", "iris.lwz", "iris.xpc", "iris.xpcs",
    "ms-settings", "z39.50", "z39.50r", "z39.50s",
  ]

  // MARK: Names

  static func isProjectID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { isLower($0) || isDigit($0) || "-.:".utf8.contains($0) }
  }

  static func isKey(_ text: String) -> Bool {
    (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  /// `1:123:web:abc`: a scheme is made of it.
  static func isAppID(_ text: String) -> Bool {
    (1...120).contains(text.utf8.count)
      && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-:".utf8.contains($0) }
  }

  /// A scheme is made of it as well.
  static func isGoogleClientID(_ text: String) -> Bool {
    text.hasSuffix(".apps.googleusercontent.com") && isHost(text)
  }

  /// `com.example.app`, as Apple and Android have them.
  static func isBundleID(_ text: String) -> Bool {
    (1...155).contains(text.utf8.count)
      && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-._".utf8.contains($0) }
  }

  static func isTenantID(_ text: String) -> Bool {
    (1...128).contains(text.utf8.count)
      && text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-_".utf8.contains($0) }
  }

  /// The shape of a BCP 47 tag.
  static func isLanguage(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard let first = parts.first, (2...3).contains(first.utf8.count), first.utf8.allSatisfy(isLetter) else {
      return false
    }
    return parts.dropFirst().allSatisfy { part in
      (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }
  }

  /// `flatpak:` and an application id, or `snap:` and a name.
  static func isClient(_ text: String) -> Bool {
    if text.hasPrefix("snap:") {
      let name = text.utf8.dropFirst(5)
      return (1...51).contains(name.count)
        && name.allSatisfy { isLower($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
    guard text.hasPrefix("flatpak:") else { return false }
    let labels = text.dropFirst(8).split(separator: ".", omittingEmptySubsequences: false)
    return labels.count >= 2 && text.utf8.count <= 263
      && labels.allSatisfy { label in
        guard let first = label.utf8.first, !isDigit(first) else { return false }
        return label.utf8.allSatisfy { isLetter($0) || isDigit($0) || "-_".utf8.contains($0) }
      }
  }

  /// `#rrggbb`.
  static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.hasPrefix("#") && text.utf8.dropFirst().allSatisfy(isHexDigit)
  }

  /// An absolute path without control characters.
  static func isPath(_ text: String) -> Bool { text.hasPrefix("/") && isLine(text) }

  /// One line for people to read: no control characters.
  static func isLine(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 1024
      && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
  }

  // MARK: Bytes

  static func isLower(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
  static func isLetter(_ byte: UInt8) -> Bool { isLower(byte | 0x20) }
  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
  static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
}
