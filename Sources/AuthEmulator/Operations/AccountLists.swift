import AuthCore

/// What an administrator does with many accounts: list them, count them, delete them.
enum AccountLists {
  static let operations: [Operation] = [
    Operation(name: "accounts:batchGet", method: "GET", paths: paths("accounts:batchGet"), handler: list),
    Operation(
      name: "downloadAccount", paths: ["/www.googleapis.com/identitytoolkit/v3/relyingparty/downloadAccount"],
      body: .json([
        "targetProjectId": .text, "tenantId": .text, "maxResults": .number, "nextPageToken": .text,
      ])
    ) { (call, world) throws(APIError) in
      guard call["targetProjectId"] != nil else { throw APIError("INSUFFICIENT_PERMISSION") }
      return try list(call, &world)
    },
    Operation(
      name: "accounts:query", paths: paths("accounts:query") + paths(":queryAccounts"), body: .json(queryFields),
      handler: query),
    Operation(
      name: "accounts:batchDelete", paths: paths("accounts:batchDelete"),
      body: .json(["localIds": .list(.text), "force": .truth, "tenantId": .text]), handler: delete),
  ]

  private static let queryFields = Shape.fields(
    texts: ["limit", "offset", "tenantId"], truths: ["returnUserInfo"],
    others: [
      "expression": .list(.anything),
      "sortBy": .word(["SORT_BY_FIELD_UNSPECIFIED", "USER_ID", "NAME", "CREATED_AT", "LAST_LOGIN_AT", "USER_EMAIL"]),
      "order": .word(["ORDER_UNSPECIFIED", "ASC", "DESC"]),
    ])

  /// Below a project and below a tenant; a name with a colon in front belongs to the project itself.
  static func paths(_ name: String) -> [String] {
    let rest = name.hasPrefix(":") ? name : "/" + name
    let base = "/identitytoolkit.googleapis.com/v1/projects/{project}"
    return [base + rest, base + "/tenants/{tenant}" + rest]
  }

  private static func sorted(_ project: Project) -> [Account] { project.accounts.sorted { $0.localID < $1.localID } }

  private static func list(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let page = Page(call, size: "maxResults", token: "nextPageToken", fallback: 20)
    let (shown, next) = page.cut(sorted(world[call.scope]), id: \.localID)
    return .json(
      .record([
        "kind": "identitytoolkit#DownloadAccountResponse", "users": .array(shown.map(\.json)),
        "nextPageToken": next.json,
      ]))
  }

  private static func query(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    for name in ["limit", "offset"] where call.filled(name) != nil {
      throw .notImplemented("\(name) is not implemented.")
    }
    if call.body["expression"]?.array?.isEmpty == false { throw .notImplemented("expression is not implemented.") }
    guard ["SORT_BY_FIELD_UNSPECIFIED", "USER_ID"].contains(call["sortBy"] ?? "USER_ID") else {
      throw .notImplemented("Only sorting by USER_ID is implemented.")
    }
    var accounts = sorted(world[call.scope])
    if call["order"] == "DESC" { accounts.reverse() }
    let showsAll = call.body["returnUserInfo"]?.bool ?? true
    return .json(
      .record([
        "recordsCount": .string(String(accounts.count)), "userInfo": showsAll ? .array(accounts.map(\.json)) : nil,
      ]))
  }

  private static func delete(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let ids = (call.body["localIds"]?.array ?? []).compactMap(\.string)
    guard (1...1000).contains(ids.count) else { throw APIError("LOCAL_ID_LIST_EXCEEDS_LIMIT") }
    var errors: [JSONValue] = []
    for (index, id) in ids.enumerated() {
      guard let account = world[call.scope].account(id) else { continue }
      if account.disabled == true || call.body["force"]?.bool == true {
        world[call.scope].delete(id)
      } else {
        errors.append([
          "index": .integer(Int64(index)), "localId": .string(id),
          "message": "NOT_DISABLED : Disable the account before batch deletion.",
        ])
      }
    }
    return .json(.record(["errors": errors.isEmpty ? nil : .array(errors)]))
  }
}
