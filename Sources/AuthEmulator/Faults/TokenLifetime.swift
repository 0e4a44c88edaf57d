import AuthCore

/// ID tokens that live shorter, or longer, than the hour they usually have.
enum TokenLifetime {
  private static let lifetimes = ["expiresIn", "expires_in"]
  private static let tokens = ["idToken", "id_token", "access_token"]

  /// `reply` with the lifetime in seconds wherever it speaks of one; anything but JSON with a token stays as it is.
  static func shorten(_ reply: Reply, to seconds: Int64) -> Reply {
    guard var members = (try? JSONText.parse(reply.body))?.object, !tokens.contains(where: { isSigned(members[$0]) })
    else { return reply }
    for key in lifetimes where members[key] != nil { members[key] = .string(String(seconds)) }
    for key in tokens {
      if let token = members[key]?.string { members[key] = .string(shorten(token, to: seconds)) }
    }
    var reply = reply
    reply.body = Array(JSONValue.object(members).text.utf8)
    return reply
  }

  /// A provider's token isn't touched: it would be another's.
  private static func isSigned(_ token: JSONValue?) -> Bool {
    token?.string.map { JWT.claims($0) != nil && !$0.hasSuffix(".") } ?? false
  }

  /// The emulator's tokens aren't signed, so that their claims can be changed.
  private static func shorten(_ token: String, to seconds: Int64) -> String {
    guard var claims = JWT.claims(token)?.object, let issued = claims["iat"]?.integer else { return token }
    claims["exp"] = .integer(issued + seconds)
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    return "\(parts[0]).\(Base64.encodeURL(JSONValue.object(claims).text))."
  }
}
