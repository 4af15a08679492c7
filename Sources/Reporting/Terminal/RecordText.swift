import Basics
public import Journal
public import System

/// The ending of a case for people: one line, or for a failure all details with the replay command at the
/// end. The text of a device cannot move the cursor.
public func endingText(_ verdict: Record.Verdict, _ test: Record.Case, _ paint: Painter) -> String {
  switch verdict.counted {
  case .agree: return paint(.good, "✔ model and device agree, t = \(verdict.time ?? .zero)")
  case .skipped: return "skipped: \(verdict.summary ?? "")".inOneLine
  case .divergence, .unmet, .labFault, .incomplete: break
  }
  let line = verdict.line.map { $0 > 0 ? ":\($0)" : "" } ?? ""
  let presentation = Record.Ending(verdict.word).presentation
  let words = verdict.limit == nil ? presentation.words : "stopped"
  let place = verdict.step.map { $0 > 0 ? " at step \($0), t = \(verdict.time ?? .zero)" : "" } ?? ""
  var lines = [paint(presentation.style, "\(presentation.sign) \(test.place)\(line)   \(words)\(place)")]
  if test.id.contains("#") { lines[0] += "   (\(test.id))" }
  let message = verdict.message ?? ""
  lines += message.split(separator: "\n").map { "    " + unobeyed(String($0)) }
  lines += verdict.details.map { detail in
    let line = "    " + unobeyed(detail)
    guard verdict.word == .unmet else { return line }
    return detail.hasPrefix("- ") ? paint(.good, line) : detail.hasPrefix("+ ") ? paint(.bad, line) : line
  }
  if let sentence = verdict.sentence { lines.append("    " + unobeyed(sentence)) }
  if let replay = verdict.replay { lines.append("  \(replay.inOneLine)") }
  return lines.joined(separator: "\n") + "\n"
}

/// The new part of a failed attempt after a similar one, in the form of ``endingText(_:_:_:)``; one line if
/// nothing is new. Different times alone are nothing new.
public func endingText(
  _ verdict: Record.Verdict, after previous: Record.Verdict, _ test: Record.Case, _ paint: Painter
) -> String {
  func lines(_ verdict: Record.Verdict, at time: Instant?, _ paint: Painter) -> [Substring] {
    var verdict = verdict
    verdict.time = time
    return endingText(verdict, test, paint).split(separator: "\n")
  }
  let plain = Painter(isOn: false)
  let known = lines(previous, at: nil, plain)
  let isNew = lines(verdict, at: nil, plain).map { !known.contains($0) }
  let new = zip(lines(verdict, at: verdict.time, paint), isNew).filter(\.1).map(\.0)
  let attempt = "attempt \(test.attempt)"
  if new.isEmpty { return paint(.faint, "  \(test.place)   \(attempt): the same") + "\n" }
  return "  \(attempt), where it differs:\n" + new.joined(separator: "\n") + "\n"
}

/// External text as a line of a log: GitHub and Azure interpret lines that begin with their signs as
/// commands, even after spaces.
public func unobeyed(_ text: String) -> String {
  let line = text.inOneLine
  let start = line.drop { $0.isWhitespace }
  return start.hasPrefix("::") || start.hasPrefix("##") ? "· " + line : line
}

extension Tally {
  /// The number of cases by ending, without zeros: `12 agree, 1 diverge`.
  public func counts(_ paint: Painter) -> String {
    let parts = [
      (agree, "agree", Painter.Style.good), (divergences, "diverge", .bad),
      (unmet, "not as expected", .warning),
      (labFaults, "in trouble", .warning), (incomplete, "incomplete", .warning), (skipped, "skipped", .faint),
    ]
    return parts.filter { $0.0 > 0 }.map { paint($0.2, "\($0.0) \($0.1)") }.joined(separator: ", ")
  }
}

extension Record.Case {
  /// Its file, or its id if it has no file.
  public var place: String { (file ?? id).inOneLine }
}

extension Record.Event {
  /// The diagnostic of the record; `nil` if it has none.
  public var spokenDiagnostic: String? {
    if let quirk = breach.quirk { return "\(text): \(breach.detail ?? ""); known: \(quirk)" }
    return kind == .diagnostic ? text : nil
  }
}
