import Automata
import Basics
import Expressions

/// A stimulus whose arguments a test takes from the values that the model holds when it performs the stimulus.
///
/// Defects in data show with values that matter: the right code, the code of another user, one that was deleted, and
/// what is next to them. A test therefore names the origin of a value, not the value: if shrinking changes the code
/// that was set, the code that is entered changes with it.
public struct DrawnStimulus: Equatable, Sendable {
  /// The number of the stimulus.
  public var number: Int
  /// Its arguments.
  var arguments: [DrawnArgument]
  /// The row that it is to take, if any of some arguments makes the model take it; ``arguments`` otherwise.
  var aim: Aim?

  /// A row, and the arguments that are tried for it.
  struct Aim: Equatable, Sendable {
    var row: Int
    var candidates: [[DrawnArgument]]
    /// Which of the candidates is tried first.
    var first: Int
  }

  /// Returns how many of the arguments have the values of a stimulus, counted twice, or may have them.
  func likeness(to stimulus: Stimulus) -> Int {
    arguments.reduce(0) { sum, argument in
      guard case .fixed(let value) = argument.origin else { return sum + 1 }
      return stimulus.argument(argument.form.name) == value ? sum + 2 : sum
    }
  }
}

/// An argument whose value depends on the model.
struct DrawnArgument: Equatable, Sendable {
  var form: ValueForm
  var origin: Origin
  var change = Change.none

  /// Where the value comes from.
  enum Origin: Equatable, Sendable {
    case fixed(Value)
    /// The value of a variable or of a part of one.
    case held(Part)
    /// The same before its last change.
    case former(Part)
    /// The value of the argument at the last stimulus of this kind.
    case last(Frame.Slot)
  }

  /// A scalar in a valuation.
  struct Part: Equatable, Sendable {
    /// The first word of the variable, or of a field of a record.
    var slot: Frame.Slot
    /// The element of a list, or the entry of a map, and its place there; `nil` if the part is a word itself.
    var element: Element?
    var kind: ValueForm.Kind

    struct Element: Equatable, Sendable {
      /// The number of the element; -1 for the last.
      var number: Int
      /// The words of an element, and where in it the part is.
      var stride: Int
      var offset: Int
    }
  }

  /// What is changed of the value.
  enum Change: Equatable, Sendable, CaseIterable {
    case none, lastUp, lastDown, firstUp, shorter, longer, doubled, empty
  }
}

extension DrawnArgument.Change {
  /// Changes a value; a value that cannot be changed so stays as it is.
  func applied(to value: Value) -> Value {
    switch value {
    case .text(let text): .text(String(decoding: applied(to: Array(text.utf8)), as: UTF8.self))
    case .integer(let value):
      switch self {
      case .lastUp: .integer(value == .max ? value : value + 1)
      case .lastDown: .integer(value == .min ? value : value - 1)
      case .empty: .integer(0)
      case .doubled: .integer(value.multipliedReportingOverflow(by: 2).partialValue)
      case .none, .firstUp, .shorter, .longer: .integer(value)
      }
    case .number(let value):
      switch self {
      case .lastUp: .number(value + 1)
      case .lastDown: .number(value - 1)
      case .empty: .number(0)
      case .none, .firstUp, .shorter, .longer, .doubled: .number(value)
      }
    case .duration(let value):
      switch self {
      case .lastUp: .duration(value + .seconds(1))
      case .lastDown: .duration(value - .seconds(1))
      case .empty: .duration(.zero)
      case .none, .firstUp, .shorter, .longer, .doubled: .duration(value)
      }
    case .bytes(let bytes): .bytes(applied(to: bytes))
    default: value
    }
  }

  private func applied(to bytes: [UInt8]) -> [UInt8] {
    func next(_ byte: UInt8, _ step: Int) -> UInt8 {
      // A digit stays a digit, so that only one character differs.
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
        return byte &+ UInt8(truncatingIfNeeded: step) & 127
      }
      return UInt8(ascii: "0") + UInt8((Int(byte) - 48 + 10 + step) % 10)
    }
    switch self {
    case .none: return bytes
    case .lastUp: return bytes.dropLast() + bytes.suffix(1).map { next($0, 1) }
    case .lastDown: return bytes.dropLast() + bytes.suffix(1).map { next($0, -1) }
    case .firstUp: return bytes.prefix(1).map { next($0, 1) } + bytes.dropFirst()
    case .shorter: return bytes.dropLast()
    case .longer: return bytes + [UInt8(ascii: "0")]
    case .doubled: return bytes + bytes
    case .empty: return []
    }
  }
}

