import AuthCore
import Testing

@testable import Crypto

@Suite(.timeLimit(.minutes(1)))
struct AESGCMTests {
  struct Vector: Sendable {
    let key: String
    let nonce: String
    let text: String
    let associated: String
    let sealed: String
    let tag: String
  }

  /// McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 to 16.
  static let vectors = [
    Vector(
      key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), text: "", associated: "",
      sealed: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Vector(
      key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12),
      text: String(repeating: "00", count: 16), associated: "", sealed: "cea7403d4d606b6e074ec5d3baf39d18",
      tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Vector(
      key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
      text: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b391aafd255",
      associated: "",
      sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
        + "c5f61e6393ba7a0abcc9f662898015ad",
      tag: "b094dac5d93471bdec1a502270e3cc6c"),
    Vector(
      key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888",
      text: "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
        + "b16aedf5aa0de657ba637b39",
      associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
      sealed: "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
        + "c5f61e6393ba7a0abcc9f662",
      tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  @Test(arguments: vectors)
  func publishedVectors(vector: Vector) throws {
    let key = Secret(try bytes(vector.key))
    let associated = try bytes(vector.associated)
    let sealed = try AESGCM.seal(
      try bytes(vector.text), key: key, associatedData: associated, nonce: try bytes(vector.nonce))
    #expect(Hex.encode(sealed) == vector.nonce + vector.sealed + vector.tag)
    #expect(Hex.encode(try AESGCM.open(sealed, key: key, associatedData: associated)) == vector.text)
  }

  let key = Secret([UInt8](repeating: 7, count: AESGCM.keyLength))

  @Test(arguments: [0, 1, 15, 16, 17, 1000, 70_000])
  func roundTrip(length: Int) throws {
    let text = try Random.bytes(length)
    let sealed = try AESGCM.seal(text, key: key, associatedData: [1, 2, 3])
    #expect(sealed.count == length + AESGCM.overhead)
    #expect(try AESGCM.open(sealed, key: key, associatedData: [1, 2, 3]) == text)
    // Never the same twice.
    #expect(try AESGCM.seal(text, key: key, associatedData: [1, 2, 3]) != sealed)
  }

  @Test func anyChangedBitIsNoticed() throws {
    let sealed = try AESGCM.seal(Array("a code".utf8), key: key, associatedData: Array("flows.1".utf8))
    for bit in 0..<(sealed.count * 8) {
      var changed = sealed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.notAuthentic) {
        try AESGCM.open(changed, key: key, associatedData: Array("flows.1".utf8))
      }
    }
  }

  @Test func otherPlaceOrKeyIsNoticed() throws {
    let sealed = try AESGCM.seal(Array("a code".utf8), key: key, associatedData: Array("flows.1".utf8))
    for associated in ["", "flows.2", "flows.", "flows.1 "] {
      #expect(throws: CryptoError.notAuthentic) {
        try AESGCM.open(sealed, key: key, associatedData: Array(associated.utf8))
      }
    }
    var other = key.reveal()
    other[31] ^= 1
    #expect(throws: CryptoError.notAuthentic) {
      try AESGCM.open(sealed, key: Secret(other), associatedData: Array("flows.1".utf8))
    }
  }

  @Test func wrongLengths() throws {
    let sealed = try AESGCM.seal([], key: key, associatedData: [])
    for length in 0..<AESGCM.overhead {
      #expect(throws: CryptoError.malformed) {
        try AESGCM.open(Array(sealed[..<length]), key: key, associatedData: [])
      }
    }
    for length in [0, 16, 31, 33] {
      let short = Secret([UInt8](repeating: 7, count: length))
      #expect(throws: CryptoError.keyLength) { try AESGCM.seal([], key: short, associatedData: []) }
      #expect(throws: CryptoError.keyLength) { try AESGCM.open(sealed, key: short, associatedData: []) }
    }
  }
}
