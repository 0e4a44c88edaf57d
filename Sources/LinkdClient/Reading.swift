import LinkdContract
import AuthCore
import DBus

extension User {
  /// `User` of the contract; nil for the empty dictionary: nobody.
  init?(_ dictionary: [String: DBusValue]) {
    guard let uid = dictionary["uid"]?.asString, !uid.isEmpty else { return nil }
    self.init(uid: uid)
    email = dictionary["email"]?.asString
    emailVerified = dictionary["email-verified"]?.asBool ?? false
    displayName = dictionary["display-name"]?.asString
    photoURL = dictionary["photo-url"]?.asString
    phoneNumber = dictionary["phone-number"]?.asString
    isAnonymous = dictionary["is-anonymous"]?.asBool ?? false
    tenantID = dictionary["tenant-id"]?.asString
    createdAt = dictionary["created-at"]?.asInt64
    lastSignInAt = dictionary["last-sign-in-at"]?.asInt64
    providers = (dictionary["providers"]?.asArray ?? []).compactMap { $0.asDict.flatMap(LinkedProvider.init) }
    secondFactors = (dictionary["second-factors"]?.asArray ?? []).compactMap { $0.asDict.flatMap(SecondFactor.init) }
  }
}

extension LinkedProvider {
  init?(_ dictionary: [String: DBusValue]) {
    guard let id = dictionary["provider-id"]?.asString else { return nil }
    self.init(providerID: id)
    uid = dictionary["uid"]?.asString
    email = dictionary["email"]?.asString
    displayName = dictionary["display-name"]?.asString
    photoURL = dictionary["photo-url"]?.asString
    phoneNumber = dictionary["phone-number"]?.asString
  }
}

extension SecondFactor {
  init?(_ dictionary: [String: DBusValue]) {
    guard let uid = dictionary["uid"]?.asString,
      let kind = dictionary["kind"]?.asString.flatMap(Kind.init(rawValue:))
    else { return nil }
    self.init(uid: uid, kind: kind)
    displayName = dictionary["display-name"]?.asString
    phoneNumber = dictionary["phone-number"]?.asString
    enrolledAt = dictionary["enrolled-at"]?.asInt64
  }
}

extension DBusValue {
  /// A claim, or another value of a dictionary, as JSON has it.
  var asJSON: JSONValue? {
    switch unwrapped {
    case .boolean(let value): .bool(value)
    case .double(let value): .number(value)
    case .string(let value): .string(value)
    case .objectPath(let value): .string(value.text)
    case .array(_, let elements): .array(elements.compactMap(\.asJSON))
    case .dictionary: asDict.map { .object($0.compactMapValues(\.asJSON)) }
    default: asInteger.map(JSONValue.integer)
    }
  }
}

extension [DBusValue] {
  /// The path that a flow's start answers with.
  var flow: FlowID? { first?.asPath.flatMap(Contract.flowID(path:)) }
}
