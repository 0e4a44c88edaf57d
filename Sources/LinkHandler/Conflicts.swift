public import AuthCore

/// Seconds that an app has to look at a guest's data before the session changes (behaviour: Anonymous upgrade and conflicts).
public let conflictGrace: Int64 = 5

/// Accounts that collide: what every method's machine does alike.
extension Flow {
  /// Whether the exchange makes a guest's account a lasting one.
  var isUpgrade: Bool { purpose == .signIn && conflict == nil && linkUID != nil && linkUID == anonymousUID }

  /// What `ResolveConflict` takes now, in the order in which it's offered.
  public var conflictOptions: [ConflictChoice] {
    guard stage == .conflict, let conflict else { return [] }
    switch conflict {
    case .anonymousUpgrade, .credentialAlreadyInUse: return [.switch, .keep, .cancel]
    case .accountExistsWithDifferentCredential: return [.signInAndLink, .cancel]
    case .emailAlreadyInUse: return [method == .emailLink ? .newLink : .signInAndLink, .keep, .cancel]
    }
  }

  /// The guest can't become the account, which exists: what is exchanged next signs in to that one.
  mutating func meetExistingAccount() {
    conflict = .anonymousUpgrade
    linkUID = nil
  }

  /// Stands in `conflict` for as long as somebody has to choose.
  mutating func meet(_ kind: ConflictKind, now: Int64) -> [FlowAction] {
    conflict = kind
    return wait(at: .conflict, now: now) + askingForMethods
  }

  // MARK: A guest's sign-in to an account that exists

  /// Whether the account is to be held aside until the app has looked at the guest's data.
  func mustHold(_ user: User, _ guest: String) -> Bool {
    conflict == .anonymousUpgrade && existingUID == nil && guest == anonymousUID && guest != user.uid
  }

  /// The account isn't current yet: its tokens stay in the row.
  mutating func hold(_ user: User, at now: Int64) -> [FlowAction] {
    existingUID = user.uid
    email = email ?? user.email
    return meet(.anonymousUpgrade, now: now) + [.resolveLater(seconds: conflictGrace)]
  }

  mutating func conflictTimeOver(at now: Int64) -> [FlowAction] {
    guard stage == .conflict, conflict == .anonymousUpgrade else { return [] }
    return resolve(.switch, current: nil, at: now)
  }

  func restoredConflict() -> [FlowAction] {
    conflict == .anonymousUpgrade ? [.resolveLater(seconds: conflictGrace)] : askingForMethods
  }

  // MARK: Other ways into the account (firebaseui-behaviour 3.5)

  private var askingForMethods: [FlowAction] {
    guard conflict == .accountExistsWithDifferentCredential, signInMethods.isEmpty, let email else { return [] }
    return [.fetchSignInMethods(email: email)]
  }

  mutating func learn(_ methods: [String]) -> [FlowAction] {
    guard stage == .conflict, signInMethods != methods else { return [] }
    signInMethods = methods
    return [.save]
  }

  // MARK: The person's choice

  /// `newLink` is the mailed link's own.
  mutating func resolve(_ choice: ConflictChoice, current: User?, at now: Int64) -> [FlowAction] {
    guard conflictOptions.contains(choice) else { return [.refuse(.noSuchFlow)] }
    switch choice {
    case .cancel, .keep: return end(.cancelled, at: now)
    case .switch: return switchAccount(at: now)
    case .signInAndLink:
      // Whoever was there before with another address isn't meant, whoever has signed in since is.
      if let current, canLink(to: current), hasAddress(of: current) || current.uid == existingUID {
        return link(to: current, at: now)
      }
      // Whoever has that address is to sign in by another flow, and has the time for it anew.
      return wait(at: .conflict, now: now)
    case .newLink: return [.refuse(.noSuchFlow)]
    }
  }

  private mutating func switchAccount(at now: Int64) -> [FlowAction] {
    guard
      let signIn = answer.map({ .lookUp($0, delay: 0) })
        ?? credential.map({ .signInWithCredential($0, delay: 0) })
        ?? phoneProof.map({ FlowAction.signInWithPhoneProof($0, delay: 0) })
    else { return fail(.internal, at: now) }
    protectedUID = nil
    linkUID = nil
    beginExchange(at: now)
    return [.save, signIn]
  }

  /// Somebody has signed in. Only whoever has the address gets the credential unasked; for another one the person is asked,
  /// by the same choice.
  mutating func link(afterSignInOf user: User, at now: Int64) -> [FlowAction] {
    guard canLink(to: user) else { return [] }
    if hasAddress(of: user) { return link(to: user, at: now) }
    existingUID = user.uid
    return [.save]
  }

  private func hasAddress(of user: User) -> Bool {
    guard let email, let own = user.email else { return false }
    return email.lowercased() == own.lowercased()
  }

  private func canLink(to user: User) -> Bool {
    stage == .conflict && credential != nil && !user.isAnonymous && user.uid != protectedUID
      && (conflict == .accountExistsWithDifferentCredential || conflict == .emailAlreadyInUse)
  }

  private mutating func link(to user: User, at now: Int64) -> [FlowAction] {
    guard let credential else { return [] }
    protectedUID = user.uid
    linkUID = user.uid
    beginExchange(at: now)
    return [.save, .signInWithCredential(credential, delay: 0)]
  }
}
