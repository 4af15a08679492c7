public import Automata
public import Basics

/// Watches a rule that is a machine; see ``TraceRule``.
public struct RuleMonitor: Invariant {
  private let rule: CompiledRule
  private var tracker: Tracker
  /// The events of the rule by the numbers of the device's vocabulary; empty until the first event.
  private var numbers = CompiledRule.Numbers()
  /// The conditions of the rule that hold, as bits.
  private var held: UInt64 = 0

  /// Watches a rule.
  public init(_ rule: CompiledRule) {
    self.rule = rule
    tracker = Tracker(rule.specification)
  }

  public mutating func reset(isNew: Bool) {
    tracker.start(in: isNew ? rule.startCount - 1 : 0)
    held = 0
  }

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    if numbers.isEmpty { numbers = rule.numbers(in: view.vocabulary) }
    guard let stimulus = stimulus(of: event) else { return nil }
    if !rule.conditions.isEmpty { follow(view, at: time) }
    tracker.perform(stimulus, at: time)
    guard tracker.isCertainly(in: rule.broken) else { return nil }
    return sentence(of: stimulus)
  }

  /// The event of the rule's machine for what was seen; `nil` if the rule does not ask for it.
  private func stimulus(of event: TraceEvent) -> Stimulus? {
    switch event {
    case .stimulus(let stimulus):
      let number = numbers.stimuli[stimulus.number]
      return number < 0 ? nil : Stimulus(number, stimulus.arguments)
    case .fault(let fault):
      return rule.event(ofFault: fault.name).map { Stimulus($0, [Argument(TraceRule.value, fault.value)]) }
    case .observation(.status(let number)):
      let number = numbers.statuses[number]
      return number < 0 ? nil : Stimulus(number)
    case .observation(.event(let seen)):
      let number = numbers.stimuli[seen.number]
      return number < 0 ? nil : Stimulus(number)
    case .observation(.reading(let reading)):
      guard let number = rule.event(ofReading: reading.name) else { return nil }
      guard case .record(let fields) = reading.value else {
        return Stimulus(number, [Argument(TraceRule.value, reading.value)])
      }
      return Stimulus(number, fields.map { Argument($0.name, $0.value) })
    case .observation(.refused): return rule.refusal.map { Stimulus($0) }
    case .observation(.effect), .observation(.violation), .observation(.unknown): return nil
    }
  }

  /// Lets the conditions of the rule hold as those of the device's machine.
  private mutating func follow(_ view: ModelView, at time: Instant) {
    for (number, name) in rule.conditions.enumerated() {
      let bit: UInt64 = 1 << UInt64(number)
      let holds = view.mayHold(name)
      guard holds != (held & bit != 0) else { continue }
      held ^= bit
      tracker.apply(Fault(name, .flag(holds)), at: time)
    }
    tracker.completeConditionChanges()
  }

  /// The sentence of the state that breaks the rule, and the values on which its row depends.
  private func sentence(of stimulus: Stimulus) -> String {
    let machine = rule.specification.machine
    let state = machine.definition.states[tracker.possibleStates[0]].name
    let values = tracker.values(
      ofNamesIn: rule.expressions(leadingTo: state, on: stimulus.number), onEvent: stimulus.number)
    var shown: [Value] = []
    var words: [String] = []
    for value in values where value.value.isTelling && !shown.contains(value.value) {
      // Two lists of the same elements say the same.
      if case .list = value.value { shown.append(value.value) }
      words.append("\(value.name) is \(value.value)" + (value.origin.map { ", \($0)" } ?? ""))
    }
    return state + (words.isEmpty ? "" : ": " + words.joined(separator: "; "))
  }
}

extension [TraceRule] {
  /// Prepares and watches the rules.
  ///
  /// - Throws: an error if a machine is not well-formed.
  public func monitors() throws(DefinitionError) -> [any Invariant] {
    var monitors: [any Invariant] = []
    for rule in self { monitors.append(RuleMonitor(try CompiledRule(rule))) }
    return monitors
  }
}

extension Value {
  /// Whether a sentence gains by it: a flag says nothing beyond the sentence, and a long list says too much.
  fileprivate var isTelling: Bool {
    switch self {
    case .list(let elements): elements.count <= 4
    case .flag, .map, .unknown, .absent: false
    case .integer, .number, .duration, .instant, .text, .bytes, .record: true
    }
  }
}

/// A rule, prepared for watching. It is a class because all tests of a device share it.
public final class CompiledRule: Sendable {
  /// The rule's events by the numbers of a device's vocabulary; -1 where the rule has none.
  struct Numbers: Sendable {
    var stimuli: [Int] = []
    var statuses: [Int] = []

    var isEmpty: Bool { stimuli.isEmpty && statuses.isEmpty }
  }

  let specification: Specification
  /// For each state, whether the rule is broken in it.
  let broken: [Bool]
  /// The names of the rule's conditions.
  let conditions: [String]
  let refusal: Int?
  var startCount: Int { specification.machine.definition.starts.count }

  private let faults: [String: Int]
  private let readings: [String: Int]

  /// Prepares a rule.
  ///
  /// - Throws: an error if its machine is not well-formed.
  public init(_ rule: TraceRule) throws(DefinitionError) {
    var definition = rule.machine
    // The states show nothing, so all of them show the same.
    for index in definition.states.indices { definition.states[index].status = "" }
    let machine = try Machine(definition)
    specification = Specification(machine, showsEffects: false)
    broken = rule.machine.states.map { $0.status == TraceRule.broken }
    conditions = definition.conditions.map(\.name)
    refusal = machine.event(named: TraceRule.refusal)
    var numbers: (faults: [String: Int], readings: [String: Int]) = ([:], [:])
    for (number, event) in definition.events.enumerated() {
      let words = event.name.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      if event.name == TraceRule.event(ofFault: words[1]) { numbers.faults[words[1]] = number }
      if event.name == TraceRule.event(ofReading: words[1]) { numbers.readings[words[1]] = number }
    }
    (faults, readings) = numbers
  }

  func event(ofFault name: String) -> Int? { faults[name] }
  func event(ofReading name: String) -> Int? { readings[name] }

  func numbers(in vocabulary: Vocabulary) -> Numbers {
    let machine = specification.machine
    return Numbers(
      stimuli: vocabulary.stimuli.map { machine.event(named: $0) ?? -1 },
      statuses: vocabulary.statuses.map { machine.event(named: TraceRule.event(ofStatus: $0)) ?? -1 })
  }

  /// The expressions of the rows by which an event leads to a state.
  func expressions(leadingTo state: String, on event: Int) -> [String] {
    let definition = specification.machine.definition
    return definition.transitions.filter {
      $0.trigger == .event(definition.events[event].name) && $0.to == .states([state])
    }.compactMap(\.data.when)
  }
}
