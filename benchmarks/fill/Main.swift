import AuthCore
import Glibc
import Keyring
import SessionStore

/// Puts pending flows into a store: `store-filler FOLDER COUNT APP…`. The folder is a state folder whose daemon has ended;
/// the flows wait for their links, spread over the apps' sessions at Google.
@main
struct StoreFiller {
  static func main() {
    let words = CommandLine.arguments.dropFirst()
    let apps = words.dropFirst(2).compactMap { AppID($0) }
    guard let folder = words.first, let count = words.dropFirst().first.flatMap({ Int($0) }), !apps.isEmpty else {
      stop("usage: store-filler FOLDER COUNT APP...")
    }
    do throws(StoreError) {
      guard let lock = try StateLock.acquire(folder: folder) else { stop("a daemon holds the folder") }
      let store = try SessionStore(holding: lock)
      guard let header = try store.header(), case .key(let key) = Keyring(folder: folder).key(in: .file) else {
        stop("the folder has no key: start linkd on it first")
      }
      try store.unlock(key.key, header: header)
      try store.transaction { () throws(StoreError) in
        for number in 0..<count { try store.save(flow(number, of: apps[number % apps.count])) }
      }
      try store.checkpoint()
    } catch {
      stop("\(error)")
    }
  }

  private static func flow(_ number: Int, of app: AppID) -> Flow {
    let now = Int64(time(nil))
    let digits = String(number, radix: 16)
    let text = String(repeating: "0", count: 32 - digits.count) + digits
    guard let id = FlowID(text) else { stop("\(text) is no flow id") }
    var flow = Flow(
      id: id, key: SessionKey(app: app, backend: .production), purpose: .signIn, method: .emailLink, createdAt: now,
      expiresAt: now + 30 * 86_400)
    flow.stage = .waitingForLink
    flow.sequence = 2
    flow.email = "person\(number)@example.com"
    flow.linkTokenHash = (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) ^ UInt8($0) }
    return flow
  }

  private static func stop(_ why: String) -> Never {
    let line = "store-filler: \(why)\n"
    line.withCString { _ = write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
  }
}
