// swift-tools-version: 6.2
import PackageDescription

// Read from the inside out: the order of targets is the architecture. Arrows
// (dependencies) point inward; CI checks the imports (Tests/ArchitectureTests).

let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  // A nonisolated async function stays on its caller's executor: one thread in the daemon.
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// A C library: `module.modulemap` + `shim.h`, nothing else.
func library(_ name: String, pkgConfig: String? = nil, apt: String? = nil) -> Target {
  .systemLibrary(name: name, pkgConfig: pkgConfig, providers: apt.map { [.apt([$0])] })
}

/// - Parameter embedding: files that become part of the code: nothing is looked for at run time.
func target(_ name: String, _ dependencies: [Target.Dependency] = [], embedding files: [String] = []) -> Target {
  .target(
    name: name, dependencies: dependencies, resources: files.map { .embedInCode($0) }, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies,
    swiftSettings: strict + [
      // Pause points at which a test kills the daemon exist in debug builds alone.
      .define("PAUSE_POINTS", .when(configuration: .debug))
    ],
    // gold, Swift's own choice, can't pack relocations (docs/design/0004-speed.md).
    linkerSettings: [.unsafeFlags(["-use-ld=bfd"], .when(configuration: .release))])
}

/// Entry points of the fuzzing: compiled always, part of no product. They see what tests see, in release builds too.
func fuzzTargets(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "fuzz/Targets",
    swiftSettings: strict + [.unsafeFlags(["-Xfrontend", "-disable-testable-attr-requires-testable-module"])])
}

func fuzzProgram(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "fuzz/Runner",
    swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])],
    linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])])
}

func tests(_ name: String, _ dependencies: [Target.Dependency], data: [String] = []) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: data, swiftSettings: strict)
}

