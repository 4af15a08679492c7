public import Automata
public import Basics

/// A machine as a device under test: it does what the machine says, and shows it.
///
/// Where the machine leaves a choice, a ``Preference`` decides: between several targets, whether and when something
/// happens that the tester does not cause. Compared with its own machine it never diverges; made of a wrong one, it is
/// what the tests of that machine have to find.
public struct MachineDevice: StandaloneDevice, Sendable {
  /// How choices are made that the machine leaves to the device.
  public enum Preference: Equatable, Sendable {
    /// The first target; what must happen, as early as it can; what only may happen, never.
    case first
    /// The last target; what must happen, as late as it may; what only may happen, never.
    case last
    /// By a generator with this seed, which goes on from test to test.
    case seeded(UInt64)
    /// One after the other as they are written down; what is not, does not happen.
    case scripted([Decision])
  }

  /// One choice that was made.
  public enum Decision: Equatable, Sendable {
    /// A stimulus leads along the enabled edge of this number.
    case take(Int)
    /// The spontaneous edge of this number is taken at this time.
    case fire(Int, at: Instant)
  }

  /// The machine.
  public let machine: Machine
  public let abilities: Abilities
  public private(set) var now = Instant.zero
  /// Which cells were tried since the device was made: `tried[state * events + event]`.
  public private(set) var tried: [Bool]
  /// Which states the device was in since it was made.
  public private(set) var visited: [Bool]

  /// What it has chosen, once and for all its tests: one option of each choice, as bits.
  public var options: UInt64

  private var preference = Preference.first
  private var vocabulary: Vocabulary
  private var interpreter: ReferenceInterpreter
  private var configuration: ReferenceInterpreter.Configuration
  /// What is to be shown at this moment, the next one first.
  private var shows: ArraySlice<Observation> = []
  /// What happens next by itself.
  private var plan: (edge: Int, time: Instant)?
  private var generator = SeededGenerator(seed: 0)
  private var script: ArraySlice<Decision> = []
  /// How often in a row something happened at this moment that nobody could see.
  private var unseen = 0

  /// The most changes at one moment of which nothing is seen: a wrong machine may go round for ever.
  private static let maximumUnseen = 1000

  /// Makes a device of a machine.
  ///
  /// - Parameter showsEffects: whether it shows effects beside statuses.
  public init(_ machine: Machine, _ preference: Preference = .first, showsEffects: Bool = true) {
    self.init(machine, speaking: Vocabulary(machine: machine), showsEffects: showsEffects)
    decide(by: preference)
  }

  private init(_ machine: Machine, speaking vocabulary: Vocabulary, showsEffects: Bool) {
    self.vocabulary = vocabulary
    self.machine = machine
    abilities = Abilities(ofDevice: machine, showsEffects: showsEffects)
    tried = [Bool](repeating: false, count: machine.stateCount * machine.eventCount)
    visited = [Bool](repeating: false, count: machine.stateCount)
    interpreter = ReferenceInterpreter(machine.definition, vocabulary, showsEffects: showsEffects)
    options = machine.variants[0]
    configuration = interpreter.start(machine.definition.starts.count - 1, options)
  }

  /// Makes a device of the machine of a specification, or of another that is held against it.
  public init(_ specification: Specification, _ machine: Machine? = nil) {
    self.init(
      machine ?? specification.machine, speaking: specification.vocabulary,
      showsEffects: specification.showsEffects)
  }

  /// Makes choices otherwise, from the next test on.
  public mutating func decide(by preference: Preference) {
    self.preference = preference
    let variants = machine.variants
    switch preference {
    case .first, .scripted: options = variants[0]
    case .last: options = variants[variants.count - 1]
    case .seeded(let seed):
      generator = SeededGenerator(seed: seed, for: "machine device")
      if variants.count > 1 { options = variants[generator.below(variants.count)] }
    }
  }

  public mutating func adopt(_ vocabulary: Vocabulary) {
    guard vocabulary != self.vocabulary else { return }
    self.vocabulary = vocabulary
    interpreter = ReferenceInterpreter(machine.definition, vocabulary, showsEffects: abilities.showsEffects)
  }

