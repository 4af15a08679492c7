public import Documents
import Basics

// A machine in DOT: a graph that GraphViz draws and that contains the whole definition. Attributes that GraphViz
// ignores hold what a drawing does not show.
//
//     digraph "door" {
//       graph [lockstep="1", summary="A door", events="open,blowShut:spontaneous", starts="Closed:locked=no"];
//       "__start0" [label="", shape=none];
//       "__start0" -> "Closed";
//       "Opened" [entry="ring"];
//       "Closed" -> "Opened" [label="open", row=0, event="open", first="creak", then="greet"];
//
// The graph does not contain the forms of arguments and readings, nor rules, nor data; only YAML does. The graph of a machine with data
// is a drawing alone.
//
// In lists and names, `,`, `:`, `=`, `%`, `\` and control characters are written as `%` and two hexadecimal digits.
// Several edges with the same `row` form one row of the definition.

/// The version of the attributes; a graph without it is read as a plain Mealy machine.
let dotVersion = "1"

/// In place of the version: the graph is a drawing and does not contain the machine.
let dotDrawing = "drawing"

/// The node from which rows from any state are drawn.
let dotAnyState = "__any"

extension MachineDefinition {
  /// Returns the definition as a GraphViz graph, which ``init(dot:name:)`` reads back equal except for the forms of
  /// arguments and readings.
  ///
  /// Rows with an output are labelled `input/output`, so that other tools still read a Mealy machine.
  public func dot() -> String {
    var writer = DOTWriter(self)
    return writer.write()
  }

  /// Reads a machine from a GraphViz file: one that ``dot()`` wrote, or a Mealy machine as AALpy and LearnLib write
  /// it.
  ///
  /// In a plain Mealy machine each edge is labelled `input/output`, and the output becomes ``Transition/shows``. The
  /// start is the target of a node without a text or of a node whose name begins with `__start` or `__initial`;
  /// without such a node, it is the first node.
  ///
  /// A label without a slash is an input alone. A label may have several rows, on lines of their own or with ` | `
  /// between them, and inputs that share an output (`in | in / out`). An HTML label may have inputs separated by `|`
  /// in its first line, and their output below. A Moore machine has the outputs in its states, labelled
  /// `name|output` or `name / output`: they become ``State/status``.
  ///
  /// - Parameters:
  ///   - bytes: The whole file.
  ///   - name: The name of the file in messages, usually its path.
  /// - Throws: All problems of the file or of the machine in it, each with its line and column; of syntax errors,
  ///   only the first.
  public init(dot bytes: [UInt8], name: String) throws(DocumentError) {
    self = try MachineFile(dot: bytes, name: name).definition
  }
}

extension MachineFile {
  /// Reads a GraphViz file; see ``MachineDefinition/init(dot:name:)``.
  init(dot bytes: [UInt8], name: String) throws(DocumentError) {
    try Limits(bytes: 32 << 20).check(byteCount: bytes.count, name: name)
    let source = Source(name: name, bytes: bytes)
    if let problem = ForeignFormat.problem(inDOT: bytes) {
      throw DocumentError(source: source, problems: [problem])
    }
    let (definition, places): (MachineDefinition, DefinitionPlaces)
    let startHint: Advice
    do throws(DOTProblem) {
      let graph = try DOTParser.parse(bytes)
      if let mark = graph.attributes["lockstep"], mark.text == dotDrawing {
        throw DOTProblem(
          mark.start, to: mark.end, "this is the drawing of a machine with data, which is not read back",
          hint: "such a machine is described in YAML alone")
      }
      let isOurs = graph.attributes["lockstep"] != nil
      startHint = isOurs ? "the attribute `starts` of the graph lists them" : "\(startAdvice)"
      (definition, places) = isOurs ? try machine(of: graph) : try mealyMachine(of: graph, name: name)
    } catch {
      throw DocumentError(source: source, problems: [error.problem])
    }
    let findings = definition.findings()
    let problems = places.problems(findings.map(\.place)) { number, start, end in
      let fault = findings[number].fault
      let hint = fault == .noStart ? startHint : definition.hint(for: fault)
      return Problem(fault.code, at: start, to: end, fault.description, hint: hint)
    }
    if !problems.isEmpty {
      throw DocumentError(source: source, problems: problems, omitted: findings.count - problems.count)
    }
    self.init(definition, places, in: source)
  }
}

// MARK: - Saving

private struct DOTWriter {
  private let machine: MachineDefinition
  private var ids: [String: String] = [:]
  private var text = ""

  init(_ machine: MachineDefinition) {
    self.machine = machine
    for (number, state) in machine.states.enumerated() {
      ids[state.name] = isDrawable(state.name) ? state.name : "__state\(number)"
    }
  }

  mutating func write() -> String {
    text = "digraph \(isDrawable(machine.name) ? quote(machine.name) : quote("machine")) {\n"
    writeGraph()
    for state in machine.states { writeState(state) }
    for (number, start) in machine.starts.enumerated() {
      line(quote("__start\(number)"), [("label", ""), ("shape", "none")])
      let settings = start.conditions.map { ($0.value ? "" : "not ") + $0.name }.joined(separator: ", ")
      line("\(quote("__start\(number)")) -> \(id(start.state))", [("label", label(settings))])
    }
    if machine.transitions.contains(where: { $0.from == .wildcard }) {
      line(quote(dotAnyState), [("label", "any state"), ("shape", "plaintext")])
    }
    for (row, transition) in machine.transitions.enumerated() { writeRow(row, transition) }
    return text + "}\n"
  }

