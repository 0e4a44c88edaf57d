import AuthCore

/// A part of a project with accounts and ways to sign in of its own.
struct Tenant: Sendable {
  let id: String
  var displayName: String?
  var allowsPassword = false
  var allowsEmailLink = false
  var allowsAnonymous = false
  var isDisabled = false
  /// `DISABLED`, `ENABLED` or `MANDATORY`.
  var factors = "DISABLED"
  var factorProviders: [String] = []

  init(id: String) { self.id = id }

  /// A tenant with everything on.
  static func open(_ id: String) -> Tenant {
    var tenant = Tenant(id: id)
    (tenant.allowsPassword, tenant.allowsEmailLink, tenant.allowsAnonymous) = (true, true, true)
    (tenant.factors, tenant.factorProviders) = ("ENABLED", ["PHONE_SMS"])
    return tenant
  }

  var hasFactors: Bool { factors == "ENABLED" || factors == "MANDATORY" }

  /// Takes the members over that a request gives.
  /// - Parameter mask: the names that count; nil: all, and what isn't given becomes the default.
  mutating func update(_ body: JSONValue, mask: [String]?) {
    let defaults = Tenant(id: id)
    func counts(_ name: String) -> Bool { mask?.contains { $0 == name || $0.hasPrefix(name + ".") } ?? true }
    if counts("displayName") { displayName = body["displayName"]?.string }
    if counts("allowPasswordSignup") { allowsPassword = body["allowPasswordSignup"]?.bool ?? defaults.allowsPassword }
    if counts("enableEmailLinkSignin") {
      allowsEmailLink = body["enableEmailLinkSignin"]?.bool ?? defaults.allowsEmailLink
    }
    if counts("enableAnonymousUser") { allowsAnonymous = body["enableAnonymousUser"]?.bool ?? defaults.allowsAnonymous }
    if counts("disableAuth") { isDisabled = body["disableAuth"]?.bool ?? defaults.isDisabled }
    if counts("mfaConfig") {
      let config = body["mfaConfig"]
      factors = config?["state"]?.string ?? defaults.factors
      factorProviders = config?["enabledProviders"]?.array?.compactMap(\.string) ?? defaults.factorProviders
    }
  }

  static let fields: [String: Shape] = Shape.fields(
    texts: ["displayName"],
    truths: ["allowPasswordSignup", "enableEmailLinkSignin", "enableAnonymousUser", "disableAuth"],
    others: [
      "mfaConfig": .record([
        "state": .word(["STATE_UNSPECIFIED", "DISABLED", "ENABLED", "MANDATORY"]), "enabledProviders": .list(.text),
      ])
    ])

  func json(project: String) -> JSONValue {
    .record([
      "tenantId": .string(id), "name": .string("projects/\(project)/tenants/\(id)"), "displayName": displayName.json,
      "allowPasswordSignup": .bool(allowsPassword), "enableEmailLinkSignin": .bool(allowsEmailLink),
      "enableAnonymousUser": .bool(allowsAnonymous), "disableAuth": .bool(isDisabled),
      "mfaConfig": [
        "state": .string(factors), "enabledProviders": .array(factorProviders.map(JSONValue.string)),
      ],
    ])
  }
}
