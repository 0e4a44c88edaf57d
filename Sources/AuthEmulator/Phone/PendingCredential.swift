import AuthCore

/// What the first factor alone gives: base64 of JSON. The recorded service takes it any number of times; by production's rules
/// it is spent once the second factor has been shown.
enum PendingCredential {
  /// What a project knows of one that it gave out.
  struct State: Sendable {
    /// Unix milliseconds.
    let since: Int64
    /// Wrong codes of authenticator apps that it has been tried with.
    var attempts = 0
    var isSpent = false
  }

  private static let mark = "_AuthEmulatorMfaPendingCredential"

  /// The part of a sign-in's answer that stands in place of tokens.
  /// - Parameter isStrict: whether each sign-in has its own; the recorded service's differ by account alone.
  static func answer(
    _ account: Account, provider: String, _ project: inout Project, now: Int64, isStrict: Bool
  ) -> JSONValue {
    var content: [(key: String, value: JSONValue)] = [
      (mark, "DO NOT MODIFY"), ("localId", .string(account.localID)), ("signInProvider", .string(provider)),
      ("projectId", .string(project.id)),
    ]
    if isStrict { content.append(("id", .string(RandomText.letters(12)))) }
    if let tenant = project.tenant { content.append(("tenantId", .string(tenant.id))) }
    let text = Base64.encode(JSONValue.object(text: content))
    project.pending[text] = State(since: now)
    return [
      "mfaPendingCredential": .string(text), "mfaInfo": .array((account.factors ?? []).map(\.hint)),
    ]
  }

  /// The account and the first factor's provider.
  /// - Parameter isStrict: whether one that is unknown or spent is refused, and told as the protocol lists it.
  static func redeem(
    _ text: String, _ project: Project, now: Int64, isStrict: Bool
  ) throws(APIError) -> (account: Account, provider: String) {
    let state = project.pending[text]
    if isStrict, state?.isSpent ?? true { throw APIError("INVALID_MFA_PENDING_CREDENTIAL") }
    guard let bytes = Base64.decode(text), let content = try? JSONText.parse(bytes), content[mark] != nil,
      let localID = content["localId"]?.string, let provider = content["signInProvider"]?.string
    else { throw APIError("((Invalid phoneVerificationInfo.mfaPendingCredential.))") }
    guard content["projectId"]?.string == project.id else {
      throw APIError("INVALID_PROJECT_ID : Project ID does not match MFA pending credential.")
    }
    if let lifetime = project.factorSettings.pendingLifetime, let since = state?.since, now >= since + lifetime * 1000 {
      throw APIError("INVALID_MFA_PENDING_CREDENTIAL")
    }
    if let limit = project.factorSettings.attempts, state?.attempts ?? 0 >= limit {
      throw APIError("TOO_MANY_ATTEMPTS_TRY_LATER")
    }
    guard let account = project.account(localID) else {
      throw APIError("((User in pendingCredentialPayload does not exist.))")
    }
    return (account, provider)
  }
}
