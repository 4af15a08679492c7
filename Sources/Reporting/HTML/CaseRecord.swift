import Basics
import Journal
import System

/// An event of a case, as a row of its timeline.
struct Moment: Hashable {
  /// The cause of the event.
  enum Lane {
    case tester
    case device
    case lab
    /// The model changed by the passing of time.
    case model
  }

  /// The time since the start of the case.
  var time: Instant
  var step: Int?
  var line: Int?
  var lane: Lane
  /// The kind of event, such as `stimulus`.
  var kind: Record.Event.Kind
  /// The text after the kind.
  var words: String
  /// The model's possible states after it, and whether they are new.
  var possible: [String]
  var isModelChanged: Bool
  /// The variables of which the model then holds other values possible.
  var changes: [VariableChange] = []
  /// The status that the device shows after it.
  var status: String?

  /// The maximum length of a row's text, in bytes.
  fileprivate static let longestWords = 1 << 10
  /// The maximum number of statuses in a row.
  fileprivate static let maximumStatuses = 64
}

extension Moment {
  /// Makes it the cause of a change of the model.
  fileprivate mutating func changeModel(
    to possible: [String], isChanged: Bool, _ changes: [VariableChange]
  ) {
    self.possible = possible
    if isChanged { isModelChanged = true }
    self.changes += changes
  }
}

/// The first and the last moments of a case, if it has more than a page can hold.
struct Moments {
  private(set) var head: [Moment] = []
  private(set) var tail: [Moment] = []
  /// The number of moments between them.
  private(set) var omitted = 0
  /// What the model holds possible of its variables after the last moment.
  private(set) var variables = VariableRecord()
  private var possible: [String] = []
  private var status: String?

  private static let limit = 600

  var count: Int { head.count + omitted + tail.count }

  /// All kept moments.
  var kept: [Moment] { head + tail }

  /// All kept moments, each with its number among all.
  var numbered: [(number: Int, moment: Moment)] {
    head.enumerated().map { ($0, $1) } + tail.enumerated().map { (head.count + omitted + $0, $1) }
  }

  mutating func add(_ event: Record.Event) {
    if event.kind == .model { return addModel(event) }
    let words = clipped(described(event.content), toBytes: Moment.longestWords)
    if event.kind == .status { status = words }
    append(
      Moment(
        time: event.time, step: event.step, line: event.line, lane: lane(of: event.kind),
        kind: event.kind, words: words, possible: possible, isModelChanged: false, status: status))
  }

  /// Adds a change of the model: it belongs to an event at the same time, and else to the passing of time.
  private mutating func addModel(_ event: Record.Event) {
    let isChanged = event.statuses != possible
    let changes = variables.take(event)
    possible = event.statuses.prefix(Moment.maximumStatuses).map {
      clipped($0, toBytes: Moment.longestWords)
    }
    if let last = tail.last ?? head.last, last.time == event.time, last.lane != .model {
      if tail.isEmpty {
        head[head.count - 1].changeModel(to: possible, isChanged: isChanged, changes)
      } else {
        tail[tail.count - 1].changeModel(to: possible, isChanged: isChanged, changes)
      }
    } else {
      append(
        Moment(
          time: event.time, step: event.step, line: event.line, lane: .model, kind: .model,
          words: "",
          possible: possible, isModelChanged: isChanged, changes: changes, status: status))
    }
  }

  private mutating func append(_ moment: Moment) {
    if head.count < Self.limit, omitted == 0, tail.isEmpty { return head.append(moment) }
    tail.append(moment)
    if tail.count < 2 * Self.limit { return }
    omitted += Self.limit
    tail.removeFirst(Self.limit)
  }
}

private func lane(of kind: Record.Event.Kind) -> Moment.Lane {
  switch kind {
  case .stimulus, .fault, .wait, .expect, .note: .tester
  case .lab, .diagnostic: .lab
  case .model: .model
  case .status, .effect, .reading, .refused, .violation, .event: .device
  }
}

