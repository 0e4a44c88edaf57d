import Foundation
import TestSupport

/// A file system of its own for a world's state folder, kept by a process in a mount namespace: it can fill up and become
/// read-only without anybody else noticing. Daemons join the namespace. It needs root: in a user namespace, too, a daemon
/// couldn't tell who its callers are.
final class StateMount: Sendable {
  private let world: World
  private let keeper: Int32
  private let input: Subprocess.Pipe

  /// Whether this machine lets us have such a namespace.
  static let isPossible: Bool = {
    let result = try? Subprocess.runBlocking([
      "unshare", "--mount", "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/mnt",
    ])
    return result?.status == 0
  }()

  /// - Parameter size: of the file system, in KiB.
  init(_ world: World, size: Int) async throws {
    self.world = world
    try await world.killDaemon()
    input = try Subprocess.Pipe.make()
    let output = try Subprocess.Pipe.make()
    let folder = world.home.file("state")
    keeper = try Subprocess.spawn(
      [
        "unshare", "--mount", "sh", "-c",
        "mount -t tmpfs -o size=\(size)k,mode=700 tmpfs '\(folder)' && echo ready && exec cat",
      ], environment: world.environment, stdin: input.read, stdout: output.write)
    close(input.read)
    close(output.write)
    defer { close(output.read) }
    guard output.readLine() == "ready" else { throw World.Failure(description: "no file system") }
    // The wrapper that the bus starts reads this file; the second time it's inside.
    let file = world.home.file("daemon.env")
    let old = try String(contentsOfFile: file, encoding: .utf8)
    let join = """
      if [ -z "$LINKD_INSIDE" ]; then
        export LINKD_INSIDE=1
        exec nsenter --target \(keeper) --mount sh '\(world.home.file("linkd-wrapper"))'
      fi

      """
    _ = try world.home.write(old + join, to: "daemon.env")
  }

  deinit {
    close(input.write)
    kill(keeper, SIGKILL)
    Subprocess.wait(keeper)
  }

  /// Runs a shell command inside, in the state folder.
  func run(_ command: String) async throws {
    let result = try await world.run([
      "nsenter", "--target", "\(keeper)", "--mount", "sh", "-c",
      "cd '\(world.home.file("state"))' && \(command)",
    ])
    guard result.status == 0 else { throw World.Failure(description: "\(command): \(result.stderr)") }
  }

  /// Not one byte more.
  func fill() async throws { try await run("! cat /dev/zero >filler 2>/dev/null") }
  func makeRoom() async throws { try await run("rm -f filler") }
  func setReadOnly(_ isReadOnly: Bool) async throws { try await run("mount -o remount,\(isReadOnly ? "ro" : "rw") .") }
}
