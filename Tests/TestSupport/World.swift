import Foundation

/// A desktop session of its own for one test: scratch home, real bus with activation, the emulator's program, the built
/// `linkd` and `linkctl`. Everything ends with it.
public final class World: Sendable {
  /// Why a test can't go on.
  public struct Failure: Error, CustomStringConvertible {
    /// The sentence.
    public let description: String

    /// Takes the sentence.
    public init(description: String) { self.description = description }
  }

  /// The emulator's project.
  public static let project = "demo-linkd"
  /// The first app's scheme.
  public static let scheme = "com.example.linkd"

  /// The scratch home.
  public let home: Scratch
  /// The session bus.
  public let bus: PrivateBus
  /// Host and port of the emulator.
  public let emulatorAddress: String
  private let emulator: Int32
  /// The session's environment, for programs of the test's.
  public let environment: [String: String]

  /// The folder of the programs under test: the debug build's, which has the pause points, or the release build's.
  public static var programs: String {
    if let folder = ProcessInfo.processInfo.environment["LINKD_PROGRAMS"] { return folder }
    let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundlePath
    return ((bundle ?? CommandLine.arguments[0]) as NSString).deletingLastPathComponent
  }

  /// The repository.
  public static var root: String {
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .path
  }

  /// - Parameters:
  ///   - apps: names of the apps to add; each gets `<scheme>.<name>`, the first one `scheme` itself.
  ///   - daemon: environment of the daemon, besides the session's.
  public static func start(apps: [String] = ["demo"], daemon: [String: String] = [:]) async throws -> World {
    let world = try World(daemon: daemon)
    for (index, app) in apps.enumerated() {
      try await world.addApp(app, scheme: index == 0 ? scheme : "\(scheme).\(app)")
    }
    return world
  }

  private init(daemon: [String: String]) throws {
    home = try Scratch("linkd-world")
    var environment = [
      "HOME": home.path, "PATH": "\(World.programs):/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
      "XDG_RUNTIME_DIR": home.file("run"), "XDG_CONFIG_HOME": home.file("config"), "XDG_DATA_HOME": home.file("data"),
      "XDG_STATE_HOME": home.file("state"), "XDG_CONFIG_DIRS": home.file("etc"), "XDG_DATA_DIRS": home.file("share"),
      // xdg-open looks for a desktop only where there is a display.
      "DISPLAY": ":0",
    ]
    for folder in ["run", "config", "data/applications", "state", "etc", "share", "services"] {
      try FileManager.default.createDirectory(atPath: home.file(folder), withIntermediateDirectories: true)
    }
    chmod(home.file("run"), 0o700)
    let wrapper = try home.write(
      "#!/bin/sh\n. '\(home.file("daemon.env"))'\nexec '\(World.programs)/linkd' 2>>'\(home.file("linkd.log"))'\n",
      to: "linkd-wrapper", executable: true)
    _ = try home.write(
      "[D-BUS Service]\nName=org.linkd.Auth1\nExec=\(wrapper)\n", to: "services/org.linkd.Auth1.service")
    bus = try PrivateBus.start(serviceDirectories: [home.file("services")], environment: environment)
    environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
    self.environment = environment
    let output = try Subprocess.Pipe.make()
    emulator = try Subprocess.spawn(
      ["\(World.programs)/auth-emulator", "--port", "0", "--project", World.project, "--scheme", World.scheme],
      environment: environment, stdout: output.write)
    close(output.write)
    defer { close(output.read) }
    let line = output.readLine()
    guard let start = line.range(of: "http://"), let address = line[start.upperBound...].split(separator: " ").first
    else {
      kill(emulator, SIGKILL)
      throw Failure(description: "the emulator said '\(line)'")
    }
    emulatorAddress = String(address)
    try setDaemon(daemon)
  }

  deinit {
    if let pid = try? daemonPID() { kill(pid, SIGKILL) }
    bus.stop()
    kill(emulator, SIGKILL)
    Subprocess.wait(emulator)
  }

  // MARK: Programs

