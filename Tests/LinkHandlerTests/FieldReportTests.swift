import AuthCore
import LinkHandler
import Testing

/// What went wrong for people elsewhere, with the right value: links that were damaged, wrapped or taken apart.
@Suite("Field reports: links", .timeLimit(.minutes(1)))
struct FieldReportTests {
  private let code = "OOBcode_1-AAAAbbbb"

  @Test("B006: a link that a gateway cut off says so, and an opaque wrapper sends to the browser")
  func b006() throws {
    let cut = try #require(Judge.rejection(Judge.actionPage + "apiKey=AIzaEXAMPLEKEY0000&mode=signIn&oobCode="))
    #expect(cut.reason == .missingOobCode)
    #expect(cut.hint == .cutOff)
    let barracuda = "https://linkprotect.cudasvc.com/url?a=" + Judge.encoded(Judge.plain) + "&c=E,1,abc&typo=1"
    for url in [try Vector.named("W11").url, try Vector.named("W12").url, barracuda] {
      let rejection = try #require(Judge.rejection(url))
      #expect(rejection.reason == .opaqueWrapper)
      #expect(rejection.hint == .openInBrowser)
    }
  }

  @Test("B007: a hosting link is a sign-in link")
  func b007() throws {
    let link = try Judge.action(try Vector.named("D01").url)
    #expect(link.kind == .emailSignIn)
    #expect(link.oobCode.reveal() == code)
  }

  @Test("B009: what is encoded twice stays encoded once")
  func b009() throws {
    let plus = Judge.plain + "&continueUrl=https%3A%2F%2Fapp.example.com%2Fcb%3Fsig%3Dabc%252Bdef&lang=en"
    #expect(try Judge.action(plus).continueURL?.reveal() == "https://app.example.com/cb?sig=abc%2Bdef")
    for id in ["A27", "D21", "D22"] {
      let link = try Judge.action(try Vector.named(id).url)
      #expect(link.oobCode.reveal() == code)
      #expect(link.mode == "signIn")
    }
  }

  @Test("B010: the raw old Dynamic Link gives every field")
  func b010() throws {
    let inner = Judge.plain + "&continueUrl=https%3A%2F%2Fapp.example.com%2Fdone&lang=en"
    let link = try Judge.action("https://demo.page.link/?link=\(Judge.encoded(inner))&apn=com.example.app&amv=1&ibi=x")
    #expect(link.mode == "signIn")
    #expect(link.oobCode.reveal() == code)
    #expect(link.apiKey == "AIzaEXAMPLEKEY0000")
    #expect(link.continueURL?.reveal() == "https://app.example.com/done")
    #expect(link.language == "en")
  }

  @Test("B011: a bare host of ours is no link, and our words on a foreign host aren't ours")
  func b011() {
    for bare in ["https://demo.page.link", "https://demo.page.link/", "https://auth.example.com/__/auth/links"] {
      #expect(Judge.rejection(bare)?.reason == .missingOobCode)
    }
    for crafted in [
      "https://evil.example/?mode=signIn&oobCode=x&apiKey=AIzaEXAMPLEKEY0000&h=demo-linkd.firebaseapp.com",
      "https://evil.example/demo-linkd.firebaseapp.com/__/auth/action?mode=signIn&oobCode=x",
    ] {
      #expect(Judge.rejection(crafted)?.reason == .untrustedHost)
    }
  }

  @Test("B012: a link that was resolved too early has lost its code, and says so")
  func b012() throws {
    let rejection = try #require(Judge.rejection(try Vector.named("D14").url))
    #expect(rejection.reason == .missingOobCode)
    #expect(rejection.hint == .resolvedTooEarly)
    #expect(try Judge.action(try Vector.named("D02").url).kind == .emailSignIn)
    // The page it leads to may be the app's continue page.
    let toPage = "https://auth.example.com/__/auth/links?link=https%3A%2F%2Fapp.example.com%2Fdone"
    #expect(Judge.rejection(toPage)?.hint == .resolvedTooEarly)
  }

  @Test("B014: an empty path is the root")
  func b014() throws {
    #expect(try Judge.action(try Vector.named("D05").url).oobCode.reveal() == code)
  }

  @Test("B015: a lost slash is a broken link that the person hears of")
  func b015() throws {
    let rejection = try #require(Judge.rejection(try Vector.named("D20").url))
    #expect(rejection.reason == .malformed)
    #expect(rejection.reason.exitCode == 65)
  }

  @Test("B016: the code may stand on the continue page, whatever its path")
  func b016() throws {
    for path in ["/index.html", "", "/", "/a/b/c"] {
      let link = try Judge.action(
        "https://app.example.com\(path)?apiKey=AIzaEXAMPLEKEY0000&oobCode=\(code)&mode=signIn")
      #expect(link.oobCode.reveal() == code)
    }
  }

  @Test("B018: a link without a key is handled with the app's own")
  func b018() throws {
    let link = try Judge.parser.parse(try Vector.named("A15").url).get()
    #expect(link.kind == .emailSignIn)
    #expect(link.candidates.map(\.value) == ["demo"])
    #expect(try Judge.action(try Vector.named("A15").url).apiKey == nil)
  }

  @Test("B019: a blank key is none")
  func b019() throws {
    let link = try Judge.action(Judge.actionPage + "apiKey=&mode=signIn&oobCode=\(code)&lang=&tenantId=")
    #expect(link.apiKey == nil)
    #expect(link.language == nil)
    #expect(link.tenantID == nil)
  }

