import Automata
public import Basics
public import Conformance
public import Journal

// The harness's results as journal records.

/// A step's number and line.
public struct StepMark: Equatable, Sendable {
  /// The number of the step as written, from 1; 0 before the first.
  public var number: Int
  /// The line of the file.
  public var line: Int

  /// Marks a step.
  public init(_ number: Int, line: Int) {
    self.number = number
    self.line = line
  }

  /// Before the first step.
  public static let start = StepMark(0, line: 0)
}

extension JournalListener {
  /// Records an event.
  func note(_ kind: Record.Event.Kind, _ text: String, at time: Instant) {
    take(.event(Record.Event(kind, text, at: time)))
  }

  /// Records an event of a step.
  func note(_ kind: Record.Event.Kind, _ text: String, _ mark: StepMark, at time: Instant) {
    take(.event(Record.Event(kind, text, mark, at: time)))
  }

  /// Records a lab fault of an attempt, numbered from 1.
  func note(_ fault: LabFault, attempt: Int, at time: Instant) {
    var event = Record.Event(.lab, fault.description, at: time)
    event.attempt = attempt
    take(.event(event))
  }

  /// Records a diagnostic of the lab.
  public func diagnostic(_ text: String, at time: Instant = .zero) { note(.diagnostic, text, at: time) }

  /// Records how devices were left, as text and as data.
  func take(_ park: ParkReport) {
    for text in park.diagnostics { diagnostic(text) }
    for lock in park.locks { take(.left(Record.Left(lock.name, lock.park))) }
  }

  /// Records the coverage of a machine, after the machine itself.
  func take(_ coverage: Coverage) {
    take(.machine(coverage.machineRecord))
    take(.coverage(coverage.record))
  }
}

// MARK: - Events

extension StepMark {
  /// The line of the step in the file; `nil` for a step that is in no file, such as a generated one.
  fileprivate var writtenLine: Int? { line > 0 ? line : nil }
}

extension Record.Event {
  init(_ kind: Kind, _ text: String, _ mark: StepMark, at time: Instant) {
    self.init(kind, text, at: time)
    (step, line) = (mark.number, mark.writtenLine)
  }

  /// A stimulus is sent.
  init(_ call: Step.Call, _ mark: StepMark, at time: Instant) {
    self.init(.stimulus, call.name, mark, at: time)
    arguments = call.arguments.map { JSON.Member($0.name, JSON($0.value)) }
  }

  /// A fault is injected.
  init(_ fault: Fault, _ mark: StepMark, at time: Instant) {
    self.init(.fault, fault.name, mark, at: time)
    value = JSON(fault.value)
  }

  /// The device shows something.
  public init(_ observation: Observation, _ vocabulary: Vocabulary, at time: Instant) {
    switch observation {
    case .status(let number): self.init(.status, vocabulary.statuses[number], at: time)
    case .effect(let number): self.init(.effect, vocabulary.effects[number], at: time)
    case .unknown(let name): self.init(.status, name, at: time)
    case .refused(let reason): self.init(.refused, reason, at: time)
    case .reading(let reading):
      self.init(.reading, reading.name, at: time)
      value = JSON(reading.value)
    case .event(let seen):
      self.init(.event, vocabulary.stimuli[seen.number], at: time)
      breach.detail = seen.detail.isEmpty ? nil : seen.detail
    case .violation(let violation):
      self.init(.violation, violation.name, at: time)
      breach = Record.Breach(violation)
    }
  }
}

extension Record.Variable {
  init(_ possible: PossibleValues) {
    self.init(possible.name, possible.values.map { JSON($0, unknown: Self.unknown) })
    isMore = possible.isMore
  }
}

extension Record.Breach {
  init(_ violation: Violation) {
    self.init()
    (subject, detail, quirk) = (violation.subject, violation.detail, violation.quirk)
    guard let packet = violation.packet else { return }
    self.packet = packet.hex
    sender = Sender(rawValue: packet.sender.rawValue)
  }
}

// MARK: - Cases

extension Case {
  /// The first record of the case.
  public var record: Record.Case {
    var record = Record.Case(id: id)
    record.name = name
    // Without a file there is only a display name, which has no line to link to.
    if text != nil { (record.file, record.line) = (file, scenario.line) }
    record.tags = scenario.tags
    (record.machine, record.model) = (machine.label, machine.hash)
    (record.device, record.firmware) = (device.description, firmware)
    // In a fixed order: the order of the options does not matter.
    let settings = settings.map { "\($0.name)=\($0.value)" }.sorted()
    record.settings = settings.isEmpty ? nil : settings.joined(separator: "&")
    (record.seed, record.digest, record.text, record.attempt) = (seed, digest, text, attempt)
    record.program = program
    return record
  }
}

