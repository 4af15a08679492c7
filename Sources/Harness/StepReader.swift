import Automata
import Conformance
import Documents
import Basics

/// Reads the steps of a scenario, and checks their names against its machine and its device.
///
/// If the machine or the device is wrong, its names are not checked.
struct StepReader {
  private let machine: Machine?
  private let device: DeviceDescription?
  private let stimuli: [String]
  private let spontaneous: [String]
  private let vocabulary: Vocabulary?
  private let faults: [String]
  private var depth = 0
  /// The number of steps so far, each counted as often as it is performed.
  private var doneCount = 0
  private var rounds = 1
  private var isTooLong = false

  init(machine: Machine?, device: DeviceDescription?) {
    self.machine = machine
    // A device that does not list its abilities is not checked.
    let device = device?.abilities.areUnknown == true ? nil : device
    self.device = device
    let events = machine?.definition.events ?? []
    stimuli = events.filter { $0.kind != .spontaneous }.map(\.name)
    spontaneous = events.filter { $0.kind == .spontaneous }.map(\.name)
    vocabulary = machine.map(Vocabulary.init(machine:))
    let conditions = machine?.definition.conditions.flatMap { [$0.name] + $0.faults } ?? []
    faults = (device?.abilities.faults ?? []) + conditions
  }

  mutating func steps(of cursor: Cursor) -> [Step]? {
    guard let list = cursor.list() else { return nil }
    guard !list.isEmpty else {
      cursor.reportExpected("at least one step")
      return nil
    }
    return list.compactMap { step(of: $0) }
  }

  private mutating func step(of cursor: Cursor) -> Step? {
    doneCount += rounds
    if doneCount > ScenarioGrammar.maximumSteps, !isTooLong {
      isTooLong = true
      cursor.report(
        .tooLarge, "with this step the scenario has more than \(ScenarioGrammar.maximumSteps) steps")
    }
    guard let (name, key, value) = variant(cursor) else { return nil }
    let action =
      if let keyword = ScenarioGrammar.Keyword(rawValue: name) {
        action(of: keyword, key, value)
      } else {
        arguments(of: value, for: name).flatMap { call(name, $0, at: value ?? key) }
          .map { Step.Action.perform($0) }
      }
    return action.map { Step($0, line: cursor.position.line) }
  }

  /// The name of a step, and its value.
  private func variant(_ cursor: Cursor) -> (name: String, key: Cursor, value: Cursor?)? {
    var names = ScenarioGrammar.Keyword.allCases.map(\.rawValue) + stimuli
    if let text = cursor.node.text ?? cursor.node.entries?.first?.key.text {
      if machine == nil { names.append(text) }
      if spontaneous.contains(text), !names.contains(text) {
        cursor.report(
          .spontaneous, "`\(text)` happens by itself and cannot be done",
          hint: "wait for what it leads to, with `until` or `expect`")
        return nil
      }
    }
    return cursor.variant("step", of: names)
  }

  private mutating func action(
    of keyword: ScenarioGrammar.Keyword, _ key: Cursor, _ value: Cursor?
  ) -> Step.Action? {
    guard let value else {
      key.report("`\(keyword.rawValue)` needs a value")
      return nil
    }
    switch keyword {
    case .until: return until(value)
    case .expect: return expectation(value).map { .expect($0) }
    case .wait:
      if value.node.text == ScenarioGrammar.settled { return .settle }
      if value.node.text == ScenarioGrammar.next { return .next }
      return value.duration().map { .wait($0) }
    case .fault: return fault(value).map { .fault($0) }
    case .refuse: return call(value).map { .refuse($0) }
    case .now: return call(value).map { .performNow($0) }
    case .fuzz: return randomEvents(value)
    case .repeat: return repetition(value)
    case .note: return value.text().map { .note($0) }
    }
  }

  private func call(_ cursor: Cursor) -> Step.Call? {
    var names = stimuli
    if machine == nil, let text = cursor.node.text ?? cursor.node.entries?.first?.key.text {
      names.append(text)
    }
    guard let (name, key, value) = cursor.variant("stimulus", of: names) else { return nil }
    return arguments(of: value, for: name).flatMap { call(name, $0, at: value ?? key) }
  }

  /// A stimulus with its arguments; `nil` if they are wrong.
  private func call(_ name: String, _ arguments: [Argument], at cursor: Cursor) -> Step.Call? {
    if !arguments.isEmpty, let problem = device?.abilities.particulars.problem(with: name, arguments) {
      cursor.report("`\(name)`: \(problem)")
      return nil
    }
    return Step.Call(name, arguments)
  }

