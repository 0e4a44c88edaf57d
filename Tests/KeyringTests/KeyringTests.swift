import AuthCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Keyring

extension Scratch {
  var key: String { file("key") }
  var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() } }

  func mode(_ path: String) throws -> mode_t {
    var status = stat()
    try #require(lstat(path, &status) == 0)
    return status.st_mode & 0o7777
  }
}

@Suite(.timeLimit(.minutes(1)))
struct FileKeyStoreTests {
  let folder: Scratch
  let store: FileKeyStore

  init() throws {
    folder = try Scratch()
    store = FileKeyStore(folder: folder.path)
  }

  @Test func makesAKeyOnce() throws {
    #expect(store.load() == .absent)
    let key = try store.create()
    #expect(key.key.reveal().count == 32)
    #expect(key.id.count == 16)
    #expect(try folder.mode(folder.key) == 0o600)
    #expect(try folder.names == ["key"], "no draft is left")
    #expect(store.load() == .key(key))
  }

  @Test func neverOverwrites() throws {
    let key = try store.create()
    #expect(throws: KeyringError.exists) { try store.create() }
    #expect(store.load() == .key(key))
    #expect(try folder.names == ["key"])
  }

  @Test func neverOverwritesWhatIsNoKey() throws {
    try Data("something else".utf8).write(to: URL(fileURLWithPath: folder.key))
    #expect(throws: KeyringError.exists) { try store.create() }
    #expect(try String(contentsOfFile: folder.key, encoding: .utf8) == "something else")
  }

  /// Several first starts at once end with one key.
  @Test func oneKeyForAll() async throws {
    let store = store
    let made = await withTaskGroup(of: StoreKey?.self) { group in
      for _ in 0..<8 { group.addTask { try? store.create() } }
      return await group.reduce(into: [StoreKey]()) { if let key = $1 { $0.append(key) } }
    }
    try #require(made.count == 1)
    #expect(store.load() == .key(made[0]))
    #expect(try folder.names == ["key"])
  }

  @Test func everyKeyIsAnother() throws {
    let first = try store.create()
    let elsewhere = try Scratch()
    let second = try FileKeyStore(folder: elsewhere.path).create()
    #expect(first.key != second.key)
    #expect(first.id != second.id)
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o622, 0o644, 0o777] as [mode_t])
  func refusesOtherPermissions(mode: mode_t) throws {
    _ = try store.create()
    try #require(chmod(folder.key, mode) == 0)
    #expect(store.load() == .failed(.permissions))
    #expect(try folder.mode(folder.key) == mode, "it's for the person to look into")
  }

  @Test func acceptsAReadOnlyKey() throws {
    let key = try store.create()
    try #require(chmod(folder.key, 0o400) == 0)
    #expect(store.load() == .key(key))
  }

  @Test(.enabled(if: geteuid() == 0, "giving a file away takes root"))
  func refusesAnotherOwner() throws {
    _ = try store.create()
    try #require(chown(folder.key, 12345, gid_t.max) == 0)
    #expect(store.load() == .failed(.permissions))
  }

  @Test func followsNoLink() throws {
    let elsewhere = try Scratch()
    _ = try FileKeyStore(folder: elsewhere.path).create()
    try #require(symlink(elsewhere.key, folder.key) == 0)
    #expect(store.load() == .failed(.permissions))
    #expect(throws: KeyringError.exists) { try store.create() }
  }

  @Test func refusesWhatIsNoFile() throws {
    try #require(mkfifo(folder.key, 0o600) == 0)
    #expect(store.load() == .failed(.permissions))
    try #require(unlink(folder.key) == 0 && mkdir(folder.key, 0o700) == 0)
    #expect(store.load() == .failed(.permissions))
  }

  @Test func refusesWhatIsNoKey() throws {
    _ = try store.create()
    let line = try String(contentsOfFile: folder.key, encoding: .utf8)
    let texts = [
      "", "\n", String(line.dropLast()), String(line.dropLast(2)) + "\n", line + line, line.uppercased(),
      line.replacingOccurrences(of: "key-1", with: "key-2"), line.replacingOccurrences(of: ":", with: " "),
      String(repeating: "a", count: 5000), "linkd-key-1::\n",
    ]
    for text in texts {
      let handle = try #require(FileHandle(forWritingAtPath: folder.key))
      try handle.truncate(atOffset: 0)
      try handle.write(contentsOf: Data(text.utf8))
      try handle.close()
      #expect(store.load() == .failed(.malformed), "\(text.prefix(20))")
    }
  }

  @Test func saysWhatFailed() throws {
    let missing = FileKeyStore(folder: folder.path + "/nowhere")
    #expect(throws: KeyringError.system(errno: ENOENT)) { try missing.create() }
    #expect(missing.load() == .absent)
  }

  @Test func printsNoKey() throws {
    let key = try store.create()
    let line = try String(contentsOfFile: folder.key, encoding: .utf8)
    let digits = try #require(line.split(separator: ":").last?.dropLast())
    var dumped = ""
    dump(KeyLookup.key(key), to: &dumped)
    for text in [dumped, "\(key)", String(reflecting: key)] {
      #expect(!text.contains(digits))
      #expect(text.contains("<redacted>"))
      #expect(!text.contains(key.key.reveal().map(String.init).joined(separator: ", ")))
    }
  }
}

@Suite(.timeLimit(.minutes(1)))
struct KeyringTests {
  /// B131: what is missing is missing; it isn't made anew over data that the old key sealed.
  @Test func aMissingKeyIsNeverReplaced() throws {
    let folder = try Scratch()
    let keyring = Keyring(folder: folder.path)
    #expect(keyring.key(in: .file) == .absent)
    #expect(keyring.key(in: .file).authError == .keyringAbsent)
    #expect(try folder.names.isEmpty)
  }

  @Test func theFirstStartMakesOne() throws {
    let folder = try Scratch()
    let keyring = Keyring(folder: folder.path)
    guard case .key(let key) = keyring.firstKey(in: .file) else {
      Issue.record("no key")
      return
    }
    #expect(keyring.key(in: .file) == .key(key))
    // A start that died before it wrote the database's header finds the key it had made.
    #expect(keyring.firstKey(in: .file) == .key(key))
  }

  @Test func aKeyThatCannotBeUsedIsNotReplaced() throws {
    let folder = try Scratch()
    let keyring = Keyring(folder: folder.path)
    _ = keyring.firstKey(in: .file)
    try #require(chmod(folder.key, 0o644) == 0)
    #expect(keyring.firstKey(in: .file) == .failed(.permissions))
  }

  /// Never the other store.
  @Test func theSecretServiceIsNotTheFile() throws {
    let folder = try Scratch()
    let keyring = Keyring(folder: folder.path)
    _ = keyring.firstKey(in: .file)
    #expect(keyring.key(in: .secretService) == .absent)
    #expect(keyring.firstKey(in: .secretService) == .absent)
  }

  /// The words of the configuration page.
  @Test func words() {
    #expect(KeyStoreKind.allCases.map(\.rawValue) == ["file", "secret-service"])
  }
}
