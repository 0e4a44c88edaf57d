import AuthCore

/// What is done with the account in the double, and what waits for signing in again.
extension InMemoryAccounts {
  /// - Throws: what linkd's method answers at once; what it finds out later is a stage.
  mutating func begin(_ action: AccountAction) throws(LinkdError) -> InMemoryFlow {
    let user = try signedIn()
    var memory = InMemoryFlow.Memory()
    memory.owner = user.uid
    switch action {
    case .changeEmail(let email): memory.email = try InMemoryAuthService.address(email)
    case .changePhoneNumber(let text, _): memory.number = try Self.number(text)
    case .enrollPhoneFactor(let text, _, _): memory.number = try Self.number(text)
    case .updatePassword(let new):
      if user.email == nil { throw InMemoryAuthService.error(.operationNotAllowed) }
      if new.reveal().isEmpty { throw InMemoryAuthService.error(.weakPassword) }
    case .unenrollFactor(let uid):
      if !user.secondFactors.contains(where: { $0.uid == uid }) { throw InMemoryAuthService.error(.factorNotFound) }
    case .unlink(let id):
      if !user.providers.contains(where: { $0.providerID == id }) { throw InMemoryAuthService.error(.noSuchProvider) }
    case .reauthenticate: return try beginAgain(user)
    case .enrollTOTPFactor, .deleteUser: break
    }
    let flow = try makeFlow(.action(action), action.method, memory)
    perform(action, flow)
    return flow
  }

  /// In the way in which the user signed in.
  private mutating func beginAgain(_ user: User) throws(LinkdError) -> InMemoryFlow {
    let way = wayBack(of: user)
    switch way.kind {
    case .oauth: return try begin(.provider(way.providerID ?? ""), .reauthenticate)
    case .emailLink: return try begin(.emailLink(way.email ?? ""), .reauthenticate)
    case .phone: return try begin(.phone(way.phoneNumber ?? ""), .reauthenticate)
    case .password:
      var memory = InMemoryFlow.Memory()
      (memory.owner, memory.email) = (user.uid, way.email)
      let flow = try makeFlow(.signIn(.reauthenticate), .password, memory)
      let expiresAt = now + Self.patience
      flow.move(to: .waitingForPassword) { details in (details.email, details.expiresAt) = (way.email, expiresAt) }
      return flow
    case nil: throw InMemoryAuthService.error(.operationNotAllowed)
    }
  }

  /// How a user can confirm who they are; `kind` is nil for a guest and the like.
  private func wayBack(of user: User) -> FlowReauthentication {
    var way = FlowReauthentication(nil)
    (way.email, way.phoneNumber) = (user.email, user.phoneNumber)
    way.message = "In memory: sign in again."
    switch signedInBy {
    case .provider(let id): (way.kind, way.providerID, way.providerName) = (.oauth, id, id)
    case .password: way.kind = .password
    case .phone: way.kind = .phone
    case .emailLink: way.kind = .emailLink
    case .anonymous, .custom, .actionCode, .totp, .none: way.kind = user.email == nil ? nil : .emailLink
    }
    return way
  }

  /// Does it, or waits for a recent sign-in.
  mutating func perform(_ action: AccountAction, _ flow: InMemoryFlow) {
    let isGuest = status.user?.isAnonymous ?? false
    attempt(flow) { content throws(LinkdError) in
      if flow.status.purpose == .enrollFactor { try content.checkEnrollment(of: flow.memory.number) }
      guard content.isRecent || isGuest else { return content.park(flow) }
      switch action {
      case .changePhoneNumber, .enrollPhoneFactor: content.send(flow)
      case .enrollTOTPFactor: content.showSecret(flow)
      case .updatePassword, .changeEmail, .unenrollFactor, .unlink, .deleteUser, .reauthenticate:
        flow.move(to: .exchanging)
        try content.change(action, flow)
      }
    }
  }

