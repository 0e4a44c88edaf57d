public import AuthCore
import LinkdClient

/// The fields and buttons for codes: of a phone number, and of second factors.
extension LoginViewModel {
  // MARK: What a screen shows

  /// Whether the button "Send me a code" works.
  public var canSendCode: Bool { !isLoading && !phoneNumber.isEmpty }

  /// What to choose from, when a second factor is asked for.
  public var factors: [SecondFactor]? { step?.stage == .secondFactorRequired ? step?.details.hints : nil }

  /// The line above the field for the code; nil where no code is asked for.
  public var codePrompt: String? {
    guard step?.stage == .waitingForCode, let details = step?.details else { return nil }
    let source = details.codeKind == .totp ? "of your authenticator app" : "sent to \(details.phoneNumber ?? "you")"
    let left = details.attemptsLeft.map { $0 < 5 ? " (\($0) attempts left)" : "" } ?? ""
    return "The code \(source)\(left)"
  }

  // MARK: What a screen does

  /// The button "Send me a code". A captcha page may open in the browser before the message goes out.
  public func sendCode() async {
    guard canSendCode else { return }
    await run { [weak self] auth throws(LinkdError) in
      guard let self else { return }
      try await self.goOn(try await auth.start(.phone(self.phoneNumber)))
    }
  }

  /// One of ``factors``.
  public func choose(_ factor: SecondFactor) async {
    await goOn { flow throws(LinkdError) in try await flow.chooseFactor(factor.uid) }
  }

  /// The button beside the field for the code.
  public func submitCode() async {
    let given = Secret(code)
    code = ""
    await goOn { flow throws(LinkdError) in try await flow.submit(code: given) }
  }

  /// The button "Send it again": works a minute after the last message.
  public func resendCode() async {
    await goOn { flow throws(LinkdError) in try await flow.resend() }
  }

  /// The button "Cancel".
  public func giveUp() async {
    await goOn { flow throws(LinkdError) in try await flow.cancel() }
  }

  /// Does something about the sign-in that waits, and shows what it waits for then, also after a wrong code.
  private func goOn(_ body: @MainActor (any FlowServicing) async throws(LinkdError) -> Void) async {
    guard let flow else { return }
    await run { [weak self] _ throws(LinkdError) in
      do throws(LinkdError) {
        try await body(flow)
      } catch {
        // Where it can still be answered, the fields stay.
        for try await status in flow.stages {
          self?.show(status.stage.isEnd ? nil : status, of: flow)
          break
        }
        throw error
      }
      try await self?.goOn(flow)
    }
  }
}
