import Basics
import Journal
import System

/// The text of one attempt at a case in a report.
struct CaseText {
  /// The case.
  var start: Record.Case
  /// The verdict; `nil` if there is none.
  var verdict: Record.Verdict?
  /// The last event, for the time, step and line that the verdict lacks.
  var lastEvent: Record.Event?
  /// The events, one a line.
  var trace: HeadAndTail
  private let limit: Int

  /// Starts a text with a maximum length of each part, in bytes.
  init(start: Record.Case, limit: Int = 64 << 10) {
    self.start = start
    self.limit = limit
    trace = HeadAndTail(limit: limit)
  }

  /// The beginning of every message of an unmet expectation, by which Allure distinguishes it from a
  /// divergence.
  static var unmetWords: String { Record.Verdict.unmetWords }

  /// The reason in one line.
  var message: String {
    if let message = verdict?.summary, !message.isEmpty { return message }
    switch verdict?.word {
    case .agree: return "model and device agreed"
    case .divergence: return "model and device disagree"
    case .unmet: return Self.unmetWords
    case .labFault: return "the lab failed"
    case .skipped: return "not tried"
    case .incomplete: return "not completed"
    case nil: return "the run ended before this case had a verdict"
    }
  }

  /// Step, expectation, observation, seed and replay command first; then the message again, for readers that
  /// ignore attributes, and further details.
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

  /// The message with details: why a case was skipped.
  var reason: String {
    var text = HeadAndTail(limit: limit)
    text.append(message)
    for detail in verdict?.details ?? [] { text.append("\n" + detail) }
    return text.text
  }

  /// The line of the scenario at which the case ended; the scenario's first line if it agreed.
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

  /// Adds an event to the trace: its time, the step that begins with it, and its description.
  mutating func add(_ event: Record.Event) {
    var locatedEvent = event
    (locatedEvent.step, locatedEvent.line) = (event.step ?? lastEvent?.step, event.line ?? lastEvent?.line)
    lastEvent = locatedEvent
    // The model's states alone are no event.
    if event.kind == .model { return }
    var words = [event.time.secondsText.rightAligned(in: 10)]
    if let step = event.step {
      words.append("step \(step)" + (event.line.map { " (line \($0))" } ?? ""))
    }
    for member in event.content {
      // The value of a reading or a fault follows its name.
      words.append(
        member.name == "value" ? "= \(member.value.words)" : "\(member.name) \(member.value.words)")
    }
    trace.append(words.joined(separator: "  ") + "\n")
  }

  /// Adds an unreadable line.
  mutating func add(_ problem: JournalProblem) {
    trace.append("(\(problem) of the journal)\n")
  }
}

/// A case with all records of its journal.
struct CaseTexts {
  /// The attempts from first to last; if there are many, those in the middle are omitted.
  var attempts: [CaseText]
  /// The number of omitted attempts.
  var omitted = 0

  /// The maximum number of attempts that are shown.
  static let limit = 32

  /// The maximum length of an attempt's text if there are several attempts.
  static func limit(of attempts: Int32) -> Int { attempts > 1 ? 16 << 10 : 64 << 10 }
}

/// The attempts of a case, in their places in a report.
struct CaseOutcome {
  /// The attempt that represents the case: the first one that ended like the case.
  var main: CaseText
  /// The other failed attempts, in order.
  var others: [CaseText]
  var omitted: Int

  init(_ entry: JournalIndex.Entry, _ texts: CaseTexts) {
    var attempts = texts.attempts
    let last = attempts[attempts.count - 1]
    // The next attempt was not begun.
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
  /// - Returns: `nil` if the case is not at the place in the index.
  func texts(of entry: JournalIndex.Entry) throws(FileFault) -> CaseTexts? {
    try reader.seek(to: entry.offset, line: entry.line)
    guard case .success(.begin(let start)) = try reader.next() else { return nil }
    let limit = CaseTexts.limit(of: entry.attempts)
    var all = CaseTexts(attempts: [CaseText(start: start, limit: limit)])
    for attempt in 1...max(1, entry.attempts) {
      // Of a case that agreed at once only the lab's messages are needed.
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
