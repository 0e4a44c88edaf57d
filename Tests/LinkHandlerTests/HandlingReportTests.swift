import AuthCore
import LinkHandler
import Testing

/// Field reports about what is ours and what isn't, about returns, and about links on a command line.
@Suite("Field reports: whose link it is", .timeLimit(.minutes(1)))
struct HandlingReportTests {
  @Test("B023: a link that isn't ours is silent")
  func b023() throws {
    for id in ["S29", "S30"] {
      let rejection = try #require(Judge.rejection(try Vector.named(id).url))
      #expect(rejection.reason.exitCode == 3)
      #expect(rejection.hint == nil)
    }
  }

  @Test("B024: an app's own deep link is for the app")
  func b024() throws {
    let rejection = try #require(Judge.rejection(try Vector.named("S30").url))
    #expect(rejection.reason == .notAuthLink)
    #expect(rejection.schemeOwners.map(\.value) == ["demo"])
    #expect(rejection.scheme == "com.example.linkd")
    let foreign = try #require(Judge.rejection(try Vector.named("S29").url))
    #expect(foreign.schemeOwners.isEmpty)
    #expect(foreign.scheme == "vscode")
  }

  @Test(
    "B025: what is no URL is malformed",
    arguments: ["hunter2", "", " ", "%u", "https://", "://", ":", "\u{feff}", "1:2"])
  func b025(_ text: String) {
    #expect(Judge.rejection(text)?.reason == .malformed)
  }

  @Test("B051: one slash more at the end is the same return URI, anything else isn't")
  func b051() throws {
    #expect(try Judge.redirect(try Vector.named("O05").url).code?.reveal() == "C1")
    for path in ["/callback//", "//callback", "/callback/x", "/Callback", "/callback;"] {
      #expect(Judge.rejection("com.example.linkd://oauth\(path)?code=C1&state=STATE1")?.reason == .notAuthLink)
    }
  }

  @Test("B052: a flow may wait at a return URI of its own")
  func b052() throws {
    let url = "com.example.linkd://signed/in?code=C1&state=STATE1"
    #expect(Judge.rejection(url)?.reason == .notAuthLink)
    let waiting = try #require(
      PendingReturns.Waiting(app: Vector.app(emulator: false).id, returnURI: "com.example.linkd://signed/in"))
    #expect(try Judge.parser.parse(url, pending: PendingReturns([waiting])).get().kind == .oauthRedirect)
  }

  @Test("B058: a deep link with a ready token is never taken")
  func b058() throws {
    for id in ["S27", "S28"] { #expect(Judge.rejection(try Vector.named(id).url)?.reason == .notAuthLink) }
  }

  @Test("B061: Facebook's fragment doesn't replace the query")
  func b061() throws {
    let response = try Judge.redirect(try Vector.named("O07").url)
    #expect(response.code?.reveal() == "C1")
    #expect(response.state?.reveal() == "STATE1")
    #expect(!response.isFragment)
  }

  @Test("B062: a cancelled sign-in says so")
  func b062() throws {
    let response = try Judge.redirect(try Vector.named("O09").url)
    #expect(response.error == "access_denied")
    #expect(response.errorDescription == "Permissions error")
  }

  @Test("B063: a redirect with neither code nor error is rejected, not trusted")
  func b063() throws {
    #expect(try Judge.parser.parse(try Vector.named("O12").url).get().reject == "missingCode")
  }

  @Test("B066: a pasted redirect finishes, in whichever spelling of this machine")
  func b066() throws {
    for host in ["127.0.0.1", "localhost", "[::1]"] {
      #expect(try Judge.redirect("http://\(host):49152/callback?code=C1&state=STATE1").code?.reveal() == "C1")
    }
  }

  @Test("B070: a URL that a shell cut at '&' says that it was cut")
  func b070() throws {
    let link = try Judge.parser.parse("com.example.linkd://oauth/callback?session_state=f888-e2").get()
    #expect(link.reject == "missingCode")
    #expect(link.hint == .cutOff)
  }

  @Test("B095: an app verification that failed ends with an error")
  func b095() throws {
    for (id, error) in [("R03", "auth/network-request-failed"), ("R04", "unknown")] {
      guard case .appVerification(let result) = try Judge.parser.parse(try Vector.named(id).url).get().content else {
        throw LinkRejection(.notAuthLink)
      }
      #expect(result.error == error)
    }
    #expect(try Judge.parser.parse(try Vector.named("R05").url).get().reject == "missingToken")
  }

  @Test("B046: a link broken over two lines is joined when asked for")
  func b046() throws {
    let broken = try Vector.named("C16").url
    #expect(Judge.rejection(broken)?.hint == .joinedLines)
    #expect(try Judge.action(LinkText.joinLines(broken)).oobCode.reveal() == "OOBcode_1-AAAAbbbb")
    #expect(Judge.rejection(try Vector.named("C20").url)?.hint == .cutOff)
    #expect(LinkText.joinLines("  https://a.example/?x=\r\n\t  1&y=2 3\n\n") == "https://a.example/?x=1&y=2 3")
    #expect(LinkText.joinLines("") == "")
  }

  @Test("B079: the one argument that is a link is found among a launcher's")
  func b079() throws {
    let arguments = ["--flag", "./x", "/home/user/https:/x", "-v", "", "%u", "x", try Vector.named("O03").url]
    #expect(arguments.filter(LinkText.looksLikeLink) == [try Vector.named("O03").url])
    #expect(!LinkText.looksLikeLink(try Vector.named("S31").url))
    #expect(!LinkText.looksLikeLink("https:"))
    for wrapped in [
      " <https://a.example>", "\"https://a.example\"", "(https://a.example)", "\u{feff}https://a.example",
    ] {
      #expect(LinkText.looksLikeLink(wrapped))
    }
  }
}
