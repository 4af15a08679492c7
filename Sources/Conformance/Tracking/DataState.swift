import Automata
import Basics
import Expressions

/// The valuations of the possible nodes of a machine with data, and the frame in which its expressions run.
///
/// A valuation is stored once and has a number, so that a possible node is still a few words and two of them are
/// compared by numbers.
struct DataState: Sendable {
  /// Whether an expression is true.
  enum Outcome: Sendable {
    case no, maybe, yes
  }

  /// What last gave a variable its value.
  struct Origin: Equatable, Sendable {
    /// The row, or -1 for the start of the test.
    var row: Int
    var time: Instant
  }

  let data: MachineData
  private(set) var frame: Frame
  /// For each variable, the value that it had before its last change in any valuation.
  private(set) var former: Frame
  private(set) var strings: Strings
  private var valuations: ValuationTable
  /// The valuation that the frame contains.
  private var loaded: Int32 = -1
  /// For each variable, what last gave it its value in any valuation.
  private(set) var origins: [Origin]
  /// The variables that have changed since the last stimulus, as bits.
  private(set) var changed: UInt64 = 0
  private let slack: Interval

  init(_ data: MachineData, slack: Interval) {
    self.data = data
    self.slack = slack
    strings = data.strings
    frame = Frame(width: data.width)
    former = Frame(width: data.kept)
    former.forget(0, width: data.kept, .absent)
    valuations = ValuationTable(width: data.kept)
    origins = data.variables.map { _ in Origin(row: -1, time: .zero) }
  }

  /// Starts a test at a moment, and returns the valuation of a start.
  mutating func start(in number: Int, at now: Instant) -> Int32 {
    if strings.count > data.strings.count { strings = data.strings }
    frame = data.frame(ofStart: number, at: now, strings: &strings)
    former.forget(0, width: data.kept, .absent)
    for index in origins.indices { origins[index] = Origin(row: -1, time: .zero) }
    return store()
  }

  /// Forgets all valuations; their numbers are then given again.
  mutating func removeAll() {
    valuations.removeAll()
    loaded = -1
  }

  /// Puts a valuation into the frame.
  @inline(__always)
  mutating func load(_ valuation: Int32) {
    guard valuation != loaded else { return }
    valuations.copy(valuation, to: &frame)
    loaded = valuation
  }

  private mutating func store() -> Int32 {
    loaded = valuations.number(of: frame)
    return loaded
  }

  /// Mixes what matters of a valuation: flags, words, small numbers, how long lists are, which timers run. Texts, moments
  /// and other numbers are too many to tell apart.
  func mix(_ valuation: Int32, into position: inout Fingerprint) {
    for place in data.variables { mix(place.form.kind, place.slot, valuation, into: &position) }
    for slot in data.timerSlots { position.mix(valuations.word(valuation, slot) == nil ? 1 : 2) }
  }

  private func mix(
    _ kind: ValueForm.Kind, _ slot: Frame.Slot, _ valuation: Int32, into position: inout Fingerprint
  ) {
    func word(_ slot: Frame.Slot) -> UInt64 {
      valuations.word(valuation, slot).map { UInt64(bitPattern: $0) &+ 2 } ?? 1
    }
    switch kind {
    case .flag, .choice: position.mix(word(slot))
    case .wholeNumber(let range) where range.isSmall: position.mix(word(slot))
    case .list: position.mix(word(slot))
    case .map(let key, let value, let capacity):
      position.mix(word(slot))
      for number in 0..<capacity {
        let stride = key.type.width + value.type.width
        mix(value, slot + 1 + Frame.Slot(number * stride + key.type.width), valuation, into: &position)
      }
    case .record(let fields):
      var slot = slot
      for field in fields {
        mix(field.kind, slot, valuation, into: &position)
        slot += Frame.Slot(field.kind.type.width)
      }
    case .text, .hexadecimal, .wholeNumber, .number, .duration, .instant: break
    }
  }

  /// The number of valuations.
  var count: Int { valuations.count }

