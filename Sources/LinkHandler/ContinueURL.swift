public import AuthCore

/// Why a continue URL can't be used: `InvalidContinueUrl` on the bus.
public enum ContinueURLError: Error, Sendable, Hashable { case missing, notAWebURL }

/// The continue URL of a mail: the caller's or the app's, with what finds the row again (behaviour: Pending flows 1).
public enum ContinueURL {
  /// `url` with the hints added to its query. Its own query and fragment are kept byte for byte, but for parameters of
  /// the hints' names, which would make two of them.
  ///
  /// - Throws: `notAWebURL` unless `url` is an absolute http(s) URL.
  public static func adding(_ hints: LinkHints, to url: String) throws(ContinueURLError) -> String {
    guard url.utf8.count <= LinkParser.sizeLimit, !Parameters.hasControl(url),
      let split = try? SplitURL(Array(url.utf8)[...]), !split.hasSpace,
      split.scheme.isName("https") || split.scheme.isName("http"), let authority = split.authority,
      (try? WebAuthority(authority)) != nil
    else { throw .notAWebURL }
    let added = parameters(hints)
    guard !added.isEmpty else { return url }
    let kept = own(split.query)
    var out = "\(split.scheme.ascii)://\(authority.ascii)\(split.path.ascii)?\(kept)"
    if !kept.isEmpty, !kept.hasSuffix("&") { out += "&" }
    out += added.joined(separator: "&")
    if let fragment = split.fragment { out += "#\(fragment.ascii)" }
    return out
  }

  private static func parameters(_ hints: LinkHints) -> [String] {
    var out: [String] = []
    if let session = hints.sessionID { out.append("ui_sid=\(PercentCoding.encode(session.reveal()))") }
    if let uid = hints.anonymousUID { out.append("ui_auid=\(PercentCoding.encode(uid))") }
    if hints.sameDevice { out.append("ui_sd=1") }
    if let provider = hints.providerID { out.append("ui_pid=\(PercentCoding.encode(provider))") }
    return out
  }

  /// The caller's query without pairs that the parser would take for hints.
  private static func own(_ query: Bytes?) -> String {
    guard let query else { return "" }
    let pairs = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
    let kept = pairs.enumerated().filter { index, pair in
      // Behind an `&`, the parser takes `amp;` for a part of it (field report B047).
      let isEntity = index > 0 && pair.hasPrefix("amp;")
      let name = (isEntity ? pair.dropFirst(4) : pair).cut(at: UInt8(ascii: "=")).head
      return !(name.equals("ui_sid") || name.equals("ui_auid") || name.equals("ui_sd") || name.equals("ui_pid"))
    }
    return kept.map(\.element.ascii).joined(separator: "&")
  }
}
