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

  static func parse(_ arguments: [String]) -> Result {
    var options = Options()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      let halves = argument.split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = halves.first else { return .refuse("an argument is empty") }
      if name == "--help" { return .print(help) }
      if name == "--version" { return .print("auth-emulator \(version)") }
      guard ["--port", "--project", "--scheme", "--fault"].contains(name) else {
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
    default:
      do throws(EmulatorError) { faults.append(try Fault(spec: value)) } catch { return "\(error)" }
    }
    return nil
  }

  private static let version = "0.1.0"

  private static let help = """
    Usage: auth-emulator [--port PORT] [--project ID] [--scheme SCHEME]... [--fault SPEC]...

    A Firebase Auth backend in memory, for demos and tests. It listens on 127.0.0.1 alone, prints one line when it is
    ready, and runs until SIGTERM. What it would mail is listed by
      curl http://127.0.0.1:9099/emulator/v1/projects/demo-linkd/oobCodes

      --port PORT       default 9099; 0: any free one
      --project ID      default demo-linkd
      --scheme SCHEME   an app's scheme, for the button of the continue page; repeatable
      --fault SPEC      something to go wrong; repeatable
      --help, --version

    SPEC is a list of path=TEXT (part of the path; all paths without), times=N, delay=MS, clock=SECONDS, expires-in=SECONDS
    (of ID tokens), status=CODE, retry-after=VALUE, hold-before-handling, hold-after-handling, handle (the request has its
    effect though the answer is replaced), and at most one of hang, error=MESSAGE, html, cut, wrong-json, other-shape,
    empty, huge[=BYTES], drip[=MS], redirect=URL, reset. For example:
      auth-emulator --fault path=accounts:lookup,status=503,retry-after=30,times=2
    """
}