  /// The arguments of a stimulus: none, one value, or values with names.
  private func arguments(of cursor: Cursor?, for name: String) -> [Argument]? {
    guard let cursor, !cursor.isMissing else { return [] }
    let forms = forms(of: name)
    guard cursor.node.entries != nil else {
      if let forms, forms.forms.count != 1 { return refuse(cursor, name, forms) }
      let form = forms?.forms[0]
      return cursor.value(of: form).map { [Argument(form?.name ?? Argument.only, $0)] }
    }
    let entries = cursor.entries() ?? []
    if let forms, forms.forms.isEmpty, !entries.isEmpty { return refuse(entries[0].key, name, forms) }
    let arguments = entries.compactMap { key, value -> Argument? in
      let given: String? =
        if let forms { key.name("argument", of: forms.forms.map(\.name)) } else { key.node.text ?? "" }
      guard let given else { return nil }
      return value.value(of: forms?.forms.first { $0.name == given }).map { Argument(given, $0) }
    }
    if forms?.isAlternative == true, entries.count > 1 {
      entries[1].key.report(.conflict, "`\(name)` takes only one of \(Self.list(forms))")
      return nil
    }
    return arguments.count == entries.count ? arguments : nil
  }

  /// The arguments that the machine declares for a stimulus; `nil` if it declares nothing.
  private func forms(of stimulus: String) -> ArgumentForms? {
    guard let machine, let number = machine.event(named: stimulus) else { return nil }
    return machine.arguments(of: machine.definition.events[number])
  }

  /// Reports an argument that a stimulus does not take.
  private func refuse(_ cursor: Cursor, _ name: String, _ forms: ArgumentForms) -> [Argument]? {
    guard !forms.forms.isEmpty else {
      cursor.report("`\(name)` takes nothing")
      return nil
    }
    let example = forms.forms[0]
    cursor.report(
      "`\(name)` takes \(forms.isAlternative ? "one of " : "")\(Self.list(forms)), by name",
      hint: "as in `\(name): { \(example.name): … }`, \(example.kind.expectation)")
    return nil
  }

  private static func list(_ forms: ArgumentForms?) -> String {
    (forms?.forms ?? []).map(\.name).joined(separator: ", ")
  }

  private func fault(_ cursor: Cursor) -> Fault? {
    var names = faults
    let text = cursor.node.text ?? cursor.node.entries?.first?.key.text
    if machine == nil || device == nil, let text { names.append(text) }
    guard let (name, key, value) = cursor.variant("fault", of: names) else { return nil }
    if let device, !device.abilities.faults.contains(name) {
      key.report(
        .impossible, "this device cannot inject the fault `\(name)`",
        hint: .nearest(to: name, of: device.abilities.faults, or: DeviceProblem.allOf))
      return nil
    }
    guard let fault = value.map({ $0.anyValue().map { Fault(name, $0) } }) ?? Fault(name) else { return nil }
    if let problem = device?.abilities.particulars.problem(with: fault) {
      (value ?? key).report(problem)
      return nil
    }
    return fault
  }

  private mutating func randomEvents(_ cursor: Cursor) -> Step.Action? {
    guard let fields = cursor.fields(ScenarioGrammar.any.randomEvents) else { return nil }
    let count = fields.required("events")?.integer(in: 1...ScenarioGrammar.maximumSteps)
    doneCount += rounds * (count ?? 0)
    var weights: [Step.RandomEvents.Weight]? = []
    for (key, value) in fields.optional("weights")?.entries() ?? [] {
      let isChecked = machine != nil && device != nil
      let name = isChecked ? key.name("stimulus or fault", of: stimuli + faults) : key.text("a name")
      guard let name, let weight = value.number(), weight >= 0 else {
        if let weight = value.node.text.flatMap(Double.init), weight < 0 {
          value.reportExpected("a weight that is not negative")
        }
        weights = nil
        continue
      }
      weights?.append(.init(name: name, weight: weight))
    }
    var others = OptionalFields(fields)
    let levels = others.read("levels") { $0.listOrOne().all { $0.choice("level", as: TestLevel.self) } }
    guard let count, let weights, others.isValid else { return nil }
    return .fuzz(Step.RandomEvents(count: count, weights: weights, levels: levels ?? [.events]))
  }

  private mutating func repetition(_ cursor: Cursor) -> Step.Action? {
    guard let fields = cursor.fields(ScenarioGrammar.repetition) else { return nil }
    let times = fields.required("times")?.integer(in: ScenarioGrammar.rounds)
    guard depth < ScenarioGrammar.deepest else {
      cursor.report(
        .tooLarge, "repetitions are nested more than \(ScenarioGrammar.deepest) deep")
      return nil
    }
    let outer = rounds
    // Limited, so that the product of nested repetitions cannot overflow: such a scenario is too long anyway.
    rounds = min(outer * (times ?? 1), ScenarioGrammar.maximumSteps + 1)
    depth += 1
    let steps = fields.required("steps").flatMap { self.steps(of: $0) }
    depth -= 1
    rounds = outer
    guard let times, let steps else { return nil }
    return .repeated(times, steps)
  }
}

