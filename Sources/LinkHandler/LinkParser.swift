public import AuthCore

/// A loopback listener that waits for a redirect: what the apps' files don't say.
public struct PendingListener: Sendable, Hashable {
  /// The app of the flow.
  public var app: AppID
  /// Where it listens.
  public var port: UInt16
  /// `/callback`, or `/callback/<provider id>`.
  public var path: String

  /// A listener on 127.0.0.1 and [::1].
  public init(app: AppID, port: UInt16, path: String) {
    self.app = app
    self.port = port
    self.path = path
  }
}

/// The one parser of links, for "can I handle it" and "handle it" alike (behaviour: Links).
///
/// Pure and total: no network, no clock, no trap, whatever the input. What it says depends on the URL, the apps and the
/// pending listeners alone.
public struct LinkParser: Sendable {
  /// Bytes of a URL that is looked at.
  public static let sizeLimit = 32 * 1024
  /// Links inside links.
  static let nestingLimit = 4

  let index: AppIndex

  /// A parser that knows `apps`. One app may stand here several times, once per backend.
  public init(apps: [App]) { index = AppIndex(apps) }

  /// What `text` is.
  public func parse(_ text: String, listeners: [PendingListener] = []) -> Result<Link, LinkRejection> {
    parse(bytes: Array(text.utf8), listeners: listeners)
  }

  /// The same for raw bytes: `malformed` where they aren't UTF-8.
  public func parse(bytes: [UInt8], listeners: [PendingListener] = []) -> Result<Link, LinkRejection> {
    guard bytes.count <= Self.sizeLimit else { return .failure(LinkRejection(.tooLong)) }
    var run = Run(index: index, listeners: listeners)
    do throws(LinkRejection) {
      return .success(try run.link(LinkCleanup.clean(bytes)))
    } catch {
      return .failure(run.completed(error))
    }
  }

  /// One parse: the wrappers taken off and the apps still possible.
  struct Run {
    let index: AppIndex
    let listeners: [PendingListener]
    var via: [LinkWrapper] = []
    /// Indices into the apps; nil while nothing has narrowed them.
    var candidates: [Int]?
    /// Set where an own scheme is outside: its owners hear of what isn't an auth link.
    var schemeOwners: [Int] = []
    var scheme: String?
    /// The emulator at whose own address the innermost link is.
    var emulator: EmulatorAddress?
    var depth = 0

    init(index: AppIndex, listeners: [PendingListener]) {
      self.index = index
      self.listeners = listeners
    }

    /// The rejection with what is known about the whole URL.
    func completed(_ rejection: LinkRejection) -> LinkRejection {
      var rejection = rejection
      rejection.via = via
      rejection.scheme = scheme
      rejection.schemeOwners = ids(schemeOwners)
      return rejection
    }

    /// Names of apps, without repetition, in order.
    func ids(_ indices: [Int]) -> [AppID] { Set(indices.map { index.apps[$0].id }).sorted() }

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
      depth += 1
      guard depth <= LinkParser.nestingLimit else { throw LinkRejection(.nestingTooDeep) }
      via.append(wrapper)
    }

    // MARK: A level

    mutating func link(_ bytes: Bytes, spilled: Parameters? = nil) throws(LinkRejection) -> Link {
      let url = try SplitURL(bytes)
      if depth == 0 { scheme = url.scheme }
      switch url.scheme {
      case "https", "http":
        guard !bytes.contains(UInt8(ascii: " ")), let authority = url.authority else { throw LinkRejection(.malformed) }
        return try web(url, try WebAuthority(authority), spilled)
      default:
        // A scheme inside a scheme is nobody's link.
        guard depth == 0, let owners = index.schemes[url.scheme] else { throw LinkRejection(.unsupportedScheme) }
        guard !bytes.contains(UInt8(ascii: " ")) else { throw LinkRejection(.malformed) }
        schemeOwners = owners
        candidates = owners
        return try custom(url)
      }
    }

    private mutating func web(
      _ url: SplitURL, _ authority: WebAuthority, _ spilled: Parameters?
    ) throws(LinkRejection) -> Link {
      if url.scheme == "http" {
        guard authority.isLoopback else { throw LinkRejection(.insecureScheme) }
        return try loopback(url, authority)
      }
      guard authority.port == nil || authority.port == 443 else { throw LinkRejection(.untrustedHost) }
      guard let claim = index.hosts[authority.host] else { return try wrapped(url, authority) }
      let parameters = Parameters(url.query, plus: .literal)
      if let link = try pageOfOurs(url, claim, parameters, spilled) { return link }
      guard !claim.continueHost.isEmpty, parameters.has("mode") || parameters.has("oobCode") else {
        throw LinkRejection(.notAuthLink)
      }
      try narrow(to: claim.continueHost)
      return try action(parameters)
    }

