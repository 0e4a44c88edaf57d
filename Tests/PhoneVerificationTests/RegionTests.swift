import PhoneVerification
import Testing

@Suite("Regions", .timeLimit(.minutes(1)))
struct RegionTests {
  @Test(
    "a code of ISO 3166 is a region, in either letter case, and XK",
    arguments: ["DE", "de", "xk", "US", "AQ", "UM", "GS"])
  func codes(_ code: String) throws {
    #expect(try #require(Region(code)).code == code.uppercased())
  }

  @Test("anything else is none", arguments: ["", "D", "DEU", "ZZ", "001", "88", "d\u{ea}", "ß", "D E", "DE\n", "EN"])
  func foreign(_ code: String) { #expect(Region(code) == nil) }

  @Test(
    "a locale's territory is a region",
    arguments: [
      ("de_AT.UTF-8", "AT"), ("de_AT", "AT"), ("ca_ES@valencia", "ES"), ("sr_RS.UTF-8@latin", "RS"), ("en-GB", "GB"),
      ("zh_Hant_TW.UTF-8", "TW"), ("sq_XK", "XK"), ("tr_TR.iso88599", "TR"), ("de_de", "DE"),
    ])
  func locales(_ name: String, _ code: String) { #expect(Region(locale: name)?.code == code) }

  @Test(
    "no country is guessed from a language or from nothing",
    arguments: [
      "", "C", "POSIX", "C.UTF-8", "de", "de.UTF-8", "eo", "es_419", "en_150", "ar@latin", "_", "de_", "de_ZZ", "de_.",
    ])
  func noTerritory(_ name: String) { #expect(Region(locale: name) == nil) }

  @Test("the most particular variable that names a territory counts")
  func variables() {
    func code(_ telephone: String?, _ all: String?, _ language: String?) -> String? {
      Region(of: { ["LC_TELEPHONE": telephone, "LC_ALL": all, "LANG": language][$0] ?? nil })?.code
    }
    #expect(code("de_AT.UTF-8", "fr_FR.UTF-8", "en_US.UTF-8") == "AT")
    #expect(code(nil, "fr_FR.UTF-8", "en_US.UTF-8") == "FR")
    #expect(code("", "", "en_US.UTF-8") == "US")
    #expect(code("de_AT.UTF-8", "C.UTF-8", "C.UTF-8") == "AT")
    #expect(code(nil, "C.UTF-8", "de_DE.UTF-8") == "DE")
    #expect(code(nil, nil, nil) == nil)
    #expect(code("C", "POSIX", "eo") == nil)
  }
}
