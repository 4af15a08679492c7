public import Basics

/// What begins and ends the conditions of a machine: the lists of its definition as bit masks.
public struct ConditionTable: Equatable, Sendable {
  /// The effect of a fault on one condition.
  public struct Effect: Equatable, Sendable {
    /// The condition's number.
    public var condition: Int
    /// What holds the condition from then on: one bit per fault, and the highest bit for its own name and its
    /// moments.
    public var holder: UInt64
    /// Whether the fault is a moment, which is over at once.
    public var isMoment: Bool
    /// Whether the fault has the name of the condition itself.
    public var isNamed: Bool
    /// Whether the fault has the condition's name or is a moment, unlike a fault that holds the condition while it
    /// lasts.
    public var isOwn: Bool { isNamed || isMoment }
  }

  /// The number of conditions.
  public var count: Int { delays.count }
  /// How long after a change of each condition the device may still behave as before.
  public let delays: [Interval]
  /// The conditions that each event sets as a stimulus, as bits.
  public let setBy: [UInt64]
  /// The conditions that each event begins when the device reports it, as bits.
  public let begunBy: [UInt64]
  /// The conditions that some event begins for a moment, as bits.
  public let momentary: UInt64
  /// The conditions that continue after their faults end, because only a status ends them, as bits.
  public let lasting: UInt64
  /// The conditions that count from the entry of a state, as bits.
  public let fromEntry: UInt64
  private let effects: [String: [Effect]]
  private let endings: [String: UInt64]

  init(_ definition: MachineDefinition) {
    let conditions = definition.conditions
    func mask(_ isIncluded: (Condition) -> Bool) -> UInt64 {
      conditions.indices.reduce(0) { isIncluded(conditions[$1]) ? $0 | 1 << UInt64($1) : $0 }
    }
    delays = conditions.map(\.delay)
    setBy = definition.events.map { event in mask { $0.stimuli.contains(event.name) } }
    begunBy = definition.events.map { event in
      mask { $0.events.contains(event.name) || $0.moments.contains(event.name) }
    }
    momentary = mask { item in definition.events.contains { item.moments.contains($0.name) } }
    lasting = mask { !$0.until.isEmpty }
    fromEntry = mask { $0.countsFromEntry }
    var effects: [String: [Effect]] = [:]
    var endings: [String: UInt64] = [:]
    for (number, item) in conditions.enumerated() {
      for status in item.until { endings[status, default: 0] |= 1 << UInt64(number) }
      var seen = Set<String>()
      for name in [item.name] + item.moments + item.faults where seen.insert(name).inserted {
        let isMoment = item.moments.contains(name)
        let bit = item.name == name || isMoment ? 63 : item.faults.firstIndex(of: name) ?? 63
        effects[name, default: []].append(
          Effect(
            condition: number, holder: 1 << UInt64(bit), isMoment: isMoment,
            isNamed: item.name == name))
      }
    }
    self.effects = effects
    self.endings = endings
  }

  /// Returns the effects of a fault or a start setting on conditions, in their order.
  public func effects(of fault: String) -> [Effect] { effects[fault] ?? [] }

  /// Returns the conditions that a status ends when the device shows it, as bits.
  public func ended(by status: String) -> UInt64 { endings[status] ?? 0 }
}

/// The conditions of a machine at one point in time: which ones hold, which are unknown, what holds them, and their
/// values.
///
/// The type tracks what happens, not when: faults, stimuli, reports and statuses begin and end conditions.
public struct Environment: Hashable, Sendable {
  /// The conditions that hold, as bits.
  public private(set) var conditions: UInt64
  /// The unknown conditions, as bits: the stimulus that set them may not have arrived.
  public private(set) var open: UInt64 = 0
  /// The conditions that always hold, as bits.
  public let held: UInt64
  /// What holds each condition: one bit per fault, and the highest bit for its own name and its moments.
  private var holders: [UInt64]
  /// The value of each condition, or the greatest possible one if the value is unknown.
  public private(set) var values: [Interval]
  /// The least possible value of each condition, if it holds at all.
  public private(set) var least: [Interval]

  /// Makes an environment in which only the conditions hold that always do.
  public init(_ environment: ConditionTable, holding held: UInt64 = 0) {
    self.held = held
    conditions = held
    holders = [UInt64](repeating: 0, count: environment.count)
    values = [Interval](repeating: .zero, count: environment.count)
    least = values
  }

  /// Resets the environment to the beginning of a test.
  public mutating func reset() {
    conditions = held
    open = 0
    for index in values.indices {
      values[index] = .zero
      least[index] = .zero
      holders[index] = 0
    }
  }

  /// Begins or ends a fault with its effect on one condition. The condition ends with the last fault that holds it,
  /// unless only a status ends it.
  public mutating func apply(
    _ effect: ConditionTable.Effect, isOn: Bool, in environment: ConditionTable
  ) {
    let number = effect.condition
    if isOn {
      holders[number] |= effect.holder
    } else {
      guard environment.lasting >> UInt64(number) & 1 == 0 else { return }
      holders[number] &= ~effect.holder
    }
    hold(number, isHeld(number))
  }

  /// Returns whether a condition holds or may hold.
  private func mayHold(_ number: Int) -> Bool { (conditions | open) >> UInt64(number) & 1 == 1 }

  /// Returns whether something other than its value holds a condition.
  public func isHeld(_ number: Int) -> Bool { holders[number] != 0 }

  /// Sets a condition to a certain value; it holds if the value is more than zero.
  public mutating func set(_ number: Int, to value: Interval) {
    values[number] = value
    least[number] = value
    open &= ~(1 << UInt64(number))
    hold(number, value > .zero)
  }

  /// Sets a condition to a value that may not have arrived: the condition may still be what it was.
  public mutating func set(_ number: Int, perhapsTo value: Interval) {
    let holds = conditions >> UInt64(number) & 1 == 1
    if !mayHold(number) {
      least[number] = value
    } else if value > .zero {
      least[number] = min(least[number], value)
    }
    if holds != (value > .zero) { open |= 1 << UInt64(number) }
    values[number] = max(values[number], value)
    hold(number, holds || value > .zero)
  }

  /// Makes it unknown whether the last value of a condition has arrived or the condition still has its former value.
  ///
  /// - Parameter leastFormer: The least value that it may have had before.
  public mutating func makeUnknown(_ number: Int, orStill former: Interval, orLess leastFormer: Interval) {
    if former > .zero {
      least[number] = mayHold(number) ? min(least[number], leastFormer) : leastFormer
    }
    open |= 1 << UInt64(number)
    values[number] = max(values[number], former)
    hold(number, values[number] > .zero)
  }

  /// Makes it unknown whether a condition holds.
  public mutating func makeUnknown(_ number: Int) { open |= 1 << UInt64(number) & ~held }

  /// Begins a condition.
  public mutating func begin(_ number: Int) { hold(number, true) }

  /// Ends a condition, regardless of what holds it.
  public mutating func end(_ number: Int) {
    holders[number] = 0
    hold(number, false)
  }

  private mutating func hold(_ number: Int, _ holds: Bool) {
    let bit: UInt64 = 1 << UInt64(number)
    conditions = (holds ? conditions | bit : conditions & ~bit) | held
  }
}
