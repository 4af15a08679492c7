import Automata
import Basics
import Expressions

/// The values of a machine's variables in the ``ReferenceInterpreter``, with the means to change them.
///
/// A device knows all its values: what the machine leaves to the device is the least value of its form.
struct InterpretedData: Sendable {
  private let data: MachineData
  private var frame: Frame
  private var strings: Strings

  /// Starts a test.
  init(_ data: MachineData, start: Int) {
    self.data = data
    strings = data.strings
    frame = data.frame(ofStart: start, at: .zero, strings: &strings)
    for place in data.variables { choose(place) }
  }

  /// Gives a value that is unknown one that the device chooses.
  private mutating func choose(_ place: MachineData.Place) {
    guard frame.state(of: place.slot, width: place.width) == .unknown else { return }
    _ = frame.write(place.form.kind.least, as: place.type, at: place.slot, &strings)
  }

  /// Writes the arguments of a stimulus.
  mutating func write(_ stimulus: Stimulus) {
    data.write(argumentsOf: stimulus.number, to: &frame, strings: &strings) { stimulus.argument($0) }
  }

  /// Returns whether the `when` of a row is true.
  mutating func allows(_ row: Int, at now: Instant, since entry: Instant) -> Bool {
    guard let program = data.rules[row]?.when else { return true }
    set(now, since: entry)
    program.run(in: &frame, strings: &strings)
    return frame.knowledge(at: program.result) == .known && frame.words[Int(program.result)] != 0
  }

  private mutating func set(_ now: Instant, since entry: Instant) {
    frame.set(now.nanoseconds, at: data.now)
    frame.set((now - entry).nanoseconds, at: data.elapsed)
  }

  /// From when the times of a row count; `nil` if its timer does not run.
  func origin(of row: Int, since entry: Instant) -> Instant? {
    guard let rule = data.rules[row], rule.timer >= 0 else { return entry }
    let slot = data.timerSlots[rule.timer]
    guard frame.knowledge(at: slot) == .known else { return nil }
    return Instant(nanoseconds: frame.words[Int(slot)])
  }

  /// The times of a row, if they are expressions.
  mutating func times(of row: Int, since entry: Instant) -> (earliest: Interval?, latest: Interval?) {
    guard let rule = data.rules[row] else { return (nil, nil) }
    return (rule.earliest.flatMap { interval($0) }, rule.latest.flatMap { interval($0) })
  }

  private mutating func interval(_ program: Program) -> Interval? {
    program.run(in: &frame, strings: &strings)
    guard frame.knowledge(at: program.result) == .known else { return nil }
    return Interval(nanoseconds: frame.words[Int(program.result)])
  }

  /// Takes a row, and returns the values of its readings by number.
  mutating func take(_ row: Int, at now: Instant, since entry: Instant) -> [(reading: Int, value: Value)] {
    guard let rule = data.rules[row] else { return [] }
    set(now, since: entry)
    let readings = rule.due.map { ($0.reading, value(of: $0.value, as: data.observed[$0.reading])) }
    let new = rule.set.map { change in
      let place = data.variables[change.variable]
      return (place, value(of: change.value, as: place))
    }
    for (place, value) in new { _ = frame.write(value, as: place.type, at: place.slot, &strings) }
    for timer in rule.stop { frame.forget(data.timerSlots[timer], width: 2, .absent) }
    for timer in rule.start {
      frame.set(now.nanoseconds, at: data.timerSlots[timer])
      frame.set(now.nanoseconds, at: data.timerSlots[timer] + 1)
    }
    return readings
  }

  /// Evaluates an expression; without one, the device chooses the least value.
  private mutating func value(of program: Program?, as place: MachineData.Place) -> Value {
    guard let program else { return place.form.kind.least }
    program.run(in: &frame, strings: &strings)
    return frame.value(place.type, at: program.result, strings)
  }

  /// The values of all variables, and the starts of the timers.
  private var values: [Value] {
    data.variables.map { frame.value($0.type, at: $0.slot, strings) }
      + data.timerSlots.map { frame.value(.instant, at: $0, strings) }
  }
}

extension InterpretedData: Hashable {
  static func == (left: Self, right: Self) -> Bool { left.values == right.values }

  func hash(into hasher: inout Hasher) {
    for value in values { hasher.combine(value.description) }
  }
}
