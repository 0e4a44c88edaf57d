import AuthCore
public import LinkdClient

/// A login screen without the screen, for any toolkit: bind the fields, call the methods, redraw in ``onChange``.
///
/// ```swift
/// let model = LoginViewModel(try await LinkdService.connect().app("demo"))
/// let following = Task { await model.follow() }
/// model.email = "you@example.com"; model.password = "…"; await model.signIn()
/// ```
@MainActor
public final class LoginViewModel {
  /// The address field.
  public var email = "" { didSet { edited() } }
  /// The password field. It is emptied after a sign-in.
  public var password = "" { didSet { edited() } }
  /// While something is under way; the buttons are grey.
  public private(set) var isLoading = false { didSet { onChange?() } }
  /// A sentence below the fields.
  public private(set) var errorText: String? { didSet { onChange?() } }
  /// Another one, when nothing is wrong: that a mail was sent, for example.
  public private(set) var noticeText: String? { didSet { onChange?() } }
  /// Who is signed in; nil until linkd was asked.
  public private(set) var status: SessionStatus? { didSet { onChange?() } }
  /// Called after each change.
  public var onChange: (@MainActor () -> Void)?

  private let auth: any AuthServicing
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
    return user.isAnonymous ? "You are a guest." : "Signed in as \(user.displayName ?? user.email ?? user.uid)."
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

  /// The button "Sign in".
  public func signIn() async {
    guard canSignIn else { return }
    await run { auth, email, password throws(LinkdError) in _ = try await auth.signIn(email: email, password: password)
    }
  }

  /// The button "Register".
  public func register() async {
    guard canRegister else { return }
    await run { auth, email, password throws(LinkdError) in
      _ = try await auth.register(email: email, password: password)
    }
  }

  /// The button "Mail me a link". Returns when the link was opened; cancelling the task gives it up.
  public func signInByLink() async {
    guard canSendLink else { return }
    await run { [weak self] auth, email, _ throws(LinkdError) in
      let flow = try await auth.sendSignInLink(to: email)
      self?.noticeText = "A link was sent to \(email). Open it on this machine."
      try await flow.end()
    }
  }

  /// The button "Sign out".
  public func signOut() async {
    await run { auth, _, _ throws(LinkdError) in try await auth.signOut() }
  }

  private func run(
    _ body: @MainActor (any AuthServicing, String, Secret<String>) async throws(LinkdError) -> Void
  ) async {
    guard !isLoading else { return }
    isLoading = true
    (errorText, noticeText) = (nil, nil)
    do throws(LinkdError) {
      try await body(auth, email, Secret(password))
      status = try await auth.status()
      password = ""
    } catch {
      // Whoever cancelled knows it.
      errorText = error.authError == .cancelled ? nil : error.message
    }
    noticeText = nil
    isLoading = false
  }

  private func edited() {
    errorText = nil
    onChange?()
  }
}
