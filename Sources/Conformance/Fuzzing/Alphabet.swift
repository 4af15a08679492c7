import Automata
public import Basics

/// Where in a device's stack a test interferes.
public enum TestLevel: String, CaseIterable, Sendable {
  /// Actions of a user and events around the lock: everything that a model knows by name.
  case events
  /// The protocol's own messages: replayed, reordered, cut short, forged.
  case messages
  /// The packets that carry these messages, below the protocol and above the radio.
  case att
  /// The radio link: loss, delay, disconnection.
  case link
}

/// An action of the tester in a test.
public enum TestAction: Equatable, Sendable {
  /// Give a stimulus at once.
  case stimulus(Stimulus)
  /// Inject a fault of the environment.
  case fault(Fault)
  /// Let time pass.
  case wait(Interval)
  /// Let time pass until the model awaits nothing of the device; see ``Lockstep/settle()``.
  case settle
  /// Let time pass until the device shows something, if the model awaits that; see ``Lockstep/awaitNext()``.
  case next
  /// Let time pass until a moment relative to a bound of the running timer.
  case edge(TimerEdge)
  /// Give a stimulus with values that the model holds; see ``Lockstep/meaning(of:)``.
  case drawn(DrawnStimulus)
}

/// Disturbances that a device offers to generated tests: a fault with the values worth trying.
public struct Disturbance: Equatable, Sendable {
  /// The level at which it interferes.
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

/// The meaning of choices: the acts of a tester, each with its variants.
///
/// The first acts are the events of the machine, by their numbers. An event that the tester cannot cause, or that the
/// device does not support, has no variant and is never chosen. Then come settling, waiting, the edges of timers, and
/// the disturbances that the device offers.
public struct Alphabet: Sendable {
  /// One act.
  public struct Act: Sendable {
    /// The name of the stimulus or the fault, or `settle`, `wait` or `edge`.
    public var name: String
    /// The level at which it interferes.
    public var level: TestLevel
    /// The actions that it stands for, the simplest first; empty if it is never chosen.
    public var variants: [TestAction]
    /// The relative frequency; 1 by default.
    public var weight: Double
    /// How many of the variants, the first ones, have values that rows compare; where those end that aim at a row; and
    /// where those begin that have what is next to values of the model. Zero if the values do not depend on the model.
    var principal = 0
    var aimed = 0
    var neighbours = 0
    /// The variables with which its values are compared, as bits.
    var compared: UInt64 = 0
  }

  /// The acts.
  public private(set) var acts: [Act]
  /// The events that cause wear, as bits; for machines of up to 64 events.
  let moving: UInt64
  /// The acts that must wait for the motor's rest: events as bits, and disturbances as bits from the first
  /// disturbance on.
  let resting: (events: UInt64, disturbances: UInt64)
  /// The events with several variants that set a condition, as bits; for machines of up to 64 events.
  let setting: UInt64
  /// The excusing disturbances, as bits from the first disturbance on. They establish a condition of the machine,
  /// under which the model permits deviations.
  let excusing: UInt64
  /// The events with rows that depend on the conditions of each disturbance, as bits.
  let concerned: [UInt64]
  /// The disturbances whose last variant ends what the others begin, as bits from the first disturbance on.
  let ending: UInt64
  /// The share of the machine's nodes that can be reached from each node, itself included; empty if it is the same
  /// for all nodes.
  let reach: [Double]
  /// The events that lead from each node towards one in which an event of ``moving`` changes something, and the
  /// events that lead away, as bits. Empty if no such event is ever given.
  let approaches: [(nearer: UInt64, farther: UInt64)]
  /// The variants of waiting for a bound of a timer that can be distinguished with this device, ascending.
  let distinctEdges: [Int]
  /// The relative frequency of each of these variants, of all of them.
  let edgeWeights: [Double]
  /// The length of the longest window of the machine with an end.
  let longestWindow: Interval
  /// The number of acts, the first ones, that are events of the machine.
  public let eventCount: Int
  /// The number of the act ``TestAction/settle``; its other variant is ``TestAction/next``.
  public var settle: Int { eventCount }
  /// The number of the act of waiting.
  public var wait: Int { eventCount + 1 }
  /// The number of the act of waiting for a bound of a timer.
  public var edge: Int { eventCount + 2 }
  /// The numbers of the disturbances.
  public var disturbances: Range<Int> { eventCount + 3..<acts.count }

