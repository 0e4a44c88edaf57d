import Foundation
import TestSupport
import Testing

@testable import Crypto

let openssl = "/usr/bin/openssl"

func bytes(_ hex: String) throws -> [UInt8] { try Hex.decode(hex) }

@Suite(.timeLimit(.minutes(1)))
struct DigestTests {
  /// FIPS 180-4's examples.
  @Test(arguments: [
    ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ])
  func sha256(text: String, times: Int, digest: String) {
    #expect(Hex.encode(SHA256.hash(String(repeating: text, count: times))) == digest)
  }

  struct MAC: Sendable {
    let key: String
    let data: String
    let code: String
  }

  /// RFC 4231, cases 1 to 4, 6 and 7 (5 is about truncation).
  @Test(arguments: [
    MAC(
      key: String(repeating: "0b", count: 20), data: "4869205468657265",
      code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    MAC(
      key: "4a656665", data: "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
      code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    MAC(
      key: String(repeating: "aa", count: 20), data: String(repeating: "dd", count: 50),
      code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    MAC(
      key: "0102030405060708090a0b0c0d0e0f10111213141516171819", data: String(repeating: "cd", count: 50),
      code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    MAC(
      key: String(repeating: "aa", count: 131),
      data:
        "54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a65204b6579202d2048617368204b6579204669727374",
      code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    MAC(
      key: String(repeating: "aa", count: 131),
      data:
        "5468697320697320612074657374207573696e672061206c6172676572207468616e20626c6f636b2d73697a65206b657920616e642061206c"
        + "6172676572207468616e20626c6f636b2d73697a6520646174612e20546865206b6579206e6565647320746f20626520686173686564206265"
        + "666f7265206265696e6720757365642062792074686520484d414320616c676f726974686d2e",
      code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ])
  func hmac(vector: MAC) throws {
    let code = try HMACSHA256.authenticate(try bytes(vector.data), key: try bytes(vector.key))
    #expect(Hex.encode(code) == vector.code)
  }

  @Test func emptyKeyAndMessage() throws {
    let code = try HMACSHA256.authenticate([], key: [])
    #expect(Hex.encode(code) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test(
    .enabled(if: FileManager.default.isExecutableFile(atPath: openssl)), arguments: [0, 1, 55, 56, 63, 64, 65, 4097])
  func agreesWithOpenSSL(length: Int) throws {
    let message = try Random.bytes(length)
    let key = try Random.bytes(32)
    let scratch = try Scratch()
    try Data(message).write(to: URL(fileURLWithPath: scratch.file("message")))
    let digest = try Subprocess.runBlocking([openssl, "dgst", "-sha256", "-r", scratch.file("message")])
    #expect(digest.stdout.hasPrefix(Hex.encode(SHA256.hash(message)) + " "))
    let options = ["-mac", "HMAC", "-macopt", "hexkey:\(Hex.encode(key))"]
    let code = try Subprocess.runBlocking([openssl, "dgst", "-sha256", "-r"] + options + [scratch.file("message")])
    #expect(code.stdout.hasPrefix(Hex.encode(try HMACSHA256.authenticate(message, key: key)) + " "))
  }

  @Test func constantTimeComparison() {
    #expect(equalInConstantTime([], []))
    #expect(equalInConstantTime([1, 2, 3], [1, 2, 3]))
    #expect(!equalInConstantTime([1, 2, 3], [1, 2, 4]))
    #expect(!equalInConstantTime([0, 2, 3], [1, 2, 3]))
    #expect(!equalInConstantTime([1, 2], [1, 2, 3]))
  }

  @Test func randomBytes() throws {
    #expect(try Random.bytes(0).isEmpty)
    let values = try (0..<64).map { _ in try Random.bytes(16) }
    #expect(Set(values).count == 64)
    // Longer than getrandom(2) gives without a chance of interruption.
    let long = try Random.bytes(1 << 20)
    #expect(Set(long).count == 256)
  }

  /// The first use may come from several threads at once.
  @Test func concurrentUse() async {
    let digests = await withTaskGroup(of: String.self) { group in
      for _ in 0..<32 { group.addTask { Hex.encode(SHA256.hash("abc")) } }
      return await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(digests == ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"])
  }
}