  /// Writes the arguments of a stimulus.
  mutating func write(_ stimulus: Stimulus) {
    changed = 0
    guard !data.arguments[stimulus.number].isEmpty else { return }
    data.write(argumentsOf: stimulus.number, to: &frame, strings: &strings) { stimulus.argument($0) }
  }

  /// Sets the present moment, and the time since a node was entered, if they are known.
  @inline(__always)
  mutating func set(now: Instant?, since member: PossibleNodes.Member) {
    if let now {
      frame.set(now.nanoseconds, at: data.now)
    } else {
      frame.forget(data.now, width: 1, .unknown)
    }
    if let now, member.earliest == member.latest {
      frame.set((now - member.latest).nanoseconds, at: data.elapsed)
    } else {
      frame.forget(data.elapsed, width: 1, .unknown)
    }
  }

  /// Evaluates a flag; one without a value is not true.
  @inline(__always)
  mutating func outcome(of program: Program?) -> Outcome {
    guard let program else { return .yes }
    program.run(in: &frame, strings: &strings)
    switch frame.knowledge(at: program.result) {
    case .known: return frame.words[Int(program.result)] != 0 ? .yes : .no
    case .unknown: return .maybe
    case .absent: return .no
    }
  }

  /// Evaluates a duration; `nil` if it is not known.
  mutating func interval(_ program: Program) -> Interval? {
    program.run(in: &frame, strings: &strings)
    guard frame.knowledge(at: program.result) == .known else { return nil }
    return Interval(nanoseconds: frame.words[Int(program.result)])
  }

  /// When a timer was started in some valuation; `nil` if it does not run.
  func start(ofTimer number: Int, in valuation: Int32) -> (earliest: Instant, latest: Instant)? {
    let slot = data.timerSlots[number]
    guard let earliest = valuations.word(valuation, slot), let latest = valuations.word(valuation, slot + 1)
    else { return nil }
    return (Instant(nanoseconds: earliest), Instant(nanoseconds: latest))
  }

  /// When a variable last changed in some valuation; the start of the test if none did.
  func change(in valuation: Int32) -> Instant {
    Instant(nanoseconds: data.change < 0 ? 0 : valuations.word(valuation, data.change) ?? 0)
  }

  /// Whether the `when` of a row, and its timer, allow it for certain in a possible node.
  func must(_ rule: MachineData.Rule, in member: PossibleNodes.Member) -> Bool {
    if rule.timer >= 0, start(ofTimer: rule.timer, in: member.valuation) == nil { return false }
    return rule.when == nil || outcome(of: rule.when, in: member) == .yes
  }

  /// Whether the `when` of a row forbids it for certain in a possible node.
  func mustNot(_ rule: MachineData.Rule, in member: PossibleNodes.Member) -> Bool {
    rule.when != nil && outcome(of: rule.when, in: member) == .no
  }

  /// Evaluates a flag in a possible node. The present moment is not known.
  private func outcome(of program: Program?, in member: PossibleNodes.Member) -> Outcome {
    var copy = self
    copy.load(member.valuation)
    copy.set(now: nil, since: member)
    return copy.outcome(of: program)
  }

  /// Evaluates a duration in a possible node; `nil` if it is not known.
  func interval(_ program: Program, in member: PossibleNodes.Member) -> Interval? {
    var copy = self
    copy.load(member.valuation)
    copy.set(now: nil, since: member)
    return copy.interval(program)
  }

