import AuthCore
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import IdentityToolkit

private let hasOpenSSL = access("/usr/bin/openssl", X_OK) == 0

/// What changes the process's environment: one after the other. On the loop, as every look at it.
@Suite("Environment", .serialized, .loopBehindDeadProxy, .timeLimit(.minutes(1)))
struct EnvironmentTests {
  @Test(
    "an unknown certificate is refused, a trusted one is taken for its own name alone",
    .enabled(if: hasOpenSSL, "needs openssl"))
  func verification() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tls-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let made = try await Subprocess.run([
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
      "-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", folder + "/key", "-out",
      folder + "/cert",
    ])
    try #require(made.status == 0, "\(made.stderr)")
    let output = try Subprocess.Pipe.make()
    let pid = try Subprocess.spawn(
      ["openssl", "s_server", "-accept", "127.0.0.1:0", "-key", folder + "/key", "-cert", folder + "/cert", "-www"],
      stdout: output.write, stderr: -1)
    close(output.write)
    defer {
      kill(pid, SIGTERM)
      Subprocess.wait(pid)
      close(output.read)
    }
    let port = try #require(Self.port(output.read))

    let url = "https://127.0.0.1:\(port)/"
    #expect(await status(url, trusting: nil) == .failure(.tls))
    #expect(await status(url, trusting: folder + "/cert") == .success(200))
    #expect(await status("https://localhost:\(port)/", trusting: folder + "/cert") == .failure(.tls))
    #expect(TransportError.tls.failure.isTransient)
  }

  @Test("an emulator on this machine is asked without the proxy of the environment") @LoopActor
  func noProxy() async throws {
    let proxy = try ScriptedServer(.close)
    setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
    defer { setenv("http_proxy", "http://127.0.0.1:1", 1) }
    let server = try ScriptedServer(.json(200, TransportTests.whole))
    _ = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: try server.project())
    #expect(server.requests.count == 1)
    #expect(server.requests.first?.target.hasPrefix("/") == true)
    #expect(proxy.requests.isEmpty)
  }

  @Test("an emulator elsewhere is asked through the proxy") @LoopActor
  func remoteEmulator() async throws {
    let proxy = try ScriptedServer(.json(200, TransportTests.whole))
    setenv("http_proxy", "http://127.0.0.1:\(proxy.port)", 1)
    defer { setenv("http_proxy", "http://127.0.0.1:1", 1) }
    let app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "k")
    let address = try #require(EmulatorAddress("emulator.invalid:9099"))
    let project = ProjectContext(app: app, backend: .emulator(address))
    _ = try await IdentityToolkit(http: HTTPClient()).signUpAnonymously(project: project)
    #expect(proxy.requests.first?.target.hasPrefix("http://emulator.invalid:9099/identitytoolkit.") == true)
  }

  @Test("production is asked through the proxy, which learns the host alone") @LoopActor
  func productionProxy() async throws {
    let proxy = try ScriptedServer(.answer(502, headers: [:], body: ""))
    setenv("https_proxy", "http://127.0.0.1:\(proxy.port)", 1)
    defer { unsetenv("https_proxy") }
    var app = App(id: try #require(AppID("demo")), projectID: "p", apiKey: "KEY")
    app.appID = "1:2:web:3"
    let project = ProjectContext(app: app, backend: .production)
    let error = try await failure { () throws(AuthFailure) in
      try await IdentityToolkit(http: HTTPClient()).refresh(refreshToken: Secret("RT"), project: project)
    }
    #expect(error == AuthFailure(.networkUnavailable, serverCode: "UNREACHABLE"))
    let request = try #require(proxy.requests.first)
    #expect(request.method == "CONNECT")
    #expect(request.target == "securetoken.googleapis.com:443")
    #expect(request.headers["x-firebase-gmpid"] == nil)
    #expect(request.body.isEmpty)
  }

  @LoopActor
  private func status(_ url: String, trusting file: String?) async -> Result<Int, TransportError> {
    if let file { setenv("SSL_CERT_FILE", file, 1) } else { unsetenv("SSL_CERT_FILE") }
    defer { unsetenv("SSL_CERT_FILE") }
    do throws(TransportError) {
      return .success(try await HTTPClient().send(HTTPRequest(url: url)).status)
    } catch {
      return .failure(error)
    }
  }

  /// The port in the line `ACCEPT 127.0.0.1:1234`.
  private static func port(_ descriptor: Int32) -> Int? {
    var text = ""
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1 {
      guard byte == UInt8(ascii: "\n") else {
        text.unicodeScalars.append(Unicode.Scalar(byte))
        continue
      }
      if text.hasPrefix("ACCEPT"), let port = text.split(separator: ":").last.flatMap({ Int($0) }) { return port }
      text = ""
    }
    return nil
  }
}
