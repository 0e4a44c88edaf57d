import Foundation
import TestSupport
import Testing

/// The programs as they are shipped: another build than the one the tests are part of.
@Suite("The shipped programs", .timeLimit(.minutes(1)), .enabled(if: Shipped.folder != nil))
struct ShippedProgramsTests {
  @Test("they load nothing of the toolchain, and nothing costly before it's needed", arguments: Shipped.programs)
  func loads(program: String) async throws {
    let folder = try #require(Shipped.folder)
    let result = try await Subprocess.run(["ldd", "\(folder)/\(program)"])
    #expect(result.status == 0)
    for library in [
      "swift", "Foundation", "libstdc++", "libgcc_s", "libcurl", "libmicrohttpd", "libcrypto", "libidn2", "libicu",
      "libqrencode", "libphonenumber", "not found",
    ] {
      #expect(!result.stdout.contains(library), "\(program) loads \(library)")
    }
    let wantsStore = program == "linkd"
    #expect(result.stdout.contains("libsqlite3") == wantsStore)
    #expect(result.stdout.contains("libdbus-1") == (program != "auth-emulator"))
  }

  @Test("they are stripped, and carry no path of the machine they were built on", arguments: Shipped.programs)
  func stripped(program: String) async throws {
    let folder = try #require(Shipped.folder)
    let sections = try await Subprocess.run(["readelf", "-S", "--wide", "\(folder)/\(program)"])
    #expect(!sections.stdout.contains(".symtab") && !sections.stdout.contains(".debug_info"))
    let dynamic = try await Subprocess.run(["readelf", "-d", "\(folder)/\(program)"])
    #expect(!dynamic.stdout.contains("/opt/") && !dynamic.stdout.contains(World.root))
    // The pause points of the tests aren't in it.
    let strings = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(program)"))
    #expect(strings.range(of: Data("LINKD_PAUSE_AT".utf8)) == nil)
  }

  @Test("they do the main job")
  func mainJob() async throws {
    let folder = try #require(Shipped.folder)
    let result = try await Subprocess.run(
      ["\(World.root)/scripts/demo", folder], environment: ProcessInfo.processInfo.environment, timeout: .seconds(50))
    #expect(result.status == 0, "\(result.stdout)\n\(result.stderr)")
    #expect(result.stdout.contains("StateChanged ('authenticated'"))
    #expect(result.stdout.contains("\"email\": \"user@example.com\""))
  }
}

/// Where `scripts/test` has put them.
enum Shipped {
  static let programs = ["linkd", "linkctl", "auth-emulator"]
  static var folder: String? { ProcessInfo.processInfo.environment["LINKD_RELEASE_DIR"] }
}