extension Outcome {
  /// The last record of a case.
  public func record(of test: Case) -> Record.Verdict {
    var record = Record.Verdict(verdict.word, of: test.id, at: time)
    record.message = message
    if record.message != nil, mark != .start { (record.step, record.line) = (mark.number, mark.writtenLine) }
    if case .limited(let reason) = verdict { record.limit = reason }
    if verdict == .agree || isContradiction {
      record.shown = shown.map { Record.ShownChoice($0.name, $0.options) }
    }
    if verdict.word == .agree || verdict.word.isFailed { record.observations = observations }
    (record.quarantine, record.isFlaky) = (quarantine, isFlaky)
    if case .divergence(let divergence) = verdict {
      record.explain(divergence, details)
      record.sentence = divergence.sentence(after: steps)
    }
    if case .unmet(let unmet) = verdict { record.explain(unmet, details) }
    if case .labFault(let fault) = verdict { record.trouble = Record.Trouble(fault) }
    record.isBefore = isBefore
    record.earlier = earlier.map { Record.EarlierCase(id: $0.id, actions: $0.actions) }
    (record.attachments, record.replay, record.isTriedAgain) = (attachments, replay, isTriedAgain)
    return record
  }
}

extension Record.Verdict {
  fileprivate mutating func explain(_ divergence: Divergence, _ details: [String]) {
    expected = divergence.expected.isEmpty ? nil : divergence.expected
    seen = divergence.seen
    if case .violation(let violation) = divergence.kind {
      (rule, breach) = (violation.name, Record.Breach(violation))
    }
    trouble = divergence.fault.map { Record.Trouble($0) }
    explanation = divergence.explanation.map { Record.Explanation(cause: $0.name, detail: $0.detail) }
    injected = divergence.injection.map { Record.InjectedAction($0) }
    self.details = details
    allowed = divergence.allowed.map { item in
      Record.Allowance(state: item.state, cause: item.cause.isEmpty ? nil : item.cause, shows: item.shows)
    }
    signature = divergence.signature
  }
}

extension Record.Verdict {
  fileprivate mutating func explain(_ unmet: UnmetExpectation, _ details: [String]) {
    (expected, seen, signature) = (unmet.expected, unmet.seen, unmet.signature)
    self.unmet = unmet.items.map { Record.Unmet($0.what, expected: $0.expected, seen: $0.seen) }
    explanation = unmet.explanation.map { Record.Explanation(cause: $0.name, detail: $0.detail) }
    injected = unmet.injection.map { Record.InjectedAction($0) }
    self.details = details
  }
}

extension Record.InjectedAction {
  init(_ injection: Divergence.Injection) {
    let action = injection.action
    self.init(kind: action.kind.rawValue, sent: action.sent, at: action.time)
    (reaction, isObeyed) = (action.reaction, injection.isObeyed)
  }
}

extension Record.Left {
  /// Records how a lock was left.
  public init(_ lock: String, _ park: ParkState) {
    switch park {
    case .parked: self.init(lock: lock, isParked: true)
    case .elsewhere(let why): self.init(lock: lock, isParked: false, message: why)
    case .unknown: self.init(lock: lock)
    }
  }
}

extension ParkState {
  /// Reads how a lock was left.
  public init(_ left: Record.Left) {
    self =
      switch left.isParked {
      case true?: .parked
      case false?: .elsewhere(left.message ?? "it is not parked")
      case nil: .unknown
      }
  }
}

// MARK: - Campaigns

extension Finding {
  /// The record of a finding that was saved at a path.
  public func record(path: String) -> Record.Finding {
    var record = Record.Finding(signature, shortest: test.choices.count)
    (record.number, record.message) = (number, divergence.summary)
    (record.events, record.length) = (foundAt, foundLength)
    record.shrinking = .init(runs: shrinking.runs, events: shrinking.events, end: shrinking.end)
    record.confirmation = .init(
      verdict: confirmation.verdict.rawValue, shown: confirmation.shown, runs: confirmation.runs,
      disturbed: confirmation.disturbed, likelihoodRatio: confirmation.likelihoodRatio)
    (record.past, record.twinComparison) = (past?.word, twin?.text)
    (record.count, record.file) = (count, path)
    return record
  }
}

extension Finding.Past {
  fileprivate var word: Record.Finding.Past {
    switch self {
    case .unknown: .unknown
    case .irrelevant: .irrelevant
    case .included: .included
    case .needed: .needed
    }
  }
}
