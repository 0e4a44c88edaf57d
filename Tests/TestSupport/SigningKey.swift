import Foundation

/// A private key as an OpenID provider has it, made and used by openssl.
public final class SigningKey: Sendable {
  /// What it signs by.
  public enum Kind: String, Sendable, CaseIterable {
    case rsa = "RS256"
    case p256 = "ES256"
  }

  /// What it signs by.
  public let kind: Kind
  /// `kid`.
  public let id: String
  /// The public half as a JSON web key.
  public let jwk: String
  private let scratch: Scratch

  /// A fresh key.
  public init(_ kind: Kind, id: String = "key-1") throws {
    let scratch = try Scratch()
    (self.kind, self.id, self.scratch) = (kind, id, scratch)
    let key = scratch.file("key.pem")
    let head = #"{"kid":"\#(id)","alg":"\#(kind.rawValue)","use":"sig","#
    switch kind {
    case .rsa:
      try Self.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
      let modulus = try Self.openssl("rsa", "-in", key, "-noout", "-modulus").split(separator: "=").last ?? ""
      let digits = modulus.filter(\.isHexDigit)
      let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
        UInt8(digits.dropFirst($0).prefix(2), radix: 16)
      }
      jwk = head + #""kty":"RSA","n":"\#(Self.base64URL(bytes))","e":"AQAB"}"#
    case .p256:
      try Self.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
      try Self.openssl("pkey", "-in", key, "-pubout", "-outform", "DER", "-out", scratch.file("public"))
      // The point is at the end of the structure.
      let point = try Self.read(scratch.file("public")).suffix(64)
      let (x, y) = (Self.base64URL(point.prefix(32)), Self.base64URL(point.suffix(32)))
      jwk = head + #""kty":"EC","crv":"P-256","x":"\#(x)","y":"\#(y)"}"#
    }
  }

  /// A token of `payload`; its header is `{"alg":…,"kid":…}` unless another one is given.
  public func token(_ payload: String, header: String? = nil) throws -> String {
    let header = header ?? #"{"alg":"\#(kind.rawValue)","kid":"\#(id)"}"#
    let text = "\(Self.base64URL(header.utf8)).\(Self.base64URL(payload.utf8))"
    return "\(text).\(Self.base64URL(try signature(of: text)))"
  }

  /// Tokens may be made by several tests at once.
  private func signature(of text: String) throws -> [UInt8] {
    let name = UUID().uuidString
    try scratch.write(text, to: name)
    let output = scratch.file(name + ".sig")
    try Self.openssl("dgst", "-sha256", "-sign", scratch.file("key.pem"), "-out", output, scratch.file(name))
    let signature = try Self.read(output)
    return kind == .rsa ? signature : Self.raw(signature)
  }

  /// r and s, 32 bytes each, of a DER sequence of the two.
  private static func raw(_ der: [UInt8]) -> [UInt8] {
    var rest = der.dropFirst(2)
    return (0..<2).flatMap { _ -> [UInt8] in
      let length = Int(rest[rest.startIndex + 1])
      let number = rest.dropFirst(2).prefix(length).drop { $0 == 0 }
      rest = rest.dropFirst(2 + length)
      return [UInt8](repeating: 0, count: 32 - number.count) + number
    }
  }

  /// Base 64 with the URL alphabet, without padding.
  public static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  private static func read(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

  @discardableResult
  private static func openssl(_ arguments: String...) throws -> String {
    let result = try Subprocess.runBlocking(["openssl"] + arguments)
    guard result.status == 0 else { throw POSIXFailure("openssl \(arguments[0]): \(result.stderr)", 0) }
    return result.stdout
  }
}