  private func park(_ flow: InMemoryFlow) {
    guard let user = status.user else { return }
    let (way, expiresAt) = (wayBack(of: user), now + Self.patience)
    flow.move(to: .reauthenticationRequired) { details in
      (details.reauthentication, details.expiresAt) = (way, expiresAt)
    }
  }

  /// What the code was for.
  mutating func change(_ flow: InMemoryFlow) throws(LinkdError) {
    guard case .action(let action) = flow.goal else { throw InMemoryFlow.notWaiting }
    try change(action, flow)
  }

  private mutating func change(_ action: AccountAction, _ flow: InMemoryFlow) throws(LinkdError) {
    var user = try signedIn()
    if user.uid != flow.memory.owner { throw InMemoryAuthService.error(.userMismatch) }
    guard let index = index(uid: user.uid) else { throw InMemoryAuthService.error(.userNotFound) }
    switch action {
    case .updatePassword(let new): return update(new, index, flow)
    case .changeEmail: return try mailChange(of: user, flow)
    case .changePhoneNumber: user.set(try freeNumber(flow, for: user))
    case .enrollPhoneFactor(_, let name, _):
      addFactor(number: flow.memory.number, key: nil, displayName: name, to: index)
      user = accounts[index].user
    case .enrollTOTPFactor(let name):
      addFactor(number: nil, key: flow.memory.secret?.key, displayName: name, to: index)
      user = accounts[index].user
    case .unenrollFactor(let uid):
      user.secondFactors.removeAll { $0.uid == uid }
      (accounts[index].numbers[uid], accounts[index].keys[uid]) = (nil, nil)
    case .unlink(let id):
      user.providers.removeAll { $0.providerID == id }
      if id == "phone" { user.phoneNumber = nil }
      if id == "password" { accounts[index].password = nil }
    case .deleteUser:
      accounts.remove(at: index)
      adopt(nil)
      return succeed(flow, with: nil)
    case .reauthenticate: break
    }
    adopt(user)
    succeed(flow, with: user)
  }

  /// A weak one is asked for again.
  private mutating func update(_ new: Secret<String>, _ index: Int, _ flow: InMemoryFlow) {
    if let error = InMemoryAuthService.weakness(of: new) {
      let expiresAt = now + Self.patience
      return flow.move(to: .waitingForPassword) { details in
        (details.error, details.isNewPassword, details.expiresAt) = (error, true, expiresAt)
      }
    }
    accounts[index].password = new
    var user = accounts[index].user
    if !user.providers.contains(where: { $0.providerID == "password" }) {
      user.providers.append(LinkedProvider(providerID: "password"))
    }
    adopt(user)
    succeed(flow, with: user)
  }

  private mutating func mailChange(of user: User, _ flow: InMemoryFlow) throws(LinkdError) {
    guard let email = flow.memory.email else { throw InMemoryFlow.notWaiting }
    if index(of: email) != nil { throw InMemoryAuthService.error(.emailAlreadyInUse) }
    mails.append((.emailChange, email))
    newEmails[email] = user.uid
    flow.move(to: .succeeded) { details in (details.user, details.email) = (user, email) }
  }

  private func freeNumber(_ flow: InMemoryFlow, for user: User) throws(LinkdError) -> String {
    guard let number = flow.memory.number else { throw InMemoryFlow.notWaiting }
    if accounts.contains(where: { $0.user.phoneNumber == number && $0.user.uid != user.uid }) {
      throw InMemoryAuthService.error(.credentialAlreadyInUse)
    }
    return number
  }
}

extension AccountAction {
  fileprivate var method: SignInMethod {
    switch self {
    case .changePhoneNumber, .enrollPhoneFactor: .phone
    case .enrollTOTPFactor: .totp
    case .updatePassword, .changeEmail, .unenrollFactor, .unlink, .deleteUser, .reauthenticate: .none
    }
  }
}
