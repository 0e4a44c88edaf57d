import AuthCore

extension Fault {
  /// The fault that a text describes: `key=value` pairs and words, separated by commas.
  ///
  /// `path=accounts:lookup,status=503,retry-after=30,times=2`. Keys: `path`, `times`, `delay` (ms), `clock` (± seconds),
  /// `expires-in` (seconds that ID tokens live), `status`, `retry-after`, `error` (message of the API), `redirect` (address),
  /// `huge` (bytes), `drip` (ms), `openid` (name of an `OpenIDFault`).
  /// Words: `hang`, `html`, `cut`, `wrong-json`, `other-shape`, `empty`, `huge`, `drip`, `reset`, `hold-before-handling`,
  /// `hold-after-handling`, `handle`.
  public init(spec: String) throws(EmulatorError) {
    self.init()
    for part in spec.split(separator: ",") {
      let halves = part.split(separator: "=", maxSplits: 1).map(String.init)
      let value = halves.count > 1 ? halves[1] : nil
      guard let key = halves.first, try set(key, value) else { throw .invalidFault(String(part)) }
    }
  }

  /// The same as a JSON object: `{"path": "accounts:lookup", "status": 503, "retry-after": 30, "times": 2}`; words are
  /// `true`.
  init(json: JSONValue) throws(EmulatorError) {
    self.init()
    guard let members = json.object else { throw .invalidFault(json.text) }
    for (key, value) in members {
      let text = value == true ? nil : value.string ?? value.text
      guard try set(key, text) else { throw .invalidFault(key) }
    }
  }

  /// False for what isn't known.
  private mutating func set(_ key: String, _ value: String?) throws(EmulatorError) -> Bool {
    switch (key, value) {
    case ("path", let value?): path = value
    case ("times", let value?): times = try Self.number(value, 0...Int.max)
    case ("delay", let value?): delay = try Self.number(value, 0...3_600_000)
    case ("clock", let value?): clockOffset = Int64(try Self.number(value, -1_000_000_000...1_000_000_000))
    case ("expires-in", let value?): tokenLifetime = Int64(try Self.number(value, 0...1_000_000_000))
    case ("status", let value?): status = try Self.number(value, 200...599)
    case ("retry-after", let value?): retryAfter = value
    case ("hold-before-handling", nil): hold = .beforeHandling
    case ("hold-after-handling", nil): hold = .afterHandling
    case ("handle", nil): isHandled = true
    default:
      guard let found = try Self.answer(key, value) else { return false }
      answer = found
    }
    return true
  }

  private static func answer(_ key: String, _ value: String?) throws(EmulatorError) -> Answer? {
    switch (key, value) {
    case ("error", let message?): .error(message)
    case ("openid", let name?): OpenIDFault(rawValue: name).map { .openID($0) }
    case ("redirect", let address?): .redirect(to: address)
    case ("huge", let value): .huge(bytes: try number(value ?? "67108864", 1...1 << 32))
    case ("drip", let value): .drip(milliseconds: try number(value ?? "50", 0...60_000))
    case ("hang", nil): .hang
    case ("html", nil): .html
    case ("cut", nil): .cut
    case ("wrong-json", nil): .wrongJSON
    case ("other-shape", nil): .otherShape
    case ("empty", nil): .empty
    case ("reset", nil): .reset
    default: nil
    }
  }

  private static func number(_ text: String, _ range: ClosedRange<Int>) throws(EmulatorError) -> Int {
    guard let number = Int(text), range.contains(number) else { throw .invalidFault(text) }
    return number
  }
}
