import AuthCore

/// An action code that was sent by mail.
struct OobRecord: Sendable {
  let code: String
  let requestType: String
  let email: String
  let newEmail: String?
  /// The link of the mail.
  let link: String

  var json: JSONValue {
    .record([
      "email": .string(email), "newEmail": newEmail.json, "requestType": .string(requestType), "oobCode": .string(code),
      "oobLink": .string(link),
    ])
  }
}

/// A code that was sent by text message.
struct SMSRecord: Sendable {
  let code: String
  let phoneNumber: String
  let sessionInfo: String

  var json: JSONValue {
    ["code": .string(code), "phoneNumber": .string(phoneNumber), "sessionInfo": .string(sessionInfo)]
  }
}

/// A project: its accounts, the codes on their way, its settings.
struct Project: Sendable {
  let id: String
  /// In the order they were made.
  private(set) var accounts: [Account] = []
  private(set) var oobCodes: [OobRecord] = []
  var smsCodes: [SMSRecord] = []
  /// Numbers by the temporary proof that somebody has them.
  var phoneProofs: [String: String] = [:]
  var allowDuplicateEmails = false
  var improvedEmailPrivacy = false

  init(id: String) { self.id = id }

  func account(_ localID: String) -> Account? { accounts.first { $0.localID == localID } }
  func account(email: String) -> Account? { accounts.first { $0.email == email.lowercased() } }
  func account(phoneNumber: String) -> Account? { accounts.first { $0.phoneNumber == phoneNumber } }
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

  /// An id that no account has.
  func freshID() -> String {
    var id = RandomText.letters(28)
    while account(id) != nil { id = RandomText.letters(28) }
    return id
  }

  /// Adds an account, or replaces the one with its id.
  mutating func store(_ account: Account) {
    var account = account
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
    _ requestType: String, mode: String, email: String, newEmail: String? = nil, continueURL: String?, origin: String
  ) -> OobRecord {
    let code = RandomText.urlLetters(54)
    var link = "\(origin)/emulator/action?mode=\(mode)&lang=en&oobCode=\(code)&apiKey=fake-api-key"
    if let continueURL { link += "&continueUrl=\(URLText.encodeComponent(continueURL))" }
    let record = OobRecord(code: code, requestType: requestType, email: email, newEmail: newEmail, link: link)
    oobCodes.append(record)
    return record
  }
}
