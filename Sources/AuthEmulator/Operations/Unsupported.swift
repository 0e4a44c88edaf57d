/// What the API has and the recorded service answers with 501.
enum Unsupported {
  static let operations: [Operation] = [
    toolkit("v1/accounts:signInWithGameCenter", "accounts.signInWithGameCenter"),
    toolkit("v1/accounts:verifyIosClient", "accounts.verifyIosClient"),
    toolkit("v1/accounts:issueSamlResponse", "accounts.issueSamlResponse"),
    toolkit("v2/passwordPolicy", "getPasswordPolicy", method: "GET"),
    toolkit("v1/sessionCookiePublicKeys", "getSessionCookiePublicKeys", method: "GET"),
    toolkit("v2/defaultSupportedIdps", "defaultSupportedIdps.list", method: "GET"),
    toolkit("v2/projects/{project}/identityPlatform:initializeAuth", "projects.identityPlatform.initializeAuth"),
    toolkit("v2/projects/{project}/oauthIdpConfigs", "projects.oauthIdpConfigs.list", method: "GET"),
    toolkit("v2/projects/{project}/oauthIdpConfigs", "projects.oauthIdpConfigs.create"),
    toolkit("v2/projects/{project}/inboundSamlConfigs", "projects.inboundSamlConfigs.list", method: "GET"),
    toolkit("v2/projects/{project}/tenants/{tenant}:getIamPolicy", "projects.tenants.getIamPolicy"),
    Operation(name: "signOutUser", paths: ["/www.googleapis.com/identitytoolkit/v3/relyingparty/signOutUser"]) { _, _ in
      .dropped
    },
  ].map(refusing)

  private static func toolkit(_ path: String, _ name: String, method: String = "POST") -> Operation {
    Operation(
      name: "identitytoolkit.\(name)", method: method, paths: ["/identitytoolkit.googleapis.com/\(path)"]
    ) { _, _ in .dropped }
  }

  private static func refusing(_ operation: Operation) -> Operation {
    let name = operation.name
    return Operation(name: name, method: operation.method, paths: operation.paths) {
      (_, _) throws(APIError) in
      throw .notImplemented("\(name) is not implemented in the Auth Emulator.")
    }
  }
}
