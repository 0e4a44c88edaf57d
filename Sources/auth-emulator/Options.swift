import AuthEmulator

/// The command line of `auth-emulator`.
struct Options {
  enum Result {
    case run(Options)
    case print(String)
    /// A usage error, in words.
    case refuse(String)
  }

  var port: UInt16 = 9099
  var project = "demo-linkd"
  var schemes: [String] = []
  var faults: [Fault] = []
  var accounts: [ProviderAccount] = []
  var consent = Consent.ask

  static func parse(_ arguments: [String]) -> Result {
    var options = Options()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let halves = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = halves.first else { return .refuse("an argument is empty") }
      if name == "--help" { return .print(help) }
      if name == "--version" { return .print("auth-emulator \(version)") }
      if argument == "--auto-refuse" {
        options.consent = .refuse
        continue
      }
      guard ["--port", "--project", "--scheme", "--fault", "--account", "--auto-consent"].contains(name) else {
        return .refuse("unknown: \(argument)")
      }
      guard let value = halves.count > 1 ? halves[1] : rest.popFirst() else { return .refuse("\(name) needs a value") }
      if let reason = options.set(name, value) { return .refuse(reason) }
    }
    return .run(options)
  }

  /// What's wrong with the value; nil if nothing is.
  private mutating func set(_ name: String, _ value: String) -> String? {
    switch name {
    case "--port":
      guard let number = UInt16(value) else { return "not a port: \(value)" }
      port = number
    case "--project":
      guard !value.isEmpty, !value.contains("/") else { return "not a project: \(value)" }
      project = value
    case "--scheme": schemes.append(value)
    case "--auto-consent": consent = .account(subject: value)
    case "--account":
      do throws(EmulatorError) { accounts.append(try ProviderAccount(spec: value)) } catch { return "\(error)" }
    default:
      do throws(EmulatorError) { faults.append(try Fault(spec: value)) } catch { return "\(error)" }
    }
    return nil
  }

  private static let version = "0.1.0"

  private static let help = """
    Usage: auth-emulator [--port PORT] [--project ID] [--scheme SCHEME]... [--fault SPEC]...
                         [--account ACCOUNT]... [--auto-consent SUB | --auto-refuse]

    A Firebase Auth backend in memory, for demos and tests. It listens on 127.0.0.1 alone, prints one line when it is
    ready, and runs until SIGTERM. What it would mail is listed by
      curl http://127.0.0.1:9099/emulator/v1/projects/demo-linkd/oobCodes
    http://127.0.0.1:9099/emulator/openid is an OpenID provider, /emulator/auth/handler the page of every other one.

      --port PORT           default 9099; 0: any free one
      --project ID          default demo-linkd
      --scheme SCHEME       an app's scheme, for the button of the continue page; repeatable
      --fault SPEC          something to go wrong; repeatable
      --account ACCOUNT     somebody whom the providers know; repeatable
      --auto-consent SUB    their pages choose this account by themselves
      --auto-refuse         their pages refuse by themselves
      --help, --version

    SPEC is a list of path=TEXT (part of the path; all paths without), times=N, delay=MS, clock=SECONDS, expires-in=SECONDS
    (of ID tokens), status=CODE, retry-after=VALUE, hold-before-handling, hold-after-handling, handle (the request has its
    effect though the answer is replaced), and at most one of hang, error=MESSAGE, html, cut, wrong-json, other-shape,
    empty, huge[=BYTES], drip[=MS], redirect=URL, reset, openid=FAULT (of a provider; see the man page). For example:
      auth-emulator --fault path=accounts:lookup,status=503,retry-after=30,times=2

    ACCOUNT is a list of sub=ID, email=ADDRESS, name=NAME, provider=ID (the only one that knows it), unverified:
      auth-emulator --account sub=ada,email=ada@example.com --auto-consent ada --fault openid=wrong-nonce,times=1
    """
}