// MARK: - What is worth drawing

/// The stimuli of one event that are worth trying.
struct DrawnStimuli: Sendable {
  /// With values that the rows of the event compare: held by the variables that they name, constants, and a few others;
  /// the simplest first.
  var principal: [DrawnStimulus] = []
  /// With values that make the model take one of the rows of the event.
  var aimed: [DrawnStimulus] = []
  /// With values that were held before, or given before.
  var others: [DrawnStimulus] = []
  /// With what is next to the values that the variables hold.
  var neighbours: [DrawnStimulus] = []
  /// The variables whose values the rows of the event compare with arguments.
  var variables: [Int] = []
}

extension MachineData {
  /// Finds the stimuli of an event that are worth trying.
  func drawnStimuli(of event: Int, in definition: MachineDefinition) -> DrawnStimuli {
    var stimuli = DrawnStimuli()
    let places = arguments[event]
    guard !places.isEmpty else {
      stimuli.principal = [DrawnStimulus(number: event, arguments: [])]
      return stimuli
    }
    let guards = definition.guards(ofRowsOf: definition.events[event].name)
    let names = Set(guards.flatMap(\.names))
    stimuli.variables = variables.indices.filter { names.contains(variables[$0].form.name) }
    let relations = places.map { place in Set(guards.flatMap { $0.relations(of: place.form.name) }) }
    let compared = zip(places, relations).map { place, related in
      related.isEmpty ? held(for: place, by: stimuli.variables) : parts(related, for: place)
    }
    let values = Set(relations.joined().filter { !$0.isKey }.map(\.variable))
    stimuli.variables = variables.indices.filter { values.contains(variables[$0].form.name) }
    let principal = places.indices.map { index in
      let constants = guards.flatMap { $0.constants(comparedWith: places[index].form.name) }
      return unique(
        places[index].form.kind.fixedValues(constants).map { .fixed($0) } + compared[index].map { .held($0) }
      )
      .map { DrawnArgument(form: places[index].form, origin: $0) }
    }
    let isAlternative = definition.events[event].arguments?.isAlternative ?? false
    let combinations =
      isAlternative ? principal.joined().map { [$0] } : Self.combinations(of: principal, most: 160)
    stimuli.principal = combinations.map { DrawnStimulus(number: event, arguments: $0) }
    for index in places.indices {
      let form = places[index].form
      guard form.kind.isOpen else { continue }
      let others: [DrawnArgument.Origin] = compared[index].map { .former($0) } + [.last(places[index].slot)]
      for origin in others {
        stimuli.others += Self.with(
          DrawnArgument(form: form, origin: origin), at: index, of: isAlternative ? [] : principal, event)
      }
      for origin in compared[index] {
        for change in DrawnArgument.Change.allCases where change != .none && form.kind.admits(change) {
          let argument = DrawnArgument(form: form, origin: .held(origin), change: change)
          stimuli.neighbours += Self.with(argument, at: index, of: isAlternative ? [] : principal, event)
        }
      }
    }
    let candidates = (stimuli.principal + stimuli.others).map(\.arguments)
    for (row, transition) in definition.transitions.enumerated()
    where transition.trigger == .event(definition.events[event].name) {
      for first in 0..<Self.aims {
        let aim = DrawnStimulus.Aim(
          row: row, candidates: candidates, first: first * candidates.count / Self.aims)
        stimuli.aimed.append(
          DrawnStimulus(number: event, arguments: candidates[first % candidates.count], aim: aim))
      }
    }
    return stimuli
  }

  /// How many stimuli aim at one row.
  private static var aims: Int { 4 }

  /// Returns stimuli with one argument given and all combinations of the others.
  private static func with(
    _ argument: DrawnArgument, at index: Int, of lists: [[DrawnArgument]], _ event: Int
  ) -> [DrawnStimulus] {
    // An argument that excludes the others is given alone.
    guard !lists.isEmpty else { return [DrawnStimulus(number: event, arguments: [argument])] }
    var lists = lists
    lists[index] = [argument]
    return combinations(of: lists, most: 8).map { DrawnStimulus(number: event, arguments: $0) }
  }

