import Automata
public import Basics

/// Where in a device's stack a test interferes.
public enum TestLevel: String, CaseIterable, Sendable {
  /// What a user does, and what happens around the lock: all that a model knows by name.
  case events
  /// The protocol's own messages: replayed, reordered, cut short, forged.
  case messages
  /// The packets that carry them, below the protocol and above the radio.
  case att
  /// The radio link: loss, delay, disconnection.
  case link
}

/// Something that a tester does in a test.
public enum TestAction: Equatable, Sendable {
  /// A stimulus is given at once.
  case stimulus(Stimulus)
  /// A fault of the environment is brought about.
  case fault(Fault)
  /// Time passes.
  case wait(Interval)
  /// Time passes until the model awaits nothing of the device; see ``Lockstep/settle()``.
  case settle
  /// Time passes until the device shows something, where the model awaits that; see ``Lockstep/awaitNext()``.
  case next
  /// Time passes up to a bound of the timer that runs, and so much more, or less.
  case edge(TimerEdge)
}

/// Disturbances that a device offers to tests that are generated: a fault with the values worth trying.
public struct Disturbance: Equatable, Sendable {
  /// Where it interferes.
  public var level: TestLevel
  /// The name of the fault, one of ``Abilities/faults``.
  public var fault: String
  /// The values, the simplest first.
  public var values: [Value]

  /// Makes a disturbance.
  public init(_ level: TestLevel, _ fault: String, _ values: [Value] = [.flag(true)]) {
    self.level = level
    self.fault = fault
    self.values = values
  }
}

/// What choices stand for: the acts of a tester, each with its variants.
///
/// The first acts are the events of the machine under their own numbers; one that the tester cannot bring about, or
/// the device does not serve, has no variant and is never chosen. Then come settling, waiting, the edges of timers,
/// and the disturbances that the device offers.
public struct Alphabet: Sendable {
  /// One act.
  public struct Act: Sendable {
    /// How it is called: the name of the stimulus or of the fault, `settle`, `wait` or `edge`.
    public var name: String
    /// Where it interferes.
    public var level: TestLevel
    /// What it stands for, the simplest first; none when it is never chosen.
    public var variants: [TestAction]
    /// How often it is chosen, where 1 is usual.
    public var weight: Double
  }

  /// The acts.
  public private(set) var acts: [Act]
  /// The events of which each wears the device, as bits; for machines of up to 64 events.
  let moving: UInt64
  /// The acts before which a motor is given its rest: events as bits, and disturbances from the first one on.
  let resting: (events: UInt64, disturbances: UInt64)
  /// The events with several variants of which each sets a condition, as bits; for machines of up to 64 events.
  let setting: UInt64
  /// The disturbances that bring a condition of the machine about, from the first disturbance on, as bits.
  let excusing: UInt64
  /// The events that have rows which depend on what each disturbance brings about, as bits.
  let concerned: [UInt64]
  /// The disturbances of which the last variant ends what the others begin, from the first disturbance on, as bits.
  let ending: UInt64
  /// The part of the machine's nodes that can be reached from each node, itself included; empty where that is all from everywhere.
  let reach: [Double]
  /// Which events lead from each node towards one in which an event of ``moving`` is legal, and which lead away from there, as
  /// bits; empty where nothing moves.
  let approaches: [(nearer: UInt64, farther: UInt64)]
  /// The variants of waiting for a bound of a timer that can be told apart with the device, ascending.
  let distinctEdges: [Int]
  /// How often each variant is chosen.
  let edgeWeights: [Double]
  /// How long the longest window of the machine is that ends.
  let longestWindow: Interval
  /// How many of the acts, the first ones, are events of the machine.
  public let eventCount: Int
  /// The number of ``TestAction/settle``, whose other variant is ``TestAction/next``.
  public var settle: Int { eventCount }
  /// The number of the act of waiting.
  public var wait: Int { eventCount + 1 }
  /// The number of the act of waiting for a deadline.
  public var edge: Int { eventCount + 2 }
  /// The numbers of the disturbances.
  public var disturbances: Range<Int> { eventCount + 3..<acts.count }