  /// The environment of the next daemon that the bus starts.
  public func setDaemon(_ variables: [String: String]) throws {
    let all = ["LINKD_LOG": "debug"].merging(variables) { $1 }
    _ = try home.write(all.map { "export \($0.key)='\($0.value)'\n" }.joined(), to: "daemon.env")
  }

  /// Runs a program in the session.
  @discardableResult
  public func run(
    _ argv: [String], stdin: String = "", environment more: [String: String] = [:], timeout: Duration = .seconds(30)
  ) async throws -> Subprocess.Result {
    try await Subprocess.run(argv, environment: environment.merging(more) { $1 }, stdin: stdin, timeout: timeout)
  }

  /// Runs `linkctl`.
  @discardableResult
  public func linkctl(
    _ arguments: String..., stdin: String = "", environment more: [String: String] = [:]
  ) async throws -> Subprocess.Result {
    try await run(["\(World.programs)/linkctl"] + arguments, stdin: stdin, environment: more)
  }

  /// The objects that `linkctl … --json` printed.
  public func json(_ arguments: String..., stdin: String = "") async throws -> [[String: Any]] {
    let result = try await run(["\(World.programs)/linkctl"] + arguments + ["--json"], stdin: stdin)
    return try result.stdout.split(separator: "\n").map { line in
      guard let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] else {
        throw Failure(description: "no object: \(line)")
      }
      return object
    }
  }

  /// A value that `gdbus call` prints: an independent client.
  public func gdbus(_ path: String, _ method: String, _ arguments: String...) async throws -> Subprocess.Result {
    try await run(
      ["gdbus", "call", "--session", "--dest", "org.linkd.Auth1", "--object-path", path, "--method", method] + arguments
    )
  }

  /// Adds an app of the emulator's project.
  /// - Parameter backend: where the app's emulator is, instead of the world's own; empty for production.
  public func addApp(_ app: String, scheme: String, at backend: String? = nil, _ more: String...) async throws {
    try await addApp(app, scheme: scheme, at: backend, options: more)
  }

  func addApp(_ app: String, scheme: String, at backend: String? = nil, options: [String]) async throws {
    let backend = backend ?? emulatorAddress
    let config = try home.write(
      """
      const firebaseConfig = {
        apiKey: "AIzaEXAMPLEKEY0000",
        authDomain: "\(World.project).firebaseapp.com",
        projectId: "\(World.project)",
        appId: "1:123456789012:web:0a1b2c3d4e5f",
      };
      """, to: "firebase-config.js")
    let result = try await run(
      ["\(World.programs)/linkctl", "app", "add", config, "--app", app, "--scheme", scheme]
        + (backend.isEmpty ? [] : ["--emulator", backend]) + options)
    guard result.status == 0 else { throw Failure(description: "app add: \(result.stderr)") }
  }

  // MARK: The daemon

  /// What the daemon has logged.
  public var log: String { (try? String(contentsOfFile: home.file("linkd.log"), encoding: .utf8)) ?? "" }

  /// Nil while it isn't running.
  public func daemonPID() throws -> Int32? {
    let result = try Subprocess.runBlocking(
      [
        "gdbus", "call", "--session", "--dest", "org.freedesktop.DBus", "--object-path", "/org/freedesktop/DBus",
        "--method", "org.freedesktop.DBus.GetConnectionUnixProcessID", "org.linkd.Auth1",
      ], environment: environment)
    guard result.status == 0 else { return nil }
    return Int32(result.stdout.filter(\.isNumber).dropFirst("32".count))
  }

  /// `kill -9`, and waits until the bus has noticed. A waiting client may have started the next one by then.
  public func killDaemon() async throws {
    guard let pid = try daemonPID() else { return }
    kill(pid, SIGKILL)
    try await eventually("the daemon to be gone") { try daemonPID() != pid }
  }

  /// Waits until the daemon stands at its pause point.
  public func daemonIsPaused() async throws {
    try await eventually("the pause point") {
      guard let pid = try daemonPID(), let stat = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
      else {
        return false
      }
      return stat[stat.index(after: stat.lastIndex(of: ")") ?? stat.startIndex)...].hasPrefix(" T")
    }
  }

  /// Looks again until `condition` holds; fails after 20 s.
  public func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while ContinuousClock.now < deadline {
      if try await condition() { return }
      try await Task.sleep(for: .milliseconds(20))
    }
    throw Failure(description: "waited in vain for \(what)\n\(log)")
  }

  // MARK: Mails

  /// Starts an email-link flow and gives its id.
  public func sendLink(_ address: String, _ more: String...) async throws -> String {
    let result = try await run(
      ["\(World.programs)/linkctl", "sign-in", "email-link", address, "--no-wait"] + more)
    guard result.status == 0 else { throw Failure(description: "sign-in: \(result.stderr)") }
    return result.stdout.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Links mailed to `address` and not spent yet, in order.
  public func mails(_ address: String) async throws -> [String] {
    let codes = try await emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/oobCodes")["oobCodes"]
    return (codes as? [[String: Any]] ?? []).filter { $0["email"] as? String == address }
      .compactMap { $0["oobLink"] as? String }
  }

  /// The `count`th link mailed to `address` and not spent yet, once it has been sent.
  public func mail(_ address: String, count: Int = 1) async throws -> String {
    var found: [String] = []
    try await eventually("mail \(count) to \(address)") {
      found = try await mails(address)
      return found.count >= count
    }
    return found[count - 1]
  }

  /// What the button of the continue page opens, after following the mail's link as a browser would.
  public func button(_ link: String, scheme: String = World.scheme) async throws -> String {
    let result = try await run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", link])
    let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")
    guard result.status == 0, let page = result.stdout.addingPercentEncoding(withAllowedCharacters: allowed) else {
      throw Failure(description: "the link leads nowhere: \(result.stderr)")
    }
    return "\(scheme)://auth?link=\(page)"
  }

  /// The code in a link of the emulator's.
  public func code(_ link: String) -> String {
    URLComponents(string: link)?.queryItems?.first { $0.name == "oobCode" }?.value ?? ""
  }

  /// Signs in by a mailed link, from the command to the session.
  public func signIn(_ address: String, app: String = "demo", scheme: String = World.scheme) async throws {
    let sent = try await mails(address).count
    _ = try await sendLink(address, "--app", app)
    let result = try await linkctl("open", try await button(try await mail(address, count: sent + 1), scheme: scheme))
    guard result.status == 0 else { throw Failure(description: "open: \(result.stderr)\n\(log)") }
  }

  // MARK: The emulator

  /// A request to the emulator.
  public func emulatorJSON(_ method: String, _ path: String, _ body: String? = nil) async throws -> [String: Any] {
    var argv = ["curl", "-fsS", "-X", method, "http://\(emulatorAddress)\(path)"]
    if let body { argv += ["-H", "Content-Type: application/json", "-d", body] }
    let result = try await run(argv)
    guard result.status == 0 else { throw Failure(description: "\(method) \(path): \(result.stderr)") }
    return try JSONSerialization.jsonObject(with: Data(result.stdout.utf8)) as? [String: Any] ?? [:]
  }

  /// Requests that the server has received for a path that ends in `suffix`.
  public func requests(_ suffix: String) async throws -> Int {
    let all = try await emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/requests")["requests"]
    return (all as? [[String: Any]] ?? []).filter { ($0["path"] as? String)?.hasSuffix(suffix) == true }.count
  }

  /// A fault in the form of `auth-emulator --fault`.
  public func fault(_ spec: [String: Any]) async throws {
    let body = String(decoding: try JSONSerialization.data(withJSONObject: spec), as: UTF8.self)
    _ = try await emulatorJSON("POST", "/emulator/v1/projects/\(World.project)/faults", body)
  }

  /// Removes all faults.
  public func clearFaults() async throws {
    try await run([
      "curl", "-fsS", "-X", "DELETE", "http://\(emulatorAddress)/emulator/v1/projects/\(World.project)/faults",
    ])
  }

  // MARK: What is there

  /// The signed-in user; empty when nobody is.
  public func whoami(app: String = "demo") async throws -> [String: Any] {
    try await json("whoami", "--app", app).last ?? [:]
  }

  /// The signed-in user's address.
  public func email(app: String = "demo") async throws -> String? { try await whoami(app: app)["email"] as? String }
}