  /// Makes the alphabet of what a test may do with a device.
  ///
  /// - Parameters:
  ///   - specification: the machine.
  ///   - abilities: what the device supports.
  ///   - levels: the levels at which the test may interfere.
  ///   - weights: the relative frequencies of acts, by name, if they are not 1; 0 excludes an act.
  ///   - moving: the names of the stimuli that cause wear.
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
      guard isOffered else { return Act(name: event.name, level: .events, variants: [], weight: 1) }
      let offered = abilities.arguments.first { $0.stimulus == event.name }?.values
      if let data = specification.data, event.arguments?.forms.isEmpty == false {
        let drawn = data.drawnStimuli(of: number, in: definition)
        let fixed = (offered ?? []).map {
          TestAction.stimulus(Stimulus(number, $0.read(as: event.arguments)))
        }
        let principal = fixed + drawn.principal.map { .drawn($0) }
        return Act(
          name: event.name, level: .events,
          variants: principal + (drawn.aimed + drawn.others + drawn.neighbours).map { .drawn($0) }, weight: 1,
          principal: principal.count, aimed: principal.count + drawn.aimed.count,
          neighbours: principal.count + drawn.aimed.count + drawn.others.count,
          compared: drawn.variables.reduce(0) { $0 | 1 << UInt64($1 & 63) })
      }
      return Act(
        name: event.name, level: .events,
        variants: (offered ?? [[]]).map { .stimulus(Stimulus(number, $0.read(as: event.arguments))) },
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

  /// Returns the action that a choice stands for; `nil` if this alphabet does not have it.
  public func action(of choice: Choice) -> TestAction? {
    let act = Int(choice.act)
    guard act < acts.count, Int(choice.variant) < acts[act].variants.count else { return nil }
    return acts[act].variants[Int(choice.variant)]
  }

  /// Returns whether a choice causes wear.
  public func moves(_ choice: Choice) -> Bool {
    choice.act < 64 && !choice.isForbidden && moving >> UInt64(choice.act) & 1 == 1
  }

  /// Returns the number of choices in a test that cause wear.
  public func movements(of test: TestCase) -> Int { test.choices.count { moves($0) } }

  /// Returns the choice that stands for an action; `nil` if this alphabet does not have it.
  public func choice(of action: TestAction, isForbidden: Bool = false) -> Choice? {
    for (number, act) in acts.enumerated() {
      guard let variant = act.variants.firstIndex(of: action) else { continue }
      return Choice(number, variant: variant, isForbidden: isForbidden)
    }
    return nil
  }

  /// Returns the choice of an event whose values are to make the model take a row; `nil` if no values depend on the model.
  func choice(of event: Int, takingRow row: Int) -> Choice? {
    let act = acts[event]
    guard act.aimed > act.principal else { return nil }
    let variant = (act.principal..<act.aimed).first { variant in
      guard case .drawn(let drawn) = act.variants[variant] else { return false }
      return drawn.aim?.row == row
    }
    return variant.map { Choice(event, variant: $0) }
  }

  /// Returns the nearest choice to an action that this alphabet does not have: another wait, such as for that of an edge, or
  /// a stimulus whose values depend on the model and may be the same; `nil` for any other action.
  public func nearest(to action: TestAction, isForbidden: Bool = false) -> Choice? {
    switch action {
    case .wait(let length): nearestWait(to: length)
    case .stimulus(let stimulus): nearestStimulus(to: stimulus, isForbidden: isForbidden)
    case .fault, .settle, .next, .edge, .drawn: nil
    }
  }

  private func nearestWait(to length: Interval) -> Choice? {
    var best: (variant: Int, distance: Int64)?
    for (variant, wait) in acts[wait].variants.enumerated() {
      guard case .wait(let own) = wait else { continue }
      let distance = abs((own - length).nanoseconds)
      if best.map({ distance < $0.distance }) ?? true { best = (variant, distance) }
    }
    return best.map { Choice(wait, variant: $0.variant) }
  }

  private func nearestStimulus(to stimulus: Stimulus, isForbidden: Bool) -> Choice? {
    var best: (variant: Int, likeness: Int)?
    for (variant, action) in acts[stimulus.number].variants.enumerated() {
      guard case .drawn(let drawn) = action, drawn.aim == nil else { continue }
      let likeness = drawn.likeness(to: stimulus)
      if best.map({ likeness > $0.likeness }) ?? true { best = (variant, likeness) }
    }
    return best.map { Choice(stimulus.number, variant: $0.variant, isForbidden: isForbidden) }
  }

  /// The longest wait with a device in real time: ten minutes of silence are worth waiting for, now and then.
  private static let longestRealWait = Interval.seconds(660)

  /// Returns the waits that are worth trying: short ones during which something is still in progress, the windows of
  /// the machine, and long silences. In real time, a machine without timers gets none.
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
