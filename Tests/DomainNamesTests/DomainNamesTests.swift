import AuthCore
import DomainNames
import Testing

@Suite("Domain names", .timeLimit(.minutes(1)))
struct DomainNamesTests {
  @Test("B033: the plus of an address goes to the server as it is")
  func plus() throws {
    #expect(try DomainNames.wireForm(try #require(EmailAddress(" user+tag@example.com "))) == "user+tag@example.com")
  }

  @Test("B034: letter case doesn't make another account")
  func letterCase() {
    #expect(DomainNames.areSame("User@Example.COM", "user@example.com"))
    #expect(!DomainNames.areSame("user@example.com", "user@example.org"))
  }

  @Test("B035: U-label and A-label are one domain")
  func international() throws {
    let typed = try #require(EmailAddress("user@Bücher.example"))
    #expect(try DomainNames.wireForm(typed) == "user@xn--bcher-kva.example")
    #expect(DomainNames.areSame("user@bücher.example", "user@xn--bcher-kva.example"))
    // Decomposed ü.
    #expect(DomainNames.areSame("user@bu\u{308}cher.example", "user@xn--bcher-kva.example"))
  }

  @Test("a domain without A-label form is an invalid address", arguments: ["a@ü\u{2024}..", "a@\u{fffd}x"])
  func impossible(text: String) {
    guard let address = EmailAddress(text) else { return }
    #expect(throws: AuthFailure(.invalidEmail)) { try DomainNames.wireForm(address) }
  }
}
