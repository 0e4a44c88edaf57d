import Foundation
import FoundationXML
import TestSupport
import Testing

@Suite("The D-Bus contract", .timeLimit(.minutes(1)))
struct ContractTests {
  @Test("what the daemon introspects is what desktop/dbus publishes")
  func published() async throws {
    let world = try await World.start()
    let flow = try await world.sendLink("user@example.com")
    var live: [String: String] = [:]
    for path in ["/org/linkd/Auth1", "/org/linkd/Auth1/app/demo", "/org/linkd/Auth1/flow/\(flow)"] {
      let xml = try await world.run(
        ["gdbus", "introspect", "--session", "--dest", "org.linkd.Auth1", "--object-path", path, "--xml"])
      live.merge(try Self.interfaces(Data(xml.stdout.utf8))) { $1 }
    }
    var published: [String: String] = [:]
    let folder = "\(World.root)/desktop/dbus"
    for file in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let found = try Self.interfaces(try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(file)")))
      #expect(found.keys.map { "\($0).xml" } == [file])
      published.merge(found) { $1 }
    }
    live = live.filter { $0.key.hasPrefix("org.linkd.Auth1.") }
    #expect(live.count == 7)
    for (name, text) in published { #expect(live[name] == text, "\(name)") }
    #expect(Set(live.keys) == Set(published.keys))
  }

  @Test("every object has the standard interfaces, and LogControl1 sets the log's level")
  func standard() async throws {
    let world = try await World.start()
    for path in ["/org/linkd/Auth1", "/org/linkd/Auth1/app/demo"] {
      #expect(try await world.gdbus(path, "org.freedesktop.DBus.Peer.Ping").status == 0)
      let version = try await world.gdbus(
        path, "org.freedesktop.DBus.Properties.Get",
        path.hasSuffix("demo") ? "org.linkd.Auth1.App" : "org.linkd.Auth1.Links",
        "Version")
      #expect(version.stdout == "(<uint32 1>,)\n")
    }
    let set = try await world.gdbus(
      "/org/freedesktop/LogControl1", "org.freedesktop.DBus.Properties.Set", "org.freedesktop.LogControl1", "LogLevel",
      "<'err'>")
    #expect(set.status == 0, "\(set.stderr)")
    let readOnly = try await world.gdbus(
      "/org/linkd/Auth1/app/demo", "org.freedesktop.DBus.Properties.Set", "org.linkd.Auth1.App", "Id", "<'x'>")
    #expect(readOnly.stderr.contains("PropertyReadOnly"))
  }

  @Test("a known option of the wrong type is InvalidArgs naming it, an unknown one is nothing")
  func options() async throws {
    let world = try await World.start()
    let app = "/org/linkd/Auth1/app/demo"
    let wrong = try await world.gdbus(app, "org.linkd.Auth1.Session.GetIdToken", "{'min-validity': <'soon'>}")
    #expect(wrong.status != 0)
    let send = "org.linkd.Auth1.SignIn.SendSignInLink"
    let typed = try await world.gdbus(app, send, "a@example.com", "{'force-same-device': <'yes'>}")
    #expect(typed.stderr.contains("InvalidArgs") && typed.stderr.contains("force-same-device"))
    let token = try await world.gdbus(app, send, "a@example.com", "{'handle-token': <'my_flow'>, 'unknown': <1>}")
    #expect(token.stdout.contains("/org/linkd/Auth1/flow/my_flow"))
    for bad in ["my_flow", "a/b", "", String(repeating: "x", count: 65)] {
      let again = try await world.gdbus(app, send, "a@example.com", "{'handle-token': <'\(bad)'>}")
      #expect(again.stderr.contains("InvalidArgs"), "\(bad)")
    }
    let purpose = try await world.gdbus(app, send, "a@example.com", "{'purpose': <'steal'>}")
    #expect(purpose.stderr.contains("InvalidArgs"))
    for purpose in ["link", "reauthenticate"] {
      let guest = try await world.gdbus(app, "org.linkd.Auth1.SignIn.SignInAnonymously", "{'purpose': <'\(purpose)'>}")
      #expect(guest.stderr.contains("InvalidArgs"))
    }
    #expect(try await world.gdbus(app, "org.linkd.Auth1.Account.Reauthenticate", "{}").stderr.contains("NoCurrentUser"))
  }

  /// Interfaces by name, in one canonical text each.
  private static func interfaces(_ data: Data) throws -> [String: String] {
    let root = try XMLDocument(data: data).rootElement()
    var out: [String: String] = [:]
    for element in root?.elements(forName: "interface") ?? [] {
      out[element.attribute(forName: "name")?.stringValue ?? ""] = canonical(element)
    }
    return out
  }

  private static func canonical(_ element: XMLElement) -> String {
    let attributes = (element.attributes ?? []).map { "\($0.name ?? "")=\($0.stringValue ?? "")" }.sorted()
    let children = (element.children ?? []).compactMap { $0 as? XMLElement }.map(canonical)
    return "\(element.name ?? "")(\(attributes.joined(separator: " ")))[\(children.joined())]"
  }
}
