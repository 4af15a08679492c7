import Basics
import Documents

/// Reads the elements of an SCXML file, and reports everything in it that has no place in a machine.
struct SCXMLChartReader {
  private(set) var chart = SCXMLChart()
  private(set) var problems: [SCXMLProblem] = []
  /// The number of each state, by its id.
  private var numbers: [String: Int] = [:]
  /// The targets of transitions, until all states are known.
  private var targets: [(transition: Int, text: XMLText)] = []
  private var initials: [(state: Int, text: XMLText)] = []

  mutating func read(_ root: XMLElement, name: String) {
    chart.name = root["name"]?.text ?? name
    readState(root, .chart, parent: -1)
    for (number, text) in targets { chart.transitions[number].targets = states(in: text) }
    for (number, text) in initials {
      let found = states(in: text)
      chart.states[number].initial?.targets = found
      checkInitial(found, of: number, at: text.range)
    }
    checkNames()
  }

  private mutating func report(
    _ code: Problem.Code, at range: Range<Int>, _ message: String, hint: Advice? = nil
  ) {
    problems.append(SCXMLProblem(code, at: range, message, hint: hint))
  }

  // MARK: Checks

  /// The attributes of each element.
  private static let attributes: [String: [String]] = [
    "scxml": ["initial", "name", "version", "datamodel", "binding", "exmode", "profile"],
    "state": ["id", "initial"], "parallel": ["id"], "final": ["id"], "history": ["id", "type"],
    "initial": ["id"], "transition": ["event", "cond", "target", "type"], "onentry": [], "onexit": [],
    "raise": ["event"], "if": ["cond"], "elseif": ["cond"], "else": [], "log": ["label", "expr", "level"],
    "datamodel": [], "data": ["id", "expr", "src"], "assign": ["location", "expr"], "script": ["src"],
    "send": [
      "event", "eventexpr", "target", "targetexpr", "type", "typeexpr", "id", "idlocation", "delay",
      "delayexpr", "namelist",
    ],
    "cancel": ["sendid", "sendidexpr"], "param": ["name", "expr", "location"], "content": ["expr"],
    "donedata": [],
  ]

  /// What to do about an element that is not read.
  private static let refusals: [String: Advice] = [
    "invoke": "describe the machine that is invoked in a file of its own",
    "foreach": "write the assignments one after the other, or use `.concat`, `.slice` and `.includes`",
    "finalize": "remove it, with the `<invoke>` to which it belongs",
  ]

  /// Returns whether an element is one of SCXML that may stand here; reports why not.
  private mutating func check(_ element: XMLElement, in parent: String, allowed: [String]) -> Bool {
    guard [SCXMLChart.namespace, ""].contains(element.namespace) else {
      // Elements of other languages hold what editors remember, except among actions.
      if allowed.contains("raise") {
        report(
          .unsupported, at: element.range, "`<\(element.name)>` is no action of SCXML",
          hint: "remove it, or send an event in its place")
      }
      return false
    }
    guard allowed.contains(element.name) else {
      if let advice = Self.refusals[element.name] {
        report(.unsupported, at: element.range, "`<\(element.name)>` is not read", hint: advice)
      } else if Self.attributes[element.name] != nil {
        report(.wrongKey, at: element.range, "`<\(element.name)>` is not possible in `<\(parent)>`")
      } else {
        report(
          .unknownKey, at: element.range, "unknown element `<\(element.name)>`",
          hint: .nearest(to: element.name, of: allowed))
      }
      return false
    }
    checkAttributes(element)
    return true
  }

  private mutating func checkAttributes(_ element: XMLElement) {
    let known = Self.attributes[element.name] ?? []
    for attribute in element.attributes {
      switch attribute.namespace {
      case "" where !known.contains(attribute.name):
        report(
          .unknownKey, at: attribute.nameRange,
          "unknown attribute `\(attribute.name)` of `<\(element.name)>`",
          hint: .nearest(to: attribute.name, of: known))
      case SCXMLChart.ownNamespace where attribute.name != "status":
        report(
          .unknownKey, at: attribute.nameRange, "unknown attribute `\(attribute.name)` of a machine",
          hint: .nearest(to: attribute.name, of: ["status"]))
      default: break
      }
    }
  }

