import Basics
import Journal
import System

/// Something that happened in a case: a row of its timeline.
struct Moment: Hashable {
  /// Who brought it about.
  enum Lane {
    case tester
    case device
    case lab
    /// Nobody: the model changed its mind because time passed.
    case model
  }

  /// Since the start of the case.
  var time: Instant
  var step: Int?
  var line: Int?
  var lane: Lane
  /// The kind of event, such as `stimulus`.
  var kind: Record.Event.Kind
  /// What there is to say beside the kind.
  var words: String
  /// What the model holds possible after it, and whether that is new.
  var possible: [String]
  var isModelChanged: Bool
  /// What the device shows after it.
  var status: String?

  /// The longest text that a row shows, in bytes.
  fileprivate static let longestWords = 1 << 10
  /// The most statuses that a row shows.
  fileprivate static let maximumStatuses = 64
}

/// The first and the last moments of a case, for one that has more than a page should hold.
struct Moments {
  private(set) var head: [Moment] = []
  private(set) var tail: [Moment] = []
  /// How many stood between them.
  private(set) var omitted = 0
  private var possible: [String] = []
  private var status: String?

  private static let limit = 600

  var count: Int { head.count + omitted + tail.count }

  /// All that were kept.
  var kept: [Moment] { head + tail }

  /// All that were kept, each with its number among all.
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

  /// A change of the model alone belongs to what it follows at once, and otherwise is time passing.
  private mutating func addModel(_ event: Record.Event) {
    let isChanged = event.statuses != possible
    possible = event.statuses.prefix(Moment.maximumStatuses).map { clipped($0, toBytes: Moment.longestWords) }
    if let last = tail.last ?? head.last, last.time == event.time, last.lane != .model {
      if tail.isEmpty {
        head[head.count - 1].possible = possible
        head[head.count - 1].isModelChanged = true
      } else {
        tail[tail.count - 1].possible = possible
        tail[tail.count - 1].isModelChanged = true
      }
    } else {
      append(
        Moment(
          time: event.time, step: event.step, line: event.line, lane: .model, kind: .model, words: "",
          possible: possible, isModelChanged: isChanged, status: status))
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

/// The value of the first member, and the others behind it.
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

/// One try of a case.
struct CaseAttempt {
  var start: Record.Case
  var verdict: Record.Verdict?
  var moments = Moments()
  var problems: [JournalProblem] = []

  /// Why it ended so, in one line.
  var message: String {
    var text = CaseText(start: start)
    text.verdict = verdict
    return text.message
  }
}

/// A case as it is shown: all of its tries, the last of which counts.
struct CaseRecord {
  var attempts: [CaseAttempt]
  /// Which of the cases with its name it is.
  var copy: Int32
  var milliseconds: Int64
  /// The class of the case in JUnit.
  var suite: String
  /// Where files that belong to it are looked for.
  var folder: String

  var start: Record.Case { attempts[0].start }
  var last: CaseAttempt { attempts[attempts.count - 1] }
  var verdict: Record.Verdict? { last.verdict }
  /// What it is known by from one run to the next.
  var name: String { caseName(of: start, copy: copy) }
  /// What people call it.
  var title: String { caseTitle(of: start, copy: copy) }

  /// The states of a machine that it was possibly in when it diverged.
  func places(in machine: Record.Machine) -> [Int] {
    guard verdict?.word == .divergence else { return [] }
    let names = (verdict?.allowed ?? []).prefix(64).map(\.state)
    return machine.states.indices.filter { names.contains(machine.states[$0]) }
  }

  /// Where it stands: the file, and the line of the step at which it ended, or else that at which it begins.
  var place: String {
    let line = (verdict?.line).flatMap { $0 > 0 ? $0 : nil } ?? start.line
    return [start.file, line.map { String($0) }].compactMap(\.self).joined(separator: ":")
  }
}

/// Reads cases again where an index found them.
struct CaseReader {
  let sources: [JournalIndex.Source]

  /// A case with everything that its journal says of it, or `nil` where the journal cannot be read.
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

  /// The line that a case starts with.
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
