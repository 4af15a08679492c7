import Automata
import Basics

/// The earlier values of conditions that count from the entry of a state: the value at the time of entry counts
/// there, even if it is changed later.
///
/// Each history reaches back as far as the possible nodes may have been entered.
struct EntryConditions: Sendable {
  typealias Member = PossibleNodes.Member
  typealias Span = EffectiveEnvironment.Span

  /// The value of a condition at one time.
  struct Setting: Hashable, Sendable {
    var holds: Bool
    var isOpen: Bool
    /// Whether a fault holds the condition in addition to its value.
    var isHeld: Bool
    var span: Span

    /// Widens the setting to allow another one too.
    mutating func widen(to other: Setting) {
      switch (mayHold, other.mayHold) {
      case (true, false): break
      case (false, true): span.least = other.span.least
      case (true, true), (false, false): span.least = min(span.least, other.span.least)
      }
      span.most = max(span.most, other.span.most)
      isOpen = isOpen || other.isOpen || holds != other.holds
      isHeld = isHeld || other.isHeld
      holds = holds || other.holds
    }

    var mayHold: Bool { holds || isOpen }

    /// Returns the minimum that it adds to the time of a row, which may count also if the condition is set to
    /// nothing.
    func least(orNothing: Bool) -> Interval { (orNothing || isHeld) && isOpen ? .zero : span.least }
  }

  /// A period with one setting. Changes at the same moment are ordered by a number that rises with each change.
  struct Phase: Hashable, Sendable {
    var setting: Setting
    /// The earliest moment at which a state may have been entered under it.
    var begin = Instant(nanoseconds: .min)
    var beginOrder: Int32 = 0
    /// When another value was set.
    var end = Instant.never
    var endOrder = Int32.max
  }

  /// The conditions, as bits.
  let numbers: UInt64
  /// The number of the last change.
  private(set) var order: Int32 = 0
  /// The phases of each condition, the latest last; empty for other conditions.
  private var phases: [[Phase]]
  /// How long after a change the previous setting may still count.
  private let reaches: [Interval]
  /// Whether a state may be entered and left again unobserved.
  private let isSilent: Bool

  /// The maximum number of phases of a condition; further ones are merged.
  private static let maximumPhases = 8

  init(_ specification: Specification, slack: Interval) {
    let table = specification.machine.environment
    // A machine whose rows depend on no condition needs none.
    let set = specification.isPlain ? 0 : table.setBy.reduce(0, |)
    numbers = table.fromEntry & set
    reaches = table.delays.map { $0 + slack }
    phases = table.delays.map { _ in [] }
    isSilent = !specification.silent.isEmpty
  }

  /// Whether a condition is tracked here.
  @inline(__always)
  func has(_ number: Int) -> Bool { numbers >> UInt64(number) & 1 == 1 }

  /// Whether any condition has more than its current phase.
  var hasPast: Bool { numbers != 0 && phases.contains { $0.count > 1 } }

  /// The conditions that differed when a possible node may have been entered, as bits.
  var changed: UInt64 {
    var changed: UInt64 = 0
    forEachBit(of: numbers) { if phases[$0].count > 1 { changed |= 1 << UInt64($0) } }
    return changed
  }
}

extension EntryConditions {
  /// Sets a condition as if it had always been so.
  mutating func begin(_ number: Int, as setting: Setting) {
    if has(number) { phases[number] = [Phase(setting: setting)] }
  }

  /// Starts a test, without any change so far.
  mutating func restart() { order = 0 }

  /// Begins a change caused by a stimulus: states entered by the same stimulus are entered after it.
  mutating func beginChange() { order += 1 }

  /// Records that a condition has changed.
  ///
  /// - Parameters:
  ///   - time: the earliest moment at which a state may have been entered after the change.
  ///   - isBegun: whether it is part of the change that was begun last.
  mutating func change(
    _ number: Int, to setting: Setting, since time: Instant, at now: Instant, isBegun: Bool
  ) {
    guard has(number), let last = phases[number].indices.last, phases[number][last].setting != setting else {
      return
    }
    if !isBegun { order += 1 }
    phases[number][last].end = now
    phases[number][last].endOrder = order
    phases[number].append(Phase(setting: setting, begin: time, beginOrder: order))
    guard phases[number].count > Self.maximumPhases else { return }
    let second = phases[number].remove(at: 2)
    phases[number][1].setting.widen(to: second.setting)
    (phases[number][1].end, phases[number][1].endOrder) = (second.end, second.endOrder)
  }

  /// Records the known value of a condition.
  ///
  /// - Parameter wasOpen: whether it was open before; if not, it may have become so only now.
  mutating func learn(_ number: Int, is setting: Setting, wasOpen: Bool, at now: Instant) {
    guard has(number), let last = phases[number].indices.last else { return }
    if wasOpen {
      phases[number][last].setting = setting
    } else {
      change(number, to: setting, since: now, at: now, isBegun: false)
      phases[number][last].setting.widen(to: setting)
    }
  }

