import DBus

/// What a flow at `reauthentication-required` waits for: the user confirms who they are, in a flow of the purpose `reauthenticate`
/// (``LinkdApp/startReauthenticate(opensBrowser:parentWindow:activationToken:)`` or a sign-in of this ``kind``). The flow that waits goes on by itself then.
public struct FlowReauthentication: Sendable, Hashable {
  /// The way of the sign-in. The raw value is the D-Bus word.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// By the provider ``FlowReauthentication/providerID``.
    case oauth
    /// By the password of ``FlowReauthentication/email``.
    case password
    /// By a link mailed to ``FlowReauthentication/email``.
    case emailLink = "email-link"
    /// By a code sent to ``FlowReauthentication/phoneNumber``.
    case phone
  }

  /// How; nil for a word of a later linkd.
  public var kind: Kind?
  /// `google.com`, ….
  public var providerID: String?
  /// Its name for people.
  public var providerName: String?
  /// The user's address.
  public var email: String?
  /// The user's number, E.164.
  public var phoneNumber: String?
  /// A sentence for a person.
  public var message = ""

  /// Without details.
  public init(_ kind: Kind?) { self.kind = kind }

  init(_ dictionary: [String: DBusValue]) {
    self.init(dictionary["kind"]?.asString.flatMap(Kind.init(rawValue:)))
    providerID = dictionary["provider-id"]?.asString
    providerName = dictionary["provider-name"]?.asString
    email = dictionary["email"]?.asString
    phoneNumber = dictionary["phone-number"]?.asString
    message = dictionary["display-message"]?.asString ?? ""
  }
}
