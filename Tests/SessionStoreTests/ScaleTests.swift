import AuthCore
import Crypto
import Testing

@testable import SessionStore

@Suite(.timeLimit(.minutes(1)))
struct ScaleTests {
  @Test func tenThousandLiveFlows() throws {
    let fixture = try Fixture()
    let store = try fixture.open()
    try store.transaction { () throws(StoreError) in
      for index in 0..<10_000 { try store.save(makeFlow("flow\(index)", createdAt: Int64(index))) }
    }
    let clock = ContinuousClock()
    var count = 0
    let load = try clock.measure { count = try store.loadLiveFlows().flows.count }
    #expect(count == 10_000)
    var found: Flow?
    let look = try clock.measure { found = try store.flow(linkTokenHash: SHA256.hash("token of flow7777")) }
    #expect(found?.id.value == "flow7777")
    // A scan would take as long as loading.
    #expect(look < load / 20, "load \(load), look-up \(look)")
  }

  /// By an index, however many rows there are.
  @Test(arguments: [
    "SELECT body FROM flows WHERE id = ?", "SELECT body FROM flows WHERE token_hash = ?",
    "SELECT body FROM flows WHERE app = ? AND backend = ?",
    "SELECT body FROM flows WHERE ended IS NULL ORDER BY created",
    "DELETE FROM flows WHERE ended < ?", "DELETE FROM used_codes WHERE recorded < ?",
    "SELECT flow FROM used_codes WHERE hash = ?", "SELECT body FROM sessions WHERE app = ? AND backend = ?",
  ])
  func everyLookUpHasAnIndex(sql: String) throws {
    let store = try Fixture().open()
    let plan = try store.connection.prepare("EXPLAIN QUERY PLAN " + sql)
    while try plan.step() {
      let step = plan.text(3) ?? ""
      #expect(step.contains("INDEX") || step.contains("PRIMARY KEY"), "\(step)")
    }
  }
}
