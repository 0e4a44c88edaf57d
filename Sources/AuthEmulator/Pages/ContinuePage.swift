import AuthCore
import BridgePage

/// `GET /emulator/continue`: the page a mail's link ends at, whose button opens the app; the same static files that any
/// hosting serves. It spends no code: what the link brings stays in the query, and goes on to the app as it is.
enum ContinuePage {
  static let operations: [Operation] = [
    Operation(name: "continue", method: "GET", paths: ["/emulator/continue"], access: .anybody) {
      (_, _) throws(APIError) in try file("index.html")
    },
    Operation(name: "config.js", method: "GET", paths: ["/emulator/config.js"], access: .anybody) { _, world in
      let content = BridgePage.config(schemes: world.schemes, name: world.mainProject, language: nil)
      return Reply(status: 200, type: BridgePage.mediaType(of: "config.js"), body: content)
    },
    // The page names its files beside itself.
    Operation(name: "file", method: "GET", paths: ["/emulator/{file}"], access: .anybody) {
      (call, _) throws(APIError) in try file(call.captures["file"] ?? "")
    },
  ]

  private static func file(_ name: String) throws(APIError) -> Reply {
    guard let content = BridgePage.files[name] else { throw .notFound }
    return Reply(
      status: 200, type: BridgePage.mediaType(of: name), body: String(decoding: content, as: UTF8.self))
  }
}
