import AuthCore
import Testing

@testable import IdentityToolkit

/// The calls about phone numbers and second factors, as they were recorded.
extension RecordedCall {
  static func phone(_ path: String, _ body: [String: JSONValue]) -> Call? {
    let name = String(path.split(separator: "/").last ?? "")
    func secret(_ name: String, in object: String? = nil) -> Secret<String>? {
      (object == nil ? body[name] : body[object ?? ""]?[name])?.string.map { Secret($0) }
    }
    switch name {
    case "accounts:sendVerificationCode":
      // Without a number none can be sent.
      let (number, captcha) = (body["phoneNumber"]?.string ?? "", secret("recaptchaToken"))
      guard body["phoneNumber"] != nil else { return nil }
      return Call("sendVerificationCode") {
        .session(try await $0.sendVerificationCode(to: number, recaptchaToken: captcha, project: $1))
      }
    case "accounts:signInWithPhoneNumber":
      guard let credential = phoneCredential(body) else { return nil }
      let operation = operation(body["operation"]?.string, secret("idToken"))
      return Call("signInWithPhoneNumber") {
        .phone(try await $0.signInWithPhoneNumber(credential, operation: operation, project: $1))
      }
    case "mfaEnrollment:start", "mfaEnrollment:finalize", "mfaEnrollment:withdraw":
      return secret("idToken").flatMap { enrollment(name, body, $0, secret) }
    case "mfaSignIn:start", "mfaSignIn:finalize":
      return secret("mfaPendingCredential").flatMap { signIn(name, body, $0, secret) }
    default: return nil
    }
  }

  private static func phoneCredential(_ body: [String: JSONValue]) -> PhoneCredential? {
    if let proof = body["temporaryProof"]?.string {
      return body["phoneNumber"]?.string.map { .temporaryProof(Secret(proof), phoneNumber: $0) }
    }
    guard let code = body["code"]?.string, let session = body["sessionInfo"]?.string else { return nil }
    return .code(Secret(code), sessionInfo: Secret(session))
  }

  private static func operation(_ word: String?, _ token: Secret<String>?) -> PhoneOperation {
    switch (word, token) {
    case ("UPDATE", let token?): .changeNumber(idToken: token)
    case (_, let token?): .link(idToken: token)
    case ("REAUTH", nil): .reauthenticate
    case (_, nil): .signIn
    }
  }

  private static func enrollment(
    _ name: String, _ body: [String: JSONValue], _ token: Secret<String>,
    _ secret: (String, String?) -> Secret<String>?
  ) -> Call? {
    let (info, totp) = ("phoneVerificationInfo", "totpVerificationInfo")
    if name == "mfaEnrollment:withdraw", let factor = body["mfaEnrollmentId"]?.string {
      return Call(name) { .tokens(try await $0.withdrawSecondFactor(factor, idToken: token, project: $1)) }
    }
    if name == "mfaEnrollment:start" {
      if body["totpEnrollmentInfo"] != nil {
        return Call(name) { .session(try await $0.startTOTPEnrollment(idToken: token, project: $1).sessionInfo) }
      }
      guard let number = body["phoneEnrollmentInfo"]?["phoneNumber"]?.string else { return nil }
      let captcha = secret("recaptchaToken", "phoneEnrollmentInfo")
      return Call(name) {
        .session(
          try await $0.startPhoneEnrollment(phoneNumber: number, recaptchaToken: captcha, idToken: token, project: $1))
      }
    }
    let display = body["displayName"]?.string
    if let session = secret("sessionInfo", totp), let code = secret("verificationCode", totp) {
      return Call(name) {
        .tokens(
          try await $0.finishTOTPEnrollment(
            code: code, sessionInfo: session, displayName: display, idToken: token, project: $1))
      }
    }
    guard let session = secret("sessionInfo", info), let code = secret("code", info),
      body[info]?["androidVerificationProof"] == nil
    else { return nil }
    return Call(name) {
      .tokens(
        try await $0.finishPhoneEnrollment(
          code: code, sessionInfo: session, displayName: display, idToken: token, project: $1))
    }
  }

  private static func signIn(
    _ name: String, _ body: [String: JSONValue], _ pending: Secret<String>,
    _ secret: (String, String?) -> Secret<String>?
  ) -> Call? {
    let info = "phoneVerificationInfo"
    let factor = body["mfaEnrollmentId"]?.string
    if name == "mfaSignIn:start" {
      guard let factor else { return nil }
      return Call(name) {
        .session(
          try await $0.startSecondFactor(pending: pending, factorUID: factor, recaptchaToken: nil, project: $1))
      }
    }
    if let factor, let code = secret("verificationCode", "totpVerificationInfo") {
      return Call(name) {
        .tokens(try await $0.finishSecondFactor(pending: pending, totpCode: code, factorUID: factor, project: $1))
      }
    }
    guard let session = secret("sessionInfo", info), let code = secret("code", info),
      body[info]?["androidVerificationProof"] == nil
    else { return nil }
    return Call(name) {
      .tokens(try await $0.finishSecondFactor(pending: pending, code: code, sessionInfo: session, project: $1))
    }
  }

  func check(_ answer: PhoneAnswer) throws {
    #expect(status == 200)
    switch answer {
    case .grant(let grant, let uid):
      #expect(uid == body["localId"]?.string && uid != nil && body["temporaryProof"] == nil)
      #expect(grant.isNewUser == body["isNewUser"]?.bool)
      try check(grant)
    case .secondFactorRequired(let pending, _): #expect(pending.reveal() == body["mfaPendingCredential"]?.string)
    case .conflict(let credential, let seconds):
      #expect(seconds == 3600)
      let proof = try #require(body["temporaryProof"]?.string)
      let number = try #require(body["phoneNumber"]?.string)
      #expect(credential == .temporaryProof(Secret(proof), phoneNumber: number))
    }
  }
}
