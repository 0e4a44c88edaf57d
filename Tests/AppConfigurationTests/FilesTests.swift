import AuthCore
import Foundation
import TestSupport
import Testing

@testable import AppConfiguration

/// Folders, files and who wins (cli-and-config: Files).
@Suite(.timeLimit(.minutes(1))) struct FilesTests {
  let scratch: Scratch
  let directories: Directories

  init() throws {
    scratch = try Scratch("linkd-config")
    directories = Directories(environment: [
      "HOME": scratch.file("home"), "XDG_CONFIG_DIRS": "\(scratch.file("etc")):relative",
      "XDG_DATA_DIRS": "\(scratch.file("local"))/:\(scratch.file("share"))",
    ])
  }

  private func app(_ id: String, _ name: String) -> String {
    #"{"id": "\#(id)", "project-id": "p", "api-key": "k", "display-name": "\#(name)"}"#
  }

  private func names() -> [String] { AppDirectory.load(directories).apps.map { "\($0.id)=\($0.displayName)" } }

  // MARK: Directories

  @Test func theFoldersAreThoseOfTheSpecification() {
    let home = scratch.file("home")
    #expect(directories.config == "\(home)/.config/linkd" && directories.state == "\(home)/.local/state/linkd")
    #expect(directories.dataHome == "\(home)/.local/share" && directories.runtime == nil)
    #expect(
      directories.appDirectories == [
        "\(home)/.config/linkd/apps.d", scratch.file("etc/linkd/apps.d"), scratch.file("local/linkd/apps.d"),
        scratch.file("share/linkd/apps.d"),
      ])
    let bare = Directories(environment: ["HOME": "/h"])
    #expect(bare.configDirs == ["/etc/xdg"] && bare.dataDirs == ["/usr/local/share", "/usr/share"])
    let own = Directories(environment: [
      "HOME": "/h", "LINKD_CONFIG_DIR": "/c/", "LINKD_STATE_DIR": "/s", "XDG_CONFIG_HOME": "not/absolute",
      "XDG_RUNTIME_DIR": "/run/user/1", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME",
    ])
    #expect(own.config == "/c" && own.state == "/s" && own.configHome == "/h/.config")
    #expect(own.runtime == "/run/user/1/linkd" && own.desktops == ["ubuntu", "gnome"])
    #expect(Directories(environment: [:]).configHome.hasPrefix("/"))
  }

  // MARK: Search

  @Test func theUsersFileWins() throws {
    try scratch.write(app("demo", "packaged"), to: "share/linkd/apps.d/demo.json")
    try scratch.write(app("other", "packaged"), to: "share/linkd/apps.d/other.json")
    try scratch.write(app("demo", "local"), to: "local/linkd/apps.d/x.json")
    #expect(names() == ["demo=local", "other=packaged"])
    try scratch.write(app("demo", "admin"), to: "etc/linkd/apps.d/zz.json")
    #expect(names() == ["demo=admin", "other=packaged"])
    try scratch.write(app("demo", "mine"), to: "home/.config/linkd/apps.d/demo.json")
    try scratch.write("not an app", to: "home/.config/linkd/apps.d/README")
    try scratch.write("{", to: "home/.config/linkd/apps.d/.hidden.json")
    #expect(names() == ["demo=mine", "other=packaged"])
    #expect(AppDirectory.load(directories).damaged.isEmpty)
  }

  @Test func aDamagedFileHidesNoOtherApp() throws {
    let broken = try scratch.write("{", to: "home/.config/linkd/apps.d/broken.json")
    let wrong = try scratch.write(
      #"{"id": "wrong", "project-id": "p", "api-key": "k", "emulator": "10.0.0.1:1"}"#,
      to: "home/.config/linkd/apps.d/named-otherwise.json")
    let pipe = scratch.file("home/.config/linkd/apps.d/pipe.json")
    #expect(mkfifo(pipe, 0o600) == 0)
    let big = try scratch.write(String(repeating: " ", count: (1 << 20) + 1), to: "home/.config/linkd/apps.d/big.json")
    try scratch.write(app("good", "good"), to: "home/.config/linkd/apps.d/good.json")
    try scratch.write(app("wrong", "packaged"), to: "share/linkd/apps.d/wrong.json")
    try scratch.write("{", to: "share/linkd/apps.d/broken.json")
    let found = AppDirectory.load(directories)
    #expect(found.apps.map(\.id.value) == ["good"])
    #expect(found.damaged.map(\.file) == [big, broken, wrong, pipe])
    #expect(found.damaged.map(\.id?.value) == ["big", "broken", "wrong", "pipe"])
    #expect(found.damaged[0].error == .file(big, "larger than 1 MiB"))
    guard case .key("emulator", _) = found.damaged[2].error else { return #expect(Bool(false)) }
  }

  @Test func twoFilesOfOneFolderForOneApp() throws {
    try scratch.write(app("demo", "first"), to: "home/.config/linkd/apps.d/a.json")
    let second = try scratch.write(app("demo", "second"), to: "home/.config/linkd/apps.d/b.json")
    #expect(names() == ["demo=first"])
    #expect(AppDirectory.load(directories).damaged.map(\.file) == [second])
  }

  @Test func noFolderAtAll() { #expect(names().isEmpty) }

  // MARK: Writing

  @Test func writeAndRemove() throws {
    let file = try AppFile.read(Array(app("demo", "Demo").utf8))
    try file.write(directories)
    let path = "\(directories.userApps)/demo.json"
    #expect(try String(contentsOfFile: path, encoding: .utf8) == file.text)
    #expect(try permissions(path) == 0o600)
    #expect(names() == ["demo=Demo"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: directories.userApps) == ["demo.json"])
    try AppFile.remove(file.app.id, directories)
    try AppFile.remove(file.app.id, directories)
    #expect(names().isEmpty)
  }

  @Test func aPackagedAppIsntRemoved() throws {
    let file = try scratch.write(app("demo", "packaged"), to: "share/linkd/apps.d/demo.json")
    let error = #expect(throws: ConfigurationError.self) { try AppFile.remove(#require(AppID("demo")), directories) }
    #expect(error?.description.hasPrefix(file) == true)
    #expect(names() == ["demo=packaged"])
  }

  @Test func replacingKeepsLinkAndPermissions() throws {
    let real = try scratch.write("old", to: "dotfiles/linkd.json")
    chmod(real, 0o640)
    try FileManager.default.createDirectory(atPath: directories.config, withIntermediateDirectories: true)
    #expect(symlink(real, directories.daemonFile) == 0)
    try WholeFile.replace(directories.daemonFile, with: Array("new".utf8))
    #expect(try String(contentsOfFile: real, encoding: .utf8) == "new")
    #expect(try permissions(real) == 0o640)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: directories.daemonFile) == real)
  }

  @Test func aFolderThatCantBeWrittenIsAnError() throws {
    let blocked = Directories(environment: [
      "HOME": "/h", "LINKD_CONFIG_DIR": try scratch.write("a file", to: "blocked"),
    ])
    let file = try AppFile.read(Array(app("demo", "Demo").utf8))
    let error = #expect(throws: ConfigurationError.self) { try file.write(blocked) }
    guard case .file? = error else { return #expect(Bool(false)) }
  }

  private func permissions(_ path: String) throws -> Int {
    try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  // MARK: The daemon's file

  @Test func theDaemonsFile() throws {
    #expect(DaemonConfiguration.load(directories) == DaemonConfiguration())
    try scratch.write(
      #"{"default-app": "demo", "key-store": "secret-service", "idle-exit": 0, "other": [1]}"#,
      to: "home/.config/linkd/linkd.json")
    var read = DaemonConfiguration.load(directories)
    #expect(read.defaultApp?.value == "demo" && read.keyStore == .secretService && read.idleExit == 0)
    read.defaultApp = nil
    read.idleExit = 60
    try read.save(directories)
    let text = try String(contentsOfFile: directories.daemonFile, encoding: .utf8)
    #expect(text == "{\n  \"key-store\": \"secret-service\",\n  \"idle-exit\": 60,\n  \"other\": [1]\n}\n")
    #expect(DaemonConfiguration.load(directories).idleExit == 60)
  }

  @Test(arguments: [
    (#"{"default-app": "Demo"}"#, "default-app"), (#"{"key-store": "kwallet"}"#, "key-store"),
    (#"{"idle-exit": -1}"#, "idle-exit"), (#"{"idle-exit": "300"}"#, "idle-exit"),
  ]) func aDamagedDaemonFileIsntOverwritten(_ text: String, _ key: String) throws {
    try scratch.write(text, to: "home/.config/linkd/linkd.json")
    let read = DaemonConfiguration.load(directories)
    #expect(read.error?.description.hasPrefix("'\(key)'") == true && read.defaultApp == nil)
    #expect(throws: ConfigurationError.self) { try read.save(directories) }
    #expect(try String(contentsOfFile: directories.daemonFile, encoding: .utf8) == text)
  }
}
