import AuthCore
import DBusCore
import LinkdContract
import Texts

/// The choice of a second factor. A message costs money, so none is sent unasked.
extension FlowFollower {
  func askForFactor(_ report: FlowReport) -> Int32? {
    factors = report.factors
    if report.needsOnlyTOTP { return askForCode(report) }
    guard Prompt.canAsk, !inputEnded, !factors.isEmpty else { return nobody(report) }
    return listFactors()
  }

  /// Shows what there is to choose from, and asks.
  func listFactors() -> Int32? {
    let labels = factors.map { $0.label(locale: context.locale) }
    (question, isAsking) = (.factor, true)
    if labels.count == 1 {
      Prompt.show(Texts.lookup("ask.only-factor", locale: context.locale, ["factor": labels[0]]))
      return nil
    }
    for (index, label) in labels.enumerated() { context.output.note("  \(index + 1)  \(label)") }
    Prompt.show(Texts.lookup("ask.factor", locale: context.locale))
    return nil
  }

  /// The number of a factor, or its uid; with one factor alone Enter is enough.
  func takeFactor(_ line: String, _ path: ObjectPath) throws(Failure) -> Int32? {
    guard let report else { return nil }
    let word = line.split(whereSeparator: \.isWhitespace).first.map(String.init) ?? ""
    let number = Int(word).flatMap { factors.indices.contains($0 - 1) ? factors[$0 - 1] : nil }
    let only = word.isEmpty && factors.count == 1 ? factors[0] : nil
    guard let factor = factors.first(where: { $0.uid == word }) ?? number ?? only else { return listFactors() }
    return try answer("ChooseFactor", [.string(factor.uid)], report, path)
  }
}
