import AuthCore

/// The sealed parts of a session as bytes. A field number is never given a second meaning.
enum SessionBody {
  static func encode(_ session: Session) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, encode(session.user))
    fields.put(2, session.method.description)
    fields.put(3, session.refreshToken)
    fields.put(4, session.idToken)
    fields.put(5, session.idTokenReceivedAt)
    fields.put(6, session.idTokenLifetime)
    return fields.bytes
  }

  static func session(_ bytes: [UInt8], key: SessionKey) throws(MalformedFields) -> Session {
    let fields = try FieldReader(bytes)
    return Session(
      key: key, user: try user(try required(fields.blob(1))),
      method: try required(SignInMethod(try required(fields.string(2)))),
      refreshToken: try required(fields.secret(3)), idToken: try fields.secret(4),
      idTokenReceivedAt: try fields.integer(5) ?? 0, idTokenLifetime: try fields.integer(6) ?? 0)
  }

  static func encode(_ user: LastUser) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, user.uid)
    fields.put(2, user.email)
    fields.put(3, user.signInMethod)
    fields.put(4, user.reason)
    fields.put(5, user.phoneNumber)
    fields.put(6, user.tenantID)
    return fields.bytes
  }

  static func lastUser(_ bytes: [UInt8]) throws(MalformedFields) -> LastUser {
    let fields = try FieldReader(bytes)
    return LastUser(
      uid: try required(fields.string(1)), email: try fields.string(2), phoneNumber: try fields.string(5),
      tenantID: try fields.string(6),
      signInMethod: try required(fields.string(3)), reason: try required(fields.string(4)))
  }

  // MARK: The user

  private static func encode(_ user: User) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, user.uid)
    fields.put(2, user.email)
    fields.put(3, user.emailVerified)
    fields.put(4, user.displayName)
    fields.put(5, user.photoURL)
    fields.put(6, user.phoneNumber)
    fields.put(7, user.isAnonymous)
    fields.put(8, user.tenantID)
    fields.put(9, user.createdAt)
    fields.put(10, user.lastSignInAt)
    for provider in user.providers { fields.put(11, encode(provider)) }
    for factor in user.secondFactors { fields.put(12, encode(factor)) }
    return fields.bytes
  }

  private static func user(_ bytes: [UInt8]) throws(MalformedFields) -> User {
    let fields = try FieldReader(bytes)
    var user = User(uid: try required(fields.string(1)))
    user.email = try fields.string(2)
    user.emailVerified = fields.bool(3)
    user.displayName = try fields.string(4)
    user.photoURL = try fields.string(5)
    user.phoneNumber = try fields.string(6)
    user.isAnonymous = fields.bool(7)
    user.tenantID = try fields.string(8)
    user.createdAt = try fields.integer(9)
    user.lastSignInAt = try fields.integer(10)
    user.providers = try fields.all(11).map(provider)
    user.secondFactors = try fields.all(12).map(factor)
    return user
  }

  private static func encode(_ provider: LinkedProvider) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, provider.providerID)
    fields.put(2, provider.uid)
    fields.put(3, provider.email)
    fields.put(4, provider.displayName)
    fields.put(5, provider.photoURL)
    fields.put(6, provider.phoneNumber)
    return fields.bytes
  }

  private static func provider(_ bytes: [UInt8]) throws(MalformedFields) -> LinkedProvider {
    let fields = try FieldReader(bytes)
    var provider = LinkedProvider(providerID: try required(fields.string(1)))
    provider.uid = try fields.string(2)
    provider.email = try fields.string(3)
    provider.displayName = try fields.string(4)
    provider.photoURL = try fields.string(5)
    provider.phoneNumber = try fields.string(6)
    return provider
  }

  static func encode(_ factor: SecondFactor) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, factor.uid)
    fields.put(2, factor.kind.rawValue)
    fields.put(3, factor.displayName)
    fields.put(4, factor.phoneNumber)
    fields.put(5, factor.enrolledAt)
    return fields.bytes
  }

  static func factor(_ bytes: [UInt8]) throws(MalformedFields) -> SecondFactor {
    let fields = try FieldReader(bytes)
    let kind = try required(SecondFactor.Kind(rawValue: try required(fields.string(2))))
    var factor = SecondFactor(uid: try required(fields.string(1)), kind: kind)
    factor.displayName = try fields.string(3)
    factor.phoneNumber = try fields.string(4)
    factor.enrolledAt = try fields.integer(5)
    return factor
  }
}
