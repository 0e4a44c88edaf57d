import AuthCore
import DBus
import DomainNames
import EventLoop
import LinkHandler
import LinkdContract

/// `org.linkd.Auth1.Account`: what concerns the signed-in user.
@LoopActor
struct AccountInterface {
  let keeper: SessionKeeper
  let tree: ObjectTree

  var table: Interface {
    Interface(
      Contract.Interface.account,
      methods: [
        Method(
          "UpdateProfile", in: [Argument("changes", "a{sv}"), Argument("options", "a{sv}")], out: [],
          handler: .async(updateProfile)),
        Method(
          "SendEmailVerification", in: [Argument("options", "a{sv}")], out: [], handler: .async(sendEmailVerification)),
        .startingFlow("UpdatePassword", ["password"], updatePassword),
        .startingFlow("ChangeEmail", ["email"], changeEmail),
        .startingFlow("ChangePhoneNumber", ["number"], codes.changePhoneNumber),
        .startingFlow("Unlink", ["provider_id"], unlink),
        .startingFlow("DeleteUser", [], deleteUser),
        .startingFlow("Reauthenticate", [], reauthenticate),
        .startingFlow("EnrollPhoneFactor", ["number", "display_name"], codes.enrollPhone),
        .startingFlow("EnrollTotpFactor", ["display_name"], codes.enrollTOTP),
        .startingFlow("UnenrollFactor", ["uid"], unenrollFactor),
      ],
      properties: [Version.property], signals: [])
  }

  private func updateProfile(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let changes = Options(call.arguments[0], called: "change")
    let (name, photo) = (try changes.string("display-name"), try changes.string("photo-url"))
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      guard keeper.machine.user != nil else { throw keeper.missingUser }
      try await keeper.updateProfile(displayName: name, photoURL: photo)
      return []
    }
  }

  private func sendEmailVerification(_ call: MethodCall) async throws(DBusError) -> [DBusValue] {
    let options = try Options(call)
    let continueURL = try options.string("continue-url")
    return try await tree.answer(options, keeper) { () async throws(AuthFailure) in
      guard let user = keeper.machine.user else { throw keeper.missingUser }
      guard let email = user.email else { throw .noAddress }
      let url = try MailedLinks.plain(continueURL)
      // What is refused here is no mail.
      try tree.coordinator.countMail(to: email)
      try await keeper.sendEmailVerification(continueURL: url, locale: tree.locale(options, keeper))
      return []
    }
  }

  private var start: FlowStart { FlowStart(keeper: keeper, tree: tree) }
  private var codes: CodeFlows { CodeFlows(keeper: keeper, tree: tree) }

  // MARK: What may want a recent login

  private func deleteUser(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    try begin(row(call, options, .deleteUser), options)
  }

  /// A provider, or `password` or `phone`.
  private func unlink(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try row(call, options, .unlink)
    flow.linkProvider = call.text(0)
    return try begin(flow, options) { user, _ throws(AuthFailure) in
      guard user.providers.contains(where: { $0.providerID == flow.linkProvider }) else {
        throw AuthFailure(.noSuchProvider, cause: "cause.not-linked")
      }
    }
  }

  /// An empty one is refused without asking the server (identity-toolkit 8.4).
  private func updatePassword(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    try FlowStart.checkPassword(call.text(0))
    let password = Secret(call.text(0))
    var flow = try row(call, options, .updatePassword)
    flow.wantsNewPassword = true
    return try begin(flow, options, by: .passwordProvided(password)) { user, flow throws(AuthFailure) in
      guard let email = user.email else { throw .noAddress }
      guard !password.reveal().isEmpty else { throw AuthFailure(.weakPassword) }
      flow.email = email
    }
  }

  /// Nothing changes before the mail's link is opened (`VERIFY_AND_CHANGE_EMAIL`).
  private func changeEmail(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try row(call, options, .changeEmail)
    flow.continueURL = try options.string("continue-url")
    return try begin(flow, options) { _, flow throws(AuthFailure) in
      guard let address = EmailAddress(call.text(0)) else { throw AuthFailure(.invalidEmail) }
      _ = try MailedLinks.plain(flow.continueURL)
      flow.email = try DomainNames.wireForm(address)
    }
  }

  private func unenrollFactor(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    var flow = try row(call, options, .unenrollFactor)
    flow.factorUID = call.text(0)
    return try begin(flow, options) { user, _ throws(AuthFailure) in
      guard user.secondFactors.contains(where: { $0.uid == flow.factorUID }) else {
        throw AuthFailure(.factorNotFound)
      }
    }
  }

  private func row(_ call: MethodCall, _ options: Options, _ purpose: FlowPurpose) throws(DBusError) -> Flow {
    try start.row(call, options, method: .none, purpose: purpose, lifetime: waitingLifetime)
  }

  /// Starts what `check` lets pass, and has made complete.
  private func begin(
    _ row: Flow, _ options: Options, by event: FlowEvent = .started,
    check: (User, inout Flow) throws(AuthFailure) -> Void = { _, _ throws(AuthFailure) in }
  ) throws(DBusError) -> FlowID {
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard let user = keeper.machine.user else { throw keeper.missingUser }
      var flow = row
      try check(user, &flow)
      try tree.coordinator.start(flow, event)
    }
    return row.id
  }

  // MARK: Signing in again

  /// In the way in which the user has signed in, or in another that the account has, if that one was taken from it.
  private func reauthenticate(_ call: MethodCall, _ options: Options) throws(DBusError) -> FlowID {
    guard let way = keeper.wayBack else { throw tree.reply(keeper.missingUser, options, keeper) }
    switch way.method {
    case .provider(let id):
      return try ProviderSignIns(keeper: keeper, tree: tree).reauthenticate(call, options, by: id)
    case .phone:
      guard let number = way.phoneNumber else {
        throw tree.reply(AuthFailure(.operationNotAllowed, cause: "cause.no-number"), options, keeper)
      }
      return try codes.reauthenticate(call, options, number: number)
    case .password: return try reauthenticateByPassword(call, options, way)
    case .custom, .anonymous:
      throw tree.reply(AuthFailure(.operationNotAllowed, cause: "cause.no-way-back"), options, keeper)
    default: return try reauthenticateByMail(call, options, way)
    }
  }

  private func reauthenticateByPassword(
    _ call: MethodCall, _ options: Options, _ way: WayBack
  ) throws(DBusError) -> FlowID {
    var flow = try start.row(call, options, method: .password, purpose: .reauthenticate, lifetime: waitingLifetime)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard let email = way.email else { throw .noAddress }
      flow.email = email
      try tree.coordinator.start(flow)
    }
    return flow.id
  }

  private func reauthenticateByMail(
    _ call: MethodCall, _ options: Options, _ way: WayBack
  ) throws(DBusError) -> FlowID {
    let flow = try start.row(
      call, options, method: .emailLink, purpose: .reauthenticate, lifetime: EmailLinkFlow.lifetime)
    try tree.answer(options, keeper) { () throws(AuthFailure) in
      guard let email = way.email else { throw .noAddress }
      try EmailLinks(keeper: keeper, tree: tree).send(flow, to: email)
    }
    return flow.id
  }
}

extension AuthFailure {
  /// A mail has nowhere to go.
  fileprivate static let noAddress = AuthFailure(.operationNotAllowed, cause: "cause.no-address")
}
