public import Basics
public import Expressions

/// The data of a machine, compiled: where each variable is in a frame, and the programs of each row.
///
/// A frame has these parts, in this order:
///
///     variables │ timers │ due readings │ last change ║ now │ elapsed │ observed readings │ arguments │ intermediate results
///
/// What stands before ║ is a *valuation*: it lasts from event to event. A timer takes two words, the earliest and the
/// latest moment of its start; both are absent while it does not run.
public struct MachineData: Equatable, Sendable {
  /// A value with its place in a frame.
  public struct Place: Equatable, Sendable {
    /// Its name and form.
    public var form: ValueForm
    /// Its type.
    public var type: ValueType
    /// Its first word.
    public var slot: Frame.Slot

    /// The number of its words.
    public var width: Int { type.width }
  }

  /// What one row does with data. It is a class so that looking a row up copies none of its programs.
  public final class Rule: Equatable, Sendable {
    /// Whether the row is taken; `nil` for always.
    public let when: Program?
    /// What must hold if ``when`` is true: values of variables that were unknown before.
    public let facts: [Fact]
    /// The same if ``when`` is false.
    public let otherwise: [Fact]
    /// The new values of variables, in the order of the row.
    public let set: [Change]
    /// The values of readings that are due.
    public let due: [Due]
    /// The numbers of the timers that start, and of those that stop.
    public let start: [Int]
    public let stop: [Int]
    /// The number of the timer from whose start the times count, and which the row stops unless it starts or keeps it; -1
    /// for the entry of the state.
    public let timer: Int
    /// The earliest and the latest time, if they are expressions.
    public let earliest: Program?
    public let latest: Program?
    /// Whether taking the row leaves the data as it is.
    public let changesNothing: Bool

    init(
      when: Program?, facts: [Fact], otherwise: [Fact], set: [Change], due: [Due], start: [Int], stop: [Int],
      timer: Int,
      earliest: Program?, latest: Program?
    ) {
      self.when = when
      self.facts = facts
      self.otherwise = otherwise
      self.set = set
      self.due = due
      self.start = start
      self.stop = stop
      self.timer = timer
      self.earliest = earliest
      self.latest = latest
      changesNothing = facts.isEmpty && set.isEmpty && due.isEmpty && start.isEmpty && stop.isEmpty
    }

    public static func == (left: Rule, right: Rule) -> Bool {
      left.when == right.when && left.facts == right.facts && left.otherwise == right.otherwise
        && left.set == right.set && left.due == right.due
        && left.start == right.start && left.stop == right.stop && left.timer == right.timer
        && left.earliest == right.earliest && left.latest == right.latest
    }
  }

  /// A variable, or a part of one, that is equal to the value of a program.
  public struct Fact: Equatable, Sendable {
    public var slot: Frame.Slot
    public var width: Int
    public var value: Program
  }

  /// A new value.
  public struct Change: Equatable, Sendable {
    /// The number of the variable.
    public var variable: Int
    /// Its value; `nil` if it becomes unknown.
    public var value: Program?
  }

  /// A reading that is due.
  public struct Due: Equatable, Sendable {
    /// The number of the reading in the definition.
    public var reading: Int
    /// Its value; `nil` for any value.
    public var value: Program?
    /// The expression of the value.
    public var text: String?
    /// The variable, or the part of one, that the reading shows: what is unknown there is then known.
    public var shown: Frame.Slot?
  }

  /// The variables, in the order of the definition.
  public internal(set) var variables: [Place] = []
  /// The names of the timers, in the order of their first start in the definition.
  public internal(set) var timers: [String] = []
  /// For each timer, its first word.
  public internal(set) var timerSlots: [Frame.Slot] = []
  /// For each reading, the place of its due value; `nil` if no row shows it.
  public internal(set) var due: [Place?] = []
  /// For each reading, the place of an observed value.
  public internal(set) var observed: [Place] = []
  /// For each event, the places of its arguments.
  public internal(set) var arguments: [[Place]] = []
  /// The places of the present moment, and of the time since the entry of the state.
  public internal(set) var now: Frame.Slot = 0
  public internal(set) var elapsed: Frame.Slot = 0
  /// The place of the moment of the last change of a variable, in machines in which a row with a time has a `when`, or
  /// its time is an expression; -1 in others.
  public internal(set) var change: Frame.Slot = -1
  /// The number of words of a valuation.
  public internal(set) var kept = 0
  /// The words of a valuation that are moments, outside of lists and maps: those of timers and of variables.
  public internal(set) var instants: [Frame.Slot] = []
  /// The number of words of a frame.
  public internal(set) var width = 0
  /// For each row, what it does with data; `nil` if nothing.
  public internal(set) var rules: [Rule?] = []
  /// For each start, the values of all variables.
  public internal(set) var starts: [[Change]] = []
  /// For each start, the numbers of the timers that run.
  public internal(set) var startTimers: [[Int]] = []
  /// The texts in the programs.
  public internal(set) var strings = Strings()

