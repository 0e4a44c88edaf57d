import AuthCore

/// `v2/projects/{project}/tenants`: an administrator's calls.
enum Tenants {
  static let operations: [Operation] = [
    Operation(name: "tenants.create", paths: [base], body: .json(fields), handler: create),
    Operation(name: "tenants.list", method: "GET", paths: [base], handler: list),
    Operation(name: "tenants.get", method: "GET", paths: [one]) { call, world in .json(answer(call, world)) },
    Operation(name: "tenants.patch", method: "PATCH", paths: [one], body: .json(fields)) { call, world in
      let mask = call.request.parameter("updateMask")?.split(separator: ",").map(String.init)
      world[call.scope].tenant?.update(call.body, mask: mask)
      return .json(answer(call, world))
    },
    Operation(name: "tenants.delete", method: "DELETE", paths: [one]) { call, world in
      world.projects[call.scope] = nil
      return .json([:])
    },
  ]

  private static let base = "/identitytoolkit.googleapis.com/v2/projects/{project}/tenants"
  private static let one = base + "/{tenant}"
  private static let fields = Tenant.fields.merging(["tenantId": .text]) { $1 }

  private static func answer(_ call: Call, _ world: World) -> JSONValue {
    world[call.scope].tenant?.json(project: call.scope.project) ?? [:]
  }

  private static func create(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    if call.scope.tenant != nil {
      throw APIError(
        500, "INTERNAL_ERROR : Can only create tenant in agent project", reason: "INTERNAL", word: "INTERNAL")
    }
    var tenant = Tenant(id: world.freshID())
    tenant.update(call.body, mask: nil)
    world[Scope(project: call.scope.project, tenant: tenant.id)] = Project(id: call.scope.project, tenant: tenant)
    return .json(tenant.json(project: call.scope.project))
  }

  private static func list(_ call: Call, _ world: inout World) throws(APIError) -> Reply {
    let page = Page(call, size: "pageSize", token: "pageToken", fallback: 20)
    let (shown, next) = page.cut(world.tenants(of: call.scope.project), id: \.id)
    return .json(
      .record([
        "tenants": .array(shown.map { $0.json(project: call.scope.project) }), "nextPageToken": next.json,
      ]))
  }
}
