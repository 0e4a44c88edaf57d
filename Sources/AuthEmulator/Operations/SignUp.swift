import AuthCore

/// `accounts:signUp`: a guest, an account with address and password, or a password for an account that has none
/// (identity-toolkit 2.1).
enum SignUp {
  static let operations: [Operation] = [
    {
      var operation = Operation.toolkit(
        "accounts:signUp", legacy: "signupNewUser",
        fields: Shape.fields(
          texts: ["idToken", "email", "password", "displayName", "photoUrl", "localId", "phoneNumber"],
          truths: ["emailVerified", "disabled"], others: ["mfaInfo": .list(.record(SecondFactor.fields))]),
        firstField: "localId", handler: handle)
      operation.paths.append("/identitytoolkit.googleapis.com/v1/projects/{project}/accounts")
      return operation
    }()
  ]

  private static func handle(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if call.filled("localId") != nil, !call.isPrivileged || call["idToken"] != nil {
      throw APIError("UNEXPECTED_PARAMETER : User ID")
    }
    if call.isPrivileged, call["idToken"] == nil { return try administrate(call, &world) }
    guard call["idToken"] == nil, call["email"] == nil, call["password"] == nil else {
      return try withPassword(call, &world)
    }
    guard world[call.scope].allowsAnonymous else { throw APIError("ADMIN_ONLY_OPERATION") }
    let account = Account(localID: world.freshID(), now: world.now)
    return .json(try end(account, Session(provider: "anonymous"), call, &world))
  }

  private static func withPassword(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let credentials = try credentials(call, world[call.scope])
    var account = try owner(call, &world)
    account.setPassword(credentials.password, now: world.now)
    (account.email, account.emailVerified) = (credentials.email, false)
    account.lastLoginAt = String(world.now)
    let session = Session(provider: "password")
    guard call["idToken"] == nil else { return .json(try end(account, session, call, &world)) }
    // Functions have a say about new accounts, not about guests and what they become.
    _ = try world.ask(.beforeCreate, about: &account, provider: "password", call.scope)
    world[call.scope].store(account)
    let tokens = try world.admit(account, session, call.scope)
    return .json(answer(world[call.scope].account(account.localID) ?? account).adding(tokens))
  }

  private static func end(
    _ account: Account, _ session: Session, _ call: Call, _ world: inout World
  ) throws(APIError) -> JSONValue {
    world[call.scope].store(account)
    return answer(account).adding(
      try world[call.scope].issueTokens(for: account.localID, session, now: world.now))
  }

  private static func credentials(
    _ call: Call, _ project: Project
  ) throws(APIError) -> (email: String, password: String) {
    guard let email = call.filled("email")?.lowercased() else { throw APIError("MISSING_EMAIL") }
    guard let password = call.filled("password") else { throw APIError("MISSING_PASSWORD") }
    guard project.allowsPassword else { throw APIError("OPERATION_NOT_ALLOWED") }
    try Check.email(email)
    if project.account(email: email) != nil { throw APIError("EMAIL_EXISTS") }
    try Check.password(password)
    return (email, password)
  }

  /// The account of the ID token, or a new one.
  private static func owner(_ call: Call, _ world: inout World) throws(APIError) -> Account {
    if let token = call["idToken"] { return try world[call.scope].redeem(idToken: token).account }
    var account = Account(localID: world.freshID(), now: world.now)
    account.displayName = call["displayName"]
    return account
  }

  /// An administrator makes an account with any fields, and gets no tokens.
  private static func administrate(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let project = world[call.scope]
    if let id = call.filled("localId"), project.account(id) != nil { throw APIError("DUPLICATE_LOCAL_ID") }
    var account = Account(localID: call.filled("localId") ?? world.freshID(), now: world.now)
    if let email = call.filled("email")?.lowercased() {
      try Check.email(email)
      if project.account(email: email) != nil { throw APIError("EMAIL_EXISTS") }
      account.email = email
    }
    if let password = call.filled("password") {
      try Check.password(password)
      account.setPassword(password, now: world.now)
    }
    if let phone = call["phoneNumber"] {
      try Check.phoneNumber(phone)
      if project.account(phoneNumber: phone) != nil { throw APIError("PHONE_NUMBER_EXISTS") }
      account.phoneNumber = phone
    }
    (account.displayName, account.photoURL) = (call["displayName"], call["photoUrl"])
    account.emailVerified = call.body["emailVerified"]?.bool ?? false
    if call.body["disabled"]?.bool == true { account.disabled = true }
    if let factors = call.body["mfaInfo"]?.array { account.factors = try SecondFactor.merged(factors) }
    world[call.scope].store(account)
    return .json(answer(account))
  }

  private static func answer(_ account: Account) -> JSONValue {
    .record([
      "kind": "identitytoolkit#SignupNewUserResponse", "localId": .string(account.localID),
      "displayName": account.displayName.json, "email": account.email.json,
    ])
  }
}

/// Checks that several operations make.
enum Check {
  /// Nothing but the number of at signs is looked at.
  static func email(_ email: String) throws(APIError) {
    if email.count(where: { $0 == "@" }) != 1 || email.hasPrefix("@") || email.hasSuffix("@") {
      throw APIError("INVALID_EMAIL")
    }
  }

  static func password(_ password: String) throws(APIError) {
    if password.count < 6 { throw APIError("WEAK_PASSWORD : Password should be at least 6 characters") }
  }

  /// Nothing but the leading plus is looked at.
  /// - Parameter isStrict: whether it must be E.164, as in production.
  static func phoneNumber(_ number: String, isStrict: Bool = false) throws(APIError) {
    if !number.hasPrefix("+") { throw APIError("INVALID_PHONE_NUMBER : Invalid format.") }
    guard isStrict else { return }
    let digits = number.utf8.dropFirst()
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }), digits.first != 0x30 else {
      throw APIError("INVALID_PHONE_NUMBER : Invalid format.")
    }
    if digits.count < 6 { throw APIError("INVALID_PHONE_NUMBER : TOO_SHORT") }
    if digits.count > 15 { throw APIError("INVALID_PHONE_NUMBER : TOO_LONG") }
  }
}