  private mutating func required(_ name: String, of element: XMLElement) -> XMLText? {
    if let value = element[name] { return value }
    report(.missingKey, at: element.range, "`<\(element.name)>` has no attribute `\(name)`")
    return nil
  }

  private mutating func expression(_ text: XMLText?) -> SCXMLExpression? {
    guard let text else { return nil }
    do {
      return try SCXMLExpression(text)
    } catch {
      problems.append(error)
      return nil
    }
  }

  // MARK: States

  private static let actions = [
    "raise", "if", "log", "assign", "script", "send", "cancel",
  ]

  private static func members(of kind: SCXMLChart.Kind) -> [String] {
    let common = ["onentry", "onexit", "transition", "state", "parallel", "history", "datamodel"]
    return switch kind {
    case .chart: ["datamodel", "script", "state", "parallel", "final", "initial"]
    case .state: common + ["initial", "final"]
    case .parallel: common
    case .final: ["onentry", "onexit", "donedata"]
    case .history: ["transition"]
    }
  }

  private mutating func readState(_ element: XMLElement, _ kind: SCXMLChart.Kind, parent: Int) {
    let number = chart.states.count
    let id = element["id"]?.text ?? (kind == .chart ? "" : unnamed(element, number))
    var state = SCXMLChart.State(kind: kind, id: id, range: element.range)
    state.parent = parent
    state.status =
      element.attributes.first { $0.name == "status" && $0.namespace == SCXMLChart.ownNamespace }?.value.text
    chart.states.append(state)
    if parent >= 0 { chart.states[parent].children.append(number) }
    if kind == .chart {
      checkAttributes(element)
      checkDataModel(element)
    } else if numbers.updateValue(number, forKey: id) != nil {
      report(.duplicateName, at: element["id"]?.range ?? element.range, "state '\(id)' is defined twice")
    }
    if let text = element["initial"] {
      chart.states[number].initial = SCXMLChart.Transition(source: number, range: text.range)
      initials.append((number, text))
    }
    for child in element.children where check(child, in: element.name, allowed: Self.members(of: kind)) {
      readPart(child, of: number)
    }
    if case .history = kind, chart.states[number].initial == nil {
      report(
        .missingKey, at: element.range, "this history has no transition to the states that it has at first")
    }
  }

  private func unnamed(_ element: XMLElement, _ number: Int) -> String { "\(element.name)-\(number)" }

  private mutating func readPart(_ element: XMLElement, of number: Int) {
    switch element.name {
    case "state": readState(element, .state, parent: number)
    case "parallel": readState(element, .parallel, parent: number)
    case "final": readState(element, .final, parent: number)
    case "history":
      let isDeep = element["type"]?.text == "deep"
      readState(element, .history(isDeep: isDeep), parent: number)
    case "initial": readInitial(element, of: number)
    case "transition": readTransition(element, of: number)
    case "onentry": chart.states[number].entry.append(actions(in: element))
    case "onexit": chart.states[number].exit.append(actions(in: element))
    case "donedata": chart.states[number].data = parameters(of: element)
    case "datamodel": readVariables(element)
    default:
      // A script of the chart runs before its first state is entered.
      chart.states[number].entry.append(script(element))
    }
  }

  private mutating func readInitial(_ element: XMLElement, of number: Int) {
    for child in element.children where check(child, in: element.name, allowed: ["transition"]) {
      guard let text = required("target", of: child) else { continue }
      var transition = SCXMLChart.Transition(source: number, range: child.range)
      transition.actions = actions(in: child)
      chart.states[number].initial = transition
      initials.append((number, text))
    }
  }

