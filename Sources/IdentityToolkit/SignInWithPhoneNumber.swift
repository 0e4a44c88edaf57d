public import AuthCore

/// What a phone number is shown for.
public enum PhoneOperation: Sendable, Hashable {
  /// Signs in; makes an account where there's none.
  case signIn
  /// Signs in again, and must be the same person.
  case reauthenticate
  /// Adds the number to this token's account.
  case link(idToken: Secret<String>)
  /// Gives this token's account another number.
  case changeNumber(idToken: Secret<String>)
}

/// What a phone number gives.
public enum PhoneAnswer: Sendable, Hashable {
  /// Signed in, or linked. `uid` where the answer names it.
  case grant(TokenGrant, uid: String?)
  /// A second factor is wanted; the code is spent.
  case secondFactorRequired(pending: Secret<String>, factors: [SecondFactor])
  /// The number is another account's; the code is spent. The credential signs in to that one, for `expiresIn` seconds where
  /// the answer says so.
  case conflict(PhoneCredential, expiresIn: Int64?)
}

/// `accounts:signInWithPhoneNumber` (identity-toolkit 2.13).
/// https://cloud.google.com/identity-platform/docs/reference/rest/v1/accounts/signInWithPhoneNumber
extension IdentityToolkit {
  private struct Request: Encodable {
    var sessionInfo: String?
    var code: String?
    var temporaryProof: String?
    var phoneNumber: String?
    let idToken: String?
    let operation: String
    let tenantId: String?
  }

  /// Shows that somebody has a phone number. A code counts once; a wrong one leaves its session as it is.
  ///
  /// - Throws: `invalidVerificationCode`, `sessionExpired` (a new message is needed), `tooManyRequests`, `userDisabled`,
  ///   `userMismatch` for who signs in again and has no account, `credentialAlreadyInUse` for a proof that is to be linked,
  ///   `tokenRevoked` when linking, …
  public func signInWithPhoneNumber(
    _ credential: PhoneCredential, operation: PhoneOperation, project: ProjectContext
  ) async throws(AuthFailure) -> PhoneAnswer {
    let (word, idToken) = Self.words(operation)
    var request = Request(idToken: idToken?.reveal(), operation: word, tenantId: project.tenantID)
    switch credential {
    case .code(let code, let session): (request.code, request.sessionInfo) = (code.reveal(), session.reveal())
    case .temporaryProof(let proof, let number):
      (request.temporaryProof, request.phoneNumber) = (proof.reveal(), number)
    }
    do throws(AuthFailure) {
      let body: PhoneBody = try await call(
        .identityToolkit, "v1/accounts:signInWithPhoneNumber", request, project, once: true)
      return try body.answer()
    } catch {
      // Identity-toolkit 3.5.
      if operation == .reauthenticate, error.error == .userNotFound {
        throw AuthFailure(.userMismatch, serverCode: error.serverCode)
      }
      throw error
    }
  }

  private static func words(_ operation: PhoneOperation) -> (String, Secret<String>?) {
    switch operation {
    case .signIn: ("SIGN_UP_OR_IN", nil)
    case .reauthenticate: ("REAUTH", nil)
    case .link(let token): ("LINK", token)
    case .changeNumber(let token): ("UPDATE", token)
    }
  }
}

/// The answer of `accounts:signInWithPhoneNumber`.
private struct PhoneBody: Decodable {
  private enum CodingKeys: String, CodingKey { case phoneNumber, temporaryProof, temporaryProofExpiresIn }

  let signIn: SignInBody
  let phoneNumber: String?
  let temporaryProof: String?
  let proofExpiresIn: WholeNumber?

  init(from decoder: any Decoder) throws {
    signIn = try SignInBody(from: decoder)
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    phoneNumber = try fields.decodeIfPresent(String.self, forKey: .phoneNumber)
    temporaryProof = try fields.decodeIfPresent(String.self, forKey: .temporaryProof)
    proofExpiresIn = try fields.decodeIfPresent(WholeNumber.self, forKey: .temporaryProofExpiresIn)
  }

  /// A proof counts even beside tokens (identity-toolkit 1.8, step 9).
  func answer() throws(AuthFailure) -> PhoneAnswer {
    if let proof = temporaryProof.filled, let number = phoneNumber.filled {
      return .conflict(.temporaryProof(Secret(proof), phoneNumber: number), expiresIn: proofExpiresIn?.value)
    }
    switch try signIn.answer() {
    case .grant(let grant, let uid): return .grant(grant, uid: uid)
    case .secondFactorRequired(let pending, let factors):
      return .secondFactorRequired(pending: pending, factors: factors)
    }
  }
}
