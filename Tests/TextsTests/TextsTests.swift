import AuthCore
import Foundation
import Testing

@testable import Texts

/// What linkd says to people (behaviour: People).
@Suite(.timeLimit(.minutes(1))) struct TextsTests {
  @Test("every hint has a text", arguments: LinkHint.allCases)
  func hints(hint: LinkHint) { #expect(Texts.english[hint.textID] != nil, "\(hint.textID)") }

  @Test(arguments: AuthError.allCases) func everyErrorSaysWhatHappenedAndWhatNext(_ error: AuthError) throws {
    let text = try #require(Texts.english[error.textID], "\(error.textID)")
    expectTwoSentences(text)
  }

  @Test func everyCauseSaysWhatHappenedAndWhatNext() { for text in Texts.causes.values { expectTwoSentences(text) } }

  @Test(arguments: LinkRejectionReason.allCases) func everyReasonSaysWhyAndWhatNext(_ reason: LinkRejectionReason)
    throws
  {
    let text = try #require(Texts.english["link.\(reason.rawValue)"], "\(reason)")
    expectTwoSentences(text)
  }

  /// `Link.reject`: words for links that are recognised and must not proceed.
  static let rejections = ["missingCode", "missingState", "missingToken", "ambiguousResponse"]

  @Test(arguments: rejections) func everyRejectionSaysWhyAndWhatNext(_ word: String) throws {
    expectTwoSentences(try #require(Texts.english["link.\(word)"], "\(word)"))
  }

  @Test(arguments: FlowStage.allCases) func everyStageHasAText(_ stage: FlowStage) {
    #expect(Texts.english["stage.\(stage.rawValue)"] != nil)
  }

  private func expectTwoSentences(_ text: String) {
    #expect(text.hasSuffix("."))
    let breaks = [". ", ": ", "; "].reduce(0) {
      $0 + text.split(separator: $1, omittingEmptySubsequences: true).count - 1
    }
    #expect(breaks >= 1, "no next step: \(text)")
  }

  @Test func nothingIsLeftOver() {
    let errors = Set(AuthError.allCases.map(\.textID))
    let reasons = Set((LinkRejectionReason.allCases.map(\.rawValue) + Self.rejections).map { "link.\($0)" })
      .union(LinkHint.allCases.map(\.textID))
    for id in Texts.english.keys where id.hasPrefix("error.") { #expect(errors.contains(id), "\(id)") }
    for id in Texts.english.keys where id.hasPrefix("link.") { #expect(reasons.contains(id), "\(id)") }
  }

  @Test func textsAreClean() {
    let tables = [
      Texts.errors, Texts.causes, Texts.links, Texts.notices, Texts.commands, Texts.providers, Texts.verification,
    ]
    #expect(Texts.english.count == tables.map(\.count).reduce(0, +))
    for (id, text) in Texts.english {
      #expect(!text.isEmpty && text.first != " " && !text.contains("  ") && !text.contains("\n"), "\(id)")
      // A question waits behind its text.
      #expect(text.hasSuffix(" ") == (id.hasPrefix("ask.") && id != "ask.passwords-differ"), "\(id)")
      #expect(Texts.printable(text) == text, "\(id)")
      #expect(text.filter { $0 == "{" }.count == text.filter { $0 == "}" }.count, "\(id)")
    }
  }

  /// What belongs to features that are still to come.
  static let planned: Set<String> = [
    "notice.guest-data-left"
  ]

  @Test("every text is looked up somewhere; ids that end in a name are checked above")
  func nothingIsUnused() throws {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources")
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.allObjects as? [URL] ?? []
    let code = try files.filter { $0.pathExtension == "swift" && !$0.path.contains("/Sources/Texts/") }
      .map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    let named = ["error.", "link.", "stage.", "done.", "confirm.", "conflict.", "reauthentication."]
    for id in Texts.english.keys where !named.contains(where: id.hasPrefix) {
      #expect(code.contains("\"\(id)\"") != Self.planned.contains(id), "\(id)")
    }
  }

  // MARK: Looking up

  static let catalogues = [
    Catalogue(language: "fr", texts: ["notice.signed-in": "Connecté en tant que {name}."]),
    Catalogue(language: "zh_TW", texts: ["notice.signed-in": "已以 {name} 登入。"]),
  ]

  @Test(arguments: [
    ("fr", "Connecté en tant que Ann."), ("fr_CA.UTF-8", "Connecté en tant que Ann."), ("zh-TW", "已以 Ann 登入。"),
    ("zh_TW.UTF-8@x", "已以 Ann 登入。"), ("zh-Hant", "已以 Ann 登入。"), ("zh-Hant-TW", "已以 Ann 登入。"),
    ("zh-CN", "Signed in as Ann."), ("en-GB", "Signed in as Ann."), ("C", "Signed in as Ann."),
    ("", "Signed in as Ann."),
    ("C.UTF-8", "Signed in as Ann."), ("../../etc", "Signed in as Ann."),
  ]) func aTranslationOrEnglish(_ locale: String, _ text: String) {
    let found = Texts.lookup(
      "notice.signed-in", languages: Language.fallbacks(locale), ["name": "Ann"], Self.catalogues)
    #expect(found == text)
  }

  @Test func aTextWithoutTranslationIsEnglish() {
    #expect(Texts.lookup("notice.signed-out", languages: ["fr"], [:], Self.catalogues) == "Signed out.")
    #expect(Texts.lookup("no.such.text", locale: "fr") == "no.such.text")
  }

  @Test func englishBeforeAnotherLanguageIsEnglish() {
    let found = Texts.lookup("notice.signed-in", languages: ["en", "fr"], ["name": "Ann"], Self.catalogues)
    #expect(found == "Signed in as Ann.")
  }

  @Test(arguments: [
    (["LANG": "fr_FR.UTF-8"], ["fr_FR", "fr"]), (["LC_ALL": "tr_TR", "LANG": "fr"], ["tr_TR", "tr"]),
    (["LC_ALL": "", "LC_MESSAGES": "ru", "LANG": "fr"], ["ru"]), ([:], ["en"]),
    (["LANG": "de_DE", "LANGUAGE": "fr:tr"], ["fr", "tr", "de_DE", "de"]), (["LANG": "C", "LANGUAGE": "fr"], ["en"]),
  ]) func theEnvironmentsLanguages(_ environment: [String: String], _ languages: [String]) {
    #expect(Language.ofEnvironment { environment[$0] } == languages)
  }

  @Test func valuesArePutInOnceAndMadePrintable() {
    let evil = "{email} \u{202e}x\u{1b}[31m\n"
    let found = Texts.lookup("notice.signed-in", locale: "en", ["name": evil, "email": "SECRET"])
    #expect(found == "Signed in as {email} x[31m .")
    #expect(Texts.lookup("notice.signed-in", locale: "en", ["other": "x"]) == "Signed in as {name}.")
  }

  @Test func printableKeepsWhatPeopleWrite() {
    #expect(Texts.printable("Żółw 👩‍💻 שלום 應用 a\u{200d}b") == "Żółw 👩‍💻 שלום 應用 a\u{200d}b")
    #expect(Texts.printable("a\u{2028}b\u{85}c\u{7f}\u{9b}31m\u{2067}\u{feff}\u{61c}") == "a bc31m")
  }
}