  private mutating func readTransition(_ element: XMLElement, of number: Int) {
    var transition = SCXMLChart.Transition(source: number, range: element.range)
    transition.actions = actions(in: element)
    if case .history = chart.states[number].kind {
      guard let text = required("target", of: element) else { return }
      chart.states[number].initial = transition
      initials.append((number, text))
      return
    }
    transition.events = element["event"].map { text in
      text.text.split(whereSeparator: \.isWhitespace).map { word in
        String(word.hasSuffix(".*") ? word.dropLast(2) : word.hasSuffix(".") ? word.dropLast() : word)
      }
    }
    transition.condition = expression(element["cond"])
    if let type = element["type"] {
      transition.isInternal = type.text == "internal"
      if !["internal", "external"].contains(type.text) {
        report(
          .wrongValue, at: type.range, "expected internal or external, found `\(type.text)`",
          hint: .nearest(to: type.text, of: ["internal", "external"]))
      }
    }
    if let text = element["target"] { targets.append((chart.transitions.count, text)) }
    chart.states[number].transitions.append(chart.transitions.count)
    chart.transitions.append(transition)
  }

  private mutating func states(in text: XMLText) -> [Int] {
    var found: [Int] = []
    var offset = 0
    let bytes = Array(text.text.utf8)
    for word in bytes.split(separator: 0x20) {
      offset = word.startIndex
      let id = String(decoding: word, as: UTF8.self)
      if let number = numbers[id] {
        found.append(number)
      } else {
        report(
          .unknownState, at: text.range(of: offset..<offset + word.count), "state '\(id)' is not defined",
          hint: .nearest(to: id, of: numbers.keys.sorted()))
      }
    }
    return found
  }

  private mutating func checkInitial(_ targets: [Int], of number: Int, at range: Range<Int>) {
    var scope = number
    if case .history = chart.states[number].kind { scope = chart.states[number].parent }
    for target in targets where !chart.isDescendant(target, of: scope) {
      report(
        .wrongRow, at: range, "'\(chart.states[target].id)' is not within '\(chart.states[scope].id)'")
    }
  }

  // MARK: Data

  private mutating func checkDataModel(_ element: XMLElement) {
    if let binding = element["binding"], binding.text == "late" {
      report(
        .unsupported, at: binding.range, "values that are given when a state is entered are not read",
        hint: "use `binding=\"early\"`, and `<assign>` in `<onentry>`")
    }
    guard let model = element["datamodel"], !["ecmascript", "null"].contains(model.text),
      element.hasExpressions
    else { return }
    report(
      .unsupported, at: model.range, "the data model `\(model.text)` is not read",
      hint: "the data models `ecmascript` and `null` are")
  }

  private mutating func readVariables(_ element: XMLElement) {
    for child in element.children where check(child, in: "datamodel", allowed: ["data"]) {
      guard let name = required("id", of: child) else { continue }
      if let source = child["src"] {
        report(
          .unsupported, at: source.range, "a value from another file is not read",
          hint: "write the value in `expr`")
      }
      if chart.variables.contains(where: { $0.name == name.text }) {
        report(.duplicateName, at: name.range, "variable '\(name.text)' is defined twice")
      }
      let first = child["expr"].map { expression($0) } ?? content(of: child)
      chart.variables.append(SCXMLChart.Variable(name: name.text, first: first, range: name.range))
    }
  }

  /// The value that the text of an element is: a constant, or otherwise the text.
  private mutating func content(of element: XMLElement) -> SCXMLExpression? {
    if let child = element.children.first {
      report(
        .unsupported, at: child.range, "a value in XML is not read", hint: "write the value in `expr`")
    }
    guard let text = element.text, text.text.contains(where: { !$0.isWhitespace }) else { return nil }
    if let value = try? SCXMLExpression(text), value.isConstant { return value }
    let words = text.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return SCXMLExpression(.text(words), at: text.range)
  }

