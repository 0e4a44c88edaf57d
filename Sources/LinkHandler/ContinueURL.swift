public import AuthCore

/// Why a continue URL can't be used.
public enum ContinueURLError: Error, Sendable, Hashable { case missing, notAWebURL }

/// The continue URL of a mail: the caller's or the app's, with what finds the row again (behaviour: Pending flows 1).
public enum ContinueURL {
  /// `url` with the hints added to its query. Its own query and fragment are kept byte for byte.
  ///
  /// - Throws: `notAWebURL` unless `url` is an absolute http(s) URL.
  public static func adding(_ hints: LinkHints, to url: String) throws(ContinueURLError) -> String {
    guard let split = try? SplitURL(Array(url.utf8)[...]), split.scheme == "https" || split.scheme == "http",
      let authority = split.authority, (try? WebAuthority(authority)) != nil, !url.utf8.contains(UInt8(ascii: " "))
    else { throw .notAWebURL }
    var parameters: [String] = []
    if let session = hints.sessionID { parameters.append("ui_sid=\(PercentCoding.encode(session.reveal()))") }
    if let uid = hints.anonymousUID { parameters.append("ui_auid=\(PercentCoding.encode(uid))") }
    if hints.sameDevice { parameters.append("ui_sd=1") }
    if let provider = hints.providerID { parameters.append("ui_pid=\(PercentCoding.encode(provider))") }
    guard !parameters.isEmpty else { return url }
    let (head, fragment) = Array(url.utf8)[...].cut(at: UInt8(ascii: "#"))
    var out = head.ascii
    if split.query == nil { out += "?" } else if split.query?.isEmpty == false, !out.hasSuffix("&") { out += "&" }
    out += parameters.joined(separator: "&")
    if let fragment { out += "#\(fragment.ascii)" }
    return out
  }
}
