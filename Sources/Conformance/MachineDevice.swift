public import Automata
public import Basics

/// A machine that serves as a device under test: it executes the machine and shows its outputs.
///
/// Where the machine leaves a choice, a ``Preference`` decides: between several targets, and whether and when a
/// spontaneous event happens. A device of its own machine never diverges; one of a wrong machine is what the tests of
/// that machine must find.
public struct MachineDevice: StandaloneDevice, Sendable {
  /// How the device makes the choices that the machine leaves to it.
  public enum Preference: Equatable, Sendable {
    /// The first target; a required event as early as possible; an optional one never.
    case first
    /// The last target; a required event as late as permitted; an optional one never.
    case last
    /// By a generator with this seed, which continues from test to test.
    case seeded(UInt64)
    /// In the listed order; an event that is not listed does not happen.
    case scripted([Decision])
  }

  /// One choice.
  public enum Decision: Equatable, Sendable {
    /// A stimulus takes the enabled edge with this number.
    case take(Int)
    /// The spontaneous edge with this number is taken at this time.
    case fire(Int, at: Instant)
  }

  /// The machine.
  public let machine: Machine
  public let abilities: Abilities
  public private(set) var now = Instant.zero
  /// Which cells were tried since the device was made: `tried[state * events + event]`.
  public private(set) var tried: [Bool]
  /// Which states the device has visited since it was made.
  public private(set) var visited: [Bool]

  /// The device's permanent choices: one option of each choice, as bits.
  public var options: UInt64

  private var preference = Preference.first
  private var vocabulary: Vocabulary
  private var interpreter: ReferenceInterpreter
  private var configuration: ReferenceInterpreter.Configuration
  /// The observations to show at this moment, the next one first.
  private var shows: ArraySlice<Observation> = []
  /// The next spontaneous event.
  private var plan: (edge: Int, time: Instant)?
  private var generator = SeededGenerator(seed: 0)
  private var script: ArraySlice<Decision> = []
  /// The number of consecutive unobservable events at this moment.
  private var unseen = 0

  /// The maximum number of unobservable events at one moment: a wrong machine may cycle forever.
  private static let maximumUnseen = 1000

  /// Makes a device of a machine.
  ///
  /// - Parameter showsEffects: whether the device shows effects in addition to statuses.
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
    interpreter = ReferenceInterpreter(
      machine.definition, vocabulary, showsEffects: showsEffects, data: machine.data)
    options = machine.variants[0]
    configuration = interpreter.start(machine.definition.starts.count - 1, options)
  }

  /// Makes a device of a specification's machine, or of another machine to compare with it.
  public init(_ specification: Specification, _ machine: Machine? = nil) {
    self.init(
      machine ?? specification.machine, speaking: specification.vocabulary,
      showsEffects: specification.showsEffects)
  }

  /// Changes the preference from the next test on.
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
    interpreter = ReferenceInterpreter(
      machine.definition, vocabulary, showsEffects: abilities.showsEffects, data: machine.data)
  }

  public mutating func reset(to start: StartCondition) throws(LabFault) {
    guard let number = machine.start(for: start) else {
      throw LabFault(.notPossible, "the machine has no start with these settings")
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
    let branches = interpreter.branches(on: stimulus, from: &configuration, at: now)
    guard !branches.isEmpty else {
      shows.append(.refused("not allowed in \(machine.definition.states[configuration.state].name)"))
      return
    }
    let branch = branches[chosen(of: branches.count)]
    // A copy would make every change of data copy all of them.
    let before = machine.data == nil ? configuration : nil
    // A stimulus sets its condition when it is sent; a status that follows may end it.
    interpreter.apply(stimulus, to: &configuration)
    take(branch)
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
      take(interpreter.freeBranch(next.edge, of: configuration.state))
      makePlan()
    }
  }

  public mutating func restart() throws(LabFault) {}
}

extension MachineDevice {
  /// Lets time pass up to the end of a fault, if one ends before the limit.
  private mutating func endFault(by limit: Instant) -> Bool {
    guard let end = configuration.ends.map(\.time).min(), end <= limit else { return false }
    let before = configuration.holds
    now = max(now, end)
    _ = interpreter.expire(&configuration, at: now)
    if configuration.holds != before { makePlan() }
    return true
  }

  private mutating func take(_ branch: ReferenceInterpreter.Branch) {
    shows += interpreter.take(branch, from: &configuration, at: now)
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
    if number < interpreter.freeBranchCount(of: configuration.state) { plan = (number, max(time, now)) }
  }

  /// Chooses the next spontaneous event from the current configuration.
  private mutating func makePlan() {
    plan = nil
    let options = interpreter.options(from: &configuration, at: now)
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
      // An optional event may also not happen.
      if deadline == .never, generator.below(2) == 0 { return }
      let option = open[generator.below(open.count)]
      plan = (option.number, moment(from: max(option.earliest, now), to: min(option.latest, deadline)))
    case .scripted: break
    }
  }

  /// Returns a moment within a window: often one of its ends, where defects are likely.
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
  /// The abilities of a machine: its stimuli, its conditions, and the settings of its starts.
  fileprivate init(ofDevice machine: Machine, showsEffects: Bool) {
    let definition = machine.definition
    self.init(
      stimuli: definition.events.filter { $0.kind != .spontaneous }.map(\.name),
      faults: definition.conditions.flatMap(\.faults),
      settings: definition.starts.flatMap { $0.conditions.map(\.name) }
        + definition.conditions.map(\.name),
      showsEffects: showsEffects)
    for item in definition.conditions {
      // The first stimulus that sets a condition carries the value; the others clear it.
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
