import AuthCore
import EventLoop
import Glibc
import TestSupport
import Testing

@testable import IdentityToolkit

/// The loop runs, with a proxy that doesn't answer in the environment: whatever reached it would fail.
struct LoopBehindDeadProxy: SuiteTrait, TestTrait, TestScoping {
  private static let prepared: Void = {
    setenv("http_proxy", "http://127.0.0.1:1", 1)
    for name in ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE"] {
      unsetenv(name)
    }
  }()

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    Self.prepared
    try await LoopRunning().provideScope(for: test, testCase: testCase, performing: function)
  }
}

extension Trait where Self == LoopBehindDeadProxy {
  static var loopBehindDeadProxy: Self { LoopBehindDeadProxy() }
}

extension ScriptedServer {
  /// The context of an app whose emulator is this server.
  func project(_ change: (inout App) -> Void = { _ in }) throws -> ProjectContext {
    var app = App(id: try #require(AppID("demo")), projectID: "demo-linkd", apiKey: "key&1 é")
    app.appID = "1:2:web:3"
    change(&app)
    let address = try #require(EmulatorAddress("127.0.0.1:\(port)"))
    return ProjectContext(app: app, backend: .emulator(address))
  }
}

/// What `body` throws; records an issue if it throws nothing.
@LoopActor
func failure<Value>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: @LoopActor () async throws(AuthFailure) -> Value
) async throws -> AuthFailure {
  do throws(AuthFailure) { _ = try await body() } catch { return error }
  Issue.record("no error was thrown", sourceLocation: sourceLocation)
  throw AuthFailure(.internal)
}

/// The same for the transport.
@LoopActor
func transportError<Value>(
  sourceLocation: SourceLocation = #_sourceLocation, _ body: @LoopActor () async throws(TransportError) -> Value
) async throws -> TransportError {
  do throws(TransportError) { _ = try await body() } catch { return error }
  Issue.record("no error was thrown", sourceLocation: sourceLocation)
  throw TransportError.unreachable
}