    /// The pages that Firebase serves for a project; nil for any other path.
    private mutating func pageOfOurs(
      _ url: SplitURL, _ claim: AppIndex.HostClaim, _ parameters: Parameters, _ spilled: Parameters?
    ) throws(LinkRejection) -> Link? {
      guard !claim.linkHost.isEmpty else { return nil }
      if url.path.equals("/__/auth/action") || url.path.equals("/__/auth/action/") {
        try narrow(to: claim.linkHost)
        // A mail client decoded the nested link, so that part of it stands in the outer query.
        let inner = spilled.map(parameters.filled(from:)) ?? parameters
        return try action(parameters.has("oobCode") ? parameters : inner)
      }
      let isHosting = url.path.equals("/__/auth/links") || url.path.equals("/__/auth/links/")
      if let nested = try nestedLink(parameters) {
        try narrow(to: claim.linkHost)
        try enter(isHosting ? .hostingLink : .dynamicLink)
        return try link(Array(nested.utf8)[...], spilled: parameters)
      }
      let isBare = url.path.isEmpty || url.path.equals("/") || isHosting
      if claim.continueHost.isEmpty, isBare || depth > 0, !parameters.has("oobCode") {
        throw LinkRejection(.missingOobCode)
      }
      return nil
    }

    /// `link=` or `deep_link_id=`, decoded once.
    func nestedLink(_ parameters: Parameters) throws(LinkRejection) -> String? {
      if let link = try parameters.value("link") { return link }
      return try parameters.value("deep_link_id")
    }

    // MARK: Action links

    /// - Throws: in this order: `missingOobCode`, `missingMode`, `unknownMode`, `apiKeyMismatch`, and for any of them
    ///   `duplicateParameter`, `malformed`, `controlCharacter`.
    mutating func action(_ parameters: Parameters) throws(LinkRejection) -> Link {
      guard let code = try parameters.value("oobCode") else { throw LinkRejection(.missingOobCode) }
      guard let mode = try parameters.value("mode") else { throw LinkRejection(.missingMode) }
      guard let kind = ActionMode.kinds[mode] else { throw LinkRejection(.unknownMode) }
      let apiKey = try parameters.value("apiKey")
      try narrowByKey(apiKey)
      var link = ActionLink(kind: kind, mode: mode, oobCode: Secret(code), apiKey: apiKey)
      link.language = try parameters.value("lang")
      link.tenantID = try parameters.value("tenantId")
      if let target = try parameters.value("continueUrl") { take(target, &link) }
      link.hints = try hints(link.continueURL, parameters)
      return Link(content: .action(link), via: via, candidates: ids(candidates ?? []), emulator: emulator)
    }

    /// A link names its project by its key. `fake-api-key` names none: the emulator writes it into every link.
    private mutating func narrowByKey(_ apiKey: String?) throws(LinkRejection) {
      guard let apiKey else { return }
      if apiKey == "fake-api-key", emulator != nil { return }
      candidates = (candidates ?? []).filter { index.apps[$0].apiKey == apiKey }
      guard candidates?.isEmpty == false else { throw LinkRejection(.apiKeyMismatch) }
    }

    private func take(_ target: String, _ link: inout ActionLink) {
      guard let url = try? SplitURL(Array(target.utf8)[...]), url.scheme == "https" || url.scheme == "http",
        let authority = url.authority.flatMap({ try? WebAuthority($0) })
      else {
        link.continueURLRejected = true
        return
      }
      link.continueURL = target
      let claim = index.hosts[authority.host]
      let claims = (claim?.linkHost ?? []) + (claim?.continueHost ?? [])
      link.continueURLTrusted = authority.isLoopback || (candidates ?? []).contains(where: claims.contains)
    }

    /// `ui_*`, from the continue URL's query or, where there is none, from the link's own (behaviour: Links 9).
    private func hints(_ continueURL: String?, _ own: Parameters) throws(LinkRejection) -> LinkHints {
      var source = own
      if let continueURL, let url = try? SplitURL(Array(continueURL.utf8)[...]) {
        source = Parameters(url.query, plus: .literal)
      }
      // They only find a row: a damaged one finds none.
      return LinkHints(
        sessionID: ((try? source.value("ui_sid")) ?? nil).map(Secret.init),
        anonymousUID: (try? source.value("ui_auid")) ?? nil, sameDevice: (try? source.value("ui_sd")) ?? nil == "1",
        providerID: (try? source.value("ui_pid")) ?? nil)
    }
  }
}

/// The words of a link's `mode` (identity-toolkit 5.2). The REST API's `requestType` has a table of its own (field report
/// B020).
enum ActionMode {
  static let kinds: [String: LinkKind] = [
    "signIn": .emailSignIn, "resetPassword": .passwordReset, "verifyEmail": .verifyEmail,
    "recoverEmail": .recoverEmail, "verifyAndChangeEmail": .verifyAndChangeEmail,
    "revertSecondFactorAddition": .revertSecondFactor,
  ]
}