  private mutating func parameters(of element: XMLElement) -> [SCXMLChart.Parameter] {
    var parameters: [SCXMLChart.Parameter] = []
    if let names = element["namelist"] {
      for word in Array(names.text.utf8).split(separator: 0x20) {
        let name = String(decoding: word, as: UTF8.self)
        let place = names.range(of: word.indices)
        parameters.append(.init(name: name, value: SCXMLExpression(.name(name), at: place)))
      }
    }
    for child in element.children where check(child, in: element.name, allowed: ["param", "content"]) {
      if child.name == "content" {
        let value = child["expr"].map { expression($0) } ?? content(of: child)
        if let value { parameters.append(.init(name: "data", value: value)) }
      } else if let name = required("name", of: child) {
        guard let text = child["expr"] ?? child["location"] else {
          report(.missingKey, at: child.range, "`<param>` has no attribute `expr`")
          continue
        }
        if let value = expression(text) { parameters.append(.init(name: name.text, value: value)) }
      }
    }
    return parameters
  }

  // MARK: Actions

  private mutating func actions(in element: XMLElement) -> [SCXMLChart.Action] {
    var found: [SCXMLChart.Action] = []
    for child in element.children where check(child, in: element.name, allowed: Self.actions) {
      switch child.name {
      case "raise":
        guard let event = required("event", of: child) else { continue }
        var send = SCXMLChart.Send(isOwn: true, range: child.range)
        send.event = SCXMLExpression(.text(event.text), at: event.range)
        send.isRaised = true
        found.append(.send(chart.sends.count))
        chart.sends.append(send)
      case "send": found.append(self.send(child))
      case "cancel":
        if let id = child["sendid"] {
          found.append(.cancel(SCXMLExpression(.text(id.text), at: id.range), child.range))
        } else if let text = child["sendidexpr"] {
          if let id = expression(text) { found.append(.cancel(id, child.range)) }
        } else {
          _ = required("sendid", of: child)
        }
      case "assign": if let action = assignment(child) { found.append(action) }
      case "script": found += script(child)
      case "if": found.append(choice(child))
      default: break
      }
    }
    return found
  }

  private mutating func choice(_ element: XMLElement) -> SCXMLChart.Action {
    var branches: [(condition: SCXMLExpression?, actions: [SCXMLChart.Action])] = []
    var part = element
    part.children = []
    var condition = required("cond", of: element).flatMap { expression($0) }
    for child in element.children {
      guard ["elseif", "else"].contains(child.name) else {
        part.children.append(child)
        continue
      }
      checkAttributes(child)
      branches.append((condition, actions(in: part)))
      condition = child.name == "else" ? nil : required("cond", of: child).flatMap { expression($0) }
      part.children = []
    }
    branches.append((condition, actions(in: part)))
    return .choice(branches)
  }

  private mutating func assignment(_ element: XMLElement) -> SCXMLChart.Action? {
    guard let location = required("location", of: element), let place = expression(location) else {
      return nil
    }
    let value: SCXMLExpression?
    if let text = element["expr"] {
      value = expression(text)
    } else {
      value = content(of: element)
      if value == nil { _ = required("expr", of: element) }
    }
    guard let value else { return nil }
    switch place.form {
    case .name(let name):
      return .assign(SCXMLAssignment(variable: name, range: place.range, value: value))
    case .element(let list, let index):
      guard case .name(let name) = list.form else { break }
      let changed = SCXMLExpression(.call(".with", [list, index, value]), at: value.range)
      return .assign(SCXMLAssignment(variable: name, range: list.range, value: changed))
    default: break
    }
    report(
      .unsupported, at: location.range, "only a whole variable or an element of a list is assigned",
      hint: "make each field a variable of its own")
    return nil
  }

  private mutating func script(_ element: XMLElement) -> [SCXMLChart.Action] {
    if let source = element["src"] {
      report(
        .unsupported, at: source.range, "a script from another file is not read",
        hint: "write `<assign>` in its place")
    }
    guard let text = element.text else { return [] }
    do {
      var parser = SCXMLExpressionParser(text)
      return try parser.assignments().map { .assign($0) }
    } catch {
      problems.append(error)
      return []
    }
  }

