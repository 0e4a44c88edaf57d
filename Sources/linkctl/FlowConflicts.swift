import AuthCore
import DBusCore
import LinkdContract
import Texts

/// Accounts that collide, as a question (behaviour: Anonymous upgrade and conflicts).
extension FlowFollower {
  /// Asks where there's somebody to ask. A conflict that settles itself is waited for.
  func askForChoice(_ report: FlowReport) -> Int32? {
    if waitsForSignIn {
      sayHow(report)
      // Another command signs in; the flow goes on by itself then.
      return Prompt.canAsk ? nil : end(report, 4)
    }
    guard Prompt.canAsk else { return report.needsChoice ? nobody(report) : nil }
    for (index, choice) in report.choices.enumerated() {
      context.output.note("  \(index + 1)  \(Self.label(choice, locale: context.locale))")
    }
    Prompt.show(Texts.lookup("ask.choice", locale: context.locale))
    return nil
  }

  /// How to go on, once: the flow looks the same while it waits for somebody to sign in.
  private func sayHow(_ report: FlowReport) {
    guard !hasSaidHow else { return }
    hasSaidHow = true
    say("command.sign-in-first", ["email": report.conflictEmail ?? Texts.lookup("stage.somebody", locale: nil)])
  }

  /// The number of a choice, or its name.
  func choose(_ line: String, _ report: FlowReport, _ path: ObjectPath) {
    if waitsForSignIn { return }
    let word = line.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    let number = Int(word).flatMap { report.choices.indices.contains($0 - 1) ? report.choices[$0 - 1] : nil }
    guard let choice = number ?? report.choices.first(where: { $0 == word }) else {
      return Prompt.show(Texts.lookup("ask.choice", locale: context.locale))
    }
    waitsForSignIn = choice == ConflictChoice.signInAndLink.rawValue
    do throws(Failure) {
      _ = try context.call(
        path, Contract.Interface.flow, "ResolveConflict",
        [.string(choice), context.options(["open-browser": .boolean(false)])])
      if waitsForSignIn {
        // It may have gone on by itself: somebody is signed in already.
        let now = FlowReport(path: path, properties: try context.properties(path, Contract.Interface.flow))
        if now.stage == .conflict { sayHow(now) }
      }
    } catch {
      // It has settled itself meanwhile.
      if error.name != AuthError.noSuchFlow.dbusName { context.output.note(Output.printable(error.message)) }
    }
  }

  private static func label(_ choice: String, locale: String?) -> String {
    switch ConflictChoice(rawValue: choice) {
    case .switch: Texts.lookup("choice.switch", locale: locale)
    case .signInAndLink: Texts.lookup("choice.sign-in-and-link", locale: locale)
    case .newLink: Texts.lookup("choice.new-link", locale: locale)
    case .keep: Texts.lookup("choice.keep", locale: locale)
    case .cancel: Texts.lookup("choice.cancel", locale: locale)
    case nil: Output.printable(choice)
    }
  }
}

extension FlowReport {
  private var conflict: DBusValue? { details["conflict"] }

  /// What can be chosen, in the order of the question.
  var choices: [String] { stage == .conflict ? conflict?.member("options")?.asStrings ?? [] : [] }

  /// The address that both accounts have.
  var conflictEmail: String? { conflict?.member("email")?.asString }

  /// Why somebody has to choose, in words.
  var conflictMessage: String? { conflict?.member("message")?.asString }

  /// Whether the flow stands still until somebody chooses.
  var needsChoice: Bool {
    stage == .conflict && conflict?.member("kind")?.asString != ConflictKind.anonymousUpgrade.rawValue
  }

  /// Whether a mailed link was spent on finding out that the account exists, and a second one is on its way.
  var waitsForSecondLink: Bool { stage == .waitingForLink && errorName == AuthError.emailAlreadyInUse.dbusName }

  /// Whether this stage takes a typed line at any time.
  var takesLine: Bool { stage == .waitingForRedirect || stage == .conflict }
}
