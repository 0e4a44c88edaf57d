public import AuthCore
import DBus

/// Accounts that collide (`conflict` of ``FlowDetails``): ``FlowServicing/resolveConflict(_:)`` takes one of the options.
public struct FlowConflict: Sendable, Hashable {
  /// What collides; nil for a word of a later linkd.
  public var kind: ConflictKind?
  /// The address that both accounts have.
  public var email: String?
  /// The number that is another account's, E.164.
  public var phoneNumber: String?
  /// The guest, whose data is still there to be copied.
  public var anonymousUID: String?
  /// The account that the guest has found.
  public var existingUID: String?
  /// What can be chosen, in the order of the buttons.
  public var options: [ConflictChoice] = []
  /// A sentence for a person.
  public var message = ""

  /// A conflict without details.
  public init(_ kind: ConflictKind?) { self.kind = kind }

  init(_ dictionary: [String: DBusValue]) {
    self.init(dictionary["kind"]?.asString.flatMap(ConflictKind.init(rawValue:)))
    email = dictionary["email"]?.asString
    phoneNumber = dictionary["phone-number"]?.asString
    anonymousUID = dictionary["anonymous-uid"]?.asString
    existingUID = dictionary["existing-uid"]?.asString
    options = (dictionary["options"]?.asStrings ?? []).compactMap(ConflictChoice.init(rawValue:))
    message = dictionary["message"]?.asString ?? ""
  }

  /// Whether it ends after some seconds without anybody's choice, by switching to the account that exists.
  public var settlesItself: Bool { kind == .anonymousUpgrade }
}
