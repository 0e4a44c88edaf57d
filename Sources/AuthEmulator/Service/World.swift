import AuthCore
import Glibc

/// Where accounts live: a project, or a tenant of it.
struct Scope: Sendable, Hashable {
  var project: String
  var tenant: String?
}

/// Everything the emulator remembers.
struct World: Sendable {
  /// What time it is for the emulator.
  enum Clock: Sendable {
    case system
    /// Unix time in milliseconds, standing still.
    case fixed(Int64)
  }

  let mainProject: String
  /// `http://127.0.0.1:PORT`.
  var origin = ""
  /// Schemes of the apps that the continue page may open.
  let schemes: [String]
  var projects: [Scope: Project] = [:]
  var clock = Clock.system
  var providers = Providers()
  /// The tokens that the captcha page gave out.
  var captchas: [String: CaptchaToken] = [:]
  /// The ids that the next accounts and tenants get, before random ones.
  var nextIDs: [String] = []
  /// Those given to the present request, should it have to be handled again.
  private(set) var givenIDs: [String] = []
  /// What functions answered to the present request.
  var functionAnswers: [FunctionCall.Event: FunctionAnswer] = [:]
  /// Seconds the clock is wrong by during the present request; a fault.
  var clockOffset: Int64 = 0
  /// What is wrong with an OpenID provider during the present request; a fault.
  var openIDFault: OpenIDFault?

  init(project: String, schemes: [String]) { (mainProject, self.schemes) = (project, schemes) }

  /// Unix time in milliseconds.
  var now: Int64 {
    switch clock {
    case .fixed(let time): time + clockOffset * 1000
    case .system: Self.systemTime + clockOffset * 1000
    }
  }

  /// Whether what production does and the recorded service doesn't is done here.
  var hasProductionRules: Bool { providers.hasProductionRules }

  /// Unix time in seconds, as text.
  var nowSeconds: String { String(now / 1000) }

  private static var systemTime: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }

  /// A tenant that nobody made has everything on, as in the recorded service.
  subscript(_ scope: Scope) -> Project {
    get { projects[scope] ?? Project(id: scope.project, tenant: scope.tenant.map { .open($0) }) }
    set { projects[scope] = newValue }
  }

  /// An id for an account or a tenant.
  mutating func freshID() -> String {
    let id = nextIDs.isEmpty ? RandomText.letters(28) : nextIDs.removeFirst()
    givenIDs.append(id)
    return id
  }

  /// A copy for a request that is handled for the first time, or again with what functions have answered.
  func beginning(
    clockOffset: Int64, openIDFault: OpenIDFault?, ids: [String], answers: [FunctionCall.Event: FunctionAnswer]
  ) -> World {
    var world = self
    world.openIDFault = openIDFault
    (world.clockOffset, world.functionAnswers, world.givenIDs) = (clockOffset, answers, [])
    world.nextIDs = ids.isEmpty ? nextIDs : ids
    return world
  }

  /// The copy after the request.
  func ended() -> World { beginning(clockOffset: 0, openIDFault: nil, ids: [], answers: [:]) }

  /// The tenants of a project, in the order of their ids.
  func tenants(of project: String) -> [Tenant] {
    projects.filter { $0.key.project == project }.compactMap(\.value.tenant).sorted { $0.id < $1.id }
  }
}

/// Dates as HTTP and JSON write them.
enum Dates {
  private static func parts(_ milliseconds: Int64) -> tm {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return parts
  }

  private static func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }

  /// `Tue, 15 Nov 1994 08:12:31 GMT` (RFC 9110, section 5.6.7).
  static func http(_ milliseconds: Int64) -> String {
    let parts = parts(milliseconds)
    let day = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]
    let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][Int(parts.tm_mon)]
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0) }.joined(separator: ":")
    return "\(day), \(padded(parts.tm_mday)) \(month) \(parts.tm_year + 1900) \(time) GMT"
  }

  /// `2026-11-30T03:09:20.335Z`.
  static func iso(_ milliseconds: Int64) -> String {
    let parts = parts(milliseconds)
    let date = "\(parts.tm_year + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { padded($0) }.joined(separator: ":")
    return "\(date)T\(time).\(padded(milliseconds % 1000, 3))Z"
  }
}