  /// The types of the way in which a machine sends to itself.
  private static let ownTypes = [
    "scxml", "http://www.w3.org/TR/scxml", "http://www.w3.org/TR/scxml/",
    "http://www.w3.org/TR/scxml/#SCXMLEventProcessor",
  ]

  private mutating func send(_ element: XMLElement) -> SCXMLChart.Action {
    let type = element["type"]?.text
    let target = element["target"]?.text
    let isOwn =
      element["targetexpr"] == nil && element["typeexpr"] == nil
      && (target == nil || target == "#_internal" || target == "")
      && (type.map { Self.ownTypes.contains($0) } ?? true)
    var send = SCXMLChart.Send(isOwn: isOwn, range: element.range)
    send.isRaised = target == "#_internal"
    if let event = element["event"] {
      send.event = SCXMLExpression(.text(event.text), at: event.range)
    } else if let text = element["eventexpr"] {
      send.event = expression(text)
    } else {
      _ = required("event", of: element)
    }
    if let delay = element["delay"] {
      send.delay = SCXMLExpression(.text(delay.text), at: delay.range)
    } else {
      send.delay = expression(element["delayexpr"])
    }
    send.id = element["id"]?.text
    if let location = element["idlocation"] {
      report(
        .unsupported, at: location.range, "the id of an event cannot be a value of the machine",
        hint: "give the event an `id`, and cancel it by that")
    }
    send.parameters = parameters(of: element)
    chart.sends.append(send)
    return .send(chart.sends.count - 1)
  }

  // MARK: Names

  private mutating func checkNames() {
    let variables = chart.variables.map(\.name)
    var found: [SCXMLProblem] = []
    let states = numbers
    func check(_ name: String, at range: Range<Int>) {
      guard !variables.contains(name) else { return }
      found.append(
        SCXMLProblem(
          name.hasPrefix("_") ? .unsupported : .unknownVariable, at: range,
          name.hasPrefix("_") ? "`\(name)` is not read" : "unknown name `\(name)`",
          hint: .nearest(to: name, of: variables)
            ?? "a variable is declared in `<datamodel>`, as in `<data id=\"\(name)\" expr=\"0\"/>`"))
    }
    chart.forEachExpression { whole in
      whole.forEach { part in
        switch part.form {
        case .name(let name): check(name, at: part.range)
        case .isIn(let state) where states[state] == nil:
          found.append(
            SCXMLProblem(
              .unknownState, at: part.range, "state '\(state)' is not defined",
              hint: .nearest(to: state, of: states.keys.sorted())))
        default: break
        }
      }
    }
    for action in allActions {
      guard case .assign(let assignment) = action else { continue }
      check(assignment.variable, at: assignment.range)
    }
    // An assignment reports an unknown name twice if its value has it, too.
    var seen = Set<Range<Int>>()
    problems += found.filter { seen.insert($0.range).inserted }
  }

  private var allActions: [SCXMLChart.Action] {
    let lists = chart.transitions.map(\.actions) + chart.states.flatMap { $0.entry + $0.exit }
    return lists.joined().flatMap(Self.flattened)
  }

  private static func flattened(_ action: SCXMLChart.Action) -> [SCXMLChart.Action] {
    guard case .choice(let branches) = action else { return [action] }
    return branches.flatMap { $0.actions.flatMap(flattened) }
  }
}

extension SCXMLExpression {
  /// Whether it depends on nothing.
  var isConstant: Bool {
    var isConstant = true
    forEach { part in
      switch part.form {
      case .name, .datum, .argument, .eventName, .isIn, .call: isConstant = false
      default: break
      }
    }
    return isConstant
  }
}

extension XMLElement {
  /// Whether it or an element in it has an expression of the data model.
  fileprivate var hasExpressions: Bool {
    ["data", "assign", "script"].contains(name)
      || attributes.contains { attribute in
        attribute.namespace.isEmpty
          && (attribute.name == "cond" || attribute.name.hasSuffix("expr") && name != "log")
      } || children.contains(where: \.hasExpressions)
  }
}
