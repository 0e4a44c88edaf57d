import AuthCore

/// Why a text is no telephone number: `InvalidPhoneNumber` on the bus.
public enum PhoneNumberError: Error, Sendable, Hashable {
  /// No digit in it.
  case empty
  /// There is no `+` before it, and no region is known: ask for it with `+` and the country's code.
  case noRegion
  /// No country has this calling code.
  case unknownCallingCode
  case tooShort
  case tooLong
  /// Letters, as in advertisements: they aren't turned into digits.
  case hasLetters
  /// An extension follows. No message arrives there.
  case hasExtension
  /// Something else than digits, a plus before them, and what people put between.
  case foreignCharacter
}

/// A telephone number in the form that the server takes, E.164 (behaviour: Phone; field reports B087, B088, B091).
///
/// Printing, interpolating and mirroring show it masked.
public struct PhoneNumber: Sendable, Hashable {
  /// `+` and 15 ASCII digits at most.
  public let e164: String

  /// The release of the source of the table of countries, as `9.0.43` of libphonenumber's data.
  public static var tableVersion: String { Country.tableVersion }

  /// Reads what a person typed: any Unicode decimal digits; spaces, dashes, brackets, dots, slashes and bidi marks are dropped.
  ///
  /// A leading `+` wins over the region, and so do `00` and what the region itself dials before calling codes. Without them
  /// the number is the region's, with or without the national prefix. With them the table's lengths are a lower bound alone:
  /// a numbering plan that has grown since it was made stays usable, and the server judges.
  /// - Parameter region: where the number is dialled; nil if nobody said.
  /// - Throws: what is wrong with it; never the text itself.
  public init(_ text: String, region: Region?) throws(PhoneNumberError) {
    let typed = try TypedNumber(text)
    let digits =
      typed.hasPlus
      ? try NumberReading.international(typed.digits) : try NumberReading.dialled(typed.digits, in: region)
    e164 = "+" + String(decoding: digits, as: UTF8.self)
  }
}

extension PhoneNumber: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Masked: `+*******4444`.
  public var description: String { PhoneMask.masked(e164) }
  /// Masked.
  public var debugDescription: String { description }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
