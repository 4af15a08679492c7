import Automata
import Conformance
import Basics

/// Does what a scenario does, and lets only the model judge.
///
/// For devices that are bare machines: what they do not show, such as readings, is not expected of them, and a status
/// that the model allows and the scenario does not is noted and no reason to stop.
struct BareScenario<Device: DeviceUnderTest> {
  private(set) var lockstep: Lockstep<Device, NoRecorder>
  /// Whether every status was as the scenario expects it.
  private(set) var isAsExpected = true
  private var startStatus = ""
  private let seed: UInt64

  /// Joins a model and a device; the seed is that of random steps.
  init(_ specification: Specification, _ device: Device, seed: UInt64) {
    lockstep = Lockstep(specification, device, recorder: NoRecorder())
    self.seed = seed
  }

  /// Does the scenario; gives the divergence of model and device, if there is one.
  mutating func run(_ scenario: Scenario) throws(LabFault) -> Divergence? {
    if let divergence = try lockstep.reset(to: scenario.start) { return divergence }
    let definition = lockstep.tracker.specification.machine.definition
    startStatus = lockstep.tracker.possibleStates.first.map { definition.states[$0].status } ?? ""
    if let divergence = try lockstep.pass(until: lockstep.now) { return divergence }
    if let divergence = try run(scenario.steps) { return divergence }
    return try lockstep.conclude()
  }

  private mutating func run(_ steps: [Step]) throws(LabFault) -> Divergence? {
    for step in steps {
      if let divergence = try run(step.action) { return divergence }
    }
    return nil
  }

  private mutating func run(_ action: Step.Action) throws(LabFault) -> Divergence? {
    switch action {
    case .perform(let call): return try perform(call, waits: true)
    case .performNow(let call): return try perform(call, waits: false)
    case .refuse(let call):
      guard let number = lockstep.vocabulary.stimulus(call.name), !lockstep.tracker.allows(number) else {
        isAsExpected = false
        return nil
      }
      return try perform(call, waits: false)
    case .fault(let fault): return try lockstep.bring(about: fault)
    case .wait(let interval): return try lockstep.pass(until: lockstep.now + interval)
    case .settle: return try lockstep.settle()
    case .next: return try lockstep.awaitNext()
    case .expect(let expectation), .until(let expectation): return try passTime(of: expectation)
    case .fuzz(let events): return try draw(events)
    case .repeated(let times, let steps):
      for _ in 0..<times {
        if let divergence = try run(steps) { return divergence }
      }
      return nil
    case .note: return nil
    }
  }

  private mutating func perform(_ call: Step.Call, waits: Bool) throws(LabFault) -> Divergence? {
    guard let number = lockstep.vocabulary.stimulus(call.name) else { return nil }
    if let divergence = try lockstep.pass(until: lockstep.now) { return divergence }
    let limit = lockstep.now + Lockstep<Device, NoRecorder>.patience
    while waits, lockstep.now < limit, !lockstep.tracker.allows(number), lockstep.tracker.mayAllow(number) {
      if let divergence = try lockstep.next(until: limit) { return divergence }
    }
    return try lockstep.perform(Stimulus(number, call.arguments))
  }

  private mutating func draw(_ events: Step.RandomEvents) throws(LabFault) -> Divergence? {
    let alphabet = Alphabet(
      lockstep.tracker.specification, lockstep.device.abilities, levels: events.levels,
      weights: events.weights.map { ($0.name, $0.weight) })
    var explorer = Explorer(alphabet, starts: 1, seed: seed)
    return try lockstep.explore(&explorer, alphabet, starts: nil, events: events.count)
  }

  /// Lets the time pass that an expectation takes.
  private mutating func passTime(of expectation: Expectation) throws(LabFault) -> Divergence? {
    var names: [String]?
    for condition in expectation.conditions {
      switch condition {
      case .status(let statuses): names = statuses
      case .quiet(let interval): return try lockstep.pass(until: lockstep.now + interval)
      case .effect, .refusal, .reading: break
      }
    }
    if let divergence = try lockstep.pass(until: lockstep.now) { return divergence }
    guard let names else { return nil }
    switch expectation.time {
    case .now: break
    case .within(let interval):
      let limit = lockstep.now + interval
      while !names.contains(status), lockstep.now < limit {
        if let divergence = try lockstep.next(until: limit) { return divergence }
      }
    case .lasting(let interval):
      if let divergence = try lockstep.pass(until: lockstep.now + interval) { return divergence }
    }
    if !names.contains(status) { isAsExpected = false }
    return nil
  }

  private var status: String { lockstep.status.map { lockstep.vocabulary.statuses[$0] } ?? startStatus }
}

/// What generates tests one choice at a time.
protocol TestGenerator {
  mutating func begin() -> Int
  mutating func next(in situation: Situation) -> Choice?
  mutating func end(in situation: Situation) -> Bool
  /// Leaves a start out from now on; says whether another is left.
  mutating func exclude(start: Int) -> Bool
  /// Whether there is nothing more to do.
  var isFinished: Bool { get }
}

extension Explorer: TestGenerator {
  /// Exploring never ends by itself.
  var isFinished: Bool { false }
}

extension Tour: TestGenerator {}

extension Lockstep {
  /// Does so many choices of a generator, test after test.
  ///
  /// - Parameter starts: the conditions in which tests start; `nil` to go on from wherever the device is.
  /// - Returns: the first divergence.
  mutating func explore<Generator: TestGenerator>(
    _ generator: inout Generator, _ alphabet: Alphabet, starts: [StartCondition]?, events: Int
  ) throws(LabFault) -> Divergence? {
    var count = 0
    // A generator that ends its tests at once must not go on for ever.
    var empty = 0
    while count < events, !generator.isFinished, empty < 100 {
      let start = generator.begin()
      let before = count
      if let starts {
        do {
          if let divergence = try begin(starts[start]) { return divergence }
        } catch {
          guard error.symptom == .notPossible, generator.exclude(start: start) else { throw error }
          continue
        }
      }
      while count < events, let choice = generator.next(in: situation) {
        guard let action = alphabet.action(of: choice) else { continue }
        count += 1
        if let divergence = try carryOut(action).divergence { return divergence }
      }
      if let divergence = try conclude() { return divergence }
      _ = generator.end(in: situation)
      empty = count == before ? empty + 1 : 0
    }
    return nil
  }
}
