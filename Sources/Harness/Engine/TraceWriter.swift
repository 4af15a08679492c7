import Automata
import Conformance
import Journal
import Basics

/// Records the trace of a case in the journal, and keeps what expectations need.
struct TraceWriter: TraceRecorder {
  private let listener: (any JournalListener)?
  private let vocabulary: Vocabulary

  /// The current step.
  var mark = StepMark.start
  /// Whether the next choices are drawn within one step of a scenario.
  var isDrawing = false
  /// The number of observations.
  private(set) var count = 0
  /// The last observation.
  private(set) var last: Observation?
  /// The name of the last stimulus.
  private(set) var lastStimulus: String?
  /// The actions, in short.
  private(set) var steps = StepSummary()
  /// The last stimuli and faults, as text.
  private(set) var actions: [String] = []
  /// The latest value of each reading.
  private(set) var latest: [String: Value] = [:]
  /// The effects and readings since the tester's last action, without those that met an expectation.
  private var shown: [Observation?] = []
  /// The statuses shown since the last wait, by number, without those up to one that met an expectation.
  ///
  /// A real device may have changed its state several times before the next check: the statuses in between were shown
  /// nevertheless.
  private(set) var passing: [Int] = []

  /// The number of observations in the steps.
  private var shownCount = 0
  /// The number of stimuli that reached the device and showed nothing before the next one.
  private var silenceCount = 0
  /// Whether the device received a stimulus and has shown nothing since.
  private var isAwaited = false
  /// Whether the last stimulus reached the device.
  private var isReached = false
  /// Whether the device has shown anything at all, even only its start status.
  private var isHeard = false
  /// The number of stimuli that reached the device.
  private(set) var asked = 0

  /// The model's possible states, as last recorded.
  private var model: [String] = []
  private var states: [Int] = []
  /// What the model holds possible of its variables, as last recorded.
  private var variables: [PossibleValues] = []

  static var followsModel: Bool { true }
  static var followsSteps: Bool { true }

  /// The maximum number of observations that are kept for expectations.
  private static let limit = 10_000
  /// The maximum number of values of a variable that are recorded.
  private static let maximumValues = 8

  init(_ listener: (any JournalListener)?, _ vocabulary: Vocabulary) {
    self.listener = listener
    self.vocabulary = vocabulary
  }

  /// A test begins.
  mutating func begin() {
    self = TraceWriter(listener, vocabulary)
  }

  mutating func begin(step number: Int, _ action: TestAction, at time: Instant) {
    if isDrawing { return forgetShown() }
    mark = StepMark(number, line: 0)
    announce(action, at: time)
  }

  /// Records an action of time; the tester's own actions are events of their own.
  mutating func announce(_ action: TestAction, at time: Instant) {
    forgetShown()
    if case .wait = action { steps.add(action, vocabulary) }
    switch action {
    case .wait(let interval): listener?.note(.wait, interval.description, mark, at: time)
    case .next: listener?.note(.wait, ScenarioGrammar.next, mark, at: time)
    case .settle, .edge: listener?.note(.wait, ScenarioGrammar.settled, mark, at: time)
    case .stimulus, .fault, .drawn: break
    }
  }

  mutating func ask(reaching isReaching: Bool) {
    if isAwaited { silenceCount += 1 }
    (isReached, isAwaited) = (isReaching, isReaching)
    if isReaching { asked += 1 }
  }

  /// The number of observations that were compared with the model: the evidence of a verdict.
  ///
  /// Each status, effect, reading, refusal and rule violation from the first step on counts, and so does the
  /// device's silence upon a stimulus that reached it. Silence counts only if the device has shown anything
  /// in this case: a dead device is silent too. Events and refusals of the tester's own end of the link do not
  /// count.
  var observations: Int { shownCount + (isHeard ? silenceCount + (isAwaited ? 1 : 0) : 0) }

  /// Counts an observation.
  private mutating func count(_ observation: Observation) {
    switch observation {
    case .event: return
    case .refused where !isReached: return
    case .status, .effect, .unknown, .refused, .reading, .violation: break
    }
    isHeard = true
    // What is shown before the first step belongs to the preparation.
    guard mark != .start else { return }
    isAwaited = false
    shownCount += 1
  }

  mutating func record(_ event: TraceEvent, at time: Instant) {
    switch event {
    case .stimulus(let stimulus):
      forgetShown()
      let name = vocabulary.stimuli[stimulus.number]
      lastStimulus = name
      if mark != .start { steps.add(.stimulus(stimulus), vocabulary) }
      note(action: name)
      listener?.take(.event(Record.Event(Step.Call(name, stimulus.arguments), mark, at: time)))
    case .fault(let fault):
      if mark != .start { steps.add(.fault(fault), vocabulary) }
      note(action: fault.value == .flag(true) ? fault.name : "\(fault.name) \(fault.value)")
      listener?.take(.event(Record.Event(fault, mark, at: time)))
    case .observation(let observation):
      listener?.take(.event(Record.Event(observation, vocabulary, at: time)))
      // A diagnostic is never expected or excluded.
      if case .violation(let violation) = observation, violation.quirk != nil { return }
      count(observation)
      count += 1
      last = observation
      switch observation {
      case .effect: remember(observation)
      case .reading(let reading):
        latest[reading.name] = reading.value
        remember(observation)
      case .status(let number): passing.append(number)
      case .unknown, .refused, .event, .violation: break
      }
    }
  }

  private mutating func note(action: String) {
    actions = actions.suffix(EarlierCase.maximumActions - 1) + [action]
  }

