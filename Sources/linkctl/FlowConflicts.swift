import AuthCore
import DBusCore
import LinkdContract
import Texts

/// Accounts that collide, as a question (behaviour: Anonymous upgrade and conflicts).
extension FlowFollower {
  /// What was asked; of a conflict what it offers, and to whom.
  enum Question: Equatable {
    case conflict(choices: [String], otherUID: String?)
    case code
    case factor
  }

  /// Asks where there's somebody to ask. A conflict that settles itself is waited for.
  func askForChoice(_ report: FlowReport) -> Int32? {
    // Whoever has come by another address may be meant as well; only the person knows.
    if Prompt.canAsk, hasSaidHow, report.otherUID != nil, report.otherUID != otherUID { waitsForSignIn = false }
    otherUID = report.otherUID
    if waitsForSignIn {
      sayHow(report)
      // Another command signs in; the flow goes on by itself then.
      return Prompt.canAsk ? nil : end(report, 4)
    }
    guard Prompt.canAsk else { return report.needsChoice ? nobody(report) : nil }
    let next = Question.conflict(choices: report.shownChoices, otherUID: otherUID)
    guard next != question else { return nil }
    endQuestion()
    if otherUID != nil, report.needsChoice { say("command.other-account", ["email": email(report)]) }
    for (index, choice) in report.shownChoices.enumerated() {
      context.output.note("  \(index + 1)  \(label(choice, report))")
    }
    if !report.needsChoice { say("command.switch-in-time") }
    question = next
    Prompt.show(Texts.lookup("ask.choice", locale: context.locale))
    return nil
  }

  /// A line of its own for what follows a question that nobody has answered.
  func endQuestion() {
    Echo.restore()
    if question != nil { Prompt.show("\n") }
    question = nil
  }

  /// How to go on, once: the flow looks the same while it waits for somebody to sign in.
  private func sayHow(_ report: FlowReport) {
    guard !hasSaidHow else { return }
    hasSaidHow = true
    say("command.sign-in-first", ["email": email(report), "command": report.signInCommand])
  }

  private func email(_ report: FlowReport) -> String {
    report.conflictEmail ?? Texts.lookup("stage.somebody", locale: context.locale)
  }

  /// The number of a choice, or its name.
  func choose(_ line: String, _ report: FlowReport, _ path: ObjectPath) {
    if waitsForSignIn { return }
    let word = line.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    let shown = report.shownChoices
    let number = Int(word).flatMap { shown.indices.contains($0 - 1) ? shown[$0 - 1] : nil }
    guard let choice = number ?? report.choices.first(where: { $0 == word }) else {
      question = .conflict(choices: shown, otherUID: otherUID)
      return Prompt.show(Texts.lookup("ask.choice", locale: context.locale))
    }
    waitsForSignIn = choice == ConflictChoice.signInAndLink.rawValue
    hasSwitched = choice == ConflictChoice.switch.rawValue
    hasSaidHow = false
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

  private func label(_ choice: String, _ report: FlowReport) -> String {
    let locale = context.locale
    return switch ConflictChoice(rawValue: choice) {
    case .switch: Texts.lookup("choice.switch", locale: locale)
    case .signInAndLink: Texts.lookup(otherUID == nil ? "choice.sign-in-and-link" : "choice.link-other", locale: locale)
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

  /// Those that differ: `keep` and `cancel` both leave everything as it is.
  var shownChoices: [String] {
    let all = choices
    return all.contains(ConflictChoice.keep.rawValue) ? all.filter { $0 != ConflictChoice.cancel.rawValue } : all
  }

  /// Who has signed in with another address meanwhile, where somebody has to choose.
  var otherUID: String? {
    guard needsChoice else { return nil }
    return (conflict?.member("existing-uid") ?? details["existing-uid"])?.asString.filled
  }

  /// The commands that sign in to the account that exists, where its ways are known.
  var signInCommand: String {
    let ways = details["recovery"]?.member("options")?.asStrings ?? []
    let email = conflictEmail ?? "ADDRESS"
    let commands = ways.map { way in
      switch way {
      case "emailLink": "'linkctl sign-in email-link \(email)'"
      case "password": "'linkctl sign-in password \(email)'"
      default: "'linkctl sign-in \(way)'"
      }
    }
    return commands.isEmpty ? "'linkctl sign-in METHOD \(email)'" : commands.joined(separator: " or ")
  }

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
  var takesLine: Bool { hasPage || stage == .conflict }

  /// Whether a page in a browser goes with this stage.
  var hasPage: Bool { stage == .waitingForRedirect || stage == .waitingForCaptcha }
}
