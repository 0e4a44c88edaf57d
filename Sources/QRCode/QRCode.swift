import CQREncode
import Glibc

/// Why there is no code.
public enum QRCodeError: Error, Sendable, Hashable {
  /// libqrencode isn't installed: what the code would say has to be shown as text.
  case libraryMissing
  /// No text, or more than the largest code holds (2331 bytes at this level of correction).
  case wrongLength
}

/// A QR code (ISO/IEC 18004): black and white squares, called modules. The only door to libqrencode, which is loaded when the
/// first code is made.
///
/// What a code says may be a secret, as a second factor's is: printing or mirroring shows the size alone.
public struct QRCode: Sendable, Hashable {
  /// Modules in a row, and rows; without the quiet zone.
  public let width: Int
  private let dark: [Bool]

  /// White modules that belong on each side.
  public static let quietZone = 4

  /// Makes the smallest code that holds the text's UTF-8, with error correction level M.
  public init(_ text: String) throws(QRCodeError) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty, let count = Int32(exactly: bytes.count) else { throw .wrongLength }
    var code = cqrencode_code()
    switch cqrencode_encode(bytes, count, &code) {
    case 0: break
    case ELIBACC: throw .libraryMissing
    default: throw .wrongLength
    }
    defer { cqrencode_free(&code) }
    width = Int(code.width)
    dark = UnsafeBufferPointer(start: code.modules, count: width * width).map { $0 & 1 == 1 }
  }

  /// Whether a module is dark. False for every place outside: the quiet zone is white.
  public func isDark(row: Int, column: Int) -> Bool {
    guard (0..<width).contains(row), (0..<width).contains(column) else { return false }
    return dark[row * width + column]
  }
}

extension QRCode: CustomStringConvertible, CustomReflectable {
  /// The size alone.
  public var description: String { "QR code, \(width) modules wide" }
  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