// MARK: - Expectations

extension StepReader {
  private func until(_ cursor: Cursor) -> Step.Action? {
    guard let fields = cursor.fields(ScenarioGrammar.any.until) else { return nil }
    let status = fields.required("status").flatMap { statuses(of: $0) }
    let within: Interval? = fields.optional("within").map { $0.duration() } ?? Interval.seconds(60)
    guard let status, let within else { return nil }
    return .until(Expectation([status], .within(within)))
  }

  private func expectation(_ cursor: Cursor) -> Expectation? {
    let keys = ScenarioGrammar.ExpectationKey.allCases.map(\.rawValue)
    let entries = cursor.entries()
    var readings = device?.readings ?? []
    if device == nil { readings += entries?.compactMap { $0.key.node.text } ?? [] }
    let forms = machine?.definition.readings ?? []
    let names = readings + forms.map(\.name).filter { !readings.contains($0) }
    guard let entries, let fields = cursor.fields(keys + names.filter { !keys.contains($0) }) else {
      return nil
    }
    var conditions: [Expectation.Condition?] = []
    var time: Expectation.Time? = .now
    for (key, value) in entries {
      guard let name = key.node.text else { continue }
      switch ScenarioGrammar.ExpectationKey(rawValue: name) {
      case .status: conditions.append(statuses(of: value))
      case .effect: conditions.append(effect(value))
      case .refused: conditions.append(refusal(value))
      case .quiet: conditions.append(value.lastingDuration().map { .quiet($0) })
      case .within: time = value.duration().map { .within($0) }
      case .for: time = value.lastingDuration().map { .lasting($0) }
      case nil:
        if readings.contains(name) {
          let form = forms.first { $0.name == name }
          conditions.append(comparison(value, form).map { .reading(name, $0) })
        } else if names.contains(name) {
          key.report(.impossible, "this device does not report `\(name)`")
          conditions.append(nil)
        }
      }
    }
    guard agree(fields, conditions, cursor), let time else { return nil }
    let whole = conditions.compactMap { $0 }
    return whole.count == conditions.count ? Expectation(whole, time) : nil
  }

  /// Checks that the parts of an expectation go together.
  private func agree(_ fields: Fields, _ conditions: [Expectation.Condition?], _ cursor: Cursor) -> Bool {
    if conditions.isEmpty {
      // An unknown key is reported by itself, and was probably meant as what must be shown.
      let isUnderstood = cursor.node.entries?.allSatisfy { ["within", "for"].contains($0.key.text) } ?? true
      if isUnderstood { cursor.reportExpected("something that must be shown, such as `status`") }
      return false
    }
    if let key = fields.key("for") {
      if fields.key("within") != nil {
        key.report(.conflict, "`for` and `within` exclude each other")
        return false
      }
      if fields.key("status") == nil || conditions.count > 1 {
        key.report(.conflict, "`for` goes with `status` alone", hint: "nothing else lasts")
        return false
      }
    }
    if let key = fields.key("quiet"), conditions.count > 1 || fields.key("within") != nil {
      key.report(
        .conflict, "`quiet` excludes all other keys",
        hint: "its value is the time in which nothing may be shown")
      return false
    }
    return true
  }

  private func statuses(of cursor: Cursor) -> Expectation.Condition? {
    let items = cursor.listOrOne()
    guard !items.isEmpty else {
      cursor.reportExpected("a status")
      return nil
    }
    let names = items.all { item in
      if let vocabulary { item.name("status", of: vocabulary.statuses) } else { item.text("a status") }
    }
    return names.map { .status($0) }
  }

  private func effect(_ cursor: Cursor) -> Expectation.Condition? {
    guard let vocabulary else { return cursor.text("an effect").map { .effect($0) } }
    guard let name = cursor.name("effect", of: vocabulary.effects) else { return nil }
    if let device, !device.abilities.showsEffects {
      cursor.report(.impossible, "this device does not show effects")
      return nil
    }
    return .effect(name)
  }

  private func refusal(_ cursor: Cursor) -> Expectation.Condition? {
    guard let value = cursor.anyValue() else { return nil }
    switch value {
    case _ where value.isNothing:
      cursor.report(
        "`refused` is true or words of the reason", hint: "use `quiet` where nothing may be shown")
      return nil
    case _ where value.isYesOrNo: return .refusal("")
    default: return cursor.text().map { .refusal($0) }
    }
  }