  /// Drops the phases under which no possible node can have been entered.
  mutating func prune(to members: [Member], at now: Instant) {
    forEachBit(of: numbers) { phases[$0] = pruned($0, to: members, at: now) }
  }

  private func pruned(_ number: Int, to members: [Member], at now: Instant) -> [Phase] {
    let phases = phases[number]
    guard phases.count > 1 else { return phases }
    // A phase that has just ended may count for a node entered next.
    let matters = { (phase: Phase) in
      phase.end + reaches[number] >= now || members.contains { counts(phase, of: number, in: $0) }
    }
    guard isSilent else { return phases.filter(matters) }
    // A node entered unobserved is found later, and may have been entered at any time in between.
    return Array(phases.drop { !matters($0) })
  }
}

extension EntryConditions {
  /// Whether a node may have been entered after a phase began.
  private func isAfterBegin(_ member: Member, of phase: Phase) -> Bool {
    member.order >= 0 ? phase.beginOrder <= member.order : phase.begin <= member.latest
  }

  /// Whether a node may have been entered while a phase counted.
  private func counts(_ phase: Phase, of number: Int, in member: Member) -> Bool {
    guard isAfterBegin(member, of: phase) else { return false }
    if member.order >= 0, reaches[number] == .zero { return member.order < phase.endOrder }
    return phase.end + reaches[number] >= member.earliest
  }

  /// The settings that may have been in effect when a node was entered.
  private func settings(of number: Int, in member: Member) -> some Sequence<Setting> {
    phases[number].lazy.filter { counts($0, of: number, in: member) }.map(\.setting)
  }

  /// Replaces the current settings by those in effect when a node was entered.
  func replace(_ conditions: inout UInt64, _ open: inout UInt64, in member: Member) {
    forEachBit(of: numbers) { number in
      let bit: UInt64 = 1 << UInt64(number)
      var (holds, fails) = (false, false)
      for setting in settings(of: number, in: member) {
        if setting.mayHold { holds = true }
        if setting.isOpen || !setting.holds { fails = true }
      }
      conditions = holds ? conditions | bit : conditions & ~bit
      open = holds && fails ? open | bit : open & ~bit
    }
  }

  /// The minimum that is added in a node to the time of a row.
  ///
  /// - Parameter orNothing: whether the time counts also if the condition is set to nothing.
  func least(of number: Int, orNothing: Bool, in member: Member) -> Interval {
    var least = Interval.forever
    for setting in settings(of: number, in: member) where orNothing || setting.mayHold {
      least = min(least, setting.least(orNothing: orNothing))
    }
    return least == .forever ? .zero : least
  }

  /// Returns the maximum that is added in a node to the time of a row.
  func most(of number: Int, in member: Member) -> Interval {
    settings(of: number, in: member).reduce(.zero) { max($0, $1.span.most) }
  }
}

extension EntryConditions {
  /// The history of a condition, with times relative to the present.
  struct Past: Hashable, Sendable {
    struct Phase: Hashable, Sendable {
      var setting: Setting
      var begin: Interval
      var beginOrder: Int32
      var end: Interval
      var endOrder: Int32
    }

    var number: Int
    var phases: [Phase]
  }

  /// The histories for the nodes whose entry matters, and a function that maps orders to their rank among them.
  func snapshot(_ members: [Member], at now: Instant) -> (pasts: [Past], order: (Int32) -> Int32) {
    var kept: [(number: Int, phases: [Phase])] = []
    forEachBit(of: numbers) { number in
      let phases = pruned(number, to: members, at: now).map { phase in
        var phase = phase
        // A phase that began before everything that counts is treated as if it had always lasted.
        if members.allSatisfy({ isAfterBegin($0, of: phase) }) {
          (phase.begin, phase.beginOrder) = (Instant(nanoseconds: .min), 0)
        }
        return phase
      }
      kept.append((number, phases))
    }
    let orders = Set(kept.flatMap { $0.phases.flatMap { [$0.beginOrder, $0.endOrder] } })
      .filter { $0 > 0 && $0 < .max }.sorted()
    let rank = { (order: Int32) in
      order < 0 || order == .max ? order : Int32(orders.count { $0 <= order })
    }
    let pasts = kept.map { number, phases in
      Past(
        number: number,
        phases: phases.map {
          Past.Phase(
            setting: $0.setting, begin: now - $0.begin, beginOrder: rank($0.beginOrder),
            end: $0.end == .never ? .zero : now - $0.end, endOrder: rank($0.endOrder))
        })
    }
    return (pasts, rank)
  }

  /// Restores histories.
  mutating func restore(_ pasts: [Past], at now: Instant) {
    order = 0
    for past in pasts {
      phases[past.number] = past.phases.map { phase in
        let isLast = phase.endOrder == .max
        order = max(order, phase.beginOrder, isLast ? 0 : phase.endOrder)
        return Phase(
          setting: phase.setting,
          begin: phase.begin == .forever ? Instant(nanoseconds: .min) : now - phase.begin,
          beginOrder: phase.beginOrder, end: isLast ? .never : now - phase.end, endOrder: phase.endOrder)
      }
    }
  }
}