  /// Whether a row shows the reading, so that the device must not show it at any other time.
  public func isDue(_ reading: Int) -> Bool { due[reading] != nil }

  /// Makes a frame with the values of a start at a moment.
  public func frame(ofStart number: Int, at now: Instant, strings: inout Strings) -> Frame {
    var frame = Frame(width: width)
    for slot in timerSlots { frame.forget(slot, width: 2, .absent) }
    for timer in startTimers[number] {
      frame.set(now.nanoseconds, at: timerSlots[timer])
      frame.set(now.nanoseconds, at: timerSlots[timer] + 1)
    }
    for change in starts[number] {
      let place = variables[change.variable]
      frame.assign(change.value, to: place.slot, width: place.width, strings: &strings)
    }
    return frame
  }

  /// Writes the arguments of an event; one that is not given is absent.
  ///
  /// - Parameter value: returns the value of an argument, by name.
  public func write(
    argumentsOf event: Int, to frame: inout Frame, strings: inout Strings, _ value: (String) -> Value?
  ) {
    for place in arguments[event] {
      let given = value(place.form.name)?.read(as: place.form.kind)
      if given.map({ frame.write($0, as: place.type, at: place.slot, &strings) }) != true {
        frame.forget(place.slot, width: place.width, .absent)
      }
    }
  }
}

extension Frame {
  /// Evaluates a program and copies its result; without a program the value becomes unknown.
  public mutating func assign(
    _ program: Program?, to slot: Slot, width: Int, strings: inout Strings
  ) {
    guard let program else { return forget(slot, width: width, .unknown) }
    program.run(in: &self, strings: &strings)
    copy(program.result, to: slot, width: width)
  }
}

// MARK: - Compilation

extension MachineDefinition {
  /// Whether rows, starts or readings have data.
  public var hasData: Bool {
    !variables.isEmpty || transitions.contains { !$0.data.isEmpty }
      || starts.contains { !$0.set.isEmpty || !$0.start.isEmpty }
  }

  /// The named timers that rows and starts start.
  var startedTimers: [String] { transitions.flatMap(\.data.start) + starts.flatMap(\.start) }

  /// Compiles the data of the machine, and returns it with all its faults.
  func compiledData() -> (data: MachineData, findings: [DefinitionFinding]) {
    var compiler = DataCompiler(self)
    compiler.compile()
    return (compiler.data, compiler.findings)
  }
}

private struct DataCompiler {
  private let definition: MachineDefinition
  private(set) var data = MachineData()
  private(set) var findings: [DefinitionFinding] = []
  /// The names that every expression may use.
  private var scope = Scope()
  private var readings: [String: Int] = [:]
  private var events: [String: Int] = [:]
  private var timers: [String: Int] = [:]

  init(_ definition: MachineDefinition) { self.definition = definition }

  mutating func compile() {
    addVariables()
    addTimers()
    addReadings()
    addArguments()
    data.width = scope.width
    compileStarts()
    for (number, row) in definition.transitions.enumerated() {
      data.rules.append(row.data.isEmpty ? nil : rule(of: row, at: .row(number)))
    }
    if data.kept > Machine.dataLimit {
      findings.append(
        DefinitionFinding(
          .tooLarge(what: "words of data", count: data.kept, limit: Machine.dataLimit), at: .machine))
    }
  }

  // MARK: Places

  private mutating func addVariables() {
    var seen = Set<String>()
    for (number, variable) in definition.variables.enumerated() {
      if !seen.insert(variable.name).inserted {
        findings.append(DefinitionFinding(.duplicateVariable(variable.name), at: .variable(number)))
      }
      if let fault = Self.fault(ofName: variable.name, type: variable.form.kind.type) {
        findings.append(DefinitionFinding(fault, at: .variable(number)))
      }
      data.variables.append(place(variable.form, as: variable.name))
    }
  }

  private static func fault(ofName name: String, type: ValueType) -> DefinitionFault? {
    if !Scope.isName(name) || ["now", "elapsed", Assignment.unknown].contains(name) {
      return .badVariableName(name)
    }
    return type.isPossible ? nil : .badType(variable: name)
  }

  private mutating func place(_ form: ValueForm, as name: String) -> MachineData.Place {
    let type = form.kind.type
    return MachineData.Place(form: form, type: type, slot: scope.add(name, type))
  }

