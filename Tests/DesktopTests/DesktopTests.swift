import AppConfiguration
import Foundation
import TestSupport
import Testing

@testable import Desktop

/// The registration of schemes (cli-and-config: The schemes an app gets; field reports B070, B071, B077).
@Suite(.timeLimit(.minutes(1))) struct RegistrationTests {
  let scratch: Scratch
  let directories: Directories
  let registration: SchemeRegistration

  init() throws {
    scratch = try Scratch("linkd-desktop")
    directories = Directories(environment: [
      "HOME": scratch.file("home"), "XDG_CONFIG_DIRS": scratch.file("etc"), "XDG_DATA_DIRS": scratch.file("share"),
      "XDG_CURRENT_DESKTOP": "GNOME",
    ])
    let linkctl = try scratch.write("#!/bin/sh\n", to: "bin/linkctl", executable: true)
    registration = SchemeRegistration(directories: directories, linkctl: linkctl)
  }

  private var handler: String { scratch.file("home/.local/share/applications/linkd-handler.desktop") }
  private var defaults: String { scratch.file("home/.config/mimeapps.list") }
  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
  private func statuses(_ schemes: String...) -> [SchemeStatus] { registration.registered(schemes) }

  // MARK: What is written

  @Test func theHandlerFileIsComplete() async throws {
    #expect(try registration.register(["com.example.a", "fb12", "com.example.a"]) == ["com.example.a", "fb12"])
    let lines = try text(handler).split(separator: "\n").map(String.init)
    // No quotes, no shell, the URL as a word of its own behind `--`.
    #expect(lines.filter { $0.hasPrefix("Exec=") } == ["Exec=\(scratch.file("bin/linkctl")) open --no-wait -- %u"])
    #expect(
      lines.filter { $0.hasPrefix("MimeType=") } == ["MimeType=x-scheme-handler/com.example.a;x-scheme-handler/fb12;"])
    let check = try await Subprocess.run(["desktop-file-validate", handler])
    #expect(check.status == 0 && check.stdout.isEmpty, "\(check.stdout)")
    #expect(
      try text(defaults)
        == "[Default Applications]\nx-scheme-handler/com.example.a=linkd-handler.desktop;\n"
        + "x-scheme-handler/fb12=linkd-handler.desktop;\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: directories.dataHome + "/applications")
    #expect(Set(names) == ["linkd-handler.desktop", "mimeinfo.cache"])
  }

  @Test func theInstalledFilesAreValid() async throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../desktop")
    for name in ["linkd-handler.desktop", "org.linkd.Auth1.desktop"] {
      let check = try await Subprocess.run(["desktop-file-validate", folder.appendingPathComponent(name).path])
      #expect(check.status == 0 && check.stdout.isEmpty, "\(check.stdout)")
    }
    #expect(try !text(folder.appendingPathComponent("linkd-handler.desktop").path).contains("MimeType"))
  }

  static let foreign = """
    # mine\r
    [Added Associations]
    x-scheme-handler/com.example.a=other.desktop;
    text/html=firefox.desktop;

    [Default Applications]
    text/html = firefox.desktop
    #x-scheme-handler/com.example.a=commented.desktop
      x-scheme-handler/com.example.old=old.desktop;\t

    [Something Else]
    x-scheme-handler/com.example.a=untouched.desktop
    """

  @Test func nothingElseInTheListChanges() throws {
    try scratch.write(Self.foreign, to: "home/.config/mimeapps.list")
    _ = try registration.register(["com.example.a", "com.example.old"])
    let expected = Self.foreign.replacing(
      "  x-scheme-handler/com.example.old=old.desktop;\t\n",
      with: "x-scheme-handler/com.example.old=linkd-handler.desktop;old.desktop;\n"
        + "x-scheme-handler/com.example.a=linkd-handler.desktop;\n")
    #expect(try text(defaults) == expected)
    // The same again writes nothing.
    let before = try FileManager.default.attributesOfItem(atPath: defaults)[.systemFileNumber] as? Int
    _ = try registration.register(["com.example.a", "com.example.old"])
    #expect(try text(defaults) == expected)
    #expect(try FileManager.default.attributesOfItem(atPath: defaults)[.systemFileNumber] as? Int == before)
  }

  @Test(arguments: [
    "", "[Default Applications]\ntext/html=firefox.desktop", "[Default Applications]\n\n[Other]\na=b\n",
    "[Added Associations]\r\na=b;\r\n[Default Applications]\r\nc=d;\r\n", "[Default Applications]\nbytes=\u{fffd}\n",
  ]) func takingBackLeavesTheListAsItWas(_ list: String) throws {
    try scratch.write(list, to: "home/.config/mimeapps.list")
    _ = try registration.register(["com.example.a"])
    #expect(try text(defaults).contains("x-scheme-handler/com.example.a=linkd-handler.desktop;\n"))
    #expect(try registration.unregister() == ["com.example.a"])
    let missing = list.isEmpty ? "[Default Applications]\n" : list.utf8.last == 10 ? list : list + "\n"
    #expect(try text(defaults) == missing)
    #expect(!FileManager.default.fileExists(atPath: handler))
    #expect(try registration.unregister() == [])
  }

  @Test func bytesThatArentTextStay() throws {
    let path = try scratch.write("", to: "home/.config/mimeapps.list")
    let odd = Data([0x5b, 0x78, 0x5d, 0x0a, 0x61, 0x3d, 0xff, 0xfe, 0x00, 0x0a])
    try odd.write(to: URL(fileURLWithPath: path))
    _ = try registration.register(["com.example.a"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)).starts(with: odd))
  }

  @Test func anotherProgramsDefaultComesBack() throws {
    try scratch.write(
      "[Default Applications]\nx-scheme-handler/fb1=a.desktop;b.desktop;\n", to: "home/.config/mimeapps.list")
    _ = try registration.register(["fb1"])
    #expect(try text(defaults).contains("x-scheme-handler/fb1=linkd-handler.desktop;a.desktop;b.desktop;\n"))
    _ = try registration.unregister()
    #expect(try text(defaults) == "[Default Applications]\nx-scheme-handler/fb1=a.desktop;b.desktop;\n")
  }

  @Test func schemesOfAppsThatAreGoneAreGivenUp() throws {
    _ = try registration.register(["com.example.a", "com.example.b"])
    #expect(try registration.register(["com.example.b"]) == ["com.example.b"])
    #expect(try text(defaults) == "[Default Applications]\nx-scheme-handler/com.example.b=linkd-handler.desktop;\n")
    #expect(try registration.register([]) == [])
    #expect(!FileManager.default.fileExists(atPath: handler))
  }

  // MARK: What is refused

  @Test(arguments: [
    "linkctl", "bin/linkctl", "/opt/My App/linkctl", "/opt/a\"b/linkctl", "/opt/$HOME/linkctl", "/opt/a;b", "/opt/a%u",
    "/opt/a=b", "/opt/a\\b", "/opt/a\nb", "/opt/a`b`", "/opt/~a", "/opt/a(b)", "/opt/a'b", "",
  ]) func pathsThatLaunchersMisread(_ path: String) {
    let registration = SchemeRegistration(directories: directories, linkctl: path)
    #expect(throws: RegistrationError.unusablePath(path)) { try registration.register(["com.example.a"]) }
    #expect(!FileManager.default.fileExists(atPath: handler) && !FileManager.default.fileExists(atPath: defaults))
  }

  @Test func aProgramThatIsntThere() {
    let path = scratch.file("bin/missing")
    let registration = SchemeRegistration(directories: directories, linkctl: path)
    #expect(throws: RegistrationError.noProgram(path)) { try registration.register(["com.example.a"]) }
  }

  @Test(arguments: ["com.example.a;x-scheme-handler/https", "a\nExec=evil", "Com.example", "", "1a", "a b"])
  func whatIsNoScheme(_ scheme: String) {
    #expect(throws: RegistrationError.scheme(scheme)) { try registration.register(["com.example.a", scheme]) }
    #expect(!FileManager.default.fileExists(atPath: handler) && !FileManager.default.fileExists(atPath: defaults))
  }

  // MARK: Who wins (B077)

  private func install(_ program: String, in folder: String = "share") throws {
    let at = folder == "share" ? "share/applications" : "home/.local/share/applications"
    try scratch.write("[Desktop Entry]\nType=Application\nName=x\nExec=x\n", to: "\(at)/\(program)")
  }

  @Test func whatIsRegisteredIsOurs() throws {
    _ = try registration.register(["com.example.a"])
    let status = statuses("com.example.a", "com.example.none")
    #expect(status[0].isOurs && status[0].place == SchemeStatus.Place(file: defaults, line: 2))
    #expect(status[1].winner == nil && status[1].place == nil && !status[1].isOurs)
  }

  @Test func anotherDefaultIsNamedWithItsLine() throws {
    try install("firefox.desktop")
    _ = try registration.register(["com.example.a"])
    let desktops = try scratch.write(
      "\n[Default Applications]\nx-scheme-handler/com.example.a=missing.desktop;firefox.desktop;\n",
      to: "home/.config/gnome-mimeapps.list")
    let status = statuses("com.example.a")[0]
    #expect(status.winner == "firefox.desktop" && status.place?.description == "\(desktops):3" && !status.isOurs)
  }

  @Test func aProgramThatIsGoneDoesntWin() throws {
    try scratch.write(
      "[Default Applications]\nx-scheme-handler/com.example.a=gone.desktop;\n", to: "home/.config/mimeapps.list")
    #expect(statuses("com.example.a")[0].winner == nil)
    try install("other-app.desktop", in: "home")
    let cache = try scratch.write(
      "[MIME Cache]\nx-scheme-handler/com.example.a=gone.desktop;other-app.desktop;\n",
      to: "home/.local/share/applications/mimeinfo.cache")
    #expect(statuses("com.example.a")[0].place == SchemeStatus.Place(file: cache, line: 2))
  }

  @Test func aRemovedAssociationIsReported() throws {
    _ = try registration.register(["com.example.a"])
    let list = try text(defaults) + "[Removed Associations]\nx-scheme-handler/com.example.a=linkd-handler.desktop;\n"
    try scratch.write(list, to: "home/.config/mimeapps.list")
    let status = statuses("com.example.a")[0]
    #expect(status.winner == "linkd-handler.desktop" && status.removed?.line == 4 && !status.isOurs)
  }

  // MARK: With the desktop's own tools

  /// What GLib and xdg-utils think of the files: programs that aren't ours.
  @Test func theDesktopsToolsAgree() async throws {
    try scratch.write("[Default Applications]\ntext/html=firefox.desktop\n", to: "home/.config/mimeapps.list")
    _ = try registration.register(["com.example.a", "app-1-2-web-3"])
    var environment = ProcessInfo.processInfo.environment
    environment.merge([
      "HOME": scratch.file("home"), "XDG_DATA_DIRS": scratch.file("share"), "XDG_CONFIG_DIRS": scratch.file("etc"),
    ]) { $1 }
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CURRENT_DESKTOP", "DISPLAY"] { environment[name] = nil }
    for scheme in ["com.example.a", "app-1-2-web-3"] {
      let type = "x-scheme-handler/\(scheme)"
      let query = try await Subprocess.run(["xdg-mime", "query", "default", type], environment: environment)
      #expect(query.stdout == "linkd-handler.desktop\n", "\(query.stderr)")
      let glib = try await Subprocess.run(["gio", "mime", type], environment: environment)
      #expect(glib.stdout.contains("linkd-handler.desktop"), "\(glib.stdout)\(glib.stderr)")
    }
  }

  /// Field report B070: the URL arrives whole, as one word, and nothing in it is run.
  @Test func xdgOpenHandsTheLinkOverWhole() async throws {
    let program = try scratch.write(
      "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$0.args\"\n", to: "bin/linkctl", executable: true)
    _ = try registration.register(["com.example.a"])
    var environment = ProcessInfo.processInfo.environment
    environment.merge([
      "HOME": scratch.file("home"), "XDG_DATA_DIRS": scratch.file("share"), "XDG_CONFIG_DIRS": scratch.file("etc"),
      "DISPLAY": ":0",
    ]) { $1 }
    for name in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CURRENT_DESKTOP"] { environment[name] = nil }
    let link = "com.example.a://auth?link=https%3A%2F%2Fa.example%2F&b=$(touch%20x)&c='\"`id`;#end"
    let result = try await Subprocess.run(["xdg-open", link], environment: environment)
    #expect(result.status == 0, "\(result.stderr)")
    #expect(try text("\(program).args") == "open\n--no-wait\n--\n\(link)\n")
  }

  // MARK: The database

  @Test func aToolThatHangsIsKilled() {
    let start = ContinuousClock.now
    #expect(!DesktopDatabase.run(["sleep", "30"], patience: 50))
    #expect(ContinuousClock.now - start < .seconds(10))
    #expect(DesktopDatabase.run(["true"]))
    #expect(!DesktopDatabase.run(["false"]))
    #expect(!DesktopDatabase.run(["linkd-no-such-program"]))
    // More output than a pipe holds.
    #expect(DesktopDatabase.run(["head", "-c", "1000000", "/dev/zero"]))
  }
}