  /// Takes a row in the valuation that is loaded, and returns the new valuation.
  ///
  /// - Parameters:
  ///   - isMaybe: whether the row may also not be taken, so that taking it tells what was unknown.
  ///   - start: the earliest and the latest moment of the row, for its timers.
  mutating func take(
    _ rule: MachineData.Rule, row: Int, isMaybe: Bool, start: (earliest: Instant, latest: Instant)
  ) -> Int32 {
    if rule.changesNothing { return loaded }
    if isMaybe { learn(rule.facts) }
    for change in rule.set { change.value?.run(in: &frame, strings: &strings) }
    for due in rule.due { due.value?.run(in: &frame, strings: &strings) }
    for due in rule.due {
      guard let place = data.due[due.reading] else { continue }
      move(due.value, to: place)
    }
    let before = changed
    changed = 0
    defer { changed |= before }
    for change in rule.set {
      let place = data.variables[change.variable]
      if !frame.isEqual(change.value?.result ?? -1, place.slot, width: place.width) {
        former.copy(place.slot, of: frame, width: place.width)
        changed |= 1 << UInt64(change.variable & 63)
      }
      move(change.value, to: place)
      origins[change.variable] = Origin(row: row, time: start.latest)
    }
    if data.change >= 0, changed != 0 { frame.set(start.latest.nanoseconds, at: data.change) }
    for timer in rule.stop { frame.forget(data.timerSlots[timer], width: 2, .absent) }
    for timer in rule.start {
      frame.set(start.earliest.nanoseconds, at: data.timerSlots[timer])
      frame.set(start.latest.nanoseconds, at: data.timerSlots[timer] + 1)
    }
    return store()
  }

  private mutating func move(_ program: Program?, to place: MachineData.Place) {
    if let program {
      frame.copy(program.result, to: place.slot, width: place.width)
    } else {
      frame.forget(place.slot, width: place.width, .unknown)
    }
  }

  /// Returns the valuation that is loaded with what follows from a row that is not taken.
  mutating func leave(_ rule: MachineData.Rule) -> Int32 {
    guard !rule.otherwise.isEmpty else { return loaded }
    learn(rule.otherwise)
    return store()
  }

  private mutating func learn(_ facts: [MachineData.Fact]) {
    for fact in facts where frame.state(of: fact.slot, width: fact.width) == .unknown {
      fact.value.run(in: &frame, strings: &strings)
      guard frame.state(of: fact.value.result, width: fact.width) == .known else { continue }
      frame.copy(fact.value.result, to: fact.slot, width: fact.width)
    }
  }
}

// MARK: - Readings

extension DataState {
  /// Writes an observed reading, and returns whether it has the form of the machine.
  mutating func write(observed value: Value, of reading: Int) -> Bool {
    let place = data.observed[reading]
    guard let value = value.read(as: place.form.kind) else { return false }
    return frame.write(value, as: place.type, at: place.slot, &strings)
  }

  /// Compares the observed reading with the one that is due in the valuation that is loaded.
  ///
  /// - Returns: the valuation without the due reading, in which what was unknown of it is known; `nil` if the values
  ///   differ.
  mutating func meet(_ due: MachineData.Due) -> Int32? {
    guard let place = data.due[due.reading] else { return nil }
    let observed = data.observed[due.reading].slot
    var slots = (place.slot, observed)
    guard agrees(place.form.kind, &slots.0, &slots.1) else { return nil }
    if let shown = due.shown {
      for offset in 0..<Frame.Slot(place.width) where frame.knowledge(at: shown + offset) == .unknown {
        frame.copy(observed + offset, to: shown + offset, width: 1)
      }
    }
    frame.forget(place.slot, width: place.width, .known)
    return store()
  }

  /// Whether an observed value is possible where another is due; moves both positions behind the values.
  private func agrees(_ kind: ValueForm.Kind, _ due: inout Frame.Slot, _ observed: inout Frame.Slot) -> Bool {
    if case .record(let fields) = kind {
      var isEqual = true
      for field in fields where !agrees(field.kind, &due, &observed) { isEqual = false }
      return isEqual
    }
    defer {
      due += Frame.Slot(kind.type.width)
      observed += Frame.Slot(kind.type.width)
    }
    let (known, seen) = (frame.knowledge(at: due), frame.knowledge(at: observed))
    if known == .unknown || seen == .unknown { return true }
    if known == .absent || seen == .absent { return known == seen }
    let (wanted, shown) = (frame.words[Int(due)], frame.words[Int(observed)])
    switch kind {
    case .instant(let precision):
      return abs(wanted - shown) <= (precision + slack).nanoseconds
    case .list(let element, _):
      guard wanted == shown else { return false }
      var (due, observed) = (due + 1, observed + 1)
      return (0..<wanted).allSatisfy { _ in agrees(element, &due, &observed) }
    case .map(let key, let value, _):
      guard wanted == shown else { return false }
      var (due, observed) = (due + 1, observed + 1)
      return (0..<wanted).allSatisfy { _ in
        // Both are evaluated, so that both positions move.
        let isSameKey = agrees(key, &due, &observed)
        return agrees(value, &due, &observed) && isSameKey
      }
    default: return wanted == shown
    }
  }

