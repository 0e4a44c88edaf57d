import AuthCore
@testable import LinkHandler

/// The link parser, with apps of every kind and redirects that are waited for.
enum Links {
  private static let parser = LinkParser(apps: FuzzApps.all)

  static func check(_ input: [UInt8]) throws(Fault) {
    let result = parser.parse(bytes: input, pending: FuzzApps.pending)
    try require(parser.parse(bytes: input, pending: FuzzApps.pending) == result, "the same link gives the same twice")
    if let text = String(validating: input, as: UTF8.self) {
      try require(parser.parse(text, pending: FuzzApps.pending) == result, "text and bytes give the same")
      // An argument that linkctl doesn't take for a link never gets as far as the parser.
      if case .success = result { try require(LinkText.looksLikeLink(text), "a link looks like one") }
    }
    switch result {
    case .failure(let rejection): try rejected(rejection)
    case .success(let link): try accepted(link, input)
    }
  }

  private static func rejected(_ rejection: LinkRejection) throws(Fault) {
    let isDuplicate = rejection.reason == .duplicateParameter
    try require(isDuplicate == (rejection.parameter != nil), "a duplicate is named")
    try require(rejection.via.count <= LinkParser.nestingLimit, "nesting has a limit")
    try require(rejection.scheme.map { $0 == $0.lowercased() } ?? true, "the scheme is in lower case")
    try require(rejection.schemeOwners.allSatisfy(FuzzApps.ids.contains), "the owners are apps")
  }

  private static func accepted(_ link: Link, _ input: [UInt8]) throws(Fault) {
    try require(!link.candidates.isEmpty, "a link has an app")
    try require(link.candidates.allSatisfy(FuzzApps.ids.contains), "the candidates are apps")
    try require(Array(Set(link.candidates)).sorted() == link.candidates, "the candidates are in order, each once")
    try require(link.via.count <= LinkParser.nestingLimit, "nesting has a limit")
    if case .success(let key) = LinkRouter.choose(link, among: parser) {
      try require(link.candidates.contains(key.app), "a link goes to one of its candidates")
    }
    guard case .action(let action) = link.content else { return }
    try require(link.kind == action.kind && action.kind != .none, "an action has a kind")
    try codes(action)
    // CanHandle asks for what waits for nobody, and Open for what waits: a mail's link is the same to both.
    try require(parser.parse(bytes: input) == .success(link), "who waits doesn't change a mail's link")
    try wrapped(link, action, input)
    try redacted(link, action, input)
  }

  /// Behaviour, Links 1: a code is there, and no control character in what is sent on.
  private static func codes(_ action: ActionLink) throws(Fault) {
    try require(!action.oobCode.reveal().isEmpty, "a code isn't empty")
    for text in [action.oobCode.reveal(), action.mode, action.apiKey ?? "", action.tenantID ?? ""] {
      let hasControl = text.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }
      try require(!hasControl, "what is sent to the server has no control characters")
    }
    try require(!(action.continueURLRejected && action.continueURL != nil), "a refused continue URL is dropped")
  }

  /// In an app's own scheme a link is judged as if it came alone (behaviour: Links 7).
  private static func wrapped(_ link: Link, _ action: ActionLink, _ input: [UInt8]) throws(Fault) {
    guard link.via.count < LinkParser.nestingLimit, link.via.first != .customScheme,
      link.candidates == [FuzzApps.demo.id]
    else { return }
    guard let text = String(validating: LinkCleanup.clean(input[...]), as: UTF8.self) else { return }
    let outer = "com.example.linkd://auth?link=" + PercentCoding.encode(text)
    guard outer.utf8.count <= LinkParser.sizeLimit else { return }
    guard case .success(let inside) = parser.parse(outer), case .action(let same) = inside.content else {
      throw Fault(what: "a link is one in an app's scheme as well")
    }
    try require(same.oobCode == action.oobCode && same.mode == action.mode, "a link stays the same in an app's scheme")
    try require(inside.via == [.customScheme] + link.via, "the scheme is named as a wrapper")
  }

  /// Where the code stands in the link once, it isn't among what the link is described with.
  private static func redacted(_ link: Link, _ action: ActionLink, _ input: [UInt8]) throws(Fault) {
    let code = Array(action.oobCode.reveal().utf8)
    guard code.count >= 12, !link.via.contains(.proofpoint), isOnce(code, in: input) else { return }
    let shown = "\(link) \(String(reflecting: link))"
    try require(!shown.contains(action.oobCode.reveal()), "a description doesn't hold the code")
  }

  private static func isOnce(_ code: [UInt8], in input: [UInt8]) -> Bool {
    var level = input
    for _ in 0...LinkParser.nestingLimit + 1 {
      if level.indices.count(where: { level[$0...].starts(with: code) }) > 1 { return false }
      level = decoded(level)
    }
    return true
  }

  /// One level of escapes taken off; broken ones stay.
  private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    var rest = bytes[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2, let decoded = PercentCoding.decode([byte] + rest.prefix(2)) {
        out += decoded
        rest = rest.dropFirst(2)
      } else {
        out.append(byte)
      }
    }
    return out
  }
}