  public mutating func reset(to start: StartCondition) throws(LabFault) {
    guard let number = machine.start(for: start) else {
      throw LabFault(.notPossible, "the machine has no start of these settings")
    }
    now = .zero
    shows = []
    unseen = 0
    configuration = interpreter.start(number, options)
    visited[configuration.state] = true
    for setting in start.settings {
      interpreter.apply(Fault(setting.name, setting.value), to: &configuration, at: now)
    }
    interpreter.enter(&configuration)
    if case .scripted(let decisions) = preference { script = decisions[...] }
    makePlan()
  }

  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    tried[configuration.state * machine.eventCount + stimulus.number] = true
    let ways = interpreter.ways(on: stimulus.number, from: configuration)
    guard !ways.isEmpty else {
      shows.append(.refused("not allowed in \(machine.definition.states[configuration.state].name)"))
      return
    }
    let way = ways[chosen(of: ways.count)]
    let before = configuration
    // What the stimulus sets is set when it is sent: a status that it leads to comes after, and may end it.
    interpreter.apply(stimulus, to: &configuration)
    take(way)
    if configuration != before { makePlan() }
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    let before = configuration.holds
    interpreter.apply(fault, to: &configuration, at: now)
    if configuration.holds != before { makePlan() }
  }

  public mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      if let next = shows.popFirst() {
        unseen = 0
        return next
      }
      if case .scripted = preference { followScript() }
      if endFault(by: min(limit, plan?.time ?? .never)) { continue }
      guard let next = plan, next.time <= limit, unseen < Self.maximumUnseen else {
        now = max(now, limit)
        return nil
      }
      unseen = next.time > now ? 0 : unseen + 1
      now = max(now, next.time)
      plan = nil
      take(interpreter.freeWay(next.edge, of: configuration.state))
      makePlan()
    }
  }

  public mutating func restart() throws(LabFault) {}
}

extension MachineDevice {
  /// Lets time pass up to the end of a fault, if one ends by then.
  private mutating func endFault(by limit: Instant) -> Bool {
    guard let end = configuration.ends.map(\.time).min(), end <= limit else { return false }
    let before = configuration.holds
    now = max(now, end)
    _ = interpreter.expire(&configuration, at: now)
    if configuration.holds != before { makePlan() }
    return true
  }

  private mutating func take(_ way: ReferenceInterpreter.Way) {
    shows += interpreter.take(way, from: &configuration, at: now)
    visited[configuration.state] = true
  }

  private mutating func chosen(of count: Int) -> Int {
    switch preference {
    case .first: return 0
    case .last: return count - 1
    case .seeded: return count > 1 ? generator.below(count) : 0
    case .scripted:
      guard case .take(let number) = script.first else { return 0 }
      script.removeFirst()
      return min(number, count - 1)
    }
  }

  private mutating func followScript() {
    guard plan == nil, case .fire(let number, let time) = script.first else { return }
    script.removeFirst()
    if number < interpreter.freeWayCount(of: configuration.state) { plan = (number, max(time, now)) }
  }

  /// Decides what happens next by itself, from how things stand at this moment.
  private mutating func makePlan() {
    plan = nil
    let options = interpreter.options(from: configuration)
    guard !options.isEmpty else { return }
    let deadline = max(options.reduce(Instant.never) { min($0, $1.latest) }, now)
    let open = options.filter { max($0.earliest, now) <= min(max($0.latest, now), deadline) }
    switch preference {
    case .first:
      guard let first = options.first(where: { $0.latest != .never }) else { return }
      let next = open.filter { $0.latest != .never }.reduce(first) { $1.earliest < $0.earliest ? $1 : $0 }
      plan = (next.number, max(next.earliest, now))
    case .last:
      guard let last = open.last(where: { $0.latest != .never }) else { return }
      plan = (last.number, deadline)
    case .seeded:
      guard !open.isEmpty else { return }
      // What nothing demands may as well not happen.
      if deadline == .never, generator.below(2) == 0 { return }
      let option = open[generator.below(open.count)]
      plan = (option.number, moment(from: max(option.earliest, now), to: min(option.latest, deadline)))
    case .scripted: break
    }
  }

  /// A moment of a window: often one of its ends, where mistakes are.
  private mutating func moment(from earliest: Instant, to latest: Instant) -> Instant {
    let latest = max(earliest, latest == .never ? earliest + .seconds(20) : latest)
    switch generator.below(4) {
    case 0: return earliest
    case 1: return latest
    default:
      let steps = (latest - earliest).nanoseconds / 1_000_000
      return earliest + .milliseconds(Int64(generator.below(Int(clamping: min(steps, 1 << 31)) + 1)))
    }
  }
}

extension Abilities {
  /// What a machine can serve: its stimuli, its conditions, and the settings of its starts.
  fileprivate init(ofDevice machine: Machine, showsEffects: Bool) {
    let definition = machine.definition
    self.init(
      stimuli: definition.events.filter { $0.kind != .spontaneous }.map(\.name),
      faults: definition.conditions.flatMap(\.faults),
      settings: definition.starts.flatMap { $0.conditions.map(\.name) }
        + definition.conditions.map(\.name),
      showsEffects: showsEffects)
    for item in definition.conditions {
      // The first stimulus that sets a condition is the one with a value; the others take it away.
      guard let setter = item.stimuli.first, !arguments.contains(where: { $0.stimulus == setter }) else {
        continue
      }
      let name = machine.nameOfOnlyArgument(of: setter)
      let values: [Interval] = [.zero, .seconds(10)]
      arguments.append((setter, values.map { [Argument(name, .duration($0))] }))
    }
    self = disturbing(machine)
  }
}
