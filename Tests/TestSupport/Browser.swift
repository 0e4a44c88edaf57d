import Foundation
import Glibc

/// Chromium from Debian in a world of a test's, without a window, driven by `chromedriver`. It has the world's home, bus and
/// handlers: what the person would let it open goes through `xdg-open` to the program registered there. To look at what it
/// shows, set `LINKD_SCREENSHOTS` to a folder.
public final class Browser: Sendable {
  /// What is unlike a person's browser.
  public struct Settings: Sendable {
    /// Schemes that it opens without asking. Others it asks about, and nobody answers.
    public var schemes: [String]
    /// Whether pages may run scripts.
    public var runsScripts = true
    /// BCP 47.
    public var language = "en-US"
    /// The desktop that `xdg-open` finds around it, such as `GNOME`, whose opener it then asks.
    public var desktop: String?

    /// Opens the world's first app.
    public init(schemes: [String] = [World.scheme]) { self.schemes = schemes }
  }

  /// How long a page may take for what a test waits for. Ten times what it takes on an idle machine.
  public static let patience = Duration.seconds(40)

  private let world: World
  private let driver: WebDriver
  private let group: Int32
  private let watchdog: Watchdog

  private init(world: World, driver: WebDriver, group: Int32, watchdog: Watchdog) {
    (self.world, self.driver, self.group, self.watchdog) = (world, driver, group, watchdog)
  }

  // MARK: Life

  /// Starts a browser with a new profile, and ends it and all of its processes when `body` is done.
  public static func run<Value>(
    in world: World, _ settings: Settings = Settings(), _ body: (Browser) async throws -> Value
  ) async throws -> Value {
    let browser = try await start(in: world, settings)
    do {
      let value = try await body(browser)
      await browser.end()
      return value
    } catch {
      let page = (try? await browser.describe()) ?? "and the page can't be seen"
      await browser.end()
      throw World.Failure(description: "\(error)\n\(page)")
    }
  }

