import AuthCore
import LinkHandler
import Testing

/// What the Firebase handler's page sends back (identity-toolkit 4).
@Suite("Returns of the Firebase handler", .timeLimit(.minutes(1)))
struct HandlerReturnTests {
  private func handler(_ inner: String) -> String {
    "com.example.linkd://firebaseauth/link?deep_link_id="
      + Judge.encoded("https://demo-linkd.firebaseapp.com/__/auth/callback?" + inner)
  }

  private func handlerResponse(_ inner: String) throws -> OAuthRedirect.HandlerResponse {
    guard case .oauthRedirect(let redirect) = try Judge.parser.parse(handler(inner)).get().content,
      case .handler(let response) = redirect.response
    else { throw LinkRejection(.notAuthLink) }
    return response
  }

  @Test("the handler's answer is decoded once at each level; a plus in it is a space")
  func handlerAnswer() throws {
    let answer = "https://proj.firebaseapp.com/__/auth/handler?state=S&code=4%2F0AX&scope=email profile"
    let response = try handlerResponse("authType=signInWithRedirect&link=\(Judge.encoded(answer))&eventId=E")
    #expect(response.responseURL?.reveal() == answer)
    #expect(response.eventID?.reveal() == "E")
    #expect(try handlerResponse("authType=signInWithRedirect&link=a+b&eventId=E").responseURL?.reveal() == "a b")
    #expect(try handlerResponse("authType=signInWithRedirect&link=a%2Bb&eventId=E").responseURL?.reveal() == "a+b")
  }

  @Test(
    "firebaseError's code is read from whole JSON objects alone",
    arguments: [
      (#"{"code":"auth/internal-error","message":"Internal error ."}"#, "auth/internal-error"),
      (#" { "message" : "a \"code\":\"auth/no\" b" , "code" : "auth\/yes" } "#, "auth/yes"),
      (#"{"inner":{"code":"auth/no","list":[1,"}",{}]},"code":"auth/yes","n":-1.5e3,"t":true}"#, "auth/yes"),
      (#"{"code":{"code":"auth/no"}}"#, "unknown"), (#"{"unstructuredcode":"auth/x"}"#, "unknown"),
      (#"{"code":"auth/x""#, "unknown"), (#"{"code":"a b"}"#, "unknown"), (#"["code","auth/x"]"#, "unknown"),
      (#"{"code":"auth/x"} trailing"#, "unknown"), (#"{"code":}"#, "unknown"), ("{}", "unknown"), ("x", "unknown"),
    ])
  func firebaseError(_ json: String, _ code: String) throws {
    #expect(
      try handlerResponse("authType=signInWithRedirect&firebaseError=\(Judge.encoded(json))&eventId=E").error == code)
  }

  @Test("an answer counts more than an error, and nothing at all is rejected")
  func precedence() throws {
    let both = try handlerResponse("authType=signInWithRedirect&link=x&firebaseError=%7B%7D&eventId=E")
    #expect(both.error == nil)
    let nothing = try Judge.parser.parse(handler("authType=signInWithRedirect&eventId=E")).get()
    #expect(nothing.reject == "missingCode")
  }

  @Test("the handler's page is one of the app's, or its emulator's")
  func handlerHost() throws {
    let good = handler("authType=verifyApp&recaptchaToken=a%2Bb&eventId=E")
    guard case .appVerification(let result) = try Judge.parser.parse(good).get().content else {
      throw LinkRejection(.notAuthLink)
    }
    #expect(result.recaptchaToken?.reveal() == "a+b")
    #expect(Judge.rejection(good.replacing("demo-linkd", with: "evil"))?.reason == .untrustedHost)
    #expect(Judge.rejection(good.replacing("verifyApp", with: "linkViaRedirect"))?.reason == .unknownAuthType)
    let emulator = good.replacing("https%3A%2F%2Fdemo-linkd.firebaseapp.com", with: "http%3A%2F%2F127.0.0.1%3A9099")
    #expect(Judge.rejection(emulator)?.reason == .untrustedHost)
    #expect(try Judge.emulatorParser.parse(emulator).get().emulator == EmulatorAddress("127.0.0.1:9099"))
  }

  @Test(
    "what only resembles the handler's return isn't it",
    arguments: [
      "com.example.linkd://firebaseauth/link/", "com.example.linkd://FirebaseAuth/link",
      "com.example.linkd:firebaseauth/link",
      "com.example.linkd://firebaseauth:80/link", "com.example.linkd://u@firebaseauth/link",
      "com.example.linkd://badhost/link",
      "com.example.linkd://firebaseauth/badpath",
    ])
  func lookalikes(_ start: String) {
    let query = handler("authType=verifyApp&recaptchaToken=t&eventId=E").split(separator: "?", maxSplits: 1)[1]
    #expect(Judge.rejection("\(start)?\(query)")?.reason == .notAuthLink)
  }
}