  @Test(
    "B020: a link's mode has its own words",
    arguments: [
      ("signIn", LinkKind.emailSignIn), ("resetPassword", .passwordReset), ("verifyEmail", .verifyEmail),
      ("recoverEmail", .recoverEmail), ("verifyAndChangeEmail", .verifyAndChangeEmail),
      ("revertSecondFactorAddition", .revertSecondFactor),
    ])
  func b020(_ mode: String, _ kind: LinkKind) throws {
    #expect(try Judge.action(Judge.actionPage + "mode=\(mode)&oobCode=x").kind == kind)
  }

  @Test(
    "B020: the words of the REST API aren't modes",
    arguments: ["EMAIL_SIGNIN", "PASSWORD_RESET", "VERIFY_EMAIL", "VERIFY_AND_CHANGE_EMAIL", "RECOVER_EMAIL"])
  func b020(_ requestType: String) {
    #expect(Judge.rejection(Judge.actionPage + "mode=\(requestType)&oobCode=x")?.reason == .unknownMode)
  }

  @Test("B021: a pair is split at its first '=' alone, and may have none")
  func b021() throws {
    #expect(try Judge.action(try Vector.named("A20").url).oobCode.reveal() == code)
    let link = try Judge.action(Judge.plain + "&continueUrl=https%3A%2F%2Fapp.example.com%2Fdone%3Fa%3D1%26b%3Dx%3Dy")
    #expect(link.continueURL?.reveal() == "https://app.example.com/done?a=1&b=x=y")
    let raw = try Judge.action(Judge.plain + "&continueUrl=https://app.example.com/done?b=x=y")
    #expect(raw.continueURL?.reveal() == "https://app.example.com/done?b=x=y")
  }

  @Test("B033: a plus in an action link is a plus")
  func b033() throws {
    let link = try Judge.action(
      Judge.actionPage + "mode=signIn&oobCode=a+b&continueUrl=https://app.example.com/?who=user+tag@example.com")
    #expect(link.oobCode.reveal() == "a+b")
    #expect(link.continueURL?.reveal() == "https://app.example.com/?who=user+tag@example.com")
  }

  @Test("B041: a continue URL of kilobytes comes through byte for byte")
  func b041() throws {
    let vector = try Vector.named("A25")
    let link = try Judge.action(vector.url)
    #expect(link.continueURL?.reveal() == vector.expect["continueUrl"] as? String)
    #expect((link.continueURL?.reveal().utf8.count ?? 0) > 2000)
  }

  @Test("B043: the emulator's links count in emulator mode, on its own address")
  func b043() throws {
    let url = try Vector.named("E01").url
    #expect(try Judge.action(url, emulator: true).apiKey == "fake-api-key")
    #expect(Judge.rejection(url) != nil)
    let elsewhere = url.replacing("127.0.0.1:9099", with: "localhost:9099")
    #expect(Judge.rejection(elsewhere, emulator: true)?.reason == .untrustedHost)
    #expect(
      Judge.rejection(Judge.actionPage + "mode=signIn&oobCode=x&apiKey=fake-api-key", emulator: true)?.reason
        == .apiKeyMismatch)
  }

  @Test(
    "B044: a full stop after the link isn't the code's",
    arguments: [".", ",", ";", ":", "!", "?", ")", ">.", "\".", "。", "”"])
  func b044(_ end: String) throws {
    #expect(try Judge.action(Judge.plain + end).oobCode.reveal() == code)
  }

  @Test("B045: '-', '_' and '=' at the end are the code's", arguments: ["-", "_", "=", "==", "--", "-_="])
  func b045(_ end: String) throws {
    #expect(try Judge.action(Judge.plain + end).oobCode.reveal() == code + end)
  }

  @Test("B047: '&amp;' between parameters is '&'")
  func b047() throws {
    let whole = Judge.plain + "&continueUrl=https%3A%2F%2Fapp.example.com%2Fdone&lang=en"
    #expect(try Judge.action(whole.replacing("&", with: "&amp;")) == Judge.action(whole))
  }

  @Test("B048: quoted-printable text is told from a cut link")
  func b048() throws {
    let source = try #require(
      Judge.rejection(
        Judge.actionPage + "apiKey=3DAIzaEXAMPLEKEY0000&mode=3DsignIn&oobCode=3DOOBcode_1-AAAAbbbb&lang=3Den")
    )
    #expect(source.reason == .unknownMode)
    #expect(source.hint == .copiedFromSource)
    #expect(Judge.rejection(Judge.actionPage + "mode=signIn&oobCode=3DOOB=\r\ncode")?.hint == .copiedFromSource)
  }

  @Test("B050: a link in an app's scheme may be as long as a mail's link can become")
  func b050() throws {
    let inner = try Vector.named("A25").url
    let link = try Judge.action("com.example.linkd://auth?link=" + Judge.encoded(inner))
    #expect(link == (try Judge.action(inner)))
  }

  @Test("B083: 32 KiB are taken, more is said to be too long")
  func b083() throws {
    let long = Judge.plain + "&x=" + String(repeating: "y", count: 30_000)
    #expect(try Judge.action(long).oobCode.reveal() == code)
    #expect(Judge.rejection(long + String(repeating: "y", count: 70_000))?.reason == .tooLong)
    #expect(LinkRejectionReason.tooLong.exitCode == 65)
    for id in ["R11", "O27"] { #expect(try Vector.named(id).url.utf8.count > 2048) }
  }
}
