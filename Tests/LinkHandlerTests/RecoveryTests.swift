import AuthCore
import LinkHandler
import Testing

/// Other ways into the account that is in the way (firebaseui-behaviour 3.5).
@Suite("Other ways into the account", .timeLimit(.minutes(1)))
struct RecoveryTests {
  /// A provider's sign-in that stands in conflict, and the actions that brought it there.
  private func met(email: String? = "ada@example.com") throws -> (FlowRig, [FlowAction]) {
    var credential = OAuthCredential(providerID: "facebook.com")
    credential.accessToken = Secret("AT")
    var rig = try FlowRig(.provider("facebook.com")) { $0.credential = credential }
    _ = rig(.started)
    let actions = rig(
      .conflict(
        .found(
          AccountConflict(kind: .accountExistsWithDifferentCredential, email: email, credential: credential))))
    #expect(rig.stage == .conflict)
    return (rig, actions)
  }

  @Test("how the address signs in is asked once the conflict is kept, and what comes is news")
  func asked() throws {
    var (rig, actions) = try met()
    #expect(actions == [.save, .fetchSignInMethods(email: "ada@example.com")])
    let before = rig.flow.sequence
    #expect(rig(.conflict(.methodsFound(["password", "github.com"]))) == [.save])
    #expect(rig.flow.signInMethods == ["password", "github.com"] && rig.flow.sequence == before + 1)
    // Known after a restart.
    #expect(try rig.restart() == [])
    #expect(rig(.conflict(.methodsFound(["password", "github.com"]))) == [])
  }

  @Test("an answer that never came is asked for anew after a restart; without an address nobody is asked")
  func anew() throws {
    var (rig, _) = try met()
    #expect(try rig.restart() == [.fetchSignInMethods(email: "ada@example.com")])
    #expect(try met(email: nil).1 == [.save])
  }

  @Test("an answer that comes too late changes nothing")
  func late() throws {
    var (rig, _) = try met()
    _ = rig(.conflict(.resolved(.cancel, current: nil)))
    #expect(rig(.conflict(.methodsFound(["password"]))) == [])
    #expect(rig.flow.signInMethods.isEmpty)
  }
}
