import AuthCore

/// First factors of the double.
extension InMemoryAccounts {
  /// - Throws: what linkd's method answers at once; what it finds out later is a stage.
  mutating func begin(_ request: SignInRequest, _ purpose: SignInPurpose) throws(LinkdError) -> InMemoryFlow {
    var memory = InMemoryFlow.Memory()
    memory.owner = purpose == .signIn ? nil : try signedIn().uid
    switch request {
    case .emailLink(let email), .password(let email, _): memory.email = try InMemoryAuthService.address(email)
    case .phone(let text, _): memory.number = try Self.number(text)
    case .provider, .credential, .customToken: break
    }
    if purpose == .link, memory.number != nil, try signedIn().phoneNumber != nil {
      throw InMemoryAuthService.error(.providerAlreadyLinked)
    }
    let flow = try makeFlow(.signIn(purpose), request.method, memory)
    attempt(flow) { content throws(LinkdError) in try content.run(request, purpose, flow) }
    return flow
  }

  mutating func makeFlow(
    _ goal: InMemoryFlow.Goal, _ method: SignInMethod, _ memory: InMemoryFlow.Memory
  ) throws(LinkdError) -> InMemoryFlow {
    guard let id = FlowID("flow\(flows.count + 1)") else { throw InMemoryAuthService.error(.internal) }
    let flow = InMemoryFlow(id, goal, method: method, at: now, handler)
    flow.memory = memory
    flows.append(flow)
    return flow
  }

  /// What `body` throws is the flow's end.
  mutating func attempt(_ flow: InMemoryFlow, _ body: (inout Self) throws(LinkdError) -> Void) {
    do throws(LinkdError) { try body(&self) } catch { flow.fail(error) }
  }

  private mutating func run(
    _ request: SignInRequest, _ purpose: SignInPurpose, _ flow: InMemoryFlow
  ) throws(LinkdError) {
    switch request {
    case .emailLink: mail(flow)
    case .password(_, let password): try compare(password, flow)
    case .phone: send(flow)
    case .provider(let id, _):
      try exchanging(flow) { content throws(LinkdError) in try content.arrive(flow, id, purpose) }
    case .credential(let credential):
      guard credential.idToken != nil || credential.accessToken != nil else {
        throw InMemoryAuthService.error(.invalidProviderResponse)
      }
      try exchanging(flow) { content throws(LinkdError) in try content.arrive(flow, credential.providerID, purpose) }
    case .customToken(let token):
      let uid = token.reveal()
      if uid.isEmpty { throw InMemoryAuthService.error(.invalidCredentials) }
      if index(uid: uid) == nil { accounts.append(.init(user: User(uid: uid), password: nil)) }
      try exchanging(flow) { content throws(LinkdError) in try content.firstFactor(flow, uid) }
    }
  }

  /// As linkd: nobody else's session is `authenticating` for a reauthentication or a link.
  mutating func exchanging(
    _ flow: InMemoryFlow, _ body: (inout Self) throws(LinkdError) -> Void
  ) throws(LinkdError) {
    flow.move(to: .exchanging)
    if flow.status.purpose == .signIn { return try whileAuthenticating(body) }
    try body(&self)
  }

  /// A wrong password is asked for again.
  mutating func compare(_ password: Secret<String>, _ flow: InMemoryFlow) throws(LinkdError) {
    guard let email = flow.memory.email else { throw InMemoryFlow.notWaiting }
    try exchanging(flow) { content throws(LinkdError) in
      if flow.status.purpose == .link { return try content.link(password, email, flow) }
      guard let account = content.index(of: email).map({ content.accounts[$0] }) else {
        throw InMemoryAuthService.error(.emailNotFound)
      }
      if account.password == password { return try content.firstFactor(flow, account.user.uid) }
      let expiresAt = content.now + Self.patience
      flow.move(to: .waitingForPassword) { details in
        (details.error, details.email) = (InMemoryAuthService.error(.invalidCredentials), email)
        details.expiresAt = expiresAt
      }
    }
  }

  private mutating func link(_ password: Secret<String>, _ email: String, _ flow: InMemoryFlow) throws(LinkdError) {
    var user = try signedIn()
    if let index = index(of: email), accounts[index].user.uid != user.uid {
      throw InMemoryAuthService.error(.emailAlreadyInUse)
    }
    if user.providers.contains(where: { $0.providerID == "password" }) {
      throw InMemoryAuthService.error(.providerAlreadyLinked)
    }
    user.providers.append(LinkedProvider(providerID: "password"))
    (user.email, user.isAnonymous) = (email, false)
    if let index = index(uid: user.uid) { accounts[index].password = password }
    adopt(user)
    succeed(flow, with: user)
  }

  /// The link is in the mail.
  mutating func mail(_ flow: InMemoryFlow) {
    guard let email = flow.memory.email else { return }
    let now = now
    flow.memory.sentAt = now
    mails.append((.signIn, email))
    flow.move(to: .waitingForLink, reviving: true) { details in
      (details.email, details.canResendAt) = (email, now + Self.resendPause)
    }
  }

  /// The link was opened on this machine.
  mutating func openLink(_ flow: InMemoryFlow) throws(LinkdError) {
    guard let email = flow.memory.email else { throw InMemoryFlow.notWaiting }
    try exchanging(flow) { content throws(LinkdError) in
      if flow.status.purpose == .link, content.index(of: email) == nil {
        var user = try content.signedIn()
        (user.email, user.emailVerified, user.isAnonymous) = (email, true, false)
        content.adopt(user)
        return content.succeed(flow, with: user)
      }
      let known = content.index(of: email)
      if flow.status.purpose == .link { throw InMemoryAuthService.error(.emailAlreadyInUse) }
      let index = known ?? content.add(email, nil)
      content.accounts[index].user.emailVerified = true
      try content.firstFactor(flow, content.accounts[index].user.uid, isNew: known == nil)
    }
  }

  // MARK: What a proof leads to

  /// The first factor was right: a second one is next, or the end.
  mutating func firstFactor(_ flow: InMemoryFlow, _ uid: String, isNew: Bool = false) throws(LinkdError) {
    if flow.status.purpose == .reauthenticate, flow.memory.owner != uid {
      throw InMemoryAuthService.error(.userMismatch)
    }
    flow.memory.proved = (uid, isNew)
    guard let user = index(uid: uid).map({ accounts[$0].user }) else { throw InMemoryAuthService.error(.userNotFound) }
    if user.secondFactors.isEmpty { return finish(flow) }
    askForFactor(flow)
  }

  /// Everything was right: a session, or one that is new again.
  mutating func finish(_ flow: InMemoryFlow) {
    guard let proved = flow.memory.proved, let index = index(uid: proved.uid) else { return }
    adopt(accounts[index].user, by: flow.status.method ?? .none)
    succeed(flow, with: accounts[index].user, isNew: proved.isNew)
    // A plain sign-in isn't meant for it.
    guard flow.status.purpose == .reauthenticate else { return }
    for parked in flows
    where parked.status.stage == .reauthenticationRequired && parked.memory.owner == proved.uid {
      if case .action(let action) = parked.goal { perform(action, parked) }
    }
  }

  func succeed(_ flow: InMemoryFlow, with user: User?, isNew: Bool = false) {
    flow.move(to: .succeeded) { details in (details.user, details.isNewUser) = (user, isNew) }
  }
}

extension SignInRequest {
  var method: SignInMethod {
    switch self {
    case .emailLink: .emailLink
    case .password: .password
    case .phone: .phone
    case .provider(let id, _): .provider(id)
    case .credential(let credential): .provider(credential.providerID)
    case .customToken: .custom
    }
  }
}
