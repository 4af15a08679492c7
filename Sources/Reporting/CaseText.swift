import Basics
import Journal
import System

/// What a report says of one try of a case, for people.
struct CaseText {
  /// The case.
  var start: Record.Case
  /// How it ended, or `nil` when it has no verdict.
  var verdict: Record.Verdict?
  /// The time, step and line of the last event, for what the verdict does not say.
  var lastEvent: Record.Event?
  /// What happened, a line for each event.
  var trace: HeadAndTail
  private let limit: Int

  /// Starts a text of which each part has at most so many bytes.
  init(start: Record.Case, limit: Int = 64 << 10) {
    self.start = start
    self.limit = limit
    trace = HeadAndTail(limit: limit)
  }

  /// What every message of what is not as expected begins with: Allure has no other way to tell it from a divergence.
  static var unmetWords: String { Record.Verdict.unmetWords }

  /// One line that says why.
  var message: String {
    if let message = verdict?.summary, !message.isEmpty { return message }
    switch verdict?.word {
    case .agree: return "model and device agreed"
    case .divergence: return "model and device disagree"
    case .unmet: return Self.unmetWords
    case .labFault: return "the lab failed"
    case .skipped: return "not tried"
    case .incomplete: return "not brought to an end"
    case nil: return "the run ended before this case had a verdict"
    }
  }

  /// Step, expectation, observation, seed and the way back first; then the message again, for readers that ignore
  /// attributes, and what else there is to say.
  var body: String {
    var lines = [place]
    if let title = start.name, !title.isEmpty { lines.append("scenario: \(title.inOneLine)") }
    if let expected = verdict?.expected { lines.append("expected: \(expected)") }
    if let observed = verdict?.seen { lines.append("observed: \(observed)") }
    if let seed = start.seed { lines.append("seed: \(seed)") }
    if let replay = verdict?.replay { lines.append("replay: \(replay)") }
    lines += ["", message]
    var text = HeadAndTail(limit: limit)
    text.append(lines.joined(separator: "\n"))
    for detail in verdict?.details ?? [] { text.append("\n" + detail) }
    if let sentence = verdict?.sentence { text.append("\n\n" + sentence) }
    return text.text
  }

  /// The message and what there is to say beside it: why a case was skipped.
  var reason: String {
    var text = HeadAndTail(limit: limit)
    text.append(message)
    for detail in verdict?.details ?? [] { text.append("\n" + detail) }
    return text.text
  }

  /// The line of the scenario where it ended as it did; that of the scenario where it agreed.
  var line: Int? {
    verdict?.word == .agree || verdict?.word == .skipped
      ? start.line : verdict?.line ?? lastEvent?.line ?? start.line
  }

  private var place: String {
    let step = verdict?.step ?? lastEvent?.step
    let line = verdict?.line ?? lastEvent?.line
    let file = [start.file, line.map(String.init)].compactMap(\.self).joined(separator: ":")
    let time = (verdict?.time ?? lastEvent?.time).map { "t = \($0)" }
    return [step.map { "step \($0)" } ?? "before the first step", time, file.isEmpty ? nil : file]
      .compactMap(\.self).joined(separator: ", ")
  }

  /// Adds an event to the trace: its time, the step that starts with it, and what it is.
  mutating func add(_ event: Record.Event) {
    var place = event
    (place.step, place.line) = (event.step ?? lastEvent?.step, event.line ?? lastEvent?.line)
    lastEvent = place
    // The model's states alone are no event.
    if event.kind == .model { return }
    var words = [event.time.secondsText.rightAligned(in: 10)]
    if let step = event.step {
      words.append("step \(step)" + (event.line.map { " (line \($0))" } ?? ""))
    }
    for member in event.content {
      // The value of a reading or a fault stands after its name.
      words.append(
        member.name == "value" ? "= \(member.value.words)" : "\(member.name) \(member.value.words)")
    }
    trace.append(words.joined(separator: "  ") + "\n")
  }

  /// Adds a line that could not be read.
  mutating func add(_ problem: JournalProblem) {
    trace.append("(\(problem) of the journal)\n")
  }
}

/// A case with all that its journal says of it.
struct CaseTexts {
  /// The tries, from the first to the last; of very many those in the middle are left out.
  var attempts: [CaseText]
  /// How many tries were left out.
  var omitted = 0

  /// The most tries that are shown.
  static let limit = 32

  /// How much of a try is shown that is not the only one.
  static func limit(of attempts: Int32) -> Int { attempts > 1 ? 16 << 10 : 64 << 10 }
}

/// The tries of a case, in the places that they have in a report.
struct CaseOutcome {
  /// The try that is shown as the case's: the first that ended as the case did.
  var main: CaseText
  /// The others that failed, in their order.
  var others: [CaseText]
  var omitted: Int

  init(_ entry: JournalIndex.Entry, _ texts: CaseTexts) {
    var attempts = texts.attempts
    let last = attempts[attempts.count - 1]
    // The next try was not begun.
    if last.verdict?.isTriedAgain ?? false { attempts.append(CaseText(start: last.start)) }
    let ending = entry.ending
    let word =
      ending == .diverged || ending == .unmet ? ending?.word : attempts[attempts.count - 1].verdict?.word
    let number: Int? =
      switch entry.ending {
      case .failedAsFlaky: attempts.firstIndex { $0.verdict?.word != .agree }
      case .agreed, .flaky: nil
      default: attempts.firstIndex { $0.verdict?.word == word }
      }
    main = attempts[number ?? attempts.count - 1]
    others = attempts.enumerated().filter { $0 != number && $1.verdict?.word != .agree }.map(\.element)
    omitted = texts.omitted
  }
}

extension JournalSource {
  /// Reads a case again, from its first line to its last verdict.
  ///
  /// - Returns: `nil` when there is no case where the index says so.
  func texts(of entry: JournalIndex.Entry) throws(FileFault) -> CaseTexts? {
    try reader.seek(to: entry.offset, line: entry.line)
    guard case .success(.begin(let start)) = try reader.next() else { return nil }
    let limit = CaseTexts.limit(of: entry.attempts)
    var all = CaseTexts(attempts: [CaseText(start: start, limit: limit)])
    for attempt in 1...max(1, entry.attempts) {
      // Of a case that agreed at once only what the lab said is of use.
      let isTerse = entry.hasAgreed && attempt == entry.attempts
      try read(into: &all.attempts[all.attempts.count - 1], isTerse: isTerse)
      if attempt == entry.attempts { break }
      guard case .success(.begin(let start)) = try reader.next() else { break }
      if all.attempts.count == CaseTexts.limit {
        all.attempts.removeLast()
        all.omitted += 1
      }
      all.attempts.append(CaseText(start: start, limit: limit))
    }
    return all
  }

  private func read(into text: inout CaseText, isTerse: Bool) throws(FileFault) {
    while let line = try reader.next() {
      switch line {
      case .success(.event(let event)):
        if !isTerse || event.isDiagnostic { text.add(event) }
      case .success(.verdict(let verdict)) where verdict.id == text.start.id:
        text.verdict = verdict
        return
      case .success(.verdict), .success(.coverage), .success(.campaign), .success(.machine), .success(.left):
        break
      case .success(.begin), .success(.run), .success(.end), .success(.finding):
        return try reader.seek(to: reader.offset, line: reader.line)
      case .failure(let problem): text.add(problem)
      }
    }
  }
}