  private mutating func addTimers() {
    for name in definition.startedTimers where timers[name] == nil {
      timers[name] = data.timers.count
      data.timers.append(name)
      data.timerSlots.append(scope.add("timer \(name)", .instant))
      scope.add("end of timer \(name)", .instant)
    }
  }

  private mutating func addReadings() {
    for (number, form) in definition.readings.enumerated() { readings[form.name] = number }
    let shown = Set(definition.transitions.flatMap { $0.data.due.map(\.reading) })
    for form in definition.readings {
      data.due.append(shown.contains(form.name) ? place(form, as: "due \(form.name)") : nil)
    }
    if definition.transitions.contains(where: { $0.isTimed && ($0.data.when != nil || $0.data.isTimed) }) {
      data.change = scope.add("change", .instant)
      data.instants.append(data.change)
    }
    data.kept = scope.width
    for slot in data.timerSlots { data.instants += [slot, slot + 1] }
    for variable in data.variables where variable.type == .instant { data.instants.append(variable.slot) }
    data.now = scope.add("now", .instant)
    data.elapsed = scope.add("elapsed", .duration)
    for form in definition.readings { data.observed.append(place(form, as: "observed \(form.name)")) }
  }

  private mutating func addArguments() {
    let variables = Set(definition.variables.map(\.name))
    for (number, event) in definition.events.enumerated() {
      events[event.name] = number
      data.arguments.append(
        (event.arguments?.forms ?? []).map { form in
          if variables.contains(form.name) {
            findings.append(
              DefinitionFinding(.ambiguousName(event: event.name, name: form.name), at: .event(number)))
          }
          return place(form, as: "\(event.name) \(form.name)")
        })
    }
  }

  /// The names that a row of an event may use.
  private func scope(of trigger: Transition.Trigger) -> Scope {
    var scope = scope
    if case .event(let name) = trigger, let number = events[name] {
      for place in data.arguments[number] { scope.alias(place.form.name, place.type, at: place.slot) }
    }
    return scope
  }

  // MARK: Expressions

  /// Compiles an expression; reports its fault and returns `nil` if it has one.
  private mutating func program(
    _ text: String, as type: ValueType?, in scope: Scope, key: String, at place: DefinitionFinding.Place
  ) -> Program? {
    do {
      let program = try Program(text, as: type, in: scope, strings: &data.strings)
      data.width = max(data.width, program.width)
      return program
    } catch {
      findings.append(
        DefinitionFinding(
          .expression(DefinitionFault.Expression(key: key, text: text, fault: error)), at: place))
      return nil
    }
  }

  private mutating func compileStarts() {
    var firsts: [MachineData.Change] = []
    for (number, variable) in definition.variables.enumerated() {
      // A first value may depend on the variables before it.
      var earlier = scope
      earlier.hide(from: number, to: definition.variables.count)
      let value = variable.first.flatMap {
        program($0, as: data.variables[number].type, in: earlier, key: "first", at: .variable(number))
      }
      firsts.append(MachineData.Change(variable: number, value: value))
    }
    for (number, start) in definition.starts.enumerated() {
      var scope = scope
      data.starts.append(firsts + changes(start.set, in: &scope, at: .start(number)))
      data.startTimers.append(start.start.compactMap { timers[$0] })
    }
  }

  private mutating func changes(
    _ assignments: [Assignment], in scope: inout Scope, at place: DefinitionFinding.Place
  ) -> [MachineData.Change] {
    var changes: [MachineData.Change] = []
    var seen = Set<String>()
    for assignment in assignments {
      guard let number = definition.variables.firstIndex(where: { $0.name == assignment.variable }) else {
        findings.append(DefinitionFinding(.variableNotDefined(assignment.variable), at: place))
        continue
      }
      if !seen.insert(assignment.variable).inserted {
        findings.append(DefinitionFinding(.duplicateAssignment(assignment.variable), at: place))
      }
      guard assignment.value != Assignment.unknown else {
        changes.append(MachineData.Change(variable: number, value: nil))
        continue
      }
      let type = data.variables[number].type
      let found = program(assignment.value, as: type, in: scope, key: assignment.variable, at: place)
      guard var value = found else { continue }
      if value.result < data.kept { value = value.copyingResult() }
      data.width = max(data.width, value.width)
      // All results remain until all are evaluated.
      scope.reserve(upTo: value.width)
      changes.append(MachineData.Change(variable: number, value: value))
    }
    return changes
  }

