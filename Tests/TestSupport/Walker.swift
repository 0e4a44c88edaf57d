import Foundation

/// A browser without a person: it follows the redirects of a page that asks nothing, into a listener or to a scheme's handler.
extension World {
  /// A program that walks from the page of its argument. It ends with another status than 0 where there's no page.
  public func addWalker() throws -> String {
    try home.write(
      """
      #!/bin/sh
      page=$1
      case "$page" in
        */start/*) page=$(curl -fsS -o /dev/null -w '%{redirect_url}' "$page") || exit 4 ;;
      esac
      next=$(curl -fsS -o /dev/null -w '%{redirect_url}' "$page") || exit 4
      case "$next" in
        http*) curl -fsS -o "$HOME/page.html" "$next" ;;
        *) exec linkctl open --no-wait -- "$next" ;;
      esac
      """, to: "bin/xdg-open", executable: true)
  }

  /// A portal on the world's bus that opens pages with that program (xdg-desktop-portal: OpenURI, Request).
  public func startPortal() async throws -> Portal {
    let script = try home.write(
      """
      import subprocess, sys
      from gi.repository import Gio, GLib
      XML = '''<node><interface name="org.freedesktop.portal.OpenURI"><method name="OpenURI">
        <arg type="s" direction="in"/><arg type="s" direction="in"/><arg type="a{sv}" direction="in"/>
        <arg type="o" direction="out"/></method></interface></node>'''
      def call(connection, sender, path, interface, member, arguments, invocation):
          window, uri, options = arguments.unpack()
          request = f"{path}/request/{sender[1:].replace('.', '_')}/{options['handle_token']}"
          invocation.return_value(GLib.Variant("(o)", (request,)))
          subprocess.Popen([sys.argv[1], uri])
          connection.emit_signal(sender, request, "org.freedesktop.portal.Request", "Response",
                                 GLib.Variant("(ua{sv})", (0, {})))
      bus = Gio.bus_get_sync(Gio.BusType.SESSION)
      bus.register_object("/org/freedesktop/portal/desktop", Gio.DBusNodeInfo.new_for_xml(XML).interfaces[0], call)
      Gio.bus_own_name_on_connection(bus, "org.freedesktop.portal.Desktop", Gio.BusNameOwnerFlags.NONE, None, None)
      GLib.MainLoop().run()
      """, to: "portal.py")
    let portal = Portal(
      pid: try Subprocess.spawn(["/usr/bin/python3", script, try addWalker()], environment: environment))
    let ready = try await run(
      ["gdbus", "wait", "--session", "--timeout", "20", "org.freedesktop.portal.Desktop"])
    guard ready.status == 0 else { throw Failure(description: "no portal: \(ready.stderr)") }
    return portal
  }

  /// Ends with this value.
  public final class Portal: Sendable {
    private let pid: Int32
    init(pid: Int32) { self.pid = pid }
    deinit {
      kill(pid, SIGKILL)
      Subprocess.wait(pid)
    }
  }

  /// Somebody who has an account at the emulator's providers, and agrees to everything there; nil for somebody who refuses.
  public func setPerson(_ address: String?, sub: String = "s1", isVerified: Bool = true) async throws {
    let path = "/emulator/v1/projects/\(World.project)"
    guard let address else {
      _ = try await emulatorJSON("PATCH", "\(path)/consent", #"{"refuse": true}"#)
      return
    }
    _ = try await emulatorJSON(
      "POST", "\(path)/providerAccounts",
      #"{"sub": "\#(sub)", "email": "\#(address)", "emailVerified": \#(isVerified), "name": "Ada"}"#)
    _ = try await emulatorJSON("PATCH", "\(path)/consent", #"{"account": "\#(sub)"}"#)
  }

  /// Where a provider's page sends the browser.
  public func redirect(from url: String) async throws -> String {
    try await run(["curl", "-fsS", "-o", "/dev/null", "-w", "%{redirect_url}", url]).stdout
  }
}
