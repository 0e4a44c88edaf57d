import AuthCore
import DBus
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Desktop

/// The portal and the user manager, as far as their documentation says how a page is opened by them.
@LoopActor
final class BrowserServices {
  let bus: PrivateBus
  let service: Connection
  let client: Connection
  let scratch: Scratch
  /// What each was asked, in order.
  private(set) var portalCalls: [[DBusValue]] = []
  private(set) var unitCalls: [[DBusValue]] = []
  private(set) var subscribers: [String] = []
  /// The portal's response to a request; nil for none.
  var response: UInt32? = 0
  /// Whether the portal answers the call at all.
  var portalAnswers = true
  /// How the manager's job ends; nil for never.
  var jobResult: String? = "done"
  var environment = ["HOME=/home/a", "DISPLAY=:0"]

  init() async throws {
    bus = try PrivateBus.start()
    service = try await Connection.open(.address(bus.address))
    client = try await Connection.open(.address(bus.address))
    scratch = try Scratch("linkd-browser")
    try scratch.write("#!/bin/sh\n", to: "bin/xdg-open", executable: true)
  }

  var xdgOpen: String { scratch.file("bin/xdg-open") }

  func browser(path: String? = nil) -> Desktop.Browser {
    var limits = Desktop.Browser.Limits()
    limits.call = .milliseconds(portalAnswers ? 5000 : 1000)
    limits.response = .milliseconds(response == nil ? 200 : 5000)
    limits.job = .milliseconds(jobResult == nil ? 200 : 5000)
    return Desktop.Browser(connection: client, limits: limits, path: path ?? "relative:/nowhere:\(scratch.file("bin"))")
  }

  // MARK: org.freedesktop.portal.Desktop

  func startPortal() async throws {
    let open = Method(
      "OpenURI", in: [Argument("parent_window", "s"), Argument("uri", "s"), Argument("options", "a{sv}")],
      out: [Argument("handle", "o")],
      handler: .async { [weak self] call throws(DBusError) in try await self?.openURI(call) ?? [] })
    service.export(
      ExportedObject(
        path: "/org/freedesktop/portal/desktop",
        interfaces: [Interface("org.freedesktop.portal.OpenURI", methods: [open])]))
    _ = try await service.requestName("org.freedesktop.portal.Desktop")
  }

  private func openURI(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    portalCalls.append(call.arguments)
    while !portalAnswers { try? await EventLoop.shared.sleep(for: .milliseconds(10)) }
    let token = call.arguments[2].asDict?["handle_token"]?.asString ?? ""
    let sender = call.caller.uniqueName.dropFirst().replacing(".", with: "_")
    let request = try ObjectPath("/org/freedesktop/portal/desktop/request/\(sender)/\(token)")
    if let response {
      // Another program's request, then ours.
      for path in [try ObjectPath("/org/freedesktop/portal/desktop/request/\(sender)/other"), request] {
        try service.emit(
          path: path, interface: "org.freedesktop.portal.Request", member: "Response",
          arguments: [.uint32(path == request ? response : 2), .dict([:])])
      }
    }
    return [.objectPath(request)]
  }

  // MARK: org.freedesktop.systemd1

  func untilNobodyListens() async throws {
    while !subscribers.isEmpty { try await EventLoop.shared.sleep(for: .milliseconds(1)) }
  }

  func startManager() async throws {
    let name = "org.freedesktop.systemd1.Manager"
    let start = Method(
      "StartTransientUnit",
      in: [
        Argument("name", "s"), Argument("mode", "s"), Argument("properties", "a(sv)"), Argument("aux", "a(sa(sv))"),
      ], out: [Argument("job", "o")],
      handler: .sync { [weak self] call throws(DBusError) in try self?.startUnit(call) ?? [] })
    let subscribe = Method(
      "Subscribe",
      handler: .sync { [weak self] in
        self?.subscribers.append($0.caller.uniqueName)
        return []
      })
    let unsubscribe = Method(
      "Unsubscribe",
      handler: .sync { [weak self] call in
        self?.subscribers.removeAll { $0 == call.caller.uniqueName }
        return []
      })
    let removed = SignalDescription(
      "JobRemoved", [Argument("id", "u"), Argument("job", "o"), Argument("unit", "s"), Argument("result", "s")])
    let environment = Property("Environment", "as") { [weak self] _ in .strings(self?.environment ?? []) }
    service.export(
      ExportedObject(
        path: "/org/freedesktop/systemd1",
        interfaces: [
          Interface(
            name, methods: [start, subscribe, unsubscribe], properties: [environment], signals: [removed])
        ]))
    _ = try await service.requestName("org.freedesktop.systemd1")
  }

