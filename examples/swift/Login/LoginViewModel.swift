import AuthCore
public import LinkdClient

/// A login screen without the screen, for any toolkit: bind the fields, call the methods, redraw in ``onChange``.
///
/// ```swift
/// let model = LoginViewModel(try await LinkdService.connect().app("demo"))
/// let following = Task { await model.follow() }
/// model.email = "you@example.com"; model.password = "…"; await model.signIn()
/// if let factors = model.factors { await model.choose(factors[0]) }
/// model.code = "…"; await model.submitCode()
/// ```
@MainActor
public final class LoginViewModel {
  /// The address field.
  public var email = "" { didSet { edited() } }
  /// The password field. It is emptied after a sign-in.
  public var password = "" { didSet { edited() } }
  /// The field for a phone number, as people type it.
  public var phoneNumber = "" { didSet { edited() } }
  /// The field for a code. It is emptied after each try.
  public var code = "" { didSet { edited() } }
  /// While something is under way; the buttons are grey.
  public private(set) var isLoading = false { didSet { onChange?() } }
  /// A sentence below the fields.
  public private(set) var errorText: String? { didSet { onChange?() } }
  /// Another one, when nothing is wrong: that a mail was sent, for example.
  public private(set) var noticeText: String? { didSet { onChange?() } }
  /// Who is signed in; nil until linkd was asked.
  public private(set) var status: SessionStatus? { didSet { onChange?() } }
  /// What a sign-in waits for: a code, or a second factor to be chosen; nil where it waits for nothing.
  public private(set) var step: FlowStatus? { didSet { onChange?() } }
  /// Called after each change.
  public var onChange: (@MainActor () -> Void)?

  private let auth: any AuthServicing
  /// The sign-in that waits at ``step``.
  private(set) var flow: (any FlowServicing)?
  /// Passwords shorter than that are refused by Firebase.
  private static let minimumPassword = 6

  /// - Parameter auth: linkd's app, or the double in a test.
  public init(_ auth: any AuthServicing) { self.auth = auth }

  // MARK: What a screen shows

  /// Whether somebody is signed in who isn't a guest.
  public var isSignedIn: Bool { status?.state == .authenticated }

  /// The line at the top.
  public var title: String {
    guard let status else { return "…" }
    guard let user = status.user else {
      return status.state == .authenticating ? "Signing in…" : "Nobody is signed in."
    }
    if user.isAnonymous { return "You are a guest." }
    return "Signed in as \(user.displayName ?? user.email ?? user.phoneNumber ?? user.uid)."
  }

  /// What is wrong with the address; nil while it's empty or right.
  public var emailProblem: String? {
    email.isEmpty || EmailAddress(email) != nil ? nil : "That is no e-mail address."
  }

  /// What is wrong with the password for a new account.
  public var passwordProblem: String? {
    password.isEmpty || password.utf16.count >= Self.minimumPassword
      ? nil : "At least \(Self.minimumPassword) characters, please."
  }

  /// Whether the button "Sign in" works.
  public var canSignIn: Bool { canSendLink && !password.isEmpty }

  /// Whether the button "Register" works.
  public var canRegister: Bool { canSignIn && passwordProblem == nil }

  /// Whether the button "Mail me a link" works.
  public var canSendLink: Bool { !isLoading && !email.isEmpty && emailProblem == nil }

  // MARK: What a screen does

  /// Follows the session until the task is cancelled.
  public func follow() async {
    do throws(LinkdError) {
      for try await status in auth.states { self.status = status }
    } catch {
      errorText = error.message
    }
  }

  /// The button "Sign in". Where the account has second factors, ``step`` says what is next.
  public func signIn() async {
    guard canSignIn else { return }
    await run { [weak self] auth throws(LinkdError) in
      guard let self else { return }
      try await self.goOn(try await auth.start(.password(email: self.email, Secret(self.password))))
    }
  }

  /// The button "Register".
  public func register() async {
    guard canRegister else { return }
    await run { [weak self] auth throws(LinkdError) in
      guard let self else { return }
      _ = try await auth.register(email: self.email, password: Secret(self.password))
    }
  }

  /// The button "Mail me a link". Returns when the link was opened, or when a second factor is asked for; cancelling the task
  /// gives it up.
  public func signInByLink() async {
    guard canSendLink else { return }
    await run { [weak self] auth throws(LinkdError) in
      guard let self else { return }
      let flow = try await auth.sendSignInLink(to: self.email)
      self.noticeText = "A link was sent to \(self.email). Open it on this machine."
      try await self.goOn(flow)
    }
  }

  /// The button "Sign out".
  public func signOut() async {
    await run { auth throws(LinkdError) in try await auth.signOut() }
  }

  // MARK: Inside

  /// Runs what a button is for.
  func run(_ body: @MainActor (any AuthServicing) async throws(LinkdError) -> Void) async {
    guard !isLoading else { return }
    isLoading = true
    (errorText, noticeText) = (nil, nil)
    do throws(LinkdError) {
      try await body(auth)
      status = try await auth.status()
      if step == nil { password = "" }
    } catch {
      // Whoever cancelled knows it.
      errorText = error.authError == .cancelled ? nil : error.message
    }
    noticeText = nil
    isLoading = false
  }

  /// Follows a sign-in to its end, or to where it needs a code or a factor. For anything else there is no field here.
  func goOn(_ flow: any FlowServicing) async throws(LinkdError) {
    show(nil, of: flow)
    let status = try await flow.nextStep()
    switch status.stage {
    case .succeeded: break
    case .waitingForCode, .secondFactorRequired: show(status, of: flow)
    default:
      try? await flow.cancel()
      try status.succeeded()
    }
  }

  /// Shows what `flow` waits for; nil where it waits for nothing any more.
  func show(_ step: FlowStatus?, of flow: any FlowServicing) {
    self.flow = step == nil ? nil : flow
    self.step = step
  }

  private func edited() {
    errorText = nil
    onChange?()
  }
}