/// The value of the first member, followed by the others.
private func described(_ content: [JSON.Member]) -> String {
  var words = content.first?.value.words ?? ""
  for member in content.dropFirst() {
    switch (member.name, member.value) {
    case ("value", let value): words += " = \(value.words)"
    case ("arguments", .mapping(let members)):
      words += " " + members.map { "\($0.name): \($0.value.words)" }.joined(separator: ", ")
    default: words += ", \(member.name) \(member.value.words)"
    }
  }
  return words
}

/// One attempt at a case.
struct CaseAttempt {
  var start: Record.Case
  var verdict: Record.Verdict?
  var moments = Moments()
  var problems: [JournalProblem] = []

  /// The reason of its ending, in one line.
  var message: String {
    var text = CaseText(start: start)
    text.verdict = verdict
    return text.message
  }
}

/// A case with all of its attempts, the last of which counts.
struct CaseRecord {
  var attempts: [CaseAttempt]
  /// The number among the cases with its name.
  var copy: Int32
  var milliseconds: Int64
  /// The class of the case in JUnit.
  var suite: String
  /// The folder of the files that belong to it.
  var folder: String

  var start: Record.Case { attempts[0].start }
  var last: CaseAttempt { attempts[attempts.count - 1] }
  var verdict: Record.Verdict? { last.verdict }
  /// The name, which stays the same from run to run.
  var name: String { caseName(of: start, copy: copy) }
  /// The display name.
  var title: String { caseTitle(of: start, copy: copy) }

  /// The possible states of a machine in which it diverged.
  func divergenceStates(in machine: Record.Machine) -> [Int] {
    guard verdict?.word == .divergence else { return [] }
    let names = (verdict?.allowed ?? []).prefix(64).map(\.state)
    return machine.states.indices.filter { names.contains(machine.states[$0]) }
  }

  /// The file, and the line of the step at which it ended, or else of its beginning.
  var place: String {
    let line = (verdict?.line).flatMap { $0 > 0 ? $0 : nil } ?? start.line
    return [start.file, line.map { String($0) }].compactMap(\.self).joined(separator: ":")
  }
}

/// Reads cases again at their places in an index.
struct CaseReader {
  let sources: [JournalIndex.Source]

  /// A case with all records of its journal; `nil` if the journal cannot be read.
  func record(_ entry: JournalIndex.Entry, of suite: String) throws(FileFault) -> CaseRecord? {
    guard let start = try start(entry), let source = sources[Int(entry.journal)].file else { return nil }
    var record = CaseRecord(
      attempts: [CaseAttempt(start: start)], copy: entry.copy, milliseconds: entry.milliseconds, suite: suite,
      folder: Path.folder(of: sources[Int(entry.journal)].journal))
    while let line = try source.reader.next() {
      let last = record.attempts.count - 1
      let isOver = record.attempts[last].verdict != nil
      switch line {
      case .success(.event(let event)):
        if !isOver { record.attempts[last].moments.add(event) }
      case .success(.verdict(let verdict)) where verdict.id == start.id && !isOver:
        record.attempts[last].verdict = verdict
      case .success(.begin(let next)) where isOver && isNextTry(next, of: record.last.start):
        record.attempts.append(CaseAttempt(start: next))
      case .failure(let problem):
        if isOver { return record }
        record.attempts[last].problems.append(problem)
      case .success(.verdict), .success(.coverage), .success(.campaign), .success(.machine),
        .success(.left):
        if isOver { return record }
      case .success(.begin), .success(.run), .success(.end), .success(.finding): return record
      }
    }
    return record
  }

  /// The first record of a case.
  func start(_ entry: JournalIndex.Entry) throws(FileFault) -> Record.Case? {
    guard let source = sources[Int(entry.journal)].file else { return nil }
    try source.reader.seek(to: entry.offset, line: entry.line)
    guard case .success(.begin(let start)) = try source.reader.next() else { return nil }
    return start
  }

  private func isNextTry(_ next: Record.Case, of start: Record.Case) -> Bool {
    next.id == start.id && next.attempt - 1 == start.attempt
  }
}
