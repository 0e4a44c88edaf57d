import AppConfiguration
import AuthCore
import DBus
import EventLoop
import LinkHandler

/// The methods of `org.linkd.Auth1.SignIn` that sign in by somebody else's word: a provider's, or the app's own server's.
@LoopActor
struct ProviderSignIns {
  let keeper: SessionKeeper
  let tree: ObjectTree

  private var start: FlowStart { FlowStart(keeper: keeper, tree: tree) }

  func signInWithProvider(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    let flow = try start.row(
      call, options, method: try provider(call.text(0), options), lifetime: waitingLifetime)
    var wanted = AuthorizationOptions()
    wanted.scopes = try options.strings("scopes")
    wanted.customParameters = try options.texts("custom-parameters") ?? [:]
    wanted.loginHint = try options.string("login-hint")
    wanted.redirect = try redirect(options)
    return try begin(flow, wanted, options)
  }

  /// The signed-in user proves who they are by `provider`.
  func reauthenticate(_ call: MethodCall, _ options: Options, by provider: String) throws(DBusError) -> FlowID {
    let flow = try start.row(
      call, options, method: .provider(provider), purpose: .reauthenticate, lifetime: waitingLifetime)
    var wanted = AuthorizationOptions()
    wanted.loginHint = keeper.machine.user?.providers.first { $0.providerID == provider }?.email
    return try begin(flow, wanted, options)
  }

  private func begin(
    _ row: Flow, _ wanted: AuthorizationOptions, _ options: Options
  ) throws(DBusError) -> FlowID {
    let wish = try start.browserWish(options)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      var flow = row
      try checkLink(flow)
      flow.authorizationOptions = wanted
      flow.linkTokenHash = try tree.services.links.hash(for: flow)
      try tree.coordinator.start(flow, browser: wish)
    }
    return row.id
  }

  func signInWithCredential(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    let members = Options(call.arguments[0], called: "credential key")
    guard let id = try members.string("provider-id") else {
      throw .invalidArgs("The credential must have 'provider-id', such as 'google.com'.")
    }
    var flow = try start.row(call, options, method: try provider(id, options), lifetime: waitingLifetime)
    var credential = OAuthCredential(providerID: id)
    credential.idToken = try secret("id-token", members)
    credential.accessToken = try secret("access-token", members)
    credential.accessTokenSecret = try secret("access-token-secret", members)
    credential.rawNonce = try secret("raw-nonce", members)
    let (given, family) = (try members.string("given-name"), try members.string("family-name"))
    if given != nil || family != nil { credential.fullName = OAuthCredential.FullName(given: given, family: family) }
    guard !credential.isEmpty else {
      throw .invalidArgs("The credential must have 'id-token' or 'access-token'.")
    }
    flow.credential = credential
    return try run(flow, options)
  }

  func signInWithCustomToken(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try start.row(call, options, method: .custom, lifetime: waitingLifetime)
    guard flow.purpose != .link else {
      throw .invalidArgs("The option 'purpose' must be 'sign-in' or 'reauthenticate': a custom token can't be linked.")
    }
    guard !call.text(0).isEmpty else { throw .invalidArgs("The token must not be empty.") }
    // Nothing can be added to a guest's account by it.
    flow.linkUID = nil
    flow.code = Secret(call.text(0))
    return try run(flow, options)
  }

  private func run(_ flow: Flow, _ options: Options) throws(DBusError) -> FlowID {
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      try checkLink(flow)
      try tree.coordinator.start(flow)
    }
    return flow.id
  }

  /// A provider is linked once (identity-toolkit 8.4).
  private func checkLink(_ flow: Flow) throws(AuthFailure) {
    guard flow.purpose == .link, let user = keeper.machine.user,
      user.providers.contains(where: { $0.providerID == flow.method.description })
    else { return }
    throw AuthFailure(.providerAlreadyLinked)
  }

  private func provider(_ id: String, _ options: Options) throws(DBusError) -> SignInMethod {
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard Providers.find(id, in: keeper.app) != nil else { throw AuthFailure(.noSuchProvider) }
      return .provider(id)
    }
  }

  private func redirect(_ options: Options) throws(DBusError) -> ProviderClient.Redirect {
    guard let word = try options.string("redirect") else { return .auto }
    guard let way = ProviderClient.Redirect(rawValue: word) else {
      throw .invalidArgs("The option 'redirect' must be 'scheme', 'loopback' or 'auto'.")
    }
    return way
  }

  private func secret(_ key: String, _ members: Options) throws(DBusError) -> Secret<String>? {
    try members.string(key).flatMap { $0.isEmpty ? nil : Secret($0) }
  }
}
