import Automata
import Conformance
import Journal
import Basics

/// Hands the trace of a case to the journal, and remembers what expectations ask about.
struct TraceWriter: TraceRecorder {
  private let listener: (any JournalListener)?
  private let vocabulary: Vocabulary

  /// The step that is being done.
  var mark = StepMark.start
  /// Whether the choices that follow are drawn in one step of a scenario.
  var isDrawing = false
  /// How much was observed.
  private(set) var count = 0
  /// What was observed last.
  private(set) var last: Observation?
  /// The name of the stimulus given last.
  private(set) var lastStimulus: String?
  /// What was done, in short.
  private(set) var steps = StepsInShort()
  /// The last stimuli and faults, in words.
  private(set) var actions: [String] = []
  /// The latest value of each reading.
  private(set) var latest: [String: Value] = [:]
  /// The effects and readings shown since the tester last did something, without those that met an expectation.
  private var shown: [Observation?] = []
  /// The statuses since the last wait, by number, without those up to one that met an expectation.
  ///
  /// A real device may have changed its state several times before the next check: the statuses in between were shown
  /// nevertheless.
  private(set) var passing: [Int] = []

  /// The number of observations in the steps.
  private var shownCount = 0
  /// The number of stimuli that reached the device and showed nothing before the next one.
  private var silenceCount = 0
  /// Whether the device was given a stimulus, and has shown nothing since.
  private var isAwaited = false
  /// Whether the last stimulus came to the device.
  private var isReached = false
  /// Whether the device has shown anything at all, if only how it starts.
  private var isHeard = false
  /// How many stimuli came to the device.
  private(set) var asked = 0

  /// What the model holds possible, as it was last written down.
  private var model: [String] = []
  private var states: [Int] = []

  static var followsModel: Bool { true }
  static var followsSteps: Bool { true }

  /// The most observations that are remembered for expectations.
  private static let limit = 10_000

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

  /// Writes down what the tester lets happen; of what it does itself there is an event.
  mutating func announce(_ action: TestAction, at time: Instant) {
    forgetShown()
    if case .wait = action { steps.add(action, vocabulary) }
    switch action {
    case .wait(let interval): listener?.note(.wait, interval.description, mark, at: time)
    case .next: listener?.note(.wait, ScenarioGrammar.next, mark, at: time)
    case .settle, .edge: listener?.note(.wait, ScenarioGrammar.settled, mark, at: time)
    case .stimulus, .fault: break
    }
  }

  mutating func ask(reaching isReaching: Bool) {
    if isAwaited { silenceCount += 1 }
    (isReached, isAwaited) = (isReaching, isReaching)
    if isReaching { asked += 1 }
  }

  /// How many observations of the device the model was held against: what a verdict rests on.
  ///
  /// One is whatever the device shows from the first step on, a status, an effect, a reading, a refusal, the breach of a
  /// rule; and its silence upon a stimulus that came to it. Silence counts only of a device that was heard in this case: a
  /// dead one is as silent. What the tester's own end refuses, or sees happen, is nothing that the device did.
  var observations: Int { shownCount + (isHeard ? silenceCount + (isAwaited ? 1 : 0) : 0) }

  /// Counts an observation.
  private mutating func count(_ observation: Observation) {
    switch observation {
    case .event: return
    case .refused where !isReached: return
    case .status, .effect, .unknown, .refused, .reading, .violation: break
    }
    isHeard = true
    // How it starts it was told.
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
    guard states != self.states else { return }
    self.states = states
    let definition = tracker.specification.machine.definition
    var statuses: [String] = []
    for state in states where !statuses.contains(definition.states[state].status) {
      statuses.append(definition.states[state].status)
    }
    guard statuses != model else { return }
    model = statuses
    var event = Record.Event(.model, "", at: time)
    event.statuses = statuses
    listener.take(.event(event))
  }

  private mutating func remember(_ observation: Observation) {
    if shown.count == Self.limit { shown.removeFirst(Self.limit / 2) }
    shown.append(observation)
  }

  /// The tester does something: what was shown before is no answer to it.
  private mutating func forgetShown() {
    shown.removeAll()
    forgetPassing()
  }

  /// A new wait begins, or time has passed: only the last status counts.
  mutating func forgetPassing() {
    passing.removeAll(keepingCapacity: true)
  }

  /// The first of what was shown that is wanted, besides some.
  func index(of isWanted: (Observation) -> Bool, besides used: [Int]) -> Int? {
    shown.indices.first { index in
      !used.contains(index) && shown[index].map(isWanted) ?? false
    }
  }

  /// Whether a reading was shown since the tester last did something, that met no expectation.
  func hasReading(_ name: String) -> Bool {
    index(of: { if case .reading(let reading) = $0 { reading.name == name } else { false } }, besides: [])
      != nil
  }

  /// What met an expectation meets no other.
  ///
  /// - Parameters:
  ///   - indices: which effects and readings.
  ///   - count: how many of the statuses of this look.
  mutating func use(_ indices: [Int], passing count: Int) {
    for index in indices { shown[index] = nil }
    passing.removeFirst(count)
  }

  /// The effects that met no expectation, in words.
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
  /// Whether a value is as it must be; whole numbers and decimals are compared as numbers.
  func holds(_ other: Value) -> Bool {
    if let value, !isSame(value, other) { return false }
    guard above != nil || below != nil else { return true }
    guard let number = other.asNumber else { return false }
    return above.map { number > $0 } ?? true && below.map { number < $0 } ?? true
  }

  /// Whether an observation is the reading of a name with such a value.
  func holds(_ observation: Observation, _ name: String) -> Bool {
    guard case .reading(let reading) = observation, reading.name == name else { return false }
    return holds(reading.value)
  }

  private func isSame(_ left: Value, _ right: Value) -> Bool {
    // A device may say `off` in a word where a scenario says it without quotes.
    if case (.flag(let flag), .text(let word)) = (left, right) { return truth(ofWord: word) == flag }
    guard let first = left.asNumber, let second = right.asNumber else { return left == right }
    // What is written with a few decimals is meant with a few decimals.
    return abs(first - second) <= 1e-9 * max(1, abs(first))
  }
}

extension Value {
  fileprivate var asNumber: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .flag, .duration, .text: nil
    }
  }
}

extension Expectation {
  /// The expectation in words: `status locked or moved within 5 s`.
  var text: String { conditions.map { $0.text }.joined(separator: " and ") + time.words }
}

extension Expectation.Time {
  /// How long there is for it, in words behind what is expected.
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

  /// What is expected something of: `status`, or the name of a reading.
  var what: String {
    switch self {
    case .status: "status"
    case .effect: "effect"
    case .refusal: "refusal"
    case .quiet: "quiet"
    case .reading(let name, _): name
    }
  }

  /// What is expected of it.
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
