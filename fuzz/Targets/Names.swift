import AuthCore
import PhoneVerification

/// The small texts that people type and that callers send: what a reader has taken, it takes again as it wrote it.
enum Names {
  static func check(_ input: [UInt8]) throws(Fault) {
    let text = String(decoding: input, as: UTF8.self)
    try email(text)
    try linkText(text)
    if let address = EmulatorAddress(text) {
      try require(EmulatorAddress(address.description) == address, "an emulator's address reads back")
    }
    if let backend = Backend(text) { try require(Backend(backend.description) == backend, "a backend reads back") }
    if let method = SignInMethod(text) {
      try require(method.description == text, "a method is its word")
    }
    if let id = AppID(text) { try require(id.value == text && text.utf8.count <= 63, "an app's id is its text") }
    if let id = FlowID(text) { try require(id.value == text && text.utf8.count <= 64, "a flow's id is its text") }
    if let code = try? VerificationCode(text) {
      try require((try? VerificationCode(code.digits.reveal())) == code, "a code reads back")
    }
    for region in [nil, "DE", "US", "AR", "KR"] { try phoneNumber(text, region) }
  }

  private static func phoneNumber(_ text: String, _ region: String?) throws(Fault) {
    guard let number = try? PhoneNumber(text, region: region.flatMap { Region($0) }) else { return }
    let digits = number.e164.utf8.dropFirst()
    // The shortest numbers of all are Germany's pagers.
    let isE164 =
      number.e164.hasPrefix("+") && (6...15).contains(digits.count) && digits.allSatisfy { (0x30...0x39).contains($0) }
    try require(isE164, "a number is E.164")
    try require((try? PhoneNumber(number.e164, region: nil)) == number, "a number reads back")
    try require(!number.description.contains(number.e164), "a number is printed masked")
  }

  private static func email(_ text: String) throws(Fault) {
    let masked = EmailAddress.masked(text)
    try require(masked == "…" || masked.contains("@"), "a masked address keeps its domain")
    guard let address = EmailAddress(text) else { return }
    try require(EmailAddress(address.text) == address, "an address reads back")
    try require(address.text.utf8.count <= 320, "an address isn't longer than the limit")
    let hasControl = address.text.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }
    try require(!hasControl, "an address has no control characters")
  }

  private static func linkText(_ text: String) throws(Fault) {
    let joined = LinkText.joinLines(text)
    try require(LinkText.joinLines(joined) == joined, "joined lines are one line")
    try require(!joined.contains(where: \.isNewline), "joined lines have no line end")
    if LinkText.looksLikeLink(text) { try require(text.utf8.contains(UInt8(ascii: ":")), "a link has a colon") }
  }
}
