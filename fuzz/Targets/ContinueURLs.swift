import AuthCore
@testable import LinkHandler

/// What linkd writes into a mail's continue URL comes back with the link, whatever the caller's own URL is.
enum ContinueURLs {
  private static let parser = LinkParser(apps: [FuzzApps.demo])
  private static let hints = LinkHints(
    sessionID: Secret("to.ken_1-~"), anonymousUID: "guest&=#+ü", sameDevice: true, providerID: "google.com")

  static func check(_ input: [UInt8]) throws(Fault) {
    let own = String(decoding: input, as: UTF8.self)
    guard let url = try? ContinueURL.adding(hints, to: own) else { return }
    guard let same = try? ContinueURL.adding(LinkHints(), to: own) else {
      throw Fault(what: "whether a URL can be used doesn't depend on the hints")
    }
    try require(same == own, "without hints nothing changes")
    try comesBack(url)
    guard let again = try? ContinueURL.adding(hints, to: url) else { throw Fault(what: "a URL with hints is a URL") }
    try require(again.utf8.count <= url.utf8.count, "hints are added once")
    try comesBack(again)
  }

  private static func comesBack(_ url: String) throws(Fault) {
    let mail =
      "https://demo-linkd.firebaseapp.com/__/auth/action?mode=signIn&oobCode=CODE&continueUrl="
      + PercentCoding.encode(url)
    guard mail.utf8.count <= LinkParser.sizeLimit else { return }
    guard case .success(let link) = parser.parse(mail), case .action(let action) = link.content else {
      throw Fault(what: "the mail's link can be read")
    }
    try require(action.hints == hints, "the hints come back")
  }
}