  mutating func follow(_ tracker: borrowing Tracker, at time: Instant) {
    guard let listener else { return }
    let states = tracker.possibleStates
    let changed = changedVariables(of: tracker)
    guard states != self.states || !changed.isEmpty else { return }
    self.states = states
    let definition = tracker.specification.machine.definition
    var statuses: [String] = []
    for state in states where !statuses.contains(definition.states[state].status) {
      statuses.append(definition.states[state].status)
    }
    guard statuses != model || !changed.isEmpty else { return }
    model = statuses
    var event = Record.Event(.model, "", at: time)
    (event.statuses, event.variables) = (statuses, changed)
    listener.take(.event(event))
  }

  /// Returns the variables that may have other values than when they were last recorded.
  private mutating func changedVariables(of tracker: borrowing Tracker) -> [Record.Variable] {
    let possible = tracker.possibleValues(most: Self.maximumValues)
    guard !possible.isEmpty else { return [] }
    defer { variables = possible }
    return possible.enumerated().compactMap { index, variable in
      let isKnown = index < variables.count && variables[index].agrees(with: variable)
      return isKnown ? nil : Record.Variable(variable)
    }
  }

  private mutating func remember(_ observation: Observation) {
    if shown.count == Self.limit { shown.removeFirst(Self.limit / 2) }
    shown.append(observation)
  }

  /// Forgets what was shown: the tester acts, and earlier observations are not a reaction to that.
  private mutating func forgetShown() {
    shown.removeAll()
    forgetPassing()
  }

  /// Forgets the statuses since the last wait: a new wait begins, or time has passed. Only the present status counts.
  mutating func forgetPassing() {
    passing.removeAll(keepingCapacity: true)
  }

  /// The index of the first matching observation that is not in `used`.
  func index(of isWanted: (Observation) -> Bool, besides used: [Int]) -> Int? {
    shown.indices.first { index in
      !used.contains(index) && shown[index].map(isWanted) ?? false
    }
  }

  /// Whether the device has shown a reading since the tester's last action that has not met an expectation yet.
  func hasReading(_ name: String) -> Bool {
    index(of: { if case .reading(let reading) = $0 { reading.name == name } else { false } }, besides: [])
      != nil
  }

  /// Marks observations as used: each meets one expectation only.
  ///
  /// - Parameters:
  ///   - indices: the effects and readings.
  ///   - count: the number of statuses.
  mutating func use(_ indices: [Int], passing count: Int) {
    for index in indices { shown[index] = nil }
    passing.removeFirst(count)
  }

  /// The effects that met no expectation, as text.
  var effects: String? {
    let names = shown.compactMap { observation -> String? in
      guard case .effect(let number) = observation else { return nil }
      return vocabulary.effects[number]
    }
    return names.isEmpty ? nil : names.joined(separator: ", ")
  }
}

extension TraceWriter {
  /// Why a case without observations has no verdict.
  var whyNothingWasCompared: String {
    let asked =
      asked == 0
      ? "the device was asked for nothing, and showed nothing"
      : "the device showed nothing at all, as one that is dead would"
    return "nothing was compared: \(asked)"
  }
}

extension Expectation.Comparison {
  /// Whether a value equals another one; whole numbers and decimals are compared as numbers.
  func holds(_ other: Value) -> Bool {
    if let value, !isSame(value, other) { return false }
    guard above != nil || below != nil else { return true }
    guard let number = other.asNumber else { return false }
    return above.map { number > $0 } ?? true && below.map { number < $0 } ?? true
  }

  /// Whether an observation is the named reading with such a value.
  func holds(_ observation: Observation, _ name: String) -> Bool {
    guard case .reading(let reading) = observation, reading.name == name else { return false }
    return holds(reading.value)
  }

  private func isSame(_ left: Value, _ right: Value) -> Bool {
    // A device may report `off` as a word where a scenario has it without quotes.
    if case (.flag(let flag), .text(let word)) = (left, right) { return truth(ofWord: word) == flag }
    guard let first = left.asNumber, let second = right.asNumber else { return left == right }
    // A value written with few decimals is compared with that precision.
    return abs(first - second) <= 1e-9 * max(1, abs(first))
  }
}

extension Value {
  fileprivate var asNumber: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }
}

extension Expectation {
  /// The expectation as text: `status locked or moved within 5 s`.
  var text: String { conditions.map { $0.text }.joined(separator: " and ") + time.words }
}

extension Expectation.Time {
  /// The time of the expectation as text.
  var words: String {
    switch self {
    case .now: ""
    case .within(let interval): " within \(interval)"
    case .lasting(let interval): " for \(interval)"
    }
  }
}

extension Expectation.Condition {
  fileprivate var text: String {
    switch self {
    case .refusal(let text): text.isEmpty ? "a refusal" : "a refusal with '\(text)'"
    case .status, .effect, .quiet, .reading: "\(what) \(expected)"
    }
  }

  /// The subject of the condition: `status`, or the name of a reading.
  var what: String {
    switch self {
    case .status: "status"
    case .effect: "effect"
    case .refusal: "refusal"
    case .quiet: "quiet"
    case .reading(let name, _): name
    }
  }

  /// The expected value as text.
  var expected: String {
    switch self {
    case .status(let names): names.joined(separator: " or ")
    case .effect(let name): name
    case .refusal(let text): text.isEmpty ? "with any reason" : "with '\(text)'"
    case .quiet(let interval): "for \(interval)"
    case .reading(_, let comparison): comparison.text
    }
  }
}

extension Expectation.Comparison {
  fileprivate var text: String {
    var parts: [String] = []
    if let value { parts.append(value.description) }
    if let above { parts.append("above \(above)") }
    if let below { parts.append("below \(below)") }
    return parts.joined(separator: " and ")
  }
}
