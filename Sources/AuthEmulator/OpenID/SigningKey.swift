import AuthCore
import CCrypto

/// A key that a provider signs its ID tokens with, made by libgcrypt: 2048 bits of RSA, or P-256.
struct SigningKey: Sendable {
  enum Algorithm: String, Sendable { case rs256 = "RS256", es256 = "ES256" }

  let algorithm: Algorithm
  /// Its name in key set and tokens.
  let id: String
  /// libgcrypt's key, as a canonical S-expression.
  private let pair: [UInt8]

  /// Makes a key; nil where the library fails. RSA takes a tenth of a second.
  init?(_ algorithm: Algorithm) {
    // For tests: entropy that lasts for years isn't waited for.
    let kind = algorithm == .rs256 ? "(rsa (nbits 4:2048) (flags transient-key))" : "(ecc (curve \"NIST P-256\"))"
    guard let parameters = Expression("(genkey \(kind))") else { return nil }
    var made: OpaquePointer?
    guard gcry_pk_genkey(&made, parameters.handle) == 0, let key = Expression(owning: made) else { return nil }
    (self.algorithm, id, pair) = (algorithm, RandomText.letters(16), key.bytes)
  }

  /// The signature of a text, as JWS writes it (RFC 7518, sections 3.3 and 3.4); nil where the library fails.
  func signature(of text: String) -> [UInt8]? {
    let flags = algorithm == .rs256 ? "pkcs1" : "rfc6979"
    let digest = Digest.hexadecimal(Digest.sha256(Array(text.utf8)))
    guard let key = Expression(bytes: pair), let data = Expression("(data (flags \(flags)) (hash sha256 #\(digest)#))")
    else { return nil }
    var signed: OpaquePointer?
    guard gcry_pk_sign(&signed, data.handle, key.handle) == 0, let result = Expression(owning: signed) else {
      return nil
    }
    let parts = (algorithm == .rs256 ? ["s"] : ["r", "s"]).map { result.number($0) }
    return parts.flatMap { Self.padded($0, to: algorithm == .rs256 ? 256 : 32) }
  }

  /// The public key as a member of a key set (RFC 7517).
  var jwk: JSONValue {
    let common: JSONValue = ["kid": .string(id), "alg": .string(algorithm.rawValue), "use": "sig"]
    switch algorithm {
    case .rs256:
      let (modulus, exponent) = (Base64.encodeURL(number("n")), Base64.encodeURL(number("e")))
      return common.adding(["kty": "RSA", "n": .string(modulus), "e": .string(exponent)])
    case .es256:
      let point = number("q").dropFirst()
      let (x, y) = (Base64.encodeURL(Array(point.prefix(32))), Base64.encodeURL(Array(point.dropFirst(32))))
      return common.adding(["kty": "EC", "crv": "P-256", "x": .string(x), "y": .string(y)])
    }
  }

  /// The public key as a text that anybody can have: what a forger makes an HMAC with.
  var publicText: String { jwk.text }

  private func number(_ name: String) -> [UInt8] { Expression(bytes: pair)?.number(name) ?? [] }

  private static func padded(_ bytes: [UInt8], to count: Int) -> [UInt8] {
    Array(repeating: 0, count: max(0, count - bytes.count)) + bytes
  }
}

/// SHA-256, by libgcrypt.
enum Digest {
  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    ccrypto_sha256(bytes, bytes.count, &digest)
    return digest
  }

  static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 32)
    return ccrypto_hmac_sha256(key, key.count, bytes, bytes.count, &digest) ? digest : []
  }

  /// Two lower-case digits a byte.
  static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

/// An S-expression of libgcrypt.
private final class Expression {
  let handle: OpaquePointer

  init?(owning handle: OpaquePointer?) {
    guard let handle else { return nil }
    self.handle = handle
  }

  convenience init?(_ text: String) { self.init(bytes: Array(text.utf8)) }

  convenience init?(bytes: [UInt8]) {
    ccrypto_start()
    var handle: OpaquePointer?
    guard gcry_sexp_new(&handle, bytes, bytes.count, 1) == 0 else { return nil }
    self.init(owning: handle)
  }

  deinit { gcry_sexp_release(handle) }

  var bytes: [UInt8] {
    let format = Int32(GCRYSEXP_FMT_CANON.rawValue)
    var out = [UInt8](repeating: 0, count: gcry_sexp_sprint(handle, format, nil, 0))
    let count = gcry_sexp_sprint(handle, format, &out, out.count)
    return Array(out.prefix(count))
  }

  /// The number behind a name, without leading zeros.
  func number(_ name: String) -> [UInt8] {
    guard let found = Expression(owning: gcry_sexp_find_token(handle, name, name.utf8.count)) else { return [] }
    var count = 0
    guard let start = gcry_sexp_nth_data(found.handle, 1, &count) else { return [] }
    return UnsafeRawBufferPointer(start: start, count: count).drop { $0 == 0 }.map { $0 }
  }
}
