import AuthCore

/// The sealed part of a flow as bytes: all of it but the columns. A field number is never given a second meaning.
enum FlowBody {
  static func encode(_ flow: Flow) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, flow.caller)
    fields.put(2, flow.starter)
    fields.put(3, flow.email)
    fields.put(4, flow.protectedUID)
    fields.put(5, flow.anonymousUID)
    fields.put(6, flow.linkProvider)
    fields.put(7, flow.forceSameDevice)
    fields.put(8, flow.continueURL)
    fields.put(9, flow.locale)
    fields.put(10, flow.tenantID)
    fields.put(11, flow.canResendAt)
    fields.put(12, flow.mailPending)
    fields.put(13, flow.code)
    fields.put(14, flow.queuedCode)
    fields.put(15, Int64(flow.attempts))
    fields.put(16, flow.answer.map(encode))
    fields.put(17, flow.error?.rawValue)
    fields.put(18, flow.canRetry)
    fields.put(19, flow.resultUID)
    fields.put(20, flow.isNewUser)
    fields.put(21, flow.actionKind?.rawValue)
    fields.put(22, flow.isCodeChecked)
    fields.put(23, flow.isConfirmed)
    fields.put(24, flow.previousEmail)
    fields.put(25, flow.wantsNewPassword)
    fields.put(26, flow.displayName)
    fields.put(27, flow.errorDetail)
    fields.put(28, flow.linkUID)
    fields.put(29, flow.authorizationOptions.map(OAuthFields.encode))
    fields.put(30, flow.authorization.map(OAuthFields.encode))
    fields.put(31, flow.credential.map(OAuthFields.encode))
    fields.put(32, flow.conflict?.rawValue)
    fields.put(33, flow.existingUID)
    fields.put(34, flow.isUpgraded)
    fields.put(35, flow.previousUID)
    for method in flow.signInMethods { fields.put(36, method) }
    fields.put(37, flow.errorCause)
    fields.put(38, flow.opensBrowser)
    fields.put(39, flow.phoneNumber)
    fields.put(40, flow.verification.map(VerificationFields.encode))
    fields.put(41, flow.secondFactor.map(VerificationFields.encode))
    fields.put(42, flow.totpEnrollment.map(VerificationFields.encode))
    fields.put(43, flow.phoneProof.map(VerificationFields.encode))
    fields.put(44, flow.factorUID)
    return fields.bytes
  }

  /// Fills in `flow` what the columns don't have.
  static func decode(_ bytes: [UInt8], into flow: inout Flow) throws(MalformedFields) {
    let fields = try FieldReader(bytes)
    flow.caller = try fields.string(1)
    flow.starter = try fields.string(2)
    flow.email = try fields.string(3)
    flow.protectedUID = try fields.string(4)
    flow.anonymousUID = try fields.string(5)
    flow.linkProvider = try fields.string(6)
    flow.forceSameDevice = fields.bool(7)
    flow.continueURL = try fields.string(8)
    flow.locale = try fields.string(9)
    flow.tenantID = try fields.string(10)
    flow.canResendAt = try fields.integer(11)
    flow.mailPending = fields.bool(12)
    flow.code = try fields.secret(13)
    flow.queuedCode = try fields.secret(14)
    flow.attempts = try required(Int(exactly: try fields.integer(15) ?? 0))
    if let answer = fields.blob(16) { flow.answer = try grant(answer) }
    if let name = try fields.string(17) { flow.error = try required(AuthError(rawValue: name)) }
    flow.canRetry = fields.bool(18)
    flow.resultUID = try fields.string(19)
    flow.isNewUser = fields.bool(20)
    if let word = try fields.string(21) { flow.actionKind = try required(LinkKind(rawValue: word)) }
    flow.isCodeChecked = fields.bool(22)
    flow.isConfirmed = fields.bool(23)
    flow.previousEmail = try fields.string(24)
    flow.wantsNewPassword = fields.bool(25)
    flow.displayName = try fields.string(26)
    flow.errorDetail = try fields.string(27)
    flow.linkUID = try fields.string(28)
    if let options = fields.blob(29) { flow.authorizationOptions = try OAuthFields.options(options) }
    if let request = fields.blob(30) { flow.authorization = try OAuthFields.authorization(request) }
    if let credential = fields.blob(31) { flow.credential = try OAuthFields.credential(credential) }
    if let word = try fields.string(32) { flow.conflict = try required(ConflictKind(rawValue: word)) }
    flow.existingUID = try fields.string(33)
    flow.isUpgraded = fields.bool(34)
    flow.previousUID = try fields.string(35)
    flow.signInMethods = try OAuthFields.texts(fields.all(36))
    flow.errorCause = try fields.string(37)
    flow.opensBrowser = fields.bool(38)
    try decodeVerification(fields, into: &flow)
  }

  private static func decodeVerification(_ fields: FieldReader, into flow: inout Flow) throws(MalformedFields) {
    flow.phoneNumber = try fields.string(39)
    if let bytes = fields.blob(40) { flow.verification = try VerificationFields.verification(bytes) }
    if let bytes = fields.blob(41) { flow.secondFactor = try VerificationFields.secondFactor(bytes) }
    if let bytes = fields.blob(42) { flow.totpEnrollment = try VerificationFields.enrollment(bytes) }
    if let bytes = fields.blob(43) { flow.phoneProof = try VerificationFields.phoneCredential(bytes) }
    flow.factorUID = try fields.string(44)
  }

  private static func encode(_ grant: TokenGrant) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, grant.idToken)
    fields.put(2, grant.refreshToken)
    fields.put(3, grant.expiresIn)
    fields.put(4, grant.isNewUser)
    return fields.bytes
  }

  private static func grant(_ bytes: [UInt8]) throws(MalformedFields) -> TokenGrant {
    let fields = try FieldReader(bytes)
    return TokenGrant(
      idToken: try required(fields.secret(1)), refreshToken: try required(fields.secret(2)),
      expiresIn: try fields.integer(3), isNewUser: fields.bool(4))
  }
}
