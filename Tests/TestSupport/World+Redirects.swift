import Foundation

/// A flow that waits for a provider's redirect, as `linkctl sign-in PROVIDER --no-browser` tells of it.
public struct WaitingFlow: Sendable {
  /// The public id.
  public let id: String
  /// The page that the browser is to open.
  public let url: String

  /// A flow whose page is known otherwise.
  public init(id: String, url: String) { (self.id, self.url) = (id, url) }

  /// A parameter of the page's URL.
  public subscript(_ name: String) -> String? {
    URLComponents(string: url)?.queryItems?.first { $0.name == name }?.value
  }

  /// `state` of an own client's request, `eventId` of the handler's.
  public var token: String { self["state"] ?? self["eventId"] ?? "" }
  /// Where the provider is to send the browser.
  public var redirectURI: String { self["redirect_uri"] ?? "" }
  /// The listener's port.
  public var port: UInt16? { URLComponents(string: redirectURI)?.port.flatMap(UInt16.init(exactly:)) }

  /// What `redirectURI` becomes with these parameters.
  public func answer(_ parameters: KeyValuePairs<String, String>) -> String {
    let pairs = parameters.map { "\($0.key)=\(World.encoded($0.value))" }
    return "\(redirectURI)?\(pairs.joined(separator: "&"))"
  }
}

/// How a flow stands.
public struct FlowState: Sendable, Equatable {
  /// `Stage`.
  public let stage: String
  /// The name of `error` in `Details`, without the prefix.
  public let error: String?

  /// A stage, and an error by its short name.
  public init(_ stage: String, _ error: String? = nil) { (self.stage, self.error) = (stage, error) }
}