  /// Returns combinations of one member of each list: all, if there are few, and otherwise some in which every member
  /// meets members of every other list.
  private static func combinations(of lists: [[DrawnArgument]], most limit: Int) -> [[DrawnArgument]] {
    let count = lists.reduce(1) { $0.multipliedReportingOverflow(by: max(1, $1.count)).partialValue }
    if count <= limit {
      return lists.reduce([[]]) { partial, list in partial.flatMap { head in list.map { head + [$0] } } }
    }
    return (0..<limit).map { number in
      var rest = number
      return lists.enumerated().map { index, list in
        defer { rest /= max(1, list.count) }
        return list[(rest + number * index) % list.count]
      }
    }
  }

  /// The parts of variables that expressions compare with an argument.
  private func parts(_ related: Set<Syntax.Relation>, for place: Place) -> [DrawnArgument.Part] {
    var parts: [DrawnArgument.Part] = []
    for variable in variables {
      let (kind, slot) = (variable.form.kind, variable.slot)
      let all = self.parts(of: kind, at: slot)
      if related.contains(.init(variable.form.name, isKey: false)) {
        guard case .map(let key, _, _) = kind else {
          parts += all
          continue
        }
        parts += all.filter { ($0.element?.offset ?? 0) >= key.type.width }
      }
      if case .map(let key, _, _) = kind, related.contains(.init(variable.form.name, isKey: true)) {
        parts += all.filter { ($0.element?.offset ?? 0) < key.type.width }
      }
    }
    return parts.filter { place.form.kind.isAlike($0.kind) }
  }

  /// The parts of variables that an argument can be compared with.
  private func held(for place: Place, by numbers: [Int]) -> [DrawnArgument.Part] {
    numbers.flatMap { parts(of: variables[$0].form.kind, at: variables[$0].slot) }
      .filter { place.form.kind.isAlike($0.kind) }
  }

  /// The scalars of a value.
  private func parts(of kind: ValueForm.Kind, at slot: Frame.Slot) -> [DrawnArgument.Part] {
    switch kind {
    case .record(let fields):
      var slot = slot
      return fields.flatMap { field in
        defer { slot += Frame.Slot(field.kind.type.width) }
        return parts(of: field.kind, at: slot)
      }
    case .list(let element, let capacity):
      return [0, -1].prefix(capacity > 1 ? 2 : 1).flatMap { number in
        parts(of: element, at: 0).map {
          entry(slot, $0, number: number, stride: element.type.width, offset: 0)
        }
      }
    case .map(let key, let value, let capacity):
      let stride = key.type.width + value.type.width
      return (0..<min(capacity, 3)).flatMap { number in
        parts(of: key, at: 0).map { entry(slot, $0, number: number, stride: stride, offset: 0) }
          + parts(of: value, at: 0).map {
            entry(slot, $0, number: number, stride: stride, offset: key.type.width)
          }
      }
    default: return [DrawnArgument.Part(slot: slot, kind: kind)]
    }
  }

  private func entry(
    _ slot: Frame.Slot, _ part: DrawnArgument.Part, number: Int, stride: Int, offset: Int
  ) -> DrawnArgument.Part {
    DrawnArgument.Part(
      slot: slot, element: .init(number: number, stride: stride, offset: offset + Int(part.slot)),
      kind: part.kind)
  }
}

/// Returns the members of a list without those that occur before.
private func unique(_ origins: [DrawnArgument.Origin]) -> [DrawnArgument.Origin] {
  origins.enumerated().filter { index, origin in !origins[..<index].contains(origin) }.map(\.element)
}

extension ValueForm.Kind {
  /// Whether it has too many values to try each.
  fileprivate var isOpen: Bool {
    switch self {
    case .text, .hexadecimal, .wholeNumber, .number, .duration: true
    case .flag, .choice, .instant, .list, .map, .record: false
    }
  }

  /// Whether a change makes another value of this form.
  fileprivate func admits(_ change: DrawnArgument.Change) -> Bool {
    switch self {
    case .text, .hexadecimal: true
    case .wholeNumber, .number, .duration: [.lastUp, .lastDown, .empty, .doubled].contains(change)
    default: false
    }
  }

