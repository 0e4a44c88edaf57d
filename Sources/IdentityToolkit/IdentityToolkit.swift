// IdentityToolkit
