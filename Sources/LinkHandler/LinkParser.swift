public import AuthCore

/// The one parser of links, for "can I handle it" and "handle it" alike (behaviour: Links).
///
/// Pure and total: no network, no clock, no trap, whatever the input. What it says depends on the URL, the apps and the
/// pending returns alone.
public struct LinkParser: Sendable {
  /// Bytes of a URL that is looked at.
  public static let sizeLimit = 32 * 1024
  /// Links inside links.
  static let nestingLimit = 4

  let index: AppIndex

  /// A parser that knows `apps`. One app may stand here several times, once per backend.
  public init(apps: [App]) { index = AppIndex(apps) }

  /// What `text` is; `pending` are the redirects that live flows wait for.
  public func parse(_ text: String, pending: PendingReturns = PendingReturns()) -> Result<Link, LinkRejection> {
    guard text.utf8.count <= Self.sizeLimit else { return .failure(LinkRejection(.tooLong)) }
    return parse(bytes: Array(text.utf8), pending: pending)
  }

  /// The same for raw bytes: what isn't UTF-8 where it matters is `malformed`.
  public func parse(bytes: [UInt8], pending: PendingReturns = PendingReturns()) -> Result<Link, LinkRejection> {
    guard bytes.count <= Self.sizeLimit else { return .failure(LinkRejection(.tooLong)) }
    let link = LinkCleanup.clean(bytes[...])
    var run = Run(index: index, pending: pending)
    do throws(LinkRejection) {
      return .success(try run.link(link))
    } catch {
      return .failure(run.completed(error, text: link))
    }
  }
}

extension LinkParser {
  /// One parse: the wrappers taken off and the apps still possible.
  struct Run {
    let index: AppIndex
    let pending: PendingReturns
    var via: [LinkWrapper] = []
    /// Indices into the apps; nil while nothing has narrowed them.
    var candidates: [Int]?
    /// Set where an own scheme is outside: its owners hear of what isn't an auth link.
    var schemeOwners: [Int] = []
    var scheme: Bytes?
    /// The emulator at whose own address the innermost link is.
    var emulator: EmulatorAddress?
    /// Whether that link is at an app's continue page on this machine.
    var isLoopbackPage = false

    init(index: AppIndex, pending: PendingReturns) {
      self.index = index
      self.pending = pending
    }

    /// Names of apps, without repetition, in order.
    func ids(_ indices: [Int]) -> [AppID] {
      if indices.isEmpty { return [] }
      if indices.count == 1 { return [index.apps[indices[0]].id] }
      return Set(indices.map { index.apps[$0].id }).sorted()
    }

    /// The link that was found, with what the way to it has shown.
    func found(_ content: Link.Content) -> Link {
      Link(content: content, via: via, candidates: ids(candidates ?? []), emulator: emulator)
    }

    /// Keeps the candidates that also claim this level.
    ///
    /// - Throws: `untrustedHost` where none is left.
    mutating func narrow(to claim: [Int]) throws(LinkRejection) {
      let left = candidates.map { old in old.filter(claim.contains) } ?? claim
      guard !left.isEmpty else { throw LinkRejection(.untrustedHost) }
      candidates = left
    }

    /// One level of nesting more.
    ///
    /// - Throws: `nestingTooDeep`.
    mutating func enter(_ wrapper: LinkWrapper) throws(LinkRejection) {
      guard via.count < LinkParser.nestingLimit else { throw LinkRejection(.nestingTooDeep) }
      via.append(wrapper)
    }

    // MARK: A level

    /// The link in `bytes`; `spilled` are the parameters of the level above, where that is a page of ours.
    mutating func link(_ bytes: Bytes, spilled: Parameters? = nil) throws(LinkRejection) -> Link {
      let url = try SplitURL(bytes)
      if via.isEmpty { scheme = url.scheme }
      if url.scheme.isName("https") { return try secure(url, try authority(url), spilled) }
      if url.scheme.isName("http") { return try plain(url, try authority(url)) }
      // A scheme inside a scheme is nobody's link.
      guard via.isEmpty, let owners = index.schemes.find(url.scheme) else { throw LinkRejection(.unsupportedScheme) }
      guard !url.hasSpace else { throw LinkRejection(.malformed, hint: .joinedLines) }
      schemeOwners = owners
      candidates = owners
      return try custom(url)
    }

    private func authority(_ url: SplitURL) throws(LinkRejection) -> WebAuthority {
      guard !url.hasSpace else { throw LinkRejection(.malformed, hint: .joinedLines) }
      guard let authority = url.authority else { throw LinkRejection(.malformed) }
      return try WebAuthority(authority)
    }

    /// https: a page of ours or a wrapper around one.
    private mutating func secure(
      _ url: SplitURL, _ authority: WebAuthority, _ spilled: Parameters?
    ) throws(LinkRejection) -> Link {
      guard authority.port ?? 443 == 443 else { throw LinkRejection(.untrustedHost) }
      guard let claim = index.hosts.find(authority.host) else { return try wrapped(url, authority) }
      let parameters = Parameters(url.query, plus: .literal)
      if !claim.linkHost.isEmpty, let link = try firebasePage(url, claim.linkHost, parameters, spilled) { return link }
      if !claim.continueHost.isEmpty, Self.hasAction(parameters) {
        try narrow(to: claim.continueHost)
        return try action(parameters)
      }
      throw Self.withoutCode(url, claim, parameters, after: via.last)
    }

    /// The pages that Firebase serves for a project; nil for any other.
    private mutating func firebasePage(
      _ url: SplitURL, _ claim: [Int], _ parameters: Parameters, _ spilled: Parameters?
    ) throws(LinkRejection) -> Link? {
      if url.path.equals("/__/auth/action") || url.path.equals("/__/auth/action/") {
        try narrow(to: claim)
        // A mail client decoded the nested link, so that part of it stands in the query of our own page around it.
        if let spilled, !parameters.has("oobCode") { return try action(parameters.filled(from: spilled)) }
        return try action(parameters)
      }
      guard let nested = try parameters.nested("link", or: "deep_link_id") else { return nil }
      try narrow(to: claim)
      try enter(Self.isHostingLink(url) ? .hostingLink : .dynamicLink)
      return try link(nested, spilled: parameters)
    }

    private static func isHostingLink(_ url: SplitURL) -> Bool {
      url.path.equals("/__/auth/links") || url.path.equals("/__/auth/links/")
    }

    /// Whether a page's query is a link's: Firebase appends at least one of these in words of its own.
    static func hasAction(_ parameters: Parameters) -> Bool {
      parameters.has("oobCode") || parameters.optional("mode").map { ActionMode.kinds[$0] != nil } == true
    }

    /// A page of ours without an action: a link that has lost its code on the way, or just a page.
    private static func withoutCode(
      _ url: SplitURL, _ claim: AppIndex.HostClaim, _ parameters: Parameters, after wrapper: LinkWrapper?
    ) -> LinkRejection {
      let isResolved = wrapper == .hostingLink || wrapper == .dynamicLink
      let isBare = url.path.isEmpty || url.path.equals("/") || isHostingLink(url)
      let isLinkHost = !claim.linkHost.isEmpty && claim.continueHost.isEmpty
      guard !parameters.has("oobCode"), isResolved || isLinkHost && isBare else { return LinkRejection(.notAuthLink) }
      return LinkRejection(.missingOobCode, hint: .resolvedTooEarly)
    }
  }
}
