import Foundation
import TestSupport
import Testing

/// A caller with `/.flatpak-info` in its root, as Flatpak makes it: a chroot of bind mounts in a mount namespace of its own.
@Suite("Sandboxed callers", .timeLimit(.minutes(2)), .enabled(if: MountNamespace.isAvailable))
struct SandboxTests {
  private func flatpak(_ world: World, _ command: String) async throws -> Subprocess.Result {
    let root = world.home.file("sandbox")
    _ = try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    _ = try world.home.write("[Application]\nname=com.example.App\n", to: "sandbox/.flatpak-info")
    let script = """
      set -e
      for name in /*; do
        [ -d "$name" ] && [ ! -L "$name" ] && mkdir -p '\(root)'"$name" && mount --rbind "$name" '\(root)'"$name"
        [ -L "$name" ] && [ ! -e '\(root)'"$name" ] && cp -P "$name" '\(root)'"$name"
      done
      exec /usr/sbin/chroot '\(root)' sh -c '\(command)'
      """
    return try await world.run(MountNamespace.unshare + ["sh", "-c", script])
  }

  private func call(_ path: String, _ method: String, _ arguments: String = "") -> String {
    "gdbus call --session --dest org.linkd.Auth1 --object-path \(path) --method \(method) \(arguments)"
  }

  @Test("they are refused everything but CanHandle and Open, and learn no app and no flow of others")
  func refused() async throws {
    let world = try await World.start()
    try await world.signIn("user@example.com")
    let flow = try await world.sendLink("other@example.com")
    let link = try await world.mail("other@example.com")
    let app = "/org/linkd/Auth1/app/demo"
    for (path, method, arguments) in [
      (app, "org.linkd.Auth1.Session.GetIdToken", "{}"), (app, "org.linkd.Auth1.Session.SignOut", "{}"),
      (app, "org.linkd.Auth1.SignIn.SendSignInLink", "a@example.com {}"),
      (app, "org.freedesktop.DBus.Properties.GetAll", "org.linkd.Auth1.Session"),
      ("/org/linkd/Auth1/flow/\(flow)", "org.linkd.Auth1.Flow.Cancel", "{}"),
      ("/org/linkd/Auth1", "org.linkd.Auth1.Manager.Register", "{}"),
      ("/org/linkd/Auth1", "org.linkd.Auth1.Manager.RemoveApp", "demo {}"),
      ("/org/linkd/Auth1", "org.linkd.Auth1.Manager.ReloadApps", "{}"),
      ("/org/linkd/Auth1", "org.linkd.Auth1.Manager.GetApp", "demo {}"),
    ] {
      let result = try await flatpak(world, call(path, method, arguments))
      #expect(result.status != 0, "\(method): \(result.stdout)")
      #expect(
        ["AccessDenied", "UnknownObject", "UnknownMethod", "UnknownInterface", "NoSuchApp"]
          .contains { result.stderr.contains($0) }, "\(method): \(result.stderr)")
    }
    let objects = try await flatpak(
      world, call("/org/linkd/Auth1", "org.freedesktop.DBus.ObjectManager.GetManagedObjects"))
    #expect(objects.status == 0 && !objects.stdout.contains("demo") && !objects.stdout.contains(flow), "\(objects)")
    let judged = try await flatpak(world, call("/org/linkd/Auth1", "org.linkd.Auth1.Links.CanHandle", "\"\(link)\" {}"))
    #expect(judged.status == 0, "\(judged.stderr)")
    #expect(judged.stdout.contains("(true,") && !judged.stdout.contains("demo") && !judged.stdout.contains(flow))
    let opened = try await flatpak(world, call("/org/linkd/Auth1", "org.linkd.Auth1.Links.Open", "\"\(link)\" {}"))
    #expect(opened.stdout.contains("(true,") && !opened.stdout.contains(flow), "\(opened)")
    try await world.eventually("the session") { try await world.email() == "other@example.com" }
  }

  @Test("one that the app's file lists sees that app")
  func listed() async throws {
    let world = try await World.start(apps: [])
    try await world.addApp("demo", scheme: World.scheme, "--allowed-client", "flatpak:com.example.App")
    try await world.addApp("other", scheme: "\(World.scheme).other")
    try await world.signIn("user@example.com")
    let state = call("/org/linkd/Auth1/app/demo", "org.linkd.Auth1.Session.GetIdToken", "{}")
    #expect(try await flatpak(world, state).status == 0)
    let other = call("/org/linkd/Auth1/app/other", "org.linkd.Auth1.Session.GetIdToken", "{}")
    #expect(try await flatpak(world, other).stderr.contains("UnknownObject"))
  }
}

/// Mount namespaces need root, or user namespaces.
enum MountNamespace {
  static let unshare: [String] = getuid() == 0 ? ["unshare", "-m"] : ["unshare", "-r", "-m"]
  static var isAvailable: Bool { (try? Subprocess.runBlocking(unshare + ["true"]).status) == 0 }
}
