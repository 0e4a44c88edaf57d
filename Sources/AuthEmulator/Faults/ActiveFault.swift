import AuthCore

/// A fault that was set, and what became of it.
struct ActiveFault: Sendable {
  let id: Int
  let fault: Fault
  /// How many requests it may still hit; nil: all.
  var remaining: Int?
  /// The requests that are being held, by the number of their entry in the log.
  var held: [Int: Latch] = [:]

  init(id: Int, _ fault: Fault) { (self.id, self.fault, remaining) = (id, fault, fault.times) }

  func hits(_ path: String) -> Bool {
    remaining != 0 && (fault.path.isEmpty || path.contains(fault.path)) && fault.openIDFault?.hits(path) ?? true
  }

  var json: JSONValue {
    .record([
      "id": .integer(Int64(id)), "path": .string(fault.path), "remaining": remaining.map { .integer(Int64($0)) },
      "held": .integer(Int64(held.count)),
    ])
  }
}