let package = Package(
  name: "linkd",
  products: [
    .library(name: "LinkdClient", targets: ["LinkdClient", "AuthCore"]),
    .executable(name: "linkd", targets: ["linkd"]),
    .executable(name: "linkctl", targets: ["linkctl"]),
    .executable(name: "auth-emulator", targets: ["auth-emulator"]),
  ],
  targets: [
    // Ring 0: one C library each, and the loop that everything waits in.
    library("CLinux"),
    library("CDBus", pkgConfig: "dbus-1", apt: "libdbus-1-dev"),
    library("CCurl", apt: "libcurl4-openssl-dev"),
    library("CSQLite", pkgConfig: "sqlite3", apt: "libsqlite3-dev"),
    library("CMicroHTTPD", apt: "libmicrohttpd-dev"),
    library("CCrypto", pkgConfig: "libgcrypt", apt: "libgcrypt20-dev"),
    library("CIDN", apt: "libidn2-dev"),
    library("CQREncode", apt: "libqrencode-dev"),
    target("EventLoop", ["CLinux"]),

    // Ring 1: the nouns of sign-in. No I/O, no C.
    target("AuthCore"),
    target("AppConfiguration", ["AuthCore"]),
    target("Texts"),
    target(
      "BridgePage",
      embedding: ["index.html", "bridge.js", "texts.js", "style.css", "config.js"].map { "Page/\($0)" }),

    // Ring 2: pure flow machines.
    target("LinkHandler", ["AuthCore"]),
    target("PhoneVerification", ["AuthCore"], embedding: ["Table/countries.tsv"]),

    // Ring 3: adapters that own one C library or one service each.
    target("DBusCore", ["CDBus"]),
    target("DBus", ["DBusCore", "CDBus", "EventLoop"]),
    target("Crypto", ["AuthCore", "CCrypto"]),
    target("IdentityToolkit", ["AuthCore", "EventLoop", "Crypto", "CCurl"]),
    target("SessionStore", ["AuthCore", "Crypto", "CSQLite"]),
    target("DomainNames", ["AuthCore", "CIDN"]),
    target("QRCode", ["CQREncode"]),
    target(
      "Desktop", ["AuthCore", "AppConfiguration", "Texts", "DBus", "EventLoop"], embedding: ["linkd-handler.desktop"]),
    target("Callers", ["DBus"]),
    target("Keyring", ["AuthCore", "Crypto"]),
    target("Loopback", ["AuthCore", "EventLoop", "CMicroHTTPD"]),
    target("LinkdContract", ["AuthCore", "DBusCore"]),
    target("LinkdClient", ["AuthCore", "DBus", "EventLoop", "LinkdContract"]),

    // Ring 4: programs that wire.
    program(
      "linkd",
      [
        "AuthCore", "AppConfiguration", "Texts", "LinkHandler", "EventLoop", "CLinux", "DBus", "Crypto", "DomainNames",
        "IdentityToolkit", "SessionStore", "Desktop", "Callers", "Keyring", "Loopback", "LinkdContract",
        "PhoneVerification",
      ]),
    program(
      "linkctl", ["AuthCore", "Texts", "BridgePage", "DBusCore", "QRCode", "LinkdContract", "PhoneVerification"]),
    target("AuthEmulator", ["AuthCore", "BridgePage", "EventLoop", "CMicroHTTPD", "CCrypto"]),
    program("auth-emulator", ["AuthEmulator"]),
    .executableTarget(
      name: "parser-benchmark", dependencies: ["AuthCore", "AppConfiguration", "LinkHandler"],
      path: "benchmarks/parser",
      swiftSettings: strict),
    .executableTarget(
      name: "store-filler", dependencies: ["AuthCore", "Keyring", "SessionStore"], path: "benchmarks/fill",
      swiftSettings: strict),

    // Examples, kept honest by ExamplesTests.
    .target(
      name: "Login", dependencies: ["AuthCore", "LinkdClient"], path: "examples/swift/Login", swiftSettings: strict),
    .executableTarget(
      name: "sign-in-swift", dependencies: ["AuthCore", "LinkdClient", "Login"], path: "examples/swift/SignIn",
      swiftSettings: strict),
    fuzzTargets(
      "FuzzTargets",
      [
        "AuthCore", "AppConfiguration", "LinkHandler", "PhoneVerification", "DBus", "CDBus", "Crypto",
        "IdentityToolkit", "SessionStore", "AuthEmulator",
      ]),

    // Tests.
    tests("ArchitectureTests", []),
    tests("EventLoopTests", ["EventLoop", "TestSupport"]),
    tests("AuthCoreTests", ["AuthCore"]),
    tests("AppConfigurationTests", ["AppConfiguration", "AuthCore", "TestSupport"]),
    tests("LinkHandlerTests", ["LinkHandler", "AuthCore", "AppConfiguration"]),
    tests("PhoneVerificationTests", ["PhoneVerification", "AuthCore", "TestSupport"]),
    tests("DBusTests", ["DBus", "CDBus", "EventLoop", "TestSupport"]),
    tests("DomainNamesTests", ["DomainNames", "AuthCore"]),
    tests("QRCodeTests", ["QRCode", "PhoneVerification", "AuthCore", "AuthEmulator", "TestSupport"]),
    tests("CryptoTests", ["Crypto", "AuthCore", "TestSupport"]),
    tests("IdentityToolkitTests", ["IdentityToolkit", "AuthCore", "EventLoop", "AuthEmulator", "TestSupport"]),
    tests("SessionStoreTests", ["SessionStore", "AuthCore", "Crypto", "TestSupport"]),
    tests("TextsTests", ["Texts", "AuthCore"]),
    tests("BridgePageTests", ["BridgePage", "TestSupport"], data: ["bridge.test.mjs"]),
    tests("DesktopTests", ["Desktop", "AppConfiguration", "AuthCore", "DBus", "EventLoop", "TestSupport"]),
    tests("CallersTests", ["Callers", "DBus", "TestSupport"]),
    tests(
      "LinkdClientTests", ["LinkdClient", "LinkdContract", "AuthCore", "DBus", "EventLoop", "TestSupport"]),
    tests("LinkctlTests", ["LinkdContract", "DBus", "EventLoop", "TestSupport"]),
    tests("KeyringTests", ["Keyring", "AuthCore", "Crypto", "TestSupport"]),
    tests("LoopbackTests", ["Loopback", "AuthCore", "EventLoop", "TestSupport"]),
    tests(
      "AuthEmulatorTests", ["AuthEmulator", "AuthCore", "TestSupport"], data: ["not-yet-implemented.txt"]),
    tests("FuzzTests", ["FuzzTargets"]),
    tests("ExamplesTests", ["Login", "LinkdClient", "AuthCore", "TestSupport"]),
    tests(
      "EndToEnd", ["AuthCore", "AuthEmulator", "Keyring", "SessionStore", "TestSupport"],
      data: ["callers.py", "flow.py", "starter.py", "values.py", "second_factors.py", "front.py", "wallclock.c"]),
    tests("BrowserTests", ["TestSupport"]),
    .target(
      name: "TestSupport", dependencies: ["CLinux", "EventLoop"], path: "Tests/TestSupport",
      exclude: ["independent-provider.py"], swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)

// The fuzzer is linked with libFuzzer, which scripts/fuzz alone asks for.
if Context.environment["LINKD_FUZZ"] != nil {
  package.targets += [
    fuzzProgram("fuzzer", ["FuzzTargets"])
  ]
}
