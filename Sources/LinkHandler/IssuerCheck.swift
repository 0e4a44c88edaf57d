import AuthCore

extension ProviderMetadata {
  /// RFC 9207 2.4: a promised issuer must be there, and any that's there must be this one. Microsoft's stands for every
  /// tenant.
  func acceptsIssuer(_ issuer: String?) -> Bool {
    guard let issuer else { return !promisesIssuer }
    guard let own = self.issuer else { return true }
    // Byte for byte (RFC 3986 6.2.1): texts that look the same needn't be.
    if issuer.utf8.elementsEqual(own.utf8) { return true }
    let parts = own.split(separator: "{tenantid}", omittingEmptySubsequences: false).map { Array($0.utf8) }
    let bytes = Array(issuer.utf8)
    guard parts.count == 2, bytes.starts(with: parts[0]), bytes.reversed().starts(with: parts[1].reversed()),
      bytes.count > parts[0].count + parts[1].count
    else { return false }
    return bytes.dropFirst(parts[0].count).dropLast(parts[1].count).allSatisfy {
      ASCII.isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(ASCII.lower($0)) || $0 == UInt8(ascii: "-")
    }
  }
}
