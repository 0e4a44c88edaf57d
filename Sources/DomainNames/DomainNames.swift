public import AuthCore
import CIDN
import Glibc

/// International domain names in addresses: A-labels go to the server and are compared (RFC 5891, UTS 46; field report
/// B035). The only door to libidn2.
public enum DomainNames {
  /// The address as the server gets it: the domain in its A-label form, everything else as typed (B033).
  ///
  /// - Throws: `invalidEmail` for a domain that has no such form.
  public static func wireForm(_ address: EmailAddress) throws(AuthFailure) -> String {
    guard address.needsALabel else { return address.text }
    return "\(address.local)@\(try aLabel(address.domain))"
  }

  /// Whether both addresses mean the same account: letter case and the form of the domain don't count (B034, B035).
  public static func areSame(_ a: String, _ b: String) -> Bool {
    guard let a = comparable(a), let b = comparable(b) else { return false }
    return a == b
  }

  private static func comparable(_ text: String) -> String? {
    guard let address = EmailAddress(text) else { return nil }
    guard address.needsALabel else { return address.comparable(domainALabel: address.domain) }
    return (try? aLabel(address.domain)).map(address.comparable(domainALabel:))
  }

  private static func aLabel(_ domain: String) throws(AuthFailure) -> String {
    var ascii: UnsafeMutablePointer<CChar>?
    guard cidn_to_ascii(domain, &ascii) == 0, let ascii else { throw AuthFailure(.invalidEmail) }
    defer { free(ascii) }
    return String(cString: ascii)
  }
}
