// IdentityToolkitTests