  /// What a test may do with a device.
  ///
  /// - Parameters:
  ///   - specification: the machine.
  ///   - abilities: what the device serves.
  ///   - levels: where the test may interfere.
  ///   - weights: how often acts are chosen, by name, where it is not 1; 0 leaves an act out.
  ///   - moving: the stimuli that set something in motion that wears, by name.
  public init(
    _ specification: Specification, _ abilities: Abilities, levels: [TestLevel] = TestLevel.allCases,
    weights: [(name: String, weight: Double)] = [], moving: [String] = []
  ) {
    let definition = specification.machine.definition
    eventCount = definition.events.count
    self.moving = definition.events.prefix(64).enumerated().reduce(0) { mask, event in
      moving.contains(event.element.name) ? mask | 1 << UInt64(event.offset) : mask
    }
    let resting = abilities.resting
    let restingEvents = definition.events.prefix(64).enumerated().reduce(UInt64(0)) { mask, event in
      resting.contains(event.element.name) ? mask | 1 << UInt64(event.offset) : mask
    }
    longestWindow = definition.transitions.map(\.window.latest).filter { $0 != .forever }.max() ?? .zero
    acts = definition.events.enumerated().map { number, event in
      let isServed = abilities.stimuli.map { $0.contains(event.name) } ?? true
      let isOffered = event.kind != .spontaneous && isServed && levels.contains(.events)
      let arguments = abilities.arguments.first { $0.stimulus == event.name }?.values ?? [[]]
      return Act(
        name: event.name, level: .events,
        variants: isOffered
          ? arguments.map { .stimulus(Stimulus(number, $0.read(as: event.arguments))) } : [],
        weight: 1)
    }
    setting = acts.prefix(64).enumerated().reduce(0) { mask, act in
      act.element.variants.count > 1 && specification.sets[act.offset] ? mask | 1 << UInt64(act.offset) : mask
    }
    let isTimed = !specification.isPlain
    acts.append(Act(name: "settle", level: .events, variants: isTimed ? [.settle, .next] : [], weight: 1))
    acts.append(
      Act(
        name: "wait", level: .events,
        variants: Self.waits(in: definition, isTimed: isTimed, isVirtual: abilities.isInVirtualTime)
          .map { .wait($0) }, weight: 1))
    let edges = isTimed ? TimerEdge.worthTrying(in: definition) : []
    edgeWeights = edges.map(\.weight)
    distinctEdges = edges.indices.filter { edges[$0].isDistinct(within: abilities.slack) }
    reach = specification.reach { [acts] in !acts[$0].variants.isEmpty }
    acts.append(
      Act(name: "edge", level: .events, variants: edges.map { .edge($0) }, weight: 1))
    let offered = acts.prefix(min(eventCount, 64)).enumerated().reduce(UInt64(0)) { mask, act in
      act.element.variants.isEmpty ? mask : mask | 1 << UInt64(act.offset)
    }
    approaches = specification.approaches(to: self.moving, among: offered)
    for item in abilities.disturbances where levels.contains(item.level) {
      acts.append(
        Act(
          name: item.fault, level: item.level,
          variants: item.values.map { .fault(Fault(item.fault, $0)) }, weight: 1))
    }
    self.resting = (
      restingEvents,
      acts[(eventCount + 3)...].prefix(64).enumerated().reduce(0) { mask, act in
        resting.contains(act.element.name) ? mask | 1 << UInt64(act.offset) : mask
      }
    )
    let excused = definition.conditions.flatMap { $0.faults + $0.moments + [$0.name] }
    excusing = acts[(eventCount + 3)...].prefix(64).enumerated().reduce(0) { mask, act in
      excused.contains(act.element.name) ? mask | 1 << UInt64(act.offset) : mask
    }
    concerned = acts[(eventCount + 3)...].map { act in
      let names = definition.conditions.filter { ($0.faults + $0.moments + [$0.name]).contains(act.name) }
        .map(\.name)
      return definition.events.prefix(64).enumerated().reduce(0) { mask, event in
        let isConcerned = definition.transitions.contains { row in
          row.trigger == .event(event.element.name)
            && (row.given + row.unless).contains(where: names.contains)
        }
        return isConcerned ? mask | 1 << UInt64(event.offset) : mask
      }
    }
    ending = acts[(eventCount + 3)...].prefix(64).enumerated().reduce(0) { mask, act in
      guard act.element.variants.count > 1, case .fault(let fault)? = act.element.variants.last else {
        return mask
      }
      return fault.value.isNothing ? mask | 1 << UInt64(act.offset) : mask
    }
    for (name, weight) in weights {
      for index in acts.indices where acts[index].name == name {
        acts[index].weight = weight
        if weight == 0 { acts[index].variants = [] }
      }
    }
  }

  /// What a choice stands for; `nil` when this alphabet does not have it.
  public func action(of choice: Choice) -> TestAction? {
    let act = Int(choice.act)
    guard act < acts.count, Int(choice.variant) < acts[act].variants.count else { return nil }
    return acts[act].variants[Int(choice.variant)]
  }

  /// Whether a choice sets something in motion that wears.
  public func moves(_ choice: Choice) -> Bool {
    choice.act < 64 && !choice.isForbidden && moving >> UInt64(choice.act) & 1 == 1
  }

  /// How often a test does.
  public func movements(of test: TestCase) -> Int { test.choices.count { moves($0) } }

  /// The choice that stands for an action; `nil` when this alphabet does not have it.
  public func choice(of action: TestAction, isForbidden: Bool = false) -> Choice? {
    for (number, act) in acts.enumerated() {
      guard let variant = act.variants.firstIndex(of: action) else { continue }
      return Choice(number, variant: variant, isForbidden: isForbidden)
    }
    return nil
  }

  /// The wait that is nearest to one which this alphabet does not have, such as one that an edge came to; `nil` for anything else.
  public func nearest(to action: TestAction) -> Choice? {
    guard case .wait(let length) = action else { return nil }
    var best: (variant: Int, distance: Int64)?
    for (variant, wait) in acts[wait].variants.enumerated() {
      guard case .wait(let own) = wait else { continue }
      let distance = abs((own - length).nanoseconds)
      if best.map({ distance < $0.distance }) ?? true { best = (variant, distance) }
    }
    return best.map { Choice(wait, variant: $0.variant) }
  }

  /// The longest wait with a device whose time is the clock's: ten minutes of silence are worth waiting for, now and then.
  private static let longestRealWait = Interval.seconds(660)

  /// Waits that are worth trying: short ones in which something is still under way, the windows of the machine, and
  /// long silence. Where time is the clock's, a machine to which time means nothing is given none.
  private static func waits(
    in definition: MachineDefinition, isTimed: Bool, isVirtual: Bool
  ) -> [Interval] {
    guard isTimed || isVirtual else { return [] }
    var waits: [Interval] = [
      .milliseconds(1), .milliseconds(20), .milliseconds(150), .milliseconds(600), .seconds(1), .seconds(4),
      .seconds(12), .seconds(60), .seconds(660), .seconds(4 * 3600),
    ]
    for row in definition.transitions where row.window.latest != .forever {
      for length in [row.window.earliest, row.window.latest] where length > .zero && !waits.contains(length) {
        waits.append(length)
      }
    }
    return waits.sorted().filter { isVirtual || $0 <= longestRealWait }
  }
}
