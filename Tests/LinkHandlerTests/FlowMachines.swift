import AuthCore
import LinkHandler
import Testing

/// A machine, the rows that it begins with, and the stages that its comment allows next.
struct WalkedMachine: Sendable, CustomTestStringConvertible {
  struct Row: Sendable {
    let method: SignInMethod
    var purpose = FlowPurpose.signIn
    var change: @Sendable (inout Flow) -> Void = { _ in }
  }

  let testDescription: String
  let next: [FlowStage: Set<FlowStage>]
  /// Whether its flows sign somebody in, which a second factor may have to follow.
  var authenticates = true
  let rows: [Row]

  static let all = [providers, tokens, accounts, mailedLinks, passwords, codes, enrollments]

  private static let providers = WalkedMachine(
    testDescription: "provider", next: provider,
    rows: [
      Row(method: .provider("oidc.x")), Row(method: .provider("oidc.x"), change: guest),
      Row(method: .provider("oidc.x"), change: { $0.credential = ProviderRig.tokens }),
      Row(method: .provider("oidc.x"), purpose: .link, change: link),
      Row(method: .provider("oidc.x"), purpose: .reauthenticate, change: protected),
    ])

  private static let tokens = WalkedMachine(
    testDescription: "custom token", next: custom,
    rows: [Row(method: .custom, change: { $0.code = Secret("J") }), Row(method: .custom)])

  private static let accounts = WalkedMachine(
    testDescription: "account", next: account, authenticates: false,
    rows: [FlowPurpose.deleteUser, .unlink, .unenrollFactor, .changeEmail, .updatePassword, .updatePassword].map {
      purpose in
      Row(
        method: .none, purpose: purpose,
        change: {
          $0.protectedUID = "u1"
          if purpose == .unlink { $0.linkProvider = "google.com" }
          if purpose == .unenrollFactor { $0.factorUID = "m1" }
          if purpose == .changeEmail { $0.email = "b@example.com" }
        })
    })

  private static let mailedLinks = WalkedMachine(
    testDescription: "mailed link", next: emailLink,
    rows: [
      Row(
        method: .emailLink,
        change: {
          mailed(&$0)
          guest(&$0)
        }),
      Row(
        method: .emailLink, purpose: .link,
        change: {
          mailed(&$0)
          link(&$0)
        }), Row(method: .emailLink, change: guest),
    ])

  private static let passwords = WalkedMachine(
    testDescription: "password", next: password,
    rows: [false, true].map { isNew in
      Row(
        method: .password,
        change: {
          $0.email = "a@example.com"
          $0.wantsNewPassword = isNew
          guest(&$0)
        })
    })

  private static let codes = WalkedMachine(
    testDescription: "phone", next: code,
    rows: [
      Row(method: .phone), Row(method: .phone, change: guest), Row(method: .phone, purpose: .link, change: link),
      Row(method: .phone, purpose: .reauthenticate, change: protected),
      Row(method: .phone, purpose: .changePhone, change: protected),
    ])

  private static let enrollments = WalkedMachine(
    testDescription: "enrollment", next: enrollment, authenticates: false,
    rows: [
      Row(method: .phone, purpose: .enrollFactor, change: protected),
      Row(method: .totp, purpose: .enrollFactor, change: protected),
    ])

  // MARK: Rows

  private static let guest: @Sendable (inout Flow) -> Void = {
    $0.anonymousUID = "g1"
    $0.linkUID = "g1"
  }
  private static let link: @Sendable (inout Flow) -> Void = {
    $0.protectedUID = "u1"
    $0.linkUID = "u1"
  }
  private static let protected: @Sendable (inout Flow) -> Void = { $0.protectedUID = "u1" }
  private static let mailed: @Sendable (inout Flow) -> Void = {
    $0.email = "a@example.com"
    $0.linkTokenHash = [7]
  }

  // MARK: The comments of the machines

  private static let ends: Set<FlowStage> = [.cancelled, .expired]
  private static let provider: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.waitingForRedirect, .exchanging, .failed]),
    .waitingForRedirect: ends.union([.exchanging, .failed]),
    .exchanging: ends.union([.succeeded, .failed, .conflict, .waitingForRedirect]),
    .conflict: ends.union([.exchanging]),
  ]
  private static let custom: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.exchanging, .failed]), .exchanging: ends.union([.succeeded, .failed]),
  ]
  private static let account: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.exchanging, .waitingForPassword]),
    .exchanging: ends.union([
      .succeeded, .failed, .reauthenticationRequired, .waitingForConfirmation, .waitingForPassword,
    ]), .reauthenticationRequired: ends.union([.exchanging, .waitingForPassword]),
    .waitingForConfirmation: ends.union([.exchanging]), .waitingForPassword: ends.union([.exchanging]),
  ]
  private static let emailLink: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.waitingForLink, .exchanging, .waitingForEmail, .failed]),
    .waitingForLink: ends.union([.exchanging, .starting]), .waitingForEmail: ends.union([.exchanging]),
    .exchanging: ends.union([.succeeded, .failed, .waitingForLink, .waitingForEmail, .conflict, .starting]),
    .conflict: ends.union([.exchanging, .starting]), .failed: [.starting, .exchanging],
    .cancelled: [.waitingForEmail], .expired: [.waitingForEmail],
  ]
  private static let password: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.exchanging, .waitingForPassword]),
    .exchanging: ends.union([.succeeded, .failed, .waitingForPassword, .conflict]),
    .conflict: ends.union([.exchanging]), .waitingForPassword: ends.union([.exchanging]),
  ]
  private static let code: [FlowStage: Set<FlowStage>] = [
    .starting: ends.union([.waitingForCode, .waitingForCaptcha, .reauthenticationRequired, .failed]),
    .waitingForCaptcha: ends.union([.starting, .failed]), .waitingForCode: ends.union([.exchanging, .starting]),
    .exchanging: ends.union([.succeeded, .failed, .waitingForCode, .reauthenticationRequired, .conflict]),
    .reauthenticationRequired: ends.union([.starting, .waitingForCode]), .conflict: ends.union([.exchanging]),
    .failed: [.starting],
  ]
  /// Nobody's number is in the way of a factor.
  private static let enrollment = code.filter { $0.key != .conflict }.mapValues { $0.subtracting([.conflict]) }

  /// What a second factor adds, from the moment at which it's wanted.
  static let secondFactor: [FlowStage: Set<FlowStage>] = [
    .secondFactorRequired: ends.union([.starting, .waitingForCode, .exchanging]),
    .starting: ends.union([.waitingForCode, .waitingForCaptcha, .secondFactorRequired, .failed]),
    .waitingForCaptcha: ends.union([.starting, .secondFactorRequired, .waitingForCode]),
    .waitingForCode: ends.union([.exchanging, .starting]),
    .exchanging: ends.union([.waitingForCode, .secondFactorRequired, .failed]),
  ]
}
