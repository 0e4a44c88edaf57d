import AuthCore

/// A flow's authorization request and credential as bytes. A field number is never given a second meaning.
enum OAuthFields {
  static func encode(_ options: AuthorizationOptions) -> [UInt8] {
    var fields = FieldWriter()
    if let scopes = options.scopes {
      fields.put(1, true)
      for scope in scopes { fields.put(2, scope) }
    }
    for (name, value) in options.customParameters.sorted(by: { $0.key < $1.key }) {
      fields.put(3, name)
      fields.put(4, value)
    }
    fields.put(5, options.loginHint)
    fields.put(6, options.redirect.rawValue)
    return fields.bytes
  }

  static func options(_ bytes: [UInt8]) throws(MalformedFields) -> AuthorizationOptions {
    let fields = try FieldReader(bytes)
    var options = AuthorizationOptions()
    if fields.bool(1) { options.scopes = try texts(fields.all(2)) }
    let names = try texts(fields.all(3))
    let values = try texts(fields.all(4))
    guard names.count == values.count else { throw MalformedFields() }
    for (name, value) in zip(names, values) { options.customParameters[name] = value }
    options.loginHint = try fields.string(5)
    options.redirect = try required(try fields.string(6).flatMap(ProviderClient.Redirect.init))
    return options
  }

  static func encode(_ request: PendingAuthorization) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, request.url)
    for uri in request.returnURIs { fields.put(2, uri) }
    fields.put(3, request.sessionID)
    if let client = request.client {
      fields.put(4, client.metadata.issuer)
      fields.put(5, client.metadata.authorizationEndpoint)
      fields.put(6, client.metadata.tokenEndpoint)
      fields.put(7, client.metadata.jwksURI)
      fields.put(8, client.metadata.promisesIssuer)
      fields.put(9, client.clientID)
      fields.put(10, client.redirectURI)
      fields.put(11, client.codeVerifier)
      fields.put(12, client.rawNonce)
      fields.put(13, client.metadata.usesBasicAuthentication)
    }
    return fields.bytes
  }

  static func authorization(_ bytes: [UInt8]) throws(MalformedFields) -> PendingAuthorization {
    let fields = try FieldReader(bytes)
    var request = PendingAuthorization(
      url: try required(fields.secret(1)), returnURIs: try texts(fields.all(2)), sessionID: try fields.secret(3))
    if let clientID = try fields.string(9) {
      request.client = PendingAuthorization.Client(
        metadata: ProviderMetadata(
          issuer: try fields.string(4), authorizationEndpoint: try required(fields.string(5)),
          tokenEndpoint: try required(fields.string(6)), jwksURI: try fields.string(7), promisesIssuer: fields.bool(8),
          usesBasicAuthentication: fields.bool(13)),
        clientID: clientID, redirectURI: try required(fields.string(10)),
        codeVerifier: try required(fields.secret(11)), rawNonce: try required(fields.secret(12)))
    }
    return request
  }

  static func encode(_ credential: OAuthCredential) -> [UInt8] {
    var fields = FieldWriter()
    fields.put(1, credential.providerID)
    fields.put(2, credential.idToken)
    fields.put(3, credential.accessToken)
    fields.put(4, credential.accessTokenSecret)
    fields.put(5, credential.rawNonce)
    fields.put(6, credential.pendingToken)
    fields.put(7, credential.requestURI)
    fields.put(8, credential.sessionID)
    fields.put(9, credential.fullName != nil)
    fields.put(10, credential.fullName?.given)
    fields.put(11, credential.fullName?.family)
    fields.put(12, credential.expiresIn)
    return fields.bytes
  }

  static func credential(_ bytes: [UInt8]) throws(MalformedFields) -> OAuthCredential {
    let fields = try FieldReader(bytes)
    var credential = OAuthCredential(providerID: try required(fields.string(1)))
    credential.idToken = try fields.secret(2)
    credential.accessToken = try fields.secret(3)
    credential.accessTokenSecret = try fields.secret(4)
    credential.rawNonce = try fields.secret(5)
    credential.pendingToken = try fields.secret(6)
    credential.requestURI = try fields.secret(7)
    credential.sessionID = try fields.secret(8)
    if fields.bool(9) {
      credential.fullName = OAuthCredential.FullName(given: try fields.string(10), family: try fields.string(11))
    }
    credential.expiresIn = try fields.integer(12)
    return credential
  }

  static func texts(_ values: [[UInt8]]) throws(MalformedFields) -> [String] {
    var texts: [String] = []
    for value in values {
      guard let text = String(validating: value, as: UTF8.self) else { throw MalformedFields() }
      texts.append(text)
    }
    return texts
  }
}
