import AuthCore
import LinkHandler
import Testing

/// Flows by providers, and what comes back from them.
enum ProviderRig {
  static let code = Secret("C1"), otherCode = Secret("C2")
  static let issuer = "https://idp.example"
  static let loopback = "http://127.0.0.1:5000/callback"

  /// Where an own client has asked.
  static func client(promises: Bool = true, issuer: String? = issuer) -> PendingAuthorization.Client {
    let metadata = ProviderMetadata(
      issuer: issuer, authorizationEndpoint: "https://idp.example/authorize",
      tokenEndpoint: "https://idp.example/token", promisesIssuer: promises)
    return PendingAuthorization.Client(
      metadata: metadata, clientID: "c", redirectURI: loopback, codeVerifier: Secret("V"), rawNonce: Secret("N"))
  }

  /// An own client's request, which comes back by loopback.
  static func own(promises: Bool = true, issuer: String? = issuer) -> PendingAuthorization {
    PendingAuthorization(
      url: Secret("https://idp.example/authorize?…"), returnURIs: [loopback],
      client: client(promises: promises, issuer: issuer))
  }

  /// Firebase's page, which comes back by scheme.
  static let page = PendingAuthorization(
    url: Secret("https://x.firebaseapp.com/__/auth/handler?…"), returnURIs: ["com.example.x://firebaseauth/link"],
    sessionID: Secret("RAW"))

  /// What the own client's exchange gave.
  static var tokens: OAuthCredential {
    var credential = OAuthCredential(providerID: "oidc.x")
    credential.idToken = Secret("IT")
    credential.rawNonce = Secret("N")
    return credential
  }

  /// What Firebase's page gave.
  static var answered: OAuthCredential {
    var credential = OAuthCredential(providerID: "oidc.x")
    credential.requestURI = Secret("https://x/answer")
    credential.sessionID = Secret("RAW")
    return credential
  }

  /// What the server gives back in the place of a spent credential.
  static var pending: OAuthCredential {
    var credential = OAuthCredential(providerID: "oidc.x")
    credential.pendingToken = Secret("PT")
    return credential
  }

  // MARK: What the browser brings

  static func redirect(
    _ change: (inout OAuthRedirect.OwnClientResponse) -> Void = { $0.code = code }, issuer: String? = issuer,
    fragment: Bool = false, reject: String? = nil
  ) -> FlowEvent {
    var response = OAuthRedirect.OwnClientResponse(isFragment: fragment)
    response.state = Secret("S")
    response.issuer = issuer
    change(&response)
    return .authorization(.redirected(OAuthRedirect(response: .own(response), reject: reject)))
  }

  static func refusal(_ error: String) -> FlowEvent { redirect({ $0.error = error }) }

  static func handler(link: String? = nil, error: String? = nil, reject: String? = nil) -> FlowEvent {
    var response = OAuthRedirect.HandlerResponse()
    response.eventID = Secret("E")
    response.responseURL = link.map { Secret($0) }
    response.error = error
    return .authorization(.redirected(OAuthRedirect(response: .handler(response), reject: reject)))
  }

  static func found(
    _ kind: ConflictKind, email: String? = nil, credential: OAuthCredential? = nil
  ) -> FlowEvent {
    .conflict(.found(AccountConflict(kind: kind, email: email, credential: credential)))
  }

  static func user(_ uid: String, email: String? = nil, guest: Bool = false) -> User {
    var user = User(uid: uid)
    user.email = email
    user.isAnonymous = guest
    return user
  }

  // MARK: Flows at their stages

  static func fresh(purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    try FlowRig(.provider("oidc.x"), purpose: purpose) {
      if purpose != .signIn { $0.protectedUID = "u1" }
      if purpose == .link { $0.linkUID = "u1" }
      change(&$0)
    }
  }

  /// Before the browser, or with the tokens of somebody who has asked the provider already.
  static func waiting(
    purpose: FlowPurpose = .signIn, _ request: PendingAuthorization = own(),
    _ change: (inout Flow) -> Void = { _ in }
  ) throws -> FlowRig {
    var run = try fresh(purpose: purpose, change)
    _ = run(.started)
    _ = run(.authorization(.ready(request)))
    return run
  }

  /// The code is with the provider.
  static func exchanging(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try waiting(own(), change)
    _ = run(redirect())
    return run
  }

  /// The tokens are with the server.
  static func offered(purpose: FlowPurpose = .signIn, _ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    var run = try fresh(purpose: purpose) {
      $0.credential = tokens
      change(&$0)
    }
    _ = run(.started)
    return run
  }

  /// A guest's, whose account is to become the provider's.
  static func guest(_ change: (inout Flow) -> Void = { _ in }) throws -> FlowRig {
    try offered {
      $0.anonymousUID = "g1"
      $0.linkUID = "g1"
      change(&$0)
    }
  }

  static func signIn(_ credential: OAuthCredential = tokens, delay: Int64 = 0) -> FlowAction {
    .signInWithCredential(credential, delay: delay)
  }
}

extension Flow {
  /// What mustn't outlive the flow: nil, or the names of what has.
  var secretsLeft: [String] {
    var left: [String] = []
    if code != nil, !canRetry { left.append("code") }
    if queuedCode != nil { left.append("queuedCode") }
    if answer != nil { left.append("answer") }
    if mailPending { left.append("mailPending") }
    if authorization != nil { left.append("authorization") }
    if credential != nil { left.append("credential") }
    if verification != nil { left.append("verification") }
    if secondFactor != nil { left.append("secondFactor") }
    if totpEnrollment != nil { left.append("totpEnrollment") }
    if phoneProof != nil { left.append("phoneProof") }
    return left
  }
}
