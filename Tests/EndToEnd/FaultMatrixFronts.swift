import Foundation
import TestSupport

/// `front.py`: what stands between linkd and the emulator, and can be taken away.
final class Front: @unchecked Sendable {
  private let arguments: [String]
  private let environment: [String: String]
  private(set) var pid: Int32 = -1  // one test's, and one thing after the other
  private(set) var port = 0

  /// - Parameter certificate: certificate and key of a proxy for production; none for a plain relay.
  init(_ world: World, certificate: [String] = []) throws {
    arguments = [world.emulatorAddress] + certificate
    environment = world.environment
    try start(certificate: certificate)
  }

  var address: String { "127.0.0.1:\(port)" }

  /// Starts, or starts anew on the port it had.
  func start(certificate: [String]? = nil) throws {
    let output = try Subprocess.Pipe.make()
    defer { close(output.read) }
    let words = certificate.map { [arguments[0]] + $0 } ?? arguments
    pid = try Subprocess.spawn(
      ["/usr/bin/python3", "\(World.root)/Tests/EndToEnd/front.py", "\(port)"] + words, environment: environment,
      stdout: output.write)
    close(output.write)
    port = Int(output.readLine()) ?? 0
    if port == 0 { throw World.Failure(description: "front.py said no port") }
  }

  func stop() {
    guard pid > 0 else { return }
    kill(pid, SIGKILL)
    Subprocess.wait(pid)
    pid = -1
  }

  deinit { stop() }
}

/// A world of one signed-out app, and one way in which its server fails.
final class FaultyWorld: Sendable {
  let world: World
  private let fault: ServerFault
  private let front: Front?
  private static let hosts = ["identitytoolkit.googleapis.com", "securetoken.googleapis.com"]

  static func start(_ fault: ServerFault) async throws -> FaultyWorld {
    let world = try await World.start(apps: [])
    switch fault.cause {
    case .emulator:
      try await world.addApp("demo", scheme: World.scheme)
      return FaultyWorld(world, fault, nil)
    case .refused, .silent:
      let front = try Front(world)
      try await world.addApp("demo", scheme: World.scheme, at: front.address)
      return FaultyWorld(world, fault, front)
    case .untrusted:
      let front = try Front(world, certificate: try await certificate(world, "trusted"))
      let proxy = "http://\(front.address)"
      try await world.killDaemon()
      try world.setDaemon([
        "https_proxy": proxy, "HTTPS_PROXY": proxy, "SSL_CERT_FILE": world.home.file("trusted.pem"),
      ])
      try await world.addApp("demo", scheme: World.scheme, at: "", "--continue-url", "https://app.example.com/done")
      return FaultyWorld(world, fault, front)
    }
  }

  private init(_ world: World, _ fault: ServerFault, _ front: Front?) {
    self.world = world
    self.fault = fault
    self.front = front
  }

  private static func certificate(_ world: World, _ name: String) async throws -> [String] {
    let files = ["pem", "key"].map { world.home.file("\(name).\($0)") }
    let made = try await world.run([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=\(name)", "-addext", "subjectAltName=" + hosts.map { "DNS:\($0)" }.joined(separator: ","),
      "-out", files[0], "-keyout", files[1],
    ])
    guard made.status == 0 else { throw World.Failure(description: made.stderr) }
    return files
  }

  /// From here on, requests whose path holds `path` fail.
  func fail(_ path: String) async throws {
    switch fault.cause {
    case .emulator(let spec): try await world.fault(spec.merging(["path": path]) { $1 })
    case .refused: front?.stop()
    case .silent: kill(front?.pid ?? 0, SIGSTOP)
    case .untrusted:
      front?.stop()
      try front?.start(certificate: try await Self.certificate(world, "unknown"))
    }
  }

  /// The server is well again.
  func mend() async throws {
    switch fault.cause {
    case .emulator: try await world.clearFaults()
    case .refused, .silent, .untrusted:
      // What a silent one has in its buffers is lost.
      front?.stop()
      try front?.start()
    }
  }

  /// What the button of the mail's page opens. The emulator's pages name a key of their own, production's the app's.
  func button(_ address: String, count: Int = 1) async throws -> String {
    let button = try await world.button(try await world.mail(address, count: count))
    guard case .untrusted = fault.cause else { return button }
    return button.replacingOccurrences(of: "fake-api-key", with: "AIzaEXAMPLEKEY0000")
  }

  /// A command with `--json`: its last line, the last one about a flow's stage, and how it ended.
  func command(_ arguments: String...) async throws -> (last: [String: Any], stage: [String: Any], exit: Int) {
    let result = try await world.run(
      ["\(World.programs)/linkctl"] + arguments + ["--json"], timeout: .seconds(60))
    let lines = try result.stdout.split(separator: "\n").map { line in
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
    }
    return (lines.last ?? [:], lines.last { $0["stage"] != nil } ?? [:], Int(result.status))
  }
}

/// So many worlds at once, and no more: the machine is small, and requests have time limits.
actor Turnstile {
  static let shared = Turnstile(6)
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ width: Int) { free = width }

  func enter() async {
    if free > 0 { return free -= 1 }
    await withCheckedContinuation { waiting.append($0) }
  }

  func leave() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }

  static func pass<T: Sendable>(_ body: () async throws -> T) async throws -> T {
    await shared.enter()
    do {
      let result = try await body()
      await shared.leave()
      return result
    } catch {
      await shared.leave()
      throw error
    }
  }
}