  private func startUnit(_ call: MethodCall) throws(DBusError) -> [DBusValue] {
    unitCalls.append(call.arguments)
    let job: ObjectPath = "/org/freedesktop/systemd1/job/7"
    // Signals of the manager's come to those who asked for them.
    if let jobResult, subscribers.contains(call.caller.uniqueName) {
      for (unit, result) in [("other.service", "done"), (call.arguments[0].asString ?? "", jobResult)] {
        try service.emit(
          path: "/org/freedesktop/systemd1", interface: "org.freedesktop.systemd1.Manager", member: "JobRemoved",
          arguments: [.uint32(7), .objectPath(job), .string(unit), .string(result)])
      }
    }
    return [.objectPath(job)]
  }

  /// The properties of the unit that was started last.
  var unit: [String: DBusValue] {
    var all: [String: DBusValue] = [:]
    for property in unitCalls.last?[2].asArray ?? [] {
      if let members = property.asStructure, let name = members[0].asString { all[name] = members[1].unwrapped }
    }
    return all
  }

  /// The program and the words that it would be run with.
  var command: (program: String?, words: [String]?) {
    let members = unit["ExecStart"]?.asArray?.first?.asStructure
    return (members?[0].asString, members?[1].asStrings)
  }
}

/// How the daemon opens a browser (behaviour: Who may ask; architecture: the browser).
@Suite(.loopRunning, .timeLimit(.minutes(1))) struct BrowserTests {
  static let url = "https://accounts.example/auth?client_id=a&state=s1"

  @LoopActor
  private func open(
    _ services: BrowserServices, _ url: String = url, parent: String? = nil, token: String? = nil
  ) async -> Desktop.Browser.Outcome {
    await services.browser().open(Secret(url), parentWindow: parent, activationToken: token)
  }

  // MARK: The portal

  @Test @LoopActor func thePortalIsAskedFirst() async throws {
    let services = try await BrowserServices()
    try await services.startPortal()
    try await services.startManager()
    #expect(await open(services, parent: "wayland:w1", token: "t1") == .opened)
    #expect(await open(services) == .opened)
    let calls = services.portalCalls
    #expect(calls.map { $0[0].asString } == ["wayland:w1", ""])
    #expect(calls.map { $0[1].asString } == [Self.url, Self.url])
    #expect(calls[0][2].asDict?["activation_token"]?.asString == "t1" && calls[0][2].asDict?["ask"]?.asBool == false)
    #expect(calls[1][2].asDict?["activation_token"] == nil)
    // A request's path must be nobody else's.
    #expect(calls[0][2].asDict?["handle_token"] != calls[1][2].asDict?["handle_token"])
    #expect(services.unitCalls.isEmpty)
  }

  @Test @LoopActor func aPersonWhoSaysNoIsNotAskedAgain() async throws {
    let services = try await BrowserServices()
    services.response = 1
    try await services.startPortal()
    try await services.startManager()
    #expect(await open(services) == .refused)
    #expect(services.unitCalls.isEmpty)
  }

  @Test @LoopActor func aDialogThatStaysOpenIsNotWaitedFor() async throws {
    let services = try await BrowserServices()
    services.response = nil
    try await services.startPortal()
    try await services.startManager()
    #expect(await open(services) == .opened)
    #expect(services.portalCalls.count == 1 && services.unitCalls.isEmpty)
  }

  @Test @LoopActor func aPortalThatFailsOrHangsIsPassedOver() async throws {
    for answers in [true, false] {
      let services = try await BrowserServices()
      services.response = 2
      services.portalAnswers = answers
      try await services.startPortal()
      try await services.startManager()
      #expect(await open(services) == .opened)
      #expect(services.portalCalls.count == 1 && services.unitCalls.count == 1)
      services.portalAnswers = true
    }
  }

  // MARK: The user manager

  @Test @LoopActor func withoutAPortalAUnitRunsXdgOpen() async throws {
    let services = try await BrowserServices()
    try await services.startManager()
    // What the manager would expand is doubled (systemd.service(5), Command lines).
    #expect(await open(services, "https://a.example/?x=$HOME&y=1", token: "t1") == .opened)
    #expect(services.command.program == services.xdgOpen)
    #expect(services.command.words == [services.xdgOpen, "https://a.example/?x=$$HOME&y=1"])
    let unit = services.unit
    #expect(unit["Type"]?.asString == "oneshot" && unit["CollectMode"]?.asString == "inactive-or-failed")
    // The browser outlives xdg-open, reads nothing, and what it says isn't logged.
    #expect(unit["KillMode"]?.asString == "process" && unit["StandardInput"]?.asString == "null")
    #expect(unit["StandardOutput"]?.asString == "null" && unit["StandardError"]?.asString == "null")
    #expect(unit["Environment"]?.asStrings == ["XDG_ACTIVATION_TOKEN=t1"])
    #expect(unit["Description"]?.asString?.contains("example") == false)
    let name = services.unitCalls[0][0].asString ?? ""
    #expect(name.hasPrefix("app-linkd-browser-") && name.hasSuffix(".service") && !name.contains("example"))
    #expect(services.unitCalls[0][1].asString == "fail")
    // Nobody goes on listening.
    try await services.untilNobodyListens()
  }

  @Test(arguments: ["failed", "timeout", "canceled", "dependency", "skipped"])
  @LoopActor func aUnitThatFailsIsNoOpenedPage(result: String) async throws {
    let services = try await BrowserServices()
    services.jobResult = result
    try await services.startManager()
    #expect(await open(services) == .unavailable)
    #expect(services.unitCalls.count == 1)
  }

  @Test @LoopActor func aBrowserInTheForegroundIsNotWaitedFor() async throws {
    let services = try await BrowserServices()
    services.jobResult = nil
    try await services.startManager()
    #expect(await open(services) == .opened)
  }

  @Test(arguments: [["HOME=/home/a"], ["DISPLAY="], ["XDISPLAY=:0", "TERM=linux"], []])
  @LoopActor func withoutADisplayNoTextBrowserIsStarted(environment: [String]) async throws {
    let services = try await BrowserServices()
    services.environment = environment
    try await services.startManager()
    #expect(await open(services) == .unavailable)
    #expect(services.unitCalls.isEmpty && services.subscribers.isEmpty)
    services.environment.append("WAYLAND_DISPLAY=wayland-0")
    #expect(await open(services) == .opened)
  }

  @Test @LoopActor func twoPagesAtOnceAreBothOpened() async throws {
    let services = try await BrowserServices()
    try await services.startManager()
    let browser = services.browser()
    async let one = browser.open(Secret(Self.url), parentWindow: nil, activationToken: nil)
    async let two = browser.open(Secret(Self.url), parentWindow: nil, activationToken: nil)
    let outcomes = await [one, two]
    #expect(outcomes == [.opened, .opened])
    #expect(Set(services.unitCalls.compactMap { $0[0].asString }).count == 2)
    try await services.untilNobodyListens()
  }

  @Test @LoopActor func withoutXdgOpenOrAnyServiceThereIsNoWay() async throws {
    let services = try await BrowserServices()
    #expect(await open(services) == .unavailable)
    try await services.startManager()
    let outcome = await services.browser(path: "/nowhere:").open(
      Secret(Self.url), parentWindow: nil, activationToken: nil)
    #expect(outcome == .unavailable)
    #expect(services.unitCalls.isEmpty)
  }

  // MARK: What is passed on

  static let hostile = [
    "", "https", "https:", "https://", "https:///x", "https:/a.example", "file:///etc/passwd", "javascript:alert(1)",
    "com.example.linkd://x", "mailto:a@example.com", "-https://a.example", " https://a.example", "https://a.example\n",
    "https://a.example/\u{1b}[31m", "https://a.example/ --new-window", "https://a.example/\u{e4}",
    "https://a.example/\"x", "https://a.example/`id`", "https://a.example/<x>", "https://a.example/\\", "//a.example",
    "https://a.example/" + String(repeating: "a", count: 33_000),
  ]

  @Test @LoopActor func nothingButAWebPageIsPassedOn() async throws {
    let services = try await BrowserServices()
    try await services.startPortal()
    try await services.startManager()
    for url in Self.hostile { #expect(await open(services, url) == .unavailable, "\(url.prefix(40))") }
    // A token that can't be one is left out.
    #expect(await open(services, "HTTP://[::1]:8080/x?y=$z", token: "a\nLD_PRELOAD=x") == .opened)
    #expect(services.portalCalls.count == 1 && services.unitCalls.isEmpty)
    #expect(services.portalCalls[0][2].asDict?["activation_token"] == nil)
  }
}
