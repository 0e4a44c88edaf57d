/// A reader of bytes that anybody may have written, and what must hold whatever they are.
public struct FuzzTarget: Sendable {
  /// Names its folder in `fuzz/corpus`.
  public let name: String
  /// Bytes of an input; what the reader itself refuses for its length is found within it.
  public let maximumLength: Int
  private let check: @Sendable ([UInt8]) throws(Fault) -> Void

  init(_ name: String, maximumLength: Int = 4096, _ check: @escaping @Sendable ([UInt8]) throws(Fault) -> Void) {
    self.name = name
    self.maximumLength = maximumLength
    self.check = check
  }

  /// What doesn't hold for `input`; nil if everything does. A trap, an abort or a hang in here is a fault as well.
  public func fault(in input: [UInt8]) -> String? {
    do throws(Fault) {
      try check(input)
      return nil
    } catch {
      return error.what
    }
  }

  /// Every target, in the order of the rings.
  public static let all = [
    FuzzTarget("names", Names.check),
    FuzzTarget("json", JSONTexts.check),
    FuzzTarget("console-file", maximumLength: 16384, ConsoleFiles.check),
    FuzzTarget("property-list", ConsoleFiles.check),
    FuzzTarget("app-file", AppFiles.check),
    FuzzTarget("links", maximumLength: 8192, Links.check),
    FuzzTarget("continue-urls", ContinueURLs.check),
    FuzzTarget("dbus-messages", DBusMessages.check),
    FuzzTarget("dbus-values", DBusValues.check),
    FuzzTarget("dbus-names", maximumLength: 600, DBusNames.check),
    FuzzTarget("server-answers", ServerAnswers.check),
    FuzzTarget("id-tokens", IDTokens.check),
    FuzzTarget("signed-tokens", maximumLength: 8192, SignedTokens.check),
    FuzzTarget("rows", Rows.check),
  ]
}

/// Something that must hold and doesn't.
struct Fault: Error {
  let what: String
}

/// - Throws: `Fault` unless `condition` holds.
func require(_ condition: Bool, _ what: @autoclosure () -> String) throws(Fault) {
  guard condition else { throw Fault(what: what()) }
}
