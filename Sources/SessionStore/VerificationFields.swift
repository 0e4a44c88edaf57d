import AuthCore

/// What a flow has to do with codes and second factors as bytes. A field number is never given a second meaning.
enum VerificationFields {
  static func encode(_ verification: PendingVerification) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, verification.sessionInfo)
    fields.put(2, verification.code)
    fields.put(3, Int64(verification.attemptsLeft))
    fields.put(4, verification.page.map(OAuthFields.encode))
    fields.put(5, verification.recaptchaToken)
    fields.put(6, verification.isUnanswered)
    return fields.bytes
  }

  static func verification(_ bytes: [UInt8]) throws(MalformedFields) -> PendingVerification {
    let fields = try FieldReader(bytes)
    var verification = PendingVerification()
    verification.sessionInfo = try fields.secret(1)
    verification.code = try fields.secret(2)
    verification.attemptsLeft = try integer(fields, 3)
    if let page = fields.blob(4) { verification.page = try OAuthFields.authorization(page) }
    verification.recaptchaToken = try fields.secret(5)
    verification.isUnanswered = fields.bool(6)
    return verification
  }

  static func encode(_ pending: PendingSecondFactor) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, pending.credential)
    for factor in pending.factors { fields.put(2, SessionBody.encode(factor)) }
    fields.put(3, pending.chosen)
    for (uid, earlier) in pending.earlier.sorted(by: { $0.key < $1.key }) {
      fields.put(4, encode(uid, earlier))
    }
    return fields.bytes
  }

  static func secondFactor(_ bytes: [UInt8]) throws(MalformedFields) -> PendingSecondFactor {
    let fields = try FieldReader(bytes)
    var pending = PendingSecondFactor(
      credential: try required(fields.secret(1)), factors: try fields.all(2).map(SessionBody.factor))
    pending.chosen = try fields.string(3)
    for bytes in fields.all(4) {
      let (uid, earlier) = try Self.earlier(bytes)
      pending.earlier[uid] = earlier
    }
    return pending
  }

  private static func encode(_ uid: String, _ earlier: PendingSecondFactor.Earlier) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, uid)
    fields.put(2, Int64(earlier.attemptsLeft))
    fields.put(3, earlier.canResendAt)
    return fields.bytes
  }

  private static func earlier(
    _ bytes: [UInt8]
  ) throws(MalformedFields) -> (uid: String, earlier: PendingSecondFactor.Earlier) {
    let fields = try FieldReader(bytes)
    return (
      try required(fields.string(1)),
      PendingSecondFactor.Earlier(attemptsLeft: try integer(fields, 2), canResendAt: try fields.integer(3))
    )
  }

  static func encode(_ enrollment: TOTPEnrollment) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, enrollment.secret)
    fields.put(2, Int64(enrollment.digits))
    fields.put(3, Int64(enrollment.period))
    fields.put(4, enrollment.algorithm)
    fields.put(5, enrollment.sessionInfo)
    fields.put(6, enrollment.endsAt)
    return fields.bytes
  }

  static func enrollment(_ bytes: [UInt8]) throws(MalformedFields) -> TOTPEnrollment {
    let fields = try FieldReader(bytes)
    return TOTPEnrollment(
      secret: try required(fields.secret(1)), digits: try integer(fields, 2), period: try integer(fields, 3),
      algorithm: try required(fields.string(4)), sessionInfo: try required(fields.secret(5)),
      endsAt: try fields.integer(6))
  }

  static func encode(_ credential: PhoneCredential) -> [UInt8] {
    var fields = FieldWriter()
    switch credential {
    case .code(let code, let session):
      fields.put(1, code)
      fields.put(2, session)
    case .temporaryProof(let proof, let number):
      fields.put(3, proof)
      fields.put(4, number)
    }
    return fields.bytes
  }

  static func phoneCredential(_ bytes: [UInt8]) throws(MalformedFields) -> PhoneCredential {
    let fields = try FieldReader(bytes)
    if let proof = try fields.secret(3) {
      return .temporaryProof(proof, phoneNumber: try required(fields.string(4)))
    }
    return .code(try required(fields.secret(1)), sessionInfo: try required(fields.secret(2)))
  }

  private static func integer(_ fields: FieldReader, _ number: UInt8) throws(MalformedFields) -> Int {
    try required(Int(exactly: try required(fields.integer(number))))
  }
}
