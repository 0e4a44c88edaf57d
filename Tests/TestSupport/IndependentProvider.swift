import Foundation
import Glibc

/// An OpenID provider that isn't ours, on loopback: Django OAuth Toolkit from Debian (`independent-provider.py`). It asks for
/// name and password, then for consent; it wants PKCE, checks the verifier, and signs with RS256. It promises no `iss` in
/// its redirects. By hand: `echo JSON | python3 Tests/TestSupport/independent-provider.py`.
public final class IndependentProvider: Sendable {
  /// Somebody with an account there.
  public struct User: Sendable {
    /// What they sign in with.
    public var name: String
    /// What they prove it with.
    public var password: String
    /// The claim `email`.
    public var email: String
    /// The claim `email_verified`.
    public var isVerified: Bool

    /// Takes all of it.
    public init(name: String = "mia", password: String = "a-password-of-hers", email: String, isVerified: Bool = true) {
      (self.name, self.password, self.email, self.isVerified) = (name, password, email, isVerified)
    }
  }

  /// The one client that it knows.
  public static let client = "linkd-desktop"

  /// The issuer, whose discovery document is at `<issuer>/.well-known/openid-configuration`.
  public let issuer: String
  /// Its users, in the order of their subjects, which begin at 1.
  public let users: [User]
  private let scratch: Scratch
  private let pid: Int32
  /// It ends with this pipe, so with the test's process, too.
  private let input: Int32
  private let output: Subprocess.Pipe

  /// - Parameters:
  ///   - redirects: where the client may be sent back to. One on 127.0.0.1 or [::1] is good for every port (RFC 8252).
  ///   - secret: the client's, which makes it a confidential one.
  public static func start(
    redirects: [String], secret: String? = nil, users: [User] = [User(email: "mia@example.com")]
  ) async throws -> IndependentProvider {
    try await withCheckedThrowingContinuation { continuation in
      // It takes a second or more until it speaks.
      Thread {
        continuation.resume(
          with: Result { try IndependentProvider(redirects: redirects, secret: secret, users: users) })
      }.start()
    }
  }

  private init(redirects: [String], secret: String?, users: [User]) throws {
    self.users = users
    scratch = try Scratch("linkd-openid")
    let accounts = users.map {
      ["name": $0.name, "password": $0.password, "email": $0.email, "verified": $0.isVerified] as [String: Any]
    }
    var client: [String: Any] = ["id": IndependentProvider.client, "redirects": redirects]
    client["secret"] = secret
    let settings = try JSONSerialization.data(
      withJSONObject: ["folder": scratch.path, "client": client, "users": accounts])
    let input = try Subprocess.Pipe.make(), output = try Subprocess.Pipe.make()
    (self.input, self.output) = (input.write, output)
    do {
      defer { [input.read, output.write].forEach { close($0) } }
      // Debian's own interpreter, which has Debian's packages.
      pid = try Subprocess.spawn(
        ["/usr/bin/python3", "\(World.root)/Tests/TestSupport/independent-provider.py"],
        environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": scratch.path], stdin: input.read,
        stdout: output.write)
    }
    IndependentProvider.say(String(decoding: settings, as: UTF8.self), to: input.write)
    issuer = output.readLine()
    guard issuer.hasPrefix("http://127.0.0.1:") else {
      throw World.Failure(description: "the provider (Debian: python3-django-oauth-toolkit) didn't start: \(issuer)")
    }
  }

  deinit {
    [input, output.read].forEach { close($0) }
    kill(pid, SIGKILL)
    Subprocess.wait(pid)
  }

  private static func say(_ line: String, to pipe: Int32) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(pipe, bytes, bytes.count)
  }

  /// Signs with a new key from now on. The key set keeps the old one.
  public func rotateKey() throws {
    IndependentProvider.say("rotate", to: input)
    guard output.readLine() == "rotated" else { throw World.Failure(description: "the provider kept its key") }
  }

  /// What has been asked of it, in order: method, path and names of the query's parameters, such as
  /// `GET /o/authorize/ client_id code_challenge …`.
  public var requests: [String] {
    ((try? String(contentsOfFile: scratch.file("requests"), encoding: .utf8)) ?? "").split(separator: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }
}

extension Browser {
  /// Fills in the provider's form, and goes on to its question.
  public func signIn(as user: IndependentProvider.User) async throws {
    try await type(user.name, into: "#id_username")
    try await type(user.password, into: "#id_password")
    try await click("#sign-in")
  }

  /// Answers the provider's question. The browser then follows the redirect.
  public func consent(_ isGiven: Bool = true) async throws {
    try await click("#authorizationForm input[type=submit]\(isGiven ? "[name=allow]" : ":not([name])")")
  }
}
