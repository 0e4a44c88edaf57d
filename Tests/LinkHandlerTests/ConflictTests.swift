import AuthCore
import LinkHandler
import Testing

/// Accounts that collide while somebody is signed in, or nobody is (behaviour: Anonymous upgrade and conflicts; identity-toolkit
/// 2.11, 8.4).
@Suite("Conflicts", .timeLimit(.minutes(1)))
struct ConflictTests {
  typealias Rig = ProviderRig
  static let address = "a@example.com"
  static let owner = Rig.user("u2", email: address)
  static let other = Rig.user("u3", email: "other@example.com")

  /// A sign-in whose address has an account already.
  func doubted(email: String? = address) throws -> FlowRig {
    var run = try Rig.offered()
    #expect(
      run(Rig.found(.accountExistsWithDifferentCredential, email: email, credential: Rig.pending))
        == [.save] + Self.asking(email))
    return run
  }

  /// How else the address signs in is asked, for the apps that want to know.
  static func asking(_ email: String?) -> [FlowAction] {
    email.map { [.fetchSignInMethods(email: $0)] } ?? []
  }

  /// u1 links a provider's account that is, or whose address is, somebody else's.
  func linking(_ kind: ConflictKind, email: String? = address) throws -> FlowRig {
    var run = try Rig.offered(purpose: .link)
    #expect(run(Rig.found(kind, email: email, credential: Rig.pending)) == [.save])
    #expect(run.stage == .conflict && run.flow.conflict == kind && run.flow.credential == Rig.pending)
    return run
  }

  func expectLinked(_ run: inout FlowRig, to user: User) {
    #expect(run.stage == .exchanging && run.flow.linkUID == user.uid && run.flow.protectedUID == user.uid)
    _ = run(.exchanged(FlowRig.grant, uid: user.uid))
    #expect(run(.lookedUp(user)) == [.adopt(user, FlowRig.grant)])
    #expect(run.flow.secretsLeft == [] && !run.flow.isUpgraded)
  }

  func choose(_ choice: ConflictChoice, _ current: User? = nil) -> FlowEvent {
    .conflict(.resolved(choice, current: current))
  }

  // MARK: The address has an account

  @Test("B107, B109, B111: the credential waits, with its address, for a sign-in by that address, and is linked then")
  func waitsForOwner() throws {
    var run = try doubted()
    #expect(run.stage == .conflict && run.flow.email == Self.address && run.flow.sequence == 3)
    #expect(run.flow.conflictOptions == [.signInAndLink, .cancel] && run.flow.expiresAt == 1600)
    run.now = 1500
    #expect(run(choose(.signInAndLink)) == [.save])
    // Whoever signs in has the time for it anew, which a client can see.
    #expect(run.stage == .conflict && run.flow.expiresAt == 2100 && run.flow.sequence == 4)
    #expect(run(.conflict(.signedIn(Self.owner))) == [.save, Rig.signIn(Rig.pending)])
    expectLinked(&run, to: Self.owner)
  }

  @Test("it is linked without a choice, too, and to the address however it's written")
  func unasked() throws {
    var run = try doubted()
    let user = Rig.user("u2", email: "A@Example.COM")
    #expect(run(.conflict(.signedIn(user))) == [.save, Rig.signIn(Rig.pending)])
    expectLinked(&run, to: user)
  }

  @Test("whoever has the address and is signed in already gets it by the choice")
  func ownerIsThere() throws {
    var run = try doubted()
    #expect(run(choose(.signInAndLink, Self.owner)) == [.save, Rig.signIn(Rig.pending)])
    expectLinked(&run, to: Self.owner)
  }

  @Test("somebody with another address who was signed in before gets nothing by the choice to sign in")
  func otherIsThere() throws {
    var run = try doubted()
    #expect(run(choose(.signInAndLink, Self.other)) == [.save])
    #expect(run.stage == .conflict && run.flow.linkUID == nil)
    #expect(run(.conflict(.signedIn(Self.owner))) == [.save, Rig.signIn(Rig.pending)])
    expectLinked(&run, to: Self.owner)
  }

  @Test("somebody with another address who signs in is asked: the same choice once more links it")
  func otherSignsIn() throws {
    for email in [Self.address, nil] {
      var run = try doubted(email: email)
      _ = run(choose(.signInAndLink))
      #expect(run(.conflict(.signedIn(Self.other))) == [.save])
      #expect(run.stage == .conflict && run.flow.linkUID == nil)
      // That's known after a restart, too.
      #expect(try run.restart() == Self.asking(email))
      #expect(run(choose(.signInAndLink, Self.owner)) == (email == nil ? [.save] : [.save, Rig.signIn(Rig.pending)]))
      guard email == nil else { continue }
      #expect(run(choose(.signInAndLink, Self.other)) == [.save, Rig.signIn(Rig.pending)])
      expectLinked(&run, to: Self.other)
    }
  }

  @Test("a guest never gets it")
  func guestIsThere() throws {
    var run = try doubted()
    let guest = Rig.user("g1", email: Self.address, guest: true)
    #expect(run(.conflict(.signedIn(guest))) == [])
    #expect(run(choose(.signInAndLink, guest)) == [.save])
    #expect(run.stage == .conflict && run.flow.linkUID == nil)
  }

  @Test("found after a crash: it waits on, and knows what it waits for")
  func restored() throws {
    var run = try doubted()
    #expect(try run.restart() == Self.asking(Self.address))
    #expect(run.stage == .conflict && run.flow.conflictOptions == [.signInAndLink, .cancel])
    #expect(run(.conflict(.signedIn(Self.owner))) == [.save, Rig.signIn(Rig.pending)])
    #expect(try run.restart() == [Rig.signIn(Rig.pending)])
    expectLinked(&run, to: Self.owner)
  }

  @Test("a failed link changes nothing, and asks no second time")
  func linkFails() throws {
    let events: [(FlowEvent, AuthError)] = [
      (.exchangeFailed(AuthFailure(.userMismatch)), .userMismatch),
      (.exchangeFailed(AuthFailure(.tokenRevoked)), .tokenRevoked),
      (.exchanged(FlowRig.grant, uid: "u9"), .userMismatch),
      (Rig.found(.credentialAlreadyInUse), .credentialAlreadyInUse),
      (Rig.found(.emailAlreadyInUse), .emailAlreadyInUse),
      (Rig.found(.accountExistsWithDifferentCredential), .accountExistsWithDifferentCredential),
    ]
    for (event, error) in events {
      var run = try doubted()
      _ = run(.conflict(.signedIn(Self.owner)))
      #expect(run(event) == [.save])
      #expect(run.stage == .failed && run.flow.error == error && run.flow.secretsLeft == [])
    }
  }

  @Test("trouble while linking is waited out")
  func linkTrouble() throws {
    var run = try doubted()
    _ = run(.conflict(.signedIn(Self.owner)))
    #expect(run(.exchangeFailed(AuthFailure(.networkUnavailable))) == [Rig.signIn(Rig.pending, delay: 2)])
    expectLinked(&run, to: Self.owner)
  }

  @Test("a sign-in by an address that somebody has is refused where the server gives no way on")
  func plainSignIn() throws {
    for kind in [ConflictKind.emailAlreadyInUse, .credentialAlreadyInUse] {
      var run = try Rig.offered()
      #expect(run(Rig.found(kind, email: Self.address)) == [.save])
      #expect(run.stage == .failed && run.flow.error == kind.error && run.flow.secretsLeft == [])
    }
  }
}