  /// The first part of an observed reading that differs from the one that is due in a valuation.
  mutating func difference(
    of reading: Reading, number: Int, in valuation: Int32
  ) -> (part: String, due: Value, shown: Value)? {
    load(valuation)
    guard let place = data.due[number], let shown = reading.value.read(as: place.form.kind) else {
      return nil
    }
    return place.form.kind.difference(
      due: frame.value(place.type, at: place.slot, strings), shown: shown, slack: slack)
  }

  /// The value of a variable in the valuation that is loaded.
  func value(ofVariable number: Int) -> Value {
    let place = data.variables[number]
    return frame.value(place.type, at: place.slot, strings)
  }

  /// What last changed one of the variables that an expression names.
  func origin(ofNamesIn expression: String) -> Origin? {
    let names = (try? Syntax(parsing: expression))?.names ?? []
    return zip(data.variables, origins).filter { names.contains($0.0.form.name) }.map(\.1)
      .max { ($0.time, $0.row) < ($1.time, $1.row) }
  }

  /// The values of the last arguments and of the variables that expressions name, in a valuation.
  mutating func values(
    ofNamesIn expressions: [String], onEvent event: Int, in valuation: Int32
  ) -> [(name: String, value: Value, origin: Origin?)] {
    load(valuation)
    let names = Set(expressions.flatMap { (try? Syntax(parsing: $0))?.names ?? [] })
    func value(of place: MachineData.Place) -> Value { frame.value(place.type, at: place.slot, strings) }
    return data.arguments[event].filter { names.contains($0.form.name) }.map {
      ($0.form.name, value(of: $0), nil)
    }
      + zip(data.variables, origins).filter { names.contains($0.0.form.name) }.map {
        ($0.0.form.name, value(of: $0.0), $0.1)
      }
  }

  /// The due value of a reading in the valuation that is loaded.
  func dueValue(of reading: Int) -> Value {
    guard let place = data.due[reading] else { return .unknown }
    return frame.value(place.type, at: place.slot, strings)
  }

  /// The words of a valuation with moments relative to another one, followed by what is known of each.
  func relative(_ valuation: Int32, to now: Instant) -> [Int64] {
    var (words, states) = valuations.content(of: valuation)
    for slot in data.instants where states[Int(slot)] == 0 { words[Int(slot)] -= now.nanoseconds }
    return words + states.map { Int64($0) }
  }

  /// Returns the number of the valuation that ``relative(_:to:)`` gives.
  mutating func number(ofRelative content: [Int64], to now: Instant) -> Int32 {
    var words = Array(content[..<data.kept])
    let states = content[data.kept...].map { UInt8($0) }
    for slot in data.instants where states[Int(slot)] == 0 { words[Int(slot)] += now.nanoseconds }
    return number(of: (words, states))
  }

  /// The words of a valuation, and what is known of each.
  func content(of valuation: Int32) -> (words: [Int64], states: [UInt8]) { valuations.content(of: valuation) }

  /// Returns the number of a valuation with some content.
  mutating func number(of content: (words: [Int64], states: [UInt8])) -> Int32 {
    loaded = valuations.number(of: content)
    valuations.copy(loaded, to: &frame)
    return loaded
  }
}

extension ClosedRange<Int> {
  /// Whether it has at most sixteen numbers.
  fileprivate var isSmall: Bool {
    let (span, isOverflow) = upperBound.subtractingReportingOverflow(lowerBound)
    return !isOverflow && span < 16
  }
}
