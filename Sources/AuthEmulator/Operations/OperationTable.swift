extension Operation {
  /// Everything the emulator answers to. A group of operations is a file with a list; this is the list of lists.
  static let table: [Operation] =
    [
      ProjectControl.operations, SignUp.operations, PasswordSignIn.operations, EmailLinkSignIn.operations,
      SendOobCode.operations, ResetPassword.operations, Lookup.operations, UpdateAccount.operations,
      TokenRefresh.operations, PhoneSignIn.operations, CreateAuthURI.operations, ProviderSignIn.operations,
      CustomTokenSignIn.operations, SecondFactorEnrollment.operations, SecondFactorSignIn.operations,
      Passkeys.operations, Tenants.operations, ProjectConfig.operations, AccountLists.operations,
      BatchCreate.operations, SessionCookie.operations, ActionPage.operations, ContinuePage.operations,
      HandlerPage.operations, Discovery.operations, Authorize.operations, TokenEndpoint.operations,
      ProviderControl.operations, PhoneControl.operations, RevokeToken.operations, Unsupported.operations,
    ].flatMap(\.self)
}
