import AuthCore
import FoundationEssentials
@testable import IdentityToolkit

/// Answers of the server, of an emulator, or of whatever stands in between: three digits of status, then the body.
enum ServerAnswers {
  static func check(_ input: [UInt8]) throws(Fault) {
    let status = Int(String(decoding: input.prefix(3), as: UTF8.self)) ?? 200
    let body = Array(input.dropFirst(3))
    let failure = ServerFailure.read(HTTPResponse(status: status, body: body, retryAfter: 7))
    if let failure { try hasFailed(failure) }
    if status < 200 || status >= 300 { try require(failure != nil, "such a status is a failure") }
    try types(body)
    try message(String(decoding: body, as: UTF8.self))
  }

  private static func hasFailed(_ failure: AuthFailure) throws(Fault) {
    try require((failure.detail?.count ?? 0) <= 500, "a detail has a limit")
    let code = failure.serverCode ?? ""
    let isPlain = code.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || $0 == 0x5f || $0 == 0x2d
    }
    try require(isPlain && code.utf8.count <= 64, "a server's code is one word")
  }

  /// Parts of answers that are read for themselves.
  private static func types(_ body: [UInt8]) throws(Fault) {
    let decoder = JSONDecoder()
    let factors = (try? decoder.decode([FactorInfo].self, from: Data(body))) ?? []
    for factor in factors.compactMap(\.factor) { try require(!factor.uid.isEmpty, "a factor has an id") }
    let number = try? decoder.decode(WholeNumber.self, from: Data(body))
    _ = try? TokenGrant("a", "b", number)
    _ = RFC3339.parse(String(decoding: body, as: UTF8.self))
  }

  /// Identity-toolkit 3.2.
  private static func message(_ text: String) throws(Fault) {
    let (code, detail) = ServerErrorTable.split(text)
    try require(!code.contains(" ") && !code.contains(":"), "a code is one word")
    try require(detail.map { !$0.isEmpty } ?? true, "a detail isn't empty")
    if let error = ServerErrorTable.error(for: code) {
      try require(ServerErrorTable.error(for: ServerErrorTable.split(code).code) == error, "a code alone is its code")
    }
  }
}