  private static func start(in world: World, _ settings: Settings) async throws -> Browser {
    let folder = "browser-\(UUID().uuidString.prefix(8))"
    try FileManager.default.createDirectory(atPath: world.home.file("\(folder)/tmp"), withIntermediateDirectories: true)
    let home = world.home.file(folder)
    // Where nothing takes a link, xdg-open goes on to the browsers it finds: not here.
    var environment = world.environment.merging(["TMPDIR": "\(home)/tmp", "BROWSER": "false"]) { $1 }
    environment["XDG_CURRENT_DESKTOP"] = settings.desktop
    let output = try Subprocess.Pipe.make()
    defer { close(output.read) }
    let log = Glibc.open("\(home)/driver.log", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    let group: Int32
    do {
      defer { [output.write, log].forEach { Glibc.close($0) } }
      group = try Subprocess.spawn(
        ["chromedriver", "--port=0"], environment: environment, stdout: output.write, stderr: log, ownGroup: true)
    }
    let watchdog = try Watchdog(over: -group)
    do {
      let port = try port(output)
      let driver = try await WebDriver.begin(port, options: options(settings, profile: "\(home)/profile"))
      return Browser(world: world, driver: driver, group: group, watchdog: watchdog)
    } catch {
      end(group, watchdog)
      throw error
    }
  }

  /// `ChromeDriver was started successfully on port 40123.`
  private static func port(_ output: Subprocess.Pipe) throws -> UInt16 {
    var line = output.readLine(), said = line
    while !line.isEmpty, !line.contains("started successfully on port") {
      line = output.readLine()
      said += "\n\(line)"
    }
    guard let port = line.split(separator: " ").last.flatMap({ UInt16($0.filter(\.isNumber)) }) else {
      throw World.Failure(description: "chromedriver (Debian: chromium-driver) didn't start: \(said)")
    }
    return port
  }

  private static func options(_ settings: Settings, profile: String) -> [String: Any] {
    var arguments = [
      "--headless=new", "--user-data-dir=\(profile)", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage",
      "--disable-breakpad", "--disable-extensions", "--disable-sync", "--password-store=basic",
      "--lang=\(settings.language)", "--window-size=900,800",
    ]
    // Its sandbox refuses to work for root.
    if getuid() == 0 { arguments.append("--no-sandbox") }
    // Where the policy AutoLaunchProtocolsFromOrigins ends up: a policy itself is for the whole machine.
    let launched = settings.schemes.map { ["protocol": $0, "allowed_origins": ["*"]] as [String: Any] }
    var preferences: [String: Any] = [
      "protocol_handler": ["policy": ["auto_launch_protocols_from_origins": launched]],
      "intl": ["accept_languages": settings.language], "credentials_enable_service": false,
    ]
    if !settings.runsScripts {
      preferences["profile"] = ["managed_default_content_settings": ["javascript": 2]]
    }
    // The program itself: Debian's wrapper reads flags of the machine's.
    return ["binary": "/usr/lib/chromium/chromium", "args": arguments, "prefs": preferences]
  }

  deinit { Browser.end(group, watchdog) }

  /// Quits as a person would; `deinit` kills what is left.
  private func end() async { _ = try? await driver.command("DELETE", "", timeout: .seconds(20)) }

  private static func end(_ group: Int32, _ watchdog: Watchdog) {
    watchdog.stop()
    kill(-group, SIGKILL)
    Subprocess.wait(group)
  }

  // MARK: Pages

  /// Goes to an address and waits until the page has loaded.
  public func open(_ url: String) async throws { try await driver.command("POST", "/url", ["url": url]) }

  /// What the address bar shows.
  public var url: String {
    get async throws { try await driver.command("GET", "/url") as? String ?? "" }
  }

  /// The page's title.
  public var title: String {
    get async throws { try await driver.command("GET", "/title") as? String ?? "" }
  }

  /// The page as markup, as scripts have left it.
  public var source: String {
    get async throws { try await driver.command("GET", "/source") as? String ?? "" }
  }

  /// What a script returns that runs in the page, as its body.
  @discardableResult
  public func run(_ script: String) async throws -> Any {
    try await driver.command("POST", "/execute/sync", ["script": script, "args": [String]()])
  }

  /// Keeps a picture of the page in the folder `LINKD_SCREENSHOTS`, if there is one.
  public func picture(_ name: String) async throws {
    guard let folder = ProcessInfo.processInfo.environment["LINKD_SCREENSHOTS"] else { return }
    let text = try await driver.command("GET", "/screenshot") as? String
    try text.flatMap { Data(base64Encoded: $0) }?.write(to: URL(fileURLWithPath: "\(folder)/\(name).png"))
  }

  // MARK: Elements

  /// Whether a visible element fits.
  public func shows(_ css: String) async throws -> Bool { try await find(css, visible: true) != nil }

  /// Clicks as a person does, once the element is visible.
  public func click(_ css: String) async throws {
    let element = try await element(css)
    try await driver.command("POST", "/element/\(element)/click", [:])
  }

  /// Types text, once the element is visible.
  public func type(_ text: String, into css: String) async throws {
    let element = try await element(css)
    try await driver.command("POST", "/element/\(element)/value", ["text": text])
  }

  /// The text that an element shows, once it's there: nothing where it's hidden.
  public func text(_ css: String) async throws -> String {
    let element = try await element(css, visible: false)
    return try await driver.command("GET", "/element/\(element)/text") as? String ?? ""
  }

  /// A property of an element, such as `value`, once it's there.
  public func property(_ name: String, of css: String) async throws -> String {
    let element = try await element(css, visible: false)
    return try await driver.command("GET", "/element/\(element)/property/\(name)") as? String ?? ""
  }

  /// Looks again until `condition` holds. An element that is gone by then counts as not yet.
  public func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + Browser.patience
    while ContinuousClock.now < deadline {
      do {
        if try await condition() { return }
      } catch let refusal as WebDriver.Refusal
        where ["no such element", "stale element reference"].contains(refusal.code)
      {}
      try await Task.sleep(for: .milliseconds(50))
    }
    throw World.Failure(description: "the browser waited in vain for \(what)")
  }

  private func element(_ css: String, visible: Bool = true) async throws -> String {
    var found: String?
    try await eventually("\(css)") {
      found = try await find(css, visible: visible)
      return found != nil
    }
    return found ?? ""
  }

  private func find(_ css: String, visible: Bool) async throws -> String? {
    let list = try await driver.command("POST", "/elements", ["using": "css selector", "value": css])
    for element in list as? [[String: String]] ?? [] {
      guard let id = element[WebDriver.elementKey] else { continue }
      if !visible { return id }
      if try await driver.command("GET", "/element/\(id)/displayed") as? Bool == true { return id }
    }
    return nil
  }

  private func describe() async throws -> String {
    try await picture("failure-\(UUID().uuidString.prefix(8))")
    return "at \(try await url)\n\(try await run("return document.body ? document.body.innerText : ''"))"
  }
}