  private mutating func writeGraph() {
    // A machine with data is drawn, but its graph does not contain the whole definition.
    if machine.hasData { return line("graph", [("lockstep", dotDrawing)]) }
    var attributes = [("lockstep", dotVersion)]
    if !isDrawable(machine.name) { attributes.append(("name", encode(machine.name))) }
    if !machine.summary.isEmpty { attributes.append(("summary", encode(machine.summary))) }
    let events = machine.events.map { event in
      encode(event.name) + (event.kind == .stimulus ? "" : ":\(event.kind.rawValue)")
    }
    attributes.append(("events", events.joined(separator: ",")))
    if !machine.conditions.isEmpty {
      attributes.append(("conditions", machine.conditions.map(\.encoded).joined(separator: ",")))
    }
    if !machine.choices.isEmpty {
      let choices = machine.choices.map { ([$0.name] + $0.options).map(encode).joined(separator: ":") }
      attributes.append(("choices", choices.joined(separator: ",")))
    }
    let starts = machine.starts.map { start in
      ([encode(start.state)] + start.conditions.map { "\(encode($0.name))=\($0.value ? "yes" : "no")" })
        .joined(separator: ":")
    }
    attributes.append(("starts", starts.joined(separator: ",")))
    line("graph", attributes)
  }

  private mutating func writeState(_ state: State) {
    var attributes: [(String, String)] = []
    if id(state.name) != quote(state.name) {
      attributes += [("label", label(state.name)), ("name", encode(state.name))]
    }
    if state.status != State.status(of: state.name) { attributes.append(("status", encode(state.status))) }
    if !state.entry.isEmpty { attributes.append(("entry", encode(state.entry))) }
    if !state.region.isEmpty { attributes.append(("region", encode(state.region))) }
    line(id(state.name), attributes)
  }

  private mutating func writeRow(_ row: Int, _ transition: Transition) {
    var attributes = [("label", label(transition.arrowText))]
    if !machine.hasData { attributes += rowAttributes(row, transition) }
    let sources: [String?] =
      switch transition.from {
      case .states(let names): names
      case .wildcard: [nil]
      }
    for source in sources {
      for target in transition.targets(from: source ?? "") {
        let any = quote(dotAnyState)
        let from = source.map(id) ?? any
        line("\(from) -> \(transition.to == .stay ? from : id(target))", attributes)
      }
    }
  }

  /// What a drawing does not show of a row.
  private func rowAttributes(_ row: Int, _ transition: Transition) -> [(String, String)] {
    var attributes = [("row", String(row))]
    if case .event(let name) = transition.trigger { attributes.append(("event", encode(name))) }
    for (key, value) in transition.window.entries(isTimer: transition.trigger == .timer) {
      attributes.append((key == "not-before" ? "notbefore" : key, key == "plus" ? encode(value) : value))
    }
    for (key, names) in [
      ("given", transition.given), ("unless", transition.unless), ("option", transition.options),
      ("first", transition.before), ("then", transition.after),
    ] where !names.isEmpty {
      attributes.append((key, encode(names)))
    }
    if let shows = transition.shows { attributes.append(("shows", encode(shows))) }
    switch transition.to {
    case .states: break
    case .stay: attributes.append(("stay", "true"))
    case .shift: attributes.append(("shift", "true"))
    }
    if transition.origin == .ours { attributes.append(("ours", "true")) }
    return attributes
  }

  private func id(_ state: String) -> String { quote(ids[state] ?? state) }

  private mutating func line(_ subject: String, _ attributes: [(String, String)]) {
    let list = attributes.map { "\($0)=\(isNumber($1) ? $1 : quote($1))" }.joined(separator: ", ")
    text += "  \(subject)\(list.isEmpty ? "" : " [\(list)]");\n"
  }
}

extension Condition {
  /// The name followed by its settings: `:fault=jam`, `:moment=power-cycle`, `:event=tampered`, `:until=noSignal`,
  /// `:stimulus=set`, `:unsure=loss`, `:reading=autolock`, `:from-entry`, `:delay=6 s`.
  fileprivate var encoded: String {
    let lists = [
      ("fault", faults), ("moment", moments), ("event", events), ("until", until), ("stimulus", stimuli),
      ("unsure", unsure), ("reading", reading.map { [$0] } ?? []),
    ]
    var parts = [encode(name)]
    for (key, names) in lists { parts += names.map { key + "=" + encode($0) } }
    if countsFromEntry { parts.append("from-entry") }
    if delay != Self.usualDelay { parts.append("delay=\(delay)") }
    return parts.joined(separator: ":")
  }
}

/// Returns whether a name can be the name of a node: DOT has no notation for some characters.
private func isDrawable(_ name: String) -> Bool {
  !name.isEmpty && !name.hasPrefix("__") && name.unicodeScalars.allSatisfy { $0 != "\\" && !isControl($0) }
}

private func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

private func isNumber(_ text: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
}

/// Returns quoted text; the text must not end with a backslash.
private func quote(_ text: String) -> String {
  "\"" + text.unicodeScalars.map { $0 == "\"" ? "\\\"" : String($0) }.joined() + "\""
}

/// Returns text that GraphViz draws literally; control characters become spaces.
private func label(_ text: String) -> String {
  text.unicodeScalars.map { $0 == "\\" ? "\\\\" : isControl($0) ? " " : String($0) }.joined()
}

private func encode(_ names: [String]) -> String { names.map(encode).joined(separator: ",") }

/// Returns text in which separators of lists, backslashes and control characters are percent-escaped.
private func encode(_ text: String) -> String {
  text.unicodeScalars.map { scalar in
    let isMark = [",", ":", "=", "%", "\\"].contains(scalar) || isControl(scalar)
    return isMark ? "%" + scalar.value.hex(digits: 2).uppercased() : String(scalar)
  }.joined()
}
