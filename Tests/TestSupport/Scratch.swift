import Foundation

/// A fresh directory under the temporary directory, removed with everything in it when the value goes away.
public final class Scratch: Sendable {
  /// Absolute path, without a slash at the end.
  public let path: String

  /// Makes `<tmp>/<prefix>-XXXXXX` with mode 0700.
  public init(_ prefix: String = "linkd-test") throws {
    let parent = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
    var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXFailure("mkdtemp") }
    path = template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of something inside.
  public func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Writes a file inside, with the folders it needs, and gives its path.
  @discardableResult
  public func write(_ text: String, to name: String, executable: Bool = false) throws -> String {
    let target = file(name)
    let url = URL(fileURLWithPath: target)
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
    if executable { chmod(target, 0o755) }
    return target
  }
}

/// A failed system call.
public struct POSIXFailure: Error, CustomStringConvertible {
  /// The call.
  public let call: String
  /// errno.
  public let code: Int32

  /// Takes the code given, or errno.
  public init(_ call: String, _ code: Int32? = nil) {
    self.call = call
    self.code = code ?? errno
  }

  /// The call and what errno means.
  public var description: String { "\(call): \(String(cString: strerror(code)))" }
}
