public import Basics

/// What brings the conditions of a machine about and what ends them: the words of its definition as bits.
public struct ConditionTable: Equatable, Sendable {
  /// What a fault does to one condition.
  public struct Effect: Equatable, Sendable {
    /// The condition's number.
    public var condition: Int
    /// What holds the condition from then on: a bit for each of its faults, the highest for its own name.
    public var holder: UInt64
    /// Whether it is over at once.
    public var isMoment: Bool
    /// Whether the condition itself is named.
    public var isNamed: Bool
    /// Whether it is not one of the faults that last as long as they are held.
    public var isOwn: Bool { isNamed || isMoment }
  }

  /// How many conditions there are.
  public var count: Int { delays.count }
  /// How long each of them may not be felt after it has changed.
  public let delays: [Interval]
  /// Those that each event sets when it is a stimulus, as bits.
  public let setBy: [UInt64]
  /// Those that each event brings about when it is reported, as bits.
  public let begunBy: [UInt64]
  /// Those that some event brings about for a moment, as bits.
  public let momentary: UInt64
  /// Those that outlast their faults, since a status ends them, as bits.
  public let lasting: UInt64
  /// Those that count from the entry of a state, as bits.
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
        let place = item.name == name || isMoment ? 63 : item.faults.firstIndex(of: name) ?? 63
        effects[name, default: []].append(
          Effect(
            condition: number, holder: 1 << UInt64(place), isMoment: isMoment,
            isNamed: item.name == name))
      }
    }
    self.effects = effects
    self.endings = endings
  }

  /// What a fault, or a start setting, of a name does to conditions, in their order.
  public func effects(of fault: String) -> [Effect] { effects[fault] ?? [] }

  /// The conditions that a status ends when it is shown, as bits.
  public func ended(by status: String) -> UInt64 { endings[status] ?? 0 }
}

/// What the environment of a machine is like now: which conditions hold, which may or may not, what holds them and
/// what they are set to.
///
/// It knows what happens, and not when: a condition begins and ends with faults, stimuli, reports and statuses.
public struct Environment: Hashable, Sendable {
  /// The conditions that hold, as bits.
  public private(set) var conditions: UInt64
  /// The unknown ones, as bits: the stimulus that set them may not have arrived.
  public private(set) var open: UInt64 = 0
  /// Those that hold whatever happens, as bits.
  public let held: UInt64
  /// What holds each of them: a bit for each of its faults, the highest for its own name.
  private var holders: [UInt64]
  /// What each of them was set to; the most that it may have been where that is open.
  public private(set) var values: [Interval]
  /// The least that each of them may have been set to, as far as it holds at all.
  public private(set) var least: [Interval]

  /// An environment in which nothing holds but what always does.
  public init(_ environment: ConditionTable, holding held: UInt64 = 0) {
    self.held = held
    conditions = held
    holders = [UInt64](repeating: 0, count: environment.count)
    values = [Interval](repeating: .zero, count: environment.count)
    least = values
  }

  /// Goes back to the beginning of a test.
  public mutating func reset() {
    conditions = held
    open = 0
    for index in values.indices {
      values[index] = .zero
      least[index] = .zero
      holders[index] = 0
    }
  }

  /// Lets a fault begin, or end, with what that does to one condition, which ends with the last that holds it, and
  /// not even then where a status ends it.
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

  /// Whether a condition holds, or may.
  private func mayHold(_ number: Int) -> Bool { (conditions | open) >> UInt64(number) & 1 == 1 }

  /// Whether something holds a condition beside what it is set to.
  public func isHeld(_ number: Int) -> Bool { holders[number] != 0 }

  /// Sets a condition to a value, for certain; it holds where that is more than zero.
  public mutating func set(_ number: Int, to value: Interval) {
    values[number] = value
    least[number] = value
    open &= ~(1 << UInt64(number))
    hold(number, value > .zero)
  }

  /// Lets it be open whether a condition was set to a value, or is still what it was.
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

  /// Lets it be open whether what a condition was set to last has arrived, or it is still what it was before.
  ///
  /// - Parameter leastFormer: the least that it may have been before.
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

  /// Lets a condition begin.
  public mutating func begin(_ number: Int) { hold(number, true) }

  /// Ends a condition, whatever held it.
  public mutating func end(_ number: Int) {
    holders[number] = 0
    hold(number, false)
  }

  private mutating func hold(_ number: Int, _ holds: Bool) {
    let bit: UInt64 = 1 << UInt64(number)
    conditions = (holds ? conditions | bit : conditions & ~bit) | held
  }
}
