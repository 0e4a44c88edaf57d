import AuthCore
import Foundation
import LinkdClient
import Login
import TestSupport
import Testing

@Suite("The login screen's model", .timeLimit(.minutes(1)))
@MainActor
struct LoginViewModelTests {
  @Test("the fields say what is wrong, and the buttons follow")
  func validation() {
    let model = LoginViewModel(InMemoryAuthService())
    #expect(!model.canSignIn && !model.canRegister && !model.canSendLink && model.emailProblem == nil)
    model.email = "you"
    #expect(model.emailProblem != nil && !model.canSendLink)
    model.email = "you@example.com"
    #expect(model.emailProblem == nil && model.canSendLink && !model.canSignIn)
    model.password = "short"
    #expect(model.canSignIn && !model.canRegister && model.passwordProblem != nil)
    model.password = "long enough"
    #expect(model.canRegister && model.passwordProblem == nil)
  }

  @Test("register, sign out, sign in: the screen follows, and the password field is emptied")
  func roundTrip() async throws {
    let auth = InMemoryAuthService()
    let model = LoginViewModel(auth)
    var titles: [String] = []
    model.onChange = { if titles.last != model.title { titles.append(model.title) } }
    let following = Task { await model.follow() }
    try await eventually { model.title == "Nobody is signed in." }
    model.email = "you@example.com"
    model.password = "correct horse"
    await model.register()
    #expect(model.isSignedIn && model.password.isEmpty && !model.isLoading && model.errorText == nil)
    #expect(model.title == "Signed in as you@example.com.")
    await model.signOut()
    #expect(!model.isSignedIn && model.title == "Nobody is signed in.")
    model.password = "correct horse"
    await model.signIn()
    #expect(model.isSignedIn)
    try await auth.signOut()
    try await eventually { !model.isSignedIn }
    following.cancel()
    await following.value
    #expect(model.errorText == nil && titles.contains("Signed in as you@example.com."))
  }

  @Test("a refusal is a sentence that goes away with the next letter; the field stays")
  func refused() async throws {
    let auth = InMemoryAuthService(accounts: ["you@example.com": "correct horse"])
    let model = LoginViewModel(auth)
    model.email = "you@example.com"
    model.password = "wrong horse"
    await model.signIn()
    #expect(model.errorText?.contains("InvalidCredentials") == true && model.password == "wrong horse")
    await model.register()
    #expect(model.errorText?.contains("EmailAlreadyInUse") == true)
    model.password = "correct horse"
    #expect(model.errorText == nil)
    auth.failNext(.auth(.networkUnavailable, message: "No network. Try again."))
    await model.signIn()
    #expect(model.errorText == "No network. Try again." && !model.isSignedIn && !model.isLoading)
    await model.signIn()
    #expect(model.isSignedIn)
  }

  @Test("a mailed link: the screen waits, says so, and is signed in when it was opened")
  func link() async throws {
    let auth = InMemoryAuthService()
    let model = LoginViewModel(auth)
    model.email = "you@example.com"
    let button = Task { await model.signInByLink() }
    try await eventually { model.noticeText?.contains("A link was sent") == true }
    #expect(model.isLoading && !model.canSendLink)
    auth.openSignInLink(of: "you@example.com")
    await button.value
    #expect(model.isSignedIn && !model.isLoading && model.noticeText == nil)
  }

  @Test("cancelling the button's task gives the link up without an error")
  func cancelled() async throws {
    let auth = InMemoryAuthService()
    let model = LoginViewModel(auth)
    model.email = "you@example.com"
    let button = Task { await model.signInByLink() }
    try await eventually { model.isLoading && model.noticeText != nil }
    button.cancel()
    await button.value
    #expect(!model.isLoading && model.errorText == nil && !model.isSignedIn)
    #expect(!auth.openSignInLink(of: "you@example.com"))
  }

