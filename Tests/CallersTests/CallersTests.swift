import DBus
import Glibc
import TestSupport
import Testing

@testable import Callers

@Suite("Callers", .timeLimit(.minutes(1)))
struct CallersTests {
  /// A proc(5) of our own, with one process whose root has the files given.
  private func judge(_ info: String?, label: String? = nil, uid: UInt32 = 1000) throws -> Sandbox {
    let scratch = try Scratch("linkd-callers")
    mkdir(scratch.file("42"), 0o700)
    mkdir(scratch.file("42/root"), 0o700)
    if let info { _ = try scratch.write(info, to: "42/root/.flatpak-info") }
    let credentials = Credentials(uid: uid, pid: 42, processFD: nil, linuxSecurityLabel: label)
    return Sandbox.identify(credentials, processes: scratch.path, user: 1000)
  }

  @Test("a process without a sandbox is the user")
  func ordinary() throws {
    #expect(try judge(nil) == .ordinary)
    #expect(try judge(nil, label: "unconfined") == .ordinary)
  }

  @Test("a Flatpak is known by the file that only its sandbox has")
  func flatpak() throws {
    #expect(
      try judge("[Application]\nname=com.example.App\n\n[Instance]\nname=x\n")
        == .sandboxed(id: "flatpak:com.example.App"))
    #expect(
      try judge("[Context]\nname=no\n[Runtime]\nname=org.example.Sdk\n") == .sandboxed(id: "flatpak:org.example.Sdk"))
  }

  @Test(
    "a damaged file closes the door",
    arguments: ["", "name=com.example.App\n", "[Application]\nname=\n", "[Application]\nname=a\u{1b}[31m\n"])
  func damaged(info: String) throws {
    #expect(try judge(info) == .refused)
  }

  @Test("a Snap is known by its security label")
  func snap() throws {
    #expect(try judge(nil, label: "snap.example.app (enforce)") == .sandboxed(id: "snap:example"))
    #expect(
      try judge("[Application]\nname=com.example.App\n", label: "snap.example.app") == .sandboxed(id: "snap:example"))
    #expect(try judge(nil, label: "snapshot.example.app") == .ordinary)
  }

  @Test("another user, and a process that is gone, are refused")
  func refused() throws {
    #expect(try judge(nil, uid: 1001) == .refused)
    let gone = Credentials(uid: getuid(), pid: 4_000_000, processFD: nil, linuxSecurityLabel: nil)
    #expect(Sandbox.identify(gone) == .refused)
  }
}