  /// Whether values of two forms can be compared.
  fileprivate func isAlike(_ other: Self) -> Bool {
    switch (self, other) {
    case (.text, .text), (.hexadecimal, .hexadecimal), (.wholeNumber, .wholeNumber), (.number, .number),
      (.duration, .duration):
      true
    default: false
    }
  }

  /// Values to try whatever the model holds: the constants that rows compare, texts of the lengths that they compare, and
  /// the limits of numbers.
  fileprivate func fixedValues(_ constants: [Value]) -> [Value] {
    switch self {
    case .flag: return [.flag(false), .flag(true)]
    case .choice(let words): return words.map { .text($0) }
    case .text:
      let lengths = constants.compactMap {
        if case .integer(let number) = $0, (1...64).contains(number) { number } else { nil }
      }
      let texts = constants.filter { if case .text = $0 { true } else { false } }
      return texts + Set(lengths + [4]).sorted().map { .text(Self.digits($0)) }
    case .hexadecimal:
      return constants.filter { if case .bytes = $0 { true } else { false } } + [
        .bytes([]), .bytes([0]), .bytes([0xFF, 0xFF]),
      ]
    case .wholeNumber(let range):
      let numbers = constants.compactMap { if case .integer(let number) = $0 { number } else { nil } }
      let (span, isOverflow) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
      // Of few numbers each is tried.
      let all =
        isOverflow || span > 12
        ? [range.lowerBound, range.upperBound, range.lowerBound / 2 + range.upperBound / 2] : Array(range)
      return ([0, 1] + numbers + numbers.map { $0 &+ 1 } + all)
        .map { .integer(min(max($0, range.lowerBound), range.upperBound)) }
    case .number(let range):
      return constants.filter { if case .number = $0 { true } else { false } }
        + [0, 1, 0.5, range.lowerBound, range.upperBound, range.lowerBound / 2 + range.upperBound / 2].map {
          .number(min(max($0, range.lowerBound), range.upperBound))
        }
    case .duration(let range):
      return constants.filter { if case .duration = $0 { true } else { false } }
        + [Interval.zero, .seconds(1), .seconds(10)].map {
          .duration(min(max($0, range.lowerBound), range.upperBound))
        }
    case .instant, .list, .map, .record: return [least]
    }
  }

  /// A text of some length that is seldom a code.
  private static func digits(_ count: Int) -> String {
    String(decoding: (0..<count).map { UInt8(ascii: "0") + UInt8((7 + $0 * 3) % 10) }, as: UTF8.self)
  }
}

extension MachineDefinition {
  /// The `when` expressions of the rows of an event.
  fileprivate func guards(ofRowsOf event: String) -> [Syntax] {
    transitions.filter { $0.trigger == .event(event) }.compactMap(\.data.when)
      .compactMap { try? Syntax(parsing: $0) }
  }
}

// MARK: - Values

extension DataState {
  /// Returns a drawn stimulus with the values that the model holds in a possible node.
  mutating func stimulus(_ drawn: DrawnStimulus, in valuation: Int32) -> Stimulus {
    load(valuation)
    return stimulus(drawn.number, drawn.arguments)
  }

  /// Returns a stimulus with the values of the valuation that is loaded.
  func stimulus(_ number: Int, _ arguments: [DrawnArgument]) -> Stimulus {
    Stimulus(number, arguments.map { Argument($0.form.name, value(of: $0)) })
  }

  private func value(of argument: DrawnArgument) -> Value {
    let value: Value? =
      switch argument.origin {
      case .fixed(let value): value
      case .held(let part): self.value(of: part, in: frame)
      // A value that has not changed was never another one.
      case .former(let part): self.value(of: part, in: former) ?? self.value(of: part, in: frame)
      case .last(let slot): known(argument.form.kind, at: slot, in: frame)
      }
    let changed = argument.change.applied(to: value ?? argument.form.kind.least)
    return argument.form.kind.clamped(changed)
  }

  private func value(of part: DrawnArgument.Part, in frame: Frame) -> Value? {
    guard let element = part.element else { return known(part.kind, at: part.slot, in: frame) }
    guard frame.knowledge(at: part.slot) == .known else { return nil }
    let count = Int(frame.words[Int(part.slot)])
    let number = element.number < 0 ? count - 1 : element.number
    guard number >= 0, number < count else { return nil }
    return known(
      part.kind, at: part.slot + 1 + Frame.Slot(number * element.stride + element.offset), in: frame)
  }