  @Test("a phone number: the field for a code comes, counts down, and signs in")
  func phone() async throws {
    let auth = InMemoryAuthService()
    let model = LoginViewModel(auth)
    #expect(!model.canSendCode && model.codePrompt == nil)
    model.phoneNumber = "07700 900123"
    await model.sendCode()
    #expect(model.errorText?.contains("InvalidPhoneNumber") == true && model.step == nil)
    model.phoneNumber = "+44 7700 900123"
    await model.sendCode()
    #expect(model.codePrompt == "The code sent to +447700900123" && !model.isLoading && !model.isSignedIn)
    model.code = "000000"
    await model.submitCode()
    #expect(model.errorText?.contains("InvalidVerificationCode") == true && model.code.isEmpty)
    #expect(model.codePrompt == "The code sent to +447700900123 (4 attempts left)")
    await model.resendCode()
    #expect(model.errorText?.contains("RateLimited") == true && model.codePrompt != nil)
    model.code = try #require(auth.messages.last).code.reveal()
    await model.submitCode()
    #expect(model.isSignedIn && model.step == nil && model.title == "Signed in as +447700900123.")
  }

  @Test("second factors: the screen lets people choose, takes the code, and can be given up")
  func secondFactor() async throws {
    let key = Secret("INMEMORYKEY")
    let auth = InMemoryAuthService(accounts: ["you@example.com": "correct horse"])
    auth.addSecondFactor(phone: "+447700900123", displayName: "Mine", to: "you@example.com")
    auth.addSecondFactor(authenticator: key, displayName: "App", to: "you@example.com")
    let model = LoginViewModel(auth)
    (model.email, model.password) = ("you@example.com", "correct horse")
    await model.signIn()
    #expect(model.factors?.map(\.displayName) == ["Mine", "App"] && model.errorText == nil && !model.isSignedIn)
    await model.giveUp()
    #expect(model.step == nil && model.errorText == nil)
    let button = Task { await model.signInByLink() }
    try await eventually { model.noticeText != nil }
    auth.openSignInLink(of: "you@example.com")
    await button.value
    let factors = try #require(model.factors)
    await model.choose(factors[1])
    #expect(model.codePrompt == "The code of your authenticator app")
    model.code = InMemoryAuthService.authenticatorCode(for: key).reveal()
    await model.submitCode()
    #expect(model.isSignedIn && model.step == nil)
  }

  // MARK: With linkd

  private func model(_ world: World) async throws -> LoginViewModel {
    LoginViewModel(try await LinkdService.connect(busAddress: world.bus.address).app("demo"))
  }

  @Test("with linkd: a mailed link signs in, and sign-out is seen")
  func linkdLink() async throws {
    let world = try await World.start()
    let model = try await model(world)
    let following = Task { await model.follow() }
    model.email = "you@example.com"
    let button = Task { await model.signInByLink() }
    try await eventually { model.noticeText != nil }
    let link = try await world.button(try await world.mail("you@example.com"))
    #expect(try await world.linkctl("open", "--no-wait", "--", link).status == 0)
    await button.value
    #expect(model.errorText == nil && model.isSignedIn)
    #expect(try await world.linkctl("sign-out").status == 0)
    try await eventually { !model.isSignedIn }
    following.cancel()
    await following.value
  }

  @Test(
    "with linkd: register, a wrong password, the right one")
  func linkdPasswords() async throws {
    let world = try await World.start()
    let model = try await model(world)
    model.email = "you@example.com"
    model.password = "correct horse"
    await model.register()
    #expect(model.errorText == nil && model.isSignedIn)
    await model.signOut()
    model.password = "wrong horse"
    await model.signIn()
    #expect(model.errorText != nil && !model.isSignedIn)
    model.password = "correct horse"
    await model.signIn()
    #expect(model.errorText == nil && model.isSignedIn)
    #expect(try await world.email() == "you@example.com")
  }
}

/// Looks again until `condition` holds; gives up after 20 s.
@MainActor
private func eventually(_ condition: () -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(20)
  while !condition() {
    try #require(ContinuousClock.now < deadline, "waited in vain")
    try await Task.sleep(for: .milliseconds(5))
  }
}