  private mutating func rule(
    of row: Transition, at place: DefinitionFinding.Place
  ) -> MachineData.Rule {
    var scope = scope(of: row.trigger)
    let when = row.data.when.flatMap { program($0, as: .flag, in: scope, key: "when", at: place) }
    let facts = row.data.when.map { self.facts(of: $0, isTrue: true, in: scope) } ?? []
    let otherwise = row.data.when.map { self.facts(of: $0, isTrue: false, in: scope) } ?? []
    let set = changes(row.data.set, in: &scope, at: place)
    let changed = Set(set.map { data.variables[$0.variable].slot })
    let due = dueReadings(of: row, in: &scope, unless: changed, at: place)
    for name in row.data.stop + (row.data.timer.map { [$0] } ?? []) where timers[name] == nil {
      findings.append(DefinitionFinding(.timerNotStarted(name), at: place))
    }
    let start = row.data.start.compactMap { timers[$0] }
    var stop = row.data.stop.compactMap { timers[$0] }
    let timer = row.data.timer.flatMap { timers[$0] } ?? -1
    // A timer ends once.
    if timer >= 0, !start.contains(timer), !row.data.keepsTimer { stop.append(timer) }
    // One expression may be both ends.
    let isExact = row.data.earliest == row.data.latest
    let earliest = row.data.earliest.flatMap {
      program($0, as: .duration, in: scope, key: isExact ? "after" : "not-before", at: place)
    }
    let latest =
      isExact
      ? earliest
      : row.data.latest.flatMap { program($0, as: .duration, in: scope, key: "within", at: place) }
    return MachineData.Rule(
      when: when, facts: facts, otherwise: otherwise, set: set, due: due, start: start, stop: stop,
      timer: timer,
      earliest: earliest,
      latest: latest)
  }

  private mutating func dueReadings(
    of row: Transition, in scope: inout Scope, unless changed: Set<Frame.Slot>,
    at place: DefinitionFinding.Place
  ) -> [MachineData.Due] {
    let effects = row.before + row.after
    var readingsDue: [MachineData.Due] = []
    for due in row.data.due {
      guard let number = readings[due.reading], let slot = data.due[number] else {
        findings.append(DefinitionFinding(.readingNotDefined(due.reading), at: place))
        continue
      }
      if effects.count(where: { $0 == due.reading }) > 1 {
        findings.append(DefinitionFinding(.duplicateReading(due.reading), at: place))
      }
      let value = due.value.flatMap { program($0, as: slot.type, in: scope, key: "is", at: place) }
      scope.reserve(upTo: value?.width ?? 0)
      var shown: Frame.Slot?
      if let text = due.value, let path = Syntax.path(text, in: scope), path.type.width == slot.width,
        !changed.contains(path.root)
      {
        shown = path.slot
      }
      readingsDue.append(MachineData.Due(reading: number, value: value, text: due.value, shown: shown))
    }
    return readingsDue
  }

  /// The values of variables, and of parts of them, that follow from whether an expression is true.
  private mutating func facts(of text: String, isTrue: Bool, in scope: Scope) -> [MachineData.Fact] {
    guard let syntax = try? Syntax(parsing: text) else { return [] }
    var facts: [MachineData.Fact] = []
    var rest = [(syntax, isTrue)]
    func path(_ syntax: Syntax) -> Syntax.Path? {
      syntax.path(in: scope).flatMap { definition.hasVariable(at: $0.root, in: data) ? $0 : nil }
    }
    while let (next, isTrue) = rest.popLast() {
      switch next.form {
      case .not(let operand): rest.append((operand, !isTrue))
      case .binary(.and, let left, let right) where isTrue: rest += [(left, true), (right, true)]
      case .binary(.or, let left, let right) where !isTrue: rest += [(left, false), (right, false)]
      case .binary(.equal, let left, let right) where isTrue,
        .binary(.notEqual, let left, let right) where !isTrue:
        for (side, value) in [(left, right), (right, left)] {
          guard let path = path(side) else { continue }
          facts += fact(path, value.text(of: text), in: scope)
        }
      case .name, .member:
        guard let path = path(next), path.type == .flag else { continue }
        facts += fact(path, String(isTrue), in: scope)
      default: continue
      }
    }
    return facts
  }

  private mutating func fact(_ path: Syntax.Path, _ value: String, in scope: Scope) -> [MachineData.Fact] {
    guard let program = try? Program(value, as: path.type, in: scope, strings: &data.strings) else {
      return []
    }
    data.width = max(data.width, program.width)
    return [MachineData.Fact(slot: path.slot, width: path.type.width, value: program)]
  }
}

extension MachineDefinition {
  fileprivate func hasVariable(at slot: Frame.Slot, in data: MachineData) -> Bool {
    data.variables.contains { $0.slot == slot }
  }
}
