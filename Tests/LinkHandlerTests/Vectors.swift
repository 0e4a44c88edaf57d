import AppConfiguration
import AuthCore
import Foundation
import LinkHandler
import Testing

/// A line of `Tests/Vectors`.
struct Vector: Sendable, CustomTestStringConvertible {
  let id: String
  let url: String
  let kind: String
  /// JSON text of `expect`, since an `Any` isn't sendable.
  let expected: Data

  var testDescription: String { id }

  var expect: [String: Any] { (try? JSONSerialization.jsonObject(with: expected)) as? [String: Any] ?? [:] }

  static func load(_ file: String) -> [Vector] {
    let url = folder.appendingPathComponent(file)
    guard let text = try? String(contentsOf: url, encoding: .utf8) else { return [] }
    return text.split(separator: "\n").compactMap { line in
      guard let object = (try? JSONSerialization.jsonObject(with: Data(line.utf8))) as? [String: Any],
        let id = object["id"] as? String, let link = object["url"] as? String, let kind = object["kind"] as? String,
        let expect = object["expect"], let data = try? JSONSerialization.data(withJSONObject: expect)
      else { return nil }
      return Vector(id: id, url: link, kind: kind, expected: data)
    }
  }

  /// The vector `id`, of whichever file.
  static func named(_ id: String) throws -> Vector {
    try #require((VectorTests.links + VectorTests.bridge).first { $0.id == id }, "no vector \(id)")
  }

  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Vectors")

  /// The app that the vectors are judged against.
  static func app(emulator: Bool) -> App {
    var app = base
    if !emulator { app.emulator = nil }
    return app
  }

  private static let base = loadApp()

  private static func loadApp() -> App {
    let data = (try? Data(contentsOf: folder.appendingPathComponent("app.json"))) ?? Data()
    guard let file = try? AppFile.read(Array(data)) else {
      preconditionFailure("Tests/Vectors/app.json isn't an app's file")
    }
    return file.app
  }

  /// A redirect waits at 127.0.0.1:49152 and [::1]:49152, `/callback`.
  static let pending = PendingReturns(
    [PendingReturns.Waiting(app: app(emulator: false).id, returnURI: "http://127.0.0.1:49152/callback")].compactMap {
      $0
    })

  /// The tokens of the flows that the vectors assume.
  static func isWaiting(_ token: Secret<String>) -> Bool { ["STATE1", "EVTABCDEFG"].contains(token.reveal()) }
}

/// What the tests ask the parser: the vectors' app alone, with nothing waiting unless said otherwise.
enum Judge {
  static let parser = LinkParser(apps: [Vector.app(emulator: false)])
  static let emulatorParser = LinkParser(apps: [Vector.app(emulator: true)])

  /// The email action link that `url` is.
  static func action(_ url: String, emulator: Bool = false) throws -> ActionLink {
    let link = try (emulator ? emulatorParser : parser).parse(url).get()
    guard case .action(let action) = link.content else { throw LinkRejection(.notAuthLink) }
    return action
  }

  /// Why `url` is rejected; nil if it isn't.
  static func rejection(_ url: String, emulator: Bool = false) -> LinkRejection? {
    if case .failure(let rejection) = (emulator ? emulatorParser : parser).parse(url) { return rejection }
    return nil
  }

  /// The own-client redirect that `url` is.
  static func redirect(_ url: String) throws -> OAuthRedirect.OwnClientResponse {
    let link = try parser.parse(url, pending: Vector.pending).get()
    guard case .oauthRedirect(let redirect) = link.content, case .own(let response) = redirect.response else {
      throw LinkRejection(.notAuthLink)
    }
    return response
  }

  /// A URL as `encodeURIComponent` writes it.
  static func encoded(_ url: String) -> String {
    url.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? ""
  }

  private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()"

  static let actionPage = "https://demo-linkd.firebaseapp.com/__/auth/action?"
  static let plain = actionPage + "apiKey=AIzaEXAMPLEKEY0000&mode=signIn&oobCode=OOBcode_1-AAAAbbbb"
}

extension Link {
  /// The fields in the words of the vectors; `NSNull` where there's none.
  var fields: [String: Any] {
    func value(_ text: String?) -> Any { text ?? NSNull() }
    var out: [String: Any] = [:]
    if !via.isEmpty { out["via"] = via.map(\.rawValue) }
    switch content {
    case .action(let link):
      out["mode"] = link.mode
      out["oobCode"] = link.oobCode.reveal()
      out["apiKey"] = value(link.apiKey)
      out["continueUrl"] = value(link.continueURL?.reveal())
      out["lang"] = value(link.language)
      out["tenantId"] = value(link.tenantID)
      if link.continueURLRejected { out["continueUrlRejected"] = true }
      out["continueUrlTrusted"] = link.continueURLTrusted
    case .oauthRedirect(let redirect):
      switch redirect.response {
      case .own(let response):
        out["code"] = value(response.code?.reveal())
        out["state"] = value(response.state?.reveal())
        out["error"] = value(response.error)
        out["errorDescription"] = value(response.errorDescription)
        out["iss"] = value(response.issuer)
        out["idToken"] = value(response.idToken?.reveal())
        out["accessToken"] = value(response.accessToken?.reveal())
        if response.isFragment { out["responseMode"] = "fragment" }
      case .handler(let response):
        out["flow"] = "handler"
        out["eventId"] = value(response.eventID?.reveal())
        out["responseUrl"] = value(response.responseURL?.reveal())
        out["error"] = value(response.error)
      }
      out["reject"] = value(redirect.reject)
    case .appVerification(let result):
      out["authType"] = "verifyApp"
      out["recaptchaToken"] = value(result.recaptchaToken?.reveal())
      out["eventId"] = value(result.eventID?.reveal())
      out["error"] = value(result.error)
      out["reject"] = value(result.reject)
    }
    return out
  }
}