  private func known(_ kind: ValueForm.Kind, at slot: Frame.Slot, in frame: Frame) -> Value? {
    guard frame.knowledge(at: slot) == .known else { return nil }
    return frame.value(kind.type, at: slot, strings)
  }
}

extension ValueForm.Kind {
  /// Brings a value within the limits of the form.
  fileprivate func clamped(_ value: Value) -> Value {
    switch (self, value) {
    case (.wholeNumber(let range), .integer(let value)):
      .integer(min(max(value, range.lowerBound), range.upperBound))
    case (.number(let range), .number(let value)):
      .number(min(max(value, range.lowerBound), range.upperBound))
    case (.duration(let range), .duration(let value)):
      .duration(min(max(value, range.lowerBound), range.upperBound))
    default: value
    }
  }
}

// MARK: - What is compared

extension Syntax {
  /// A variable whose values, or whose keys, an expression compares with an argument.
  fileprivate struct Relation: Hashable {
    var variable: String
    var isKey: Bool

    init(_ variable: String, isKey: Bool) { (self.variable, self.isKey) = (variable, isKey) }
  }

  /// Returns what the expression compares with an argument.
  fileprivate func relations(of argument: String) -> [Relation] {
    switch form {
    case .binary(.contained, let left, let right):
      (left.names.contains(argument) ? right.names.map { Relation($0, isKey: true) } : [])
        + right.relations(of: argument)
    case .binary(let sign, let left, let right):
      sign.isComparison
        ? left.compared(with: right, argument) + right.compared(with: left, argument)
          + left.relations(of: argument) + right.relations(of: argument)
        : left.relations(of: argument) + right.relations(of: argument)
    case .element(let operand, let index):
      (index.names.contains(argument) ? operand.names.map { Relation($0, isKey: true) } : [])
        + operand.relations(of: argument) + index.relations(of: argument)
    case .call(_, let receiver, let arguments):
      // A call such as `startsWith` compares its operands.
      ([receiver].compactMap { $0 } + arguments).flatMap { operand in
        operand.names.contains(argument)
          ? ([receiver].compactMap { $0 } + arguments).flatMap(\.values).map { Relation($0, isKey: false) }
          : []
      } + ([receiver].compactMap { $0 } + arguments).flatMap { $0.relations(of: argument) }
    case .not(let operand), .negation(let operand), .member(let operand, _): operand.relations(of: argument)
    case .conditional(let condition, let first, let second):
      [condition, first, second].flatMap { $0.relations(of: argument) }
    case .list(let members): members.flatMap { $0.relations(of: argument) }
    case .map(let entries): entries.flatMap { $0.value.relations(of: argument) }
    case .flag, .integer, .number, .text, .bytes, .name: []
    }
  }

  private func compared(with other: Syntax, _ argument: String) -> [Relation] {
    values.contains(argument) ? other.values.map { Relation($0, isKey: false) } : []
  }

  /// The constants that the expression compares with an argument, or with something that is computed from it.
  fileprivate func constants(comparedWith argument: String) -> [Value] {
    switch form {
    case .binary(let sign, let left, let right) where sign.isComparison:
      (left.names.contains(argument) ? right.constants : [])
        + (right.names.contains(argument) ? left.constants : [])
    case .binary(_, let left, let right):
      left.constants(comparedWith: argument) + right.constants(comparedWith: argument)
    case .call: names.contains(argument) ? constants : []
    case .not(let operand), .negation(let operand): operand.constants(comparedWith: argument)
    case .conditional(let condition, let first, let second):
      [condition, first, second].flatMap { $0.constants(comparedWith: argument) }
    case .flag, .integer, .number, .text, .bytes, .name, .member, .element, .list, .map: []
    }
  }

  /// The names of the values that the expression has, without those that only select one of them.
  private var values: [String] {
    switch form {
    case .element(let operand, _): operand.values
    default: names
    }
  }
}

extension Syntax.Operator {
  fileprivate var isComparison: Bool {
    switch self {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
    default: false
    }
  }
}
