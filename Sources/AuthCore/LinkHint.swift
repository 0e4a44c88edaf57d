/// What most likely happened to a link that can't be used, for the sentence a person reads. The raw value is the word in
/// JSON; `textID` names the sentence (behaviour: Links 6; field reports B006, B012, B046, B048).
public enum LinkHint: String, Sendable, Hashable, CaseIterable {
  /// The end is missing: copy the whole link.
  case cutOff
  /// Quoted-printable text (RFC 2045 6.7): copy from the mail as shown, not from its source.
  case copiedFromSource
  /// Broken by a line end or a space: `linkctl open -` joins the lines.
  case joinedLines
  /// A gateway hides the target: open the link in a browser, then take the link of the page it ends on.
  case openInBrowser
  /// The code is gone from the link: it was opened elsewhere, or resolved too early.
  case resolvedTooEarly
  /// Percent-encoded once too often.
  case encodedTwice

  /// Stable id of the sentence in the text catalogues.
  public var textID: String { "link.\(rawValue)" }
}

extension Link {
  /// What to tell the person about a recognised link that must not proceed: a redirect with neither answer nor state is
  /// what a shell leaves of a URL (field report B070).
  public var hint: LinkHint? {
    guard case .oauthRedirect(let redirect) = content, redirect.reject == "missingCode",
      case .own(let response) = redirect.response, response.state == nil
    else { return nil }
    return .cutOff
  }
}