/// Flows that go to the providers that the emulator plays, and come back.
extension World {
  /// `encodeURIComponent`.
  public static func encoded(_ text: String) -> String {
    let allowed = CharacterSet(charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()")
    return text.addingPercentEncoding(withAllowedCharacters: allowed) ?? ""
  }

  // MARK: Set-up

  /// A world whose app `demo` has these providers, and where `ada` has an account at every one of them and consents at once.
  public static func start(providers: (World) -> [[String: Any]]) async throws -> World {
    let world = try await start(apps: [])
    try await world.addApp("demo", providers: providers(world))
    try await world.addAccount("ada", email: "ada@example.com")
    try await world.consent("ada")
    return world
  }

  /// The issuer of one of the emulator's OpenID providers; the one without a name has an empty one.
  public func issuer(_ name: String = "") -> String {
    "http://\(emulatorAddress)/emulator/openid" + (name.isEmpty ? "" : "/\(name)")
  }

  /// The entry of an own client at one of the emulator's OpenID providers, for an app's file.
  public func openID(_ id: String = "oidc.test", at name: String = "", _ more: [String: Any] = [:]) -> [String: Any] {
    ["id": id, "kind": "oidc", "issuer": issuer(name), "client-id": "client-\(id)"].merging(more) { $1 }
  }

  /// The environment of a daemon whose clocks are ahead by the seconds in the files `clock` (the wall's) and `boot-clock`. `cc`
  /// builds what does it.
  public func clocks() async throws -> [String: String] {
    let library = home.file("clocks.so")
    let source = "\(World.root)/Tests/EndToEnd/wallclock.c"
    let built = try await run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"])
    guard built.status == 0 else { throw Failure(description: "cc: \(built.stderr)") }
    return [
      "LD_PRELOAD": library, "LINKD_TEST_CLOCK": home.file("clock"), "LINKD_TEST_BOOT_CLOCK": home.file("boot-clock"),
    ]
  }

  // MARK: The provider's side

  /// A control call of the emulator's below the project.
  @discardableResult
  public func control(_ method: String, _ path: String, _ body: [String: Any] = [:]) async throws -> [String: Any] {
    let text = String(decoding: try JSONSerialization.data(withJSONObject: body), as: UTF8.self)
    return try await emulatorJSON(method, "/emulator/v1/projects/\(World.project)/\(path)", text)
  }

  /// Somebody whom the providers know.
  public func addAccount(_ subject: String, email: String) async throws {
    try await control("POST", "providerAccounts", ["sub": subject, "email": email, "emailVerified": true])
  }

  /// The pages answer at once, with this account; nil: they refuse.
  public func consent(_ subject: String?) async throws {
    try await control("PATCH", "consent", subject.map { ["account": $0] } ?? ["refuse": true])
  }

  /// The requests for a path that ends in `suffix`, in order, as the emulator recorded them.
  public func records(_ suffix: String) async throws -> [[String: Any]] {
    let all = try await emulatorJSON("GET", "/emulator/v1/projects/\(World.project)/requests")["requests"]
    return (all as? [[String: Any]] ?? []).filter { ($0["path"] as? String)?.hasSuffix(suffix) == true }
  }

  // MARK: There and back

  /// Starts a flow that goes to a provider, and gives its page, once there is one.
  public func goTo(
    _ provider: String = "oidc.test", app: String = "demo", _ more: String...
  ) async throws -> WaitingFlow {
    let argv = ["\(World.programs)/linkctl", "sign-in", provider, "--app", app, "--no-browser", "--no-wait", "--json"]
    let result = try await run(argv + more)
    guard result.status == 0, let line = result.stdout.split(separator: "\n").last,
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
      let id = object["flow"] as? String, let url = object["url"] as? String
    else { throw Failure(description: "sign-in: \(result.stdout)\(result.stderr)\n\(log)") }
    return WaitingFlow(id: id, url: url)
  }

  /// Where the provider's page sends the browser.
  public func follow(_ flow: WaitingFlow) async throws -> String {
    let result = try await run(["curl", "-sS", "-o", "/dev/null", "-D", "-", flow.url])
    let lines = result.stdout.split(whereSeparator: \.isNewline)
    guard let line = lines.first(where: { $0.lowercased().hasPrefix("location: ") }) else {
      throw Failure(description: "the page leads nowhere: \(result.stdout)\(result.stderr)")
    }
    return String(line.dropFirst("location: ".count))
  }

  /// What a browser gets at a redirect's address: status and page. 0 where nobody answers.
  @discardableResult
  public func browse(_ url: String, _ more: String...) async throws -> (status: Int, page: String) {
    let argv = ["curl", "-sS", "--globoff", "--max-time", "20", "-w", "\n%{http_code}"] + more + [url]
    let lines = try await run(argv).stdout.components(separatedBy: "\n")
    return (Int(lines.last ?? "") ?? 0, lines.dropLast().joined(separator: "\n"))
  }

  /// How a flow stands; nil once it isn't shown any more.
  public func state(_ flow: String) async throws -> FlowState? {
    let text = try await gdbus(
      "/org/linkd/Auth1/flow/\(flow)", "org.freedesktop.DBus.Properties.GetAll", "org.linkd.Auth1.Flow"
    ).stdout
    guard let stage = text.firstMatch(of: /'Stage': <'([a-z-]+)'>/) else { return nil }
    return FlowState(
      String(stage.1), text.firstMatch(of: /'error': <'org\.linkd\.Auth1\.Error\.(\w+)'>/).map { String($0.1) })
  }

  /// Waits until a flow stands as expected.
  public func wait(for flow: WaitingFlow, _ stage: String, _ error: String? = nil) async throws {
    let expected = FlowState(stage, error)
    var last: FlowState?
    do {
      try await eventually("\(stage)") {
        last = try await state(flow.id)
        return last == expected
      }
    } catch { throw Failure(description: "\(expected) didn't come after \(last.map { "\($0)" } ?? "nothing")\n\(log)") }
  }

  /// Where the daemon listens by TCP, as the kernel writes addresses: hexadecimal, in the machine's order of bytes.
  public func listeners() throws -> [String] {
    guard let pid = try daemonPID() else { return [] }
    let files = FileManager.default
    let own = Set(
      try files.contentsOfDirectory(atPath: "/proc/\(pid)/fd").compactMap {
        try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)")
      })
    return try ["tcp", "tcp6"].flatMap { table in
      try String(contentsOfFile: "/proc/\(pid)/net/\(table)", encoding: .utf8).split(separator: "\n").compactMap {
        line in
        let fields = line.split(separator: " ")
        let isListening = fields.count > 9 && fields[3] == "0A" && own.contains("socket:[\(fields[9])]")
        return isListening ? String(fields[1]) : nil
      }
    }
  }

  /// The true answer of the provider's comes, by loopback or by scheme, and the flow succeeds.
  public func finish(_ flow: WaitingFlow) async throws {
    let url = try await follow(flow)
    if url.hasPrefix("http://") {
      let answer = try await browse(url)
      guard answer.status == 200 else { throw Failure(description: "\(answer)\n\(log)") }
    } else {
      let opened = try await linkctl("open", "--no-wait", url)
      guard opened.status == 0 else { throw Failure(description: "open: \(opened.stderr)\n\(log)") }
    }
    try await wait(for: flow, "succeeded")
  }
}
