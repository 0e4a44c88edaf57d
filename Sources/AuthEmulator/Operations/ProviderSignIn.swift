import AuthCore

/// `accounts:signInWithIdp`: a provider's credential for a session, or one more way into an account
/// (identity-toolkit 2.11).
enum ProviderSignIn {
  static let operations: [Operation] = [
    .toolkit(
      "accounts:signInWithIdp", legacy: "verifyAssertion",
      fields: Shape.fields(
        texts: ["requestUri", "postBody", "idToken", "pendingIdToken", "pendingToken", "sessionId"],
        truths: ["returnIdpCredential", "returnRefreshToken", "autoCreate"]),
      firstField: "requestUri", handler: handle)
  ]

  /// What becomes of a credential.
  private struct Outcome {
    var account: Account
    var isNewUser = false
    var isRecycled = false
  }

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if call.body["returnRefreshToken"]?.bool == true {
      throw .notImplemented("returnRefreshToken is not implemented yet.")
    }
    if call.filled("pendingIdToken") != nil { throw .notImplemented("pendingIdToken is not implemented yet.") }
    let credential = try credential(call, &world)
    let project = world[call.scope]
    var outcome: Outcome
    if let token = call["idToken"] {
      let account = try project.redeem(idToken: token).account
      if let conflict = conflict(credential, account, project) {
        guard call.body["returnIdpCredential"]?.bool == true else { throw APIError(conflict) }
        let answer = credential.json.adding(world.providers.pending(credential))
        return .json(answer.adding(["errorMessage": .string(conflict)]))
      }
      outcome = Outcome(account: link(credential, to: account, project))
    } else {
      if let account = unproven(credential, project) {
        return .json(needsConfirmation(credential, account).adding(world.providers.pending(credential)))
      }
      try admit(call, credential, project, world)
      outcome = signIn(credential, project, &world)
      if outcome.account.disabled == true { throw APIError("USER_DISABLED") }
    }
    outcome.account.lastLoginAt = String(world.now)
    if outcome.isNewUser {
      _ = try world.ask(.beforeCreate, about: &outcome.account, provider: credential.providerID, call.scope)
    }
    world[call.scope].store(outcome.account)
    let session = Session(provider: credential.providerID, attributes: credential.attributes)
    let end =
      call["idToken"] == nil
      ? try world.finishSignIn(outcome.account, session, call.scope)
      : try world[call.scope].issueTokens(for: outcome.account.localID, session, now: world.now)
    let tenant: JSONValue = .record(["tenantId": call.scope.tenant.json])
    return .json(answer(credential, outcome).adding(tenant).adding(end))
  }

  private static func credential(_ call: Call, _ world: inout World) throws(APIError) -> ProviderCredential {
    guard let address = call.filled("requestUri") else { throw APIError("MISSING_REQUEST_URI") }
    guard URLText.isAbsolute(address) else { throw APIError("INVALID_REQUEST_URI") }
    if world.providers.hasProductionRules, let token = call.filled("pendingToken") {
      guard let pending = world.providers.pendingCredentials[token] else { throw APIError("INVALID_PENDING_TOKEN") }
      return pending
    }
    let credential = try ProviderCredential(
      address: address, form: call["postBody"] ?? "", accessTokens: world.providers.accessTokens)
    try world.redeemReturn(address, providerID: credential.providerID, session: call["sessionId"])
    return credential
  }

  /// `autoCreate: false`, which the recorded service doesn't look at: whoever isn't there isn't made.
  private static func admit(
    _ call: Call, _ credential: ProviderCredential, _ project: Project, _ world: World
  ) throws(APIError) {
    guard world.providers.hasProductionRules, call.body["autoCreate"] == false,
      project.account(provider: credential.providerID, rawID: credential.rawID) == nil
    else { return }
    throw APIError("USER_NOT_FOUND")
  }

  private static func answer(_ credential: ProviderCredential, _ outcome: Outcome) -> JSONValue {
    credential.json.adding(
      .record([
        "localId": .string(outcome.account.localID), "isNewUser": outcome.isNewUser ? true : nil,
        "emailRecycled": outcome.isRecycled ? true : nil,
        "emailVerified": credential.emailVerified ? true : outcome.account.emailVerified.json,
      ]))
  }

  /// Why the credential can't be linked to the account.
  private static func conflict(
    _ credential: ProviderCredential, _ account: Account, _ project: Project
  ) -> String? {
    if project.account(provider: credential.providerID, rawID: credential.rawID) != nil {
      return "FEDERATED_USER_ID_ALREADY_LINKED"
    }
    guard !project.allowDuplicateEmails, let email = credential.email, let other = project.account(email: email),
      other.localID != account.localID
    else { return nil }
    return "EMAIL_EXISTS"
  }

  private static func link(
    _ credential: ProviderCredential, to account: Account, _ project: Project
  ) -> Account {
    var account = account
    account.link(credential.info)
    if !project.allowDuplicateEmails {
      if account.email == nil, let email = credential.email {
        (account.email, account.emailVerified) = (email, credential.emailVerified)
      } else if account.email == credential.email, credential.emailVerified {
        account.emailVerified = true
      }
    }
    return account
  }

  /// The account whose address the provider names without vouching for it.
  private static func unproven(_ credential: ProviderCredential, _ project: Project) -> Account? {
    guard !project.allowDuplicateEmails, !credential.emailVerified,
      project.account(provider: credential.providerID, rawID: credential.rawID) == nil
    else { return nil }
    return credential.email.flatMap { project.account(email: $0) }
  }

  private static func needsConfirmation(_ credential: ProviderCredential, _ account: Account) -> JSONValue {
    let others = (account.providers ?? []).map(\.providerID).filter { !["password", "phone"].contains($0) }
    return credential.json.adding([
      "needConfirmation": true, "localId": .string(account.localID),
      "verifiedProvider": .array(others.map(JSONValue.string)),
    ])
  }

  private static func signIn(_ credential: ProviderCredential, _ project: Project, _ world: inout World) -> Outcome {
    if var account = project.account(provider: credential.providerID, rawID: credential.rawID) {
      account.link(credential.info)
      return Outcome(account: account)
    }
    let owner = project.allowDuplicateEmails ? nil : credential.email.flatMap { project.account(email: $0) }
    var outcome = Outcome(
      account: owner ?? Account(localID: world.freshID(), now: world.now), isNewUser: owner == nil)
    if let owner { takeOver(&outcome, owner, credential, now: world.now) }
    outcome.account.link(credential.info)
    (outcome.account.displayName, outcome.account.photoURL) = (credential.displayName, credential.photoURL)
    if !project.allowDuplicateEmails, let email = credential.email {
      (outcome.account.email, outcome.account.emailVerified) = (email, credential.emailVerified)
    }
    return outcome
  }

  /// The provider vouches for the address of an account: whoever made it without proof loses his ways in.
  private static func takeOver(
    _ outcome: inout Outcome, _ owner: Account, _ credential: ProviderCredential, now: Int64
  ) {
    outcome.isRecycled = owner.providers?.contains { $0.providerID == credential.providerID } == true
    guard owner.emailVerified != true else { return }
    outcome.account.passwordHash = nil
    outcome.account.phoneNumber = nil
    outcome.account.emailLinkSignin = nil
    outcome.account.unlinkFederated()
    outcome.account.validSince = String(now / 1000)
  }
}