  /// The comparison of a reading, whose form the machine may declare.
  private func comparison(_ cursor: Cursor, _ form: ValueForm?) -> Expectation.Comparison? {
    guard cursor.node.entries != nil else {
      return cursor.reading(form).map { Expectation.Comparison(value: $0) }
    }
    guard let fields = cursor.fields(ScenarioGrammar.comparisonKeys) else { return nil }
    var others = OptionalFields(fields)
    if let form, !form.kind.isNumber, let key = fields.key("above") ?? fields.key("below") {
      key.report("`\(form.name)` is \(form.kind.expectation), and nothing is above or below it")
      return nil
    }
    let value = others.read("is") { $0.reading(form) }
    let above = others.read("above") { $0.number() }
    let below = others.read("below") { $0.number() }
    guard others.isValid else { return nil }
    guard value != nil || above != nil || below != nil else {
      if cursor.node.entries?.isEmpty ?? false { cursor.reportExpected("`is`, `above` or `below`") }
      return nil
    }
    if let above, let below, above >= below {
      cursor.report("nothing is above \(above) and below \(below)")
      return nil
    }
    return Expectation.Comparison(value: value, above: above, below: below)
  }
}

extension Cursor {
  /// A duration in which something can be shown.
  fileprivate func lastingDuration() -> Interval? {
    guard let interval = duration() else { return nil }
    guard interval > .zero else {
      report(.wrongDuration, "the duration must be above zero")
      return nil
    }
    return interval
  }

  /// A value of a form, if the form is known; reports a value that is not of it.
  fileprivate func value(of form: ValueForm?) -> Value? {
    if let form, form.kind.isCompound, node.text == nil { return compound(of: form) }
    guard let form, let text = node.text, !isMissing else { return anyValue() }
    let value = isNull ? nil : anyValue()
    switch (form.kind, value) {
    // A word that the machine declares is not read as a flag; nor is any word if the machine declares text.
    case (.choice(let words), .flag?) where words.contains(text): return .text(text)
    case (.choice(let words), _) where words.contains(text): return value ?? .text(text)
    case (.text, .flag?): return .text(text)
    case (.flag, let value?) where form.kind.admits(value): return value.asFlag
    case (_, let value?) where form.kind.admits(value): return value
    default: break
    }
    let hint: Advice? =
      switch (form.kind, value) {
      case (.choice(let words), _): .nearest(to: text, of: words, or: DeviceProblem.allOf)
      case (.text, _): "for text, write it in quotes: `\(form.name): \"\(text)\"`"
      case (.duration, .integer), (.duration, .number): "`\(text) s` are seconds"
      default: nil
      }
    report("`\(form.name)` is \(form.kind.expectation), and not `\(value?.description ?? text)`", hint: hint)
    return nil
  }

  /// A list, a map or a record of a form; reports a value that is not of it.
  private func compound(of form: ValueForm) -> Value? {
    let parts: [Value?]
    let whole: Value
    switch (form.kind, node.content) {
    case (.list(let element, _), .sequence):
      parts = (list() ?? []).map { $0.reading(ValueForm(form.name, element)) }
      whole = .list(parts.compactMap(\.self))
    case (.map(_, let element, _), .mapping):
      let entries = (entries() ?? []).map {
        ($0.key.node.text ?? "", $0.value.reading(ValueForm(form.name, element)))
      }
      parts = entries.map(\.1)
      whole = .record(entries.map { ($0.0, $0.1 ?? .absent) })
    case (.record(let fields), .mapping):
      let entries = (entries() ?? []).map { key, value in
        let name = key.name("field", of: fields.map(\.name)) ?? ""
        return (name, fields.first { $0.name == name }.flatMap { value.reading($0) })
      }
      parts = entries.map(\.1)
      whole = .record(entries.map { ($0.0, $0.1 ?? .absent) })
    default: return anyValue()
    }
    guard !parts.contains(nil) else { return nil }
    guard let value = whole.read(as: form.kind) else {
      report("`\(form.name)` is \(form.kind.expectation)")
      return nil
    }
    return value
  }

  /// A value for a reading, of the kind that the device reports: a hexadecimal value or a choice is text even if it
  /// looks like a number.
  fileprivate func reading(_ form: ValueForm?) -> Value? {
    guard let value = value(of: form) else { return nil }
    switch form?.kind {
    case .hexadecimal, .choice: return node.text.map { .text($0) }
    default: return value
    }
  }
}

extension ValueForm.Kind {
  /// Whether its values have parts.
  fileprivate var isCompound: Bool {
    switch self {
    case .list, .map, .record: true
    default: false
    }
  }

  /// Whether values of this kind can be above or below another.
  var isNumber: Bool {
    switch self {
    case .wholeNumber, .number: true
    default: false
    }
  }
}
