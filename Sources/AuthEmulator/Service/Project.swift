import AuthCore

/// An action code that was sent by mail.
struct OobRecord: Sendable {
  let code: String
  let requestType: String
  let email: String
  let newEmail: String?
  /// The second factor that it takes away.
  let factorID: String?
  /// The link of the mail.
  let link: String

  var json: JSONValue {
    .record([
      "email": .string(email), "newEmail": newEmail.json, "requestType": .string(requestType), "oobCode": .string(code),
      "oobLink": .string(link),
    ])
  }
}

/// A project, or a tenant of it: its accounts, the codes on their way, its settings.
struct Project: Sendable {
  let id: String
  /// Nil for the project itself.
  var tenant: Tenant?
  /// In the order they were made.
  private(set) var accounts: [Account] = []
  private(set) var oobCodes: [OobRecord] = []
  var messages = TextMessages()
  var allowDuplicateEmails = false
  var improvedEmailPrivacy = false

  /// Where the functions are that have a say about sign-ins (`World.ask`), as it was given.
  var blockingFunctions: JSONValue = [:]
  /// Settings of the sign-in that have no effect.
  var otherSignIn: JSONValue = [:]
  /// Where the links of mails lead instead of the emulator's own action page: a project's custom action URL. The recorded
  /// service has none. It's how links other than for sign-in reach an app's page unspent.
  var actionURL: String?
  /// Whether second factors by authenticator app are on; the recorded service knows none.
  var hasTOTP = false
  var enrollments: [TOTP.Enrollment] = []
  var phone = PhoneSettings()
  var factorSettings = FactorSettings()
  var recentLogin = RecentLogin()
  /// What shown first factors gave.
  var pending: [String: PendingCredential.State] = [:]
  var revokedTokens: [RevokedToken] = []

  init(id: String, tenant: Tenant? = nil) { (self.id, self.tenant) = (id, tenant) }

  // A project has everything on that can be switched off for a tenant.
  var allowsPassword: Bool { tenant?.allowsPassword ?? true }
  var allowsEmailLink: Bool { tenant?.allowsEmailLink ?? true }
  var allowsAnonymous: Bool { tenant?.allowsAnonymous ?? true }
  var hasFactors: Bool { tenant?.hasFactors ?? true }
  var hasSMSFactors: Bool { hasFactors && tenant?.factorProviders.contains("PHONE_SMS") ?? true }

  func account(_ localID: String) -> Account? { accounts.first { $0.localID == localID } }
  func account(email: String) -> Account? { accounts.first { $0.email == email.lowercased() } }
  func account(passkey: String) -> Account? {
    accounts.first { $0.passkeys?.contains { $0.credentialID == passkey } == true }
  }
  func account(phoneNumber: String) -> Account? { accounts.first { $0.phoneNumber == phoneNumber } }
  /// Whether a number is somebody's second factor.
  func hasFactor(_ number: String) -> Bool {
    accounts.contains { $0.factors?.contains { $0.phoneNumber == number } == true }
  }
  func account(provider: String, rawID: String) -> Account? {
    accounts.first { $0.providers?.contains { $0.providerID == provider && $0.rawID == rawID } == true }
  }

  /// The accounts that have the address: as their own, or known from a linked provider.
  func accounts(knowing email: String) -> [Account] {
    accounts.filter { account in
      account.email == email
        || !allowDuplicateEmails && account.providers?.contains { $0.email == email } == true
    }
  }

  /// Adds an account, or replaces the one with its id.
  mutating func store(_ account: Account) {
    var account = account
    account.tenantID = tenant?.id
    account.refreshOwnProviders()
    if let index = accounts.firstIndex(where: { $0.localID == account.localID }) {
      accounts[index] = account
    } else {
      accounts.append(account)
    }
  }

  mutating func delete(_ localID: String) { accounts.removeAll { $0.localID == localID } }
  mutating func deleteAllAccounts() { accounts = [] }

  func oobCode(_ code: String) -> OobRecord? { oobCodes.first { $0.code == code } }
  mutating func spend(_ code: OobRecord) { oobCodes.removeAll { $0.code == code.code } }

  /// Makes an action code and the link of its mail.
  mutating func issueCode(
    _ requestType: String, mode: String, email: String, newEmail: String? = nil, factorID: String? = nil,
    continueURL: String?, origin: String
  ) -> OobRecord {
    let code = RandomText.urlLetters(54)
    let page = actionURL ?? "\(origin)/emulator/action"
    var link = page + (page.contains("?") ? "&" : "?") + "mode=\(mode)&lang=en&oobCode=\(code)&apiKey=fake-api-key"
    if let continueURL { link += "&continueUrl=\(URLText.encodeComponent(continueURL))" }
    if let tenant { link += "&tenantId=\(tenant.id)" }
    let record = OobRecord(
      code: code, requestType: requestType, email: email, newEmail: newEmail, factorID: factorID, link: link)
    oobCodes.append(record)
    return record
  }
}
