import AuthCore
import Foundation
import TestSupport
import Testing

@testable import Crypto

@Suite("Signed tokens", .timeLimit(.minutes(1)))
struct JWSTests {
  /// A line of `Tests/Vectors/jws.jsonl`: RFC 7515's and 7520's examples, and what another implementation signed or broke.
  struct Vector: Sendable, Decodable, CustomTestStringConvertible {
    let name: String
    let token: String
    let keys: [JSONValue]
    /// `ok`, or the error's name.
    let result: String
    var testDescription: String { name }
  }

  static let vectors: [Vector] = {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Vectors/jws.jsonl")
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap { try? JSONDecoder().decode(Vector.self, from: Data($0.utf8)) }
  }()

  @Test("the vectors are all there") func coverage() {
    #expect(Self.vectors.count == 143)
    #expect(Self.vectors.filter { $0.result == "ok" }.count >= 15)
    #expect(
      Set(Self.vectors.map(\.result)) == ["ok", "malformed", "algorithm", "critical", "unknownKey", "signature"])
  }

  @Test("believed, or refused for its own reason", arguments: vectors)
  func verify(_ vector: Vector) {
    let keys = vector.keys.compactMap { JSONWebKey($0) }
    do throws(JWSError) {
      let payload = try JWS.verify(vector.token, keys: keys)
      #expect(vector.result == "ok")
      #expect(SigningKey.base64URL(payload) == vector.token.split(separator: ".")[1])
    } catch {
      #expect("\(error)" == vector.result)
    }
  }

  @Test("what openssl signs is believed, whatever is changed isn't", arguments: SigningKey.Kind.allCases)
  func openssl(_ kind: SigningKey.Kind) throws {
    let key = try SigningKey(kind)
    let keys = [try #require(JSONValue(json: key.jwk.utf8).flatMap { JSONWebKey($0) })]
    for _ in 0..<10 {
      let token = try key.token(#"{"n":"\#(UUID().uuidString)"}"#)
      #expect(throws: Never.self) { try JWS.verify(token, keys: keys) }
      // Any character but the last, whose spare bits have a rule of their own.
      let place = token.index(token.startIndex, offsetBy: Int.random(in: 0..<(token.count - 1)))
      let other = token.replacingCharacters(in: place...place, with: token[place] == "A" ? "B" : "A")
      #expect(throws: JWSError.self) { try JWS.verify(other, keys: keys) }
    }
  }

  @Test("a token has 64 KiB at most") func size() throws {
    let key = try SigningKey(.p256)
    let keys = [try #require(JSONValue(json: key.jwk.utf8).flatMap { JSONWebKey($0) })]
    let fitting = try key.token(String(repeating: " ", count: 49000))
    #expect(fitting.utf8.count <= JWS.limit)
    #expect(try JWS.verify(fitting, keys: keys).count == 49000)
    let long = try key.token(String(repeating: " ", count: 50000))
    #expect(throws: JWSError.tooLong) { try JWS.verify(long, keys: keys) }
  }

  @Test("a set has a hundred keys at most, and passes over what is no key") func set() throws {
    let key = try #require(JSONValue(json: try SigningKey(.p256).jwk.utf8))
    #expect(JSONWebKey.set(["keys": .array([key, [:], 1, key])])?.count == 2)
    #expect(JSONWebKey.set(["keys": .array(Array(repeating: key, count: 100))])?.count == 100)
    #expect(JSONWebKey.set(["keys": .array(Array(repeating: key, count: 101))]) == nil)
    for none: JSONValue in [[:], [], ["keys": [:]], ["keys": nil], key] { #expect(JSONWebKey.set(none) == nil) }
  }

  @Test("a key says what it's called and for") func members() throws {
    let key = try #require(JSONValue(json: try SigningKey(.p256, id: "2026-11").jwk.utf8).flatMap { JSONWebKey($0) })
    #expect(key.id == "2026-11")
    #expect(key.algorithm == "ES256")
  }
}
