import Foundation
import TestSupport
import Testing

@testable import Callers
@testable import DBus

/// Who may ask (behaviour: Who may ask), with a `/proc` of the test's own.
@Suite(.timeLimit(.minutes(1))) struct CallersTests {
  static let info = """
    [Application]
    name=com.example.App
    runtime=runtime/org.gnome.Platform/x86_64/47

    [Context]
    shared=network;
    """
  let scratch: Scratch

  init() throws { scratch = try Scratch("linkd-proc") }

  private func identify(
    uid: UInt32 = 1000, pid: UInt32 = 42, label: String? = nil, processFD: UnixFD? = nil
  ) -> Sandbox.Identity {
    let credentials = Credentials(uid: uid, pid: pid, processFD: processFD, linuxSecurityLabel: label)
    return Sandbox.identify(credentials, uid: 1000, proc: ProcessFolder(path: scratch.path))
  }

  private func makeProcess(_ pid: Int, info: String? = nil) throws {
    try scratch.write("", to: "\(pid)/root/etc/passwd")
    if let info { try scratch.write(info, to: "\(pid)/root/.flatpak-info") }
  }

  @Test func aProcessOfTheUserIsTheUser() throws {
    try makeProcess(42)
    #expect(identify() == .ordinary)
    #expect(identify(label: "unconfined") == .ordinary)
    #expect(identify(label: "firefox.snap.x") == .ordinary)
  }

  @Test func flatpakIsToldByItsFile() throws {
    try makeProcess(42, info: Self.info)
    #expect(identify() == .sandboxed("flatpak:com.example.App"))
    // The file counts more than a label, which a flatpak can't have.
    #expect(identify(label: "snap.example.app") == .sandboxed("flatpak:com.example.App"))
  }

  @Test(arguments: [
    ("snap.example.app", "snap:example"), ("snap.example.hook.configure", "snap:example"),
    ("snap.example_1.app (enforce)", "snap:example_1"), ("snap.", "snap:"),
  ]) func snapIsToldByItsLabel(_ label: String, _ id: String) throws {
    try makeProcess(42)
    #expect(identify(label: label) == .sandboxed(id))
  }

  @Test(arguments: [0, 1001] as [UInt32]) func anotherUserIsRefused(_ uid: UInt32) throws {
    try makeProcess(42)
    #expect(identify(uid: uid) == .refused)
  }

  // MARK: Fail closed

  @Test func aProcessThatIsGoneIsRefused() { #expect(identify() == .refused) }

  @Test(arguments: [
    "", "[Application]\n", "[Application]\nname=\n", "[Application]\nname=com.example/../App\n",
    "[Runtime]\nname=com.example.App\n", "[Context]\n[Instance]\nname=x\n", "[Application]\nname=a b\n",
    String(repeating: "#\n", count: 40_000) + info,
  ]) func aFlatpakWithoutAnIdIsRefused(_ info: String) throws {
    try makeProcess(42, info: info)
    #expect(identify() == .refused)
  }

  @Test func whatIsNoFileIsRefused() throws {
    try makeProcess(42)
    try FileManager.default.createDirectory(
      atPath: scratch.file("42/root/.flatpak-info"), withIntermediateDirectories: false)
    #expect(identify() == .refused)
    try makeProcess(43)
    #expect(symlink("/etc/passwd", scratch.file("43/root/.flatpak-info")) == 0)
    #expect(identify(pid: 43) == .refused)
    try makeProcess(44)
    #expect(mkfifo(scratch.file("44/root/.flatpak-info"), 0o600) == 0)
    #expect(identify(pid: 44) == .refused)
  }

  @Test func aRootThatIsNoFolderIsRefused() throws {
    try scratch.write("", to: "42/root")
    #expect(identify() == .refused)
  }

  // MARK: With a pidfd

  /// A pipe stands for the pidfd: readable once the process has ended.
  private func pidfd(of pid: String, ended: Bool = false) throws -> UnixFD {
    let pipe = try Subprocess.Pipe.make()
    if ended { #expect(write(pipe.write, "x", 1) == 1) }
    // Left open: an end of file would be readable too.
    let descriptor = UnixFD(owning: pipe.read)
    try scratch.write("pos:\t0\nflags:\t02000002\nPid:\t\(pid)\nNSpid:\t\(pid)\n", to: "self/fdinfo/\(pipe.read)")
    return descriptor
  }

  @Test func thePidfdCountsAndNotTheNumber() throws {
    try makeProcess(42)
    try makeProcess(43, info: Self.info)
    #expect(identify(pid: 42, processFD: try pidfd(of: "43")) == .sandboxed("flatpak:com.example.App"))
    #expect(identify(pid: 43, processFD: try pidfd(of: "42")) == .ordinary)
  }

  @Test func aProcessThatHasEndedIsRefused() throws {
    try makeProcess(42)
    #expect(identify(processFD: try pidfd(of: "42", ended: true)) == .refused)
    for pid in ["-1", "0", ""] { #expect(identify(processFD: try pidfd(of: pid)) == .refused) }
  }

  // MARK: The real one

  @Test func theTestItselfIsAnOrdinaryProcess() {
    let mine = Credentials(uid: geteuid(), pid: UInt32(getpid()), processFD: nil, linuxSecurityLabel: nil)
    #expect(Sandbox.identify(mine) == .ordinary)
    var others = mine
    others.uid += 1
    #expect(Sandbox.identify(others) == .refused)
  }
}
