import Documents
import Basics

/// Reads a Mealy machine of inputs and outputs, or a Moore machine, as tools for automata learning write them.
func mealyMachine(
  of graph: DOTGraph, name: String
) throws(DOTProblem) -> (MachineDefinition, DefinitionPlaces) {
  try graph.refuseOtherKinds()
  let starts = graph.startMarkers()
  var reader = MealyReader(
    name: graph.name.isEmpty ? name : graph.name, isMoore: graph.hasOutputsAfterNames(besides: starts))
  for node in graph.nodes where !starts.contains(node.id) { try reader.add(node) }
  for edge in graph.edges {
    if starts.contains(edge.from) {
      try reader.addStart(edge)
    } else {
      try reader.add(edge)
    }
  }
  reader.finish()
  return (reader.machine, reader.places)
}

private struct MealyReader {
  private struct Key: Hashable {
    var from: String
    var input: String
    var output: String?
  }

  private(set) var machine: MachineDefinition
  private(set) var places = DefinitionPlaces()
  /// Whether the label of each state is its name, a slash and its output.
  private let isMoore: Bool
  private var inputs = Roster<String>()
  private var rows: [Key: Int] = [:]
  /// The states to which each row leads.
  private var targets: [Roster<String>] = []

  init(name: String, isMoore: Bool) {
    machine = MachineDefinition(name: name)
    self.isMoore = isMoore
  }

  mutating func add(_ node: DOTGraph.Node) throws(DOTProblem) {
    machine.states.append(State(node.id, status: try output(of: node)))
    places.states.append((node.start, node.end))
  }

  /// Returns the output of a state of a Moore machine: after the name, or below it. Any other label is a name only.
  private func output(of node: DOTGraph.Node) throws(DOTProblem) -> String? {
    guard let label = node.attributes["label"] else { return nil }
    if isMoore { return inputAndOutput(label.text).output.flatMap { $0.isEmpty ? nil : $0 } }
    guard !label.isHTML else { return nil }
    let parts = label.text.split(separator: "|").map { trim($0.filter { $0 != "{" && $0 != "}" }) }
    guard parts.count <= 2 else {
      throw DOTProblem(
        label.start, to: label.end, "this label has more than a name and an output",
        hint: "a state of a Moore machine is labelled `name|output`")
    }
    return parts.count == 2 ? parts[1] : nil
  }

  mutating func addStart(_ edge: DOTGraph.Edge) throws(DOTProblem) {
    guard machine.starts.isEmpty else {
      throw DOTProblem(edge.start, to: edge.end, "this is a second start", hint: "a machine has one")
    }
    machine.starts = [Start(edge.to)]
    places.starts = [(edge.start, edge.end)]
  }

  mutating func add(_ edge: DOTGraph.Edge) throws(DOTProblem) {
    guard let label = edge.label else {
      throw DOTProblem(
        edge.start, to: edge.end, "this edge has no label",
        hint: """
          as in `[label=\"in/out\"]`; a start is an arrow from a node without a text, drawn as a point, or called \
          `__start0`
          """)
    }
    for (input, output) in try labels(label) {
      guard output == nil || !isMoore else {
        throw DOTProblem(
          label.start, to: label.end, "this edge has an output, and the states have some, too",
          hint: "a machine has outputs on its edges, or in its states")
      }
      if inputs.number(input) == machine.events.count {
        machine.events.append(Event(input))
        places.events.append((edge.start, edge.end))
      }
      add(Key(from: edge.from, input: input, output: output), edge)
    }
  }

  private mutating func add(_ key: Key, _ edge: DOTGraph.Edge) {
    if let row = rows[key] {
      // The same output on the path to another state: the device chooses.
      targets[row].number(edge.to)
      return
    }
    rows[key] = machine.transitions.count
    machine.transitions.append(
      Transition(.event(key.input), from: .states([key.from]), to: .stay, shows: key.output))
    targets.append(Roster())
    targets[targets.count - 1].number(edge.to)
    places.rows.append((edge.start, edge.end))
  }

  mutating func finish() {
    for row in targets.indices { machine.transitions[row].to = .states(targets[row].values) }
    guard machine.starts.isEmpty, let first = machine.states.first else { return }
    machine.starts = [Start(first.name)]
    places.starts = [places.states[0]]
  }

  /// Returns the inputs and outputs of an edge's label: `in/out`, one per line, or, in HTML, inputs separated by `|`
  /// with their output below.
  private func labels(_ label: DOTGraph.Value) throws(DOTProblem) -> [(input: String, output: String?)] {
    let lines = lines(of: label.text)
    guard label.isHTML, lines.count > 1 else { return lines.map(inputAndOutput) }
    if lines[0].contains("/") {
      if let other = lines.first(where: { !$0.contains("/") }) {
        throw DOTProblem(
          label.start, to: label.end, "the line `\(other)` of this label is neither an input nor an output",
          hint: "write `in/out` in each line, or the inputs in the first line and their output below")
      }
      return lines.map(inputAndOutput)
    }
    if let guarded = lines.dropFirst().first(where: { $0.hasPrefix("[") && $0.hasSuffix("]") }) {
      throw DOTProblem(
        label.start, to: label.end,
        "`\(guarded)` is a condition, and conditions of edges are not read from DOT",
        hint: "write the machine in YAML")
    }
    let below = lines.dropFirst().joined(separator: " ")
    // In UML, an action begins with a slash.
    let output = trim(below.hasPrefix("/") ? below.dropFirst() : below[...])
    return lines[0].split(separator: "|").map { (trim($0), output) }
  }

  private func lines(of label: String) -> [String] {
    var lines = [""]
    var rest = label[...]
    while let character = rest.popFirst() {
      if character.isNewline {
        lines.append("")
        continue
      }
      guard character == "\\", let next = rest.first else {
        lines[lines.count - 1].append(character)
        continue
      }
      rest.removeFirst()
      if ["n", "l", "r"].contains(next) {
        lines.append("")
      } else {
        lines[lines.count - 1].append(next)
      }
    }
    return lines.map { trim($0) }.filter { !$0.isEmpty }
  }
}

private func inputAndOutput(_ label: String) -> (input: String, output: String?) {
  guard let slash = label.firstRange(of: " / ") ?? label.firstRange(of: "/") else { return (label, nil) }
  return (trim(label[..<slash.lowerBound]), trim(label[slash.upperBound...]))
}

extension DOTGraph.Edge {
  /// The label, unless it is empty.
  fileprivate var label: DOTGraph.Value? {
    attributes["label"].flatMap { $0.isBlank ? nil : $0 }
  }
}

extension DOTGraph.Value {
  fileprivate var isBlank: Bool { text.allSatisfy(\.isWhitespace) }
}

// MARK: - What a graph is

extension DOTGraph {
  /// Returns the nodes that are not states: an arrow from one of them points at the start state.
  ///
  /// A node is a start marker if its name begins with `__start`. Most programs that write DOT use other names. So a
  /// node is also one if it is drawn as a mark or not at all, no edge enters it, and only edges without a label leave
  /// it.
  fileprivate func startMarkers() -> Set<String> {
    var markers = Set(nodes.map(\.id).filter { $0.hasPrefix("__start") })
    let reached = Set(edges.map(\.to))
    let labelled = Set(edges.filter { $0.label != nil }.map(\.from))
    let sources = Set(edges.map(\.from))
    for node in nodes where node.isMark {
      guard sources.contains(node.id), !reached.contains(node.id), !labelled.contains(node.id) else {
        continue
      }
      markers.insert(node.id)
    }
    return markers
  }

  /// Returns whether every state is labelled `name / output`.
  fileprivate func hasOutputsAfterNames(besides starts: Set<String>) -> Bool {
    let states = nodes.filter { !starts.contains($0.id) }
    return !states.isEmpty
      && states.allSatisfy { state in
        guard let label = state.attributes["label"] else { return false }
        return !label.isHTML && !label.text.contains("|") && label.text.contains(" / ")
      }
  }

  /// Rejects a graph that looks like a Mealy machine but means something else.
  fileprivate func refuseOtherKinds() throws(DOTProblem) {
    if let edge = edges.first(where: { $0.attributes["modality"] != nil }) {
      throw DOTProblem(
        edge.start, to: edge.end, "this edge says what a machine may or must do",
        hint: "modal transition systems are not read")
    }
    let labels = edges.compactMap(\.label)
    if let first = labels.first, labels.allSatisfy(\.endsWithProbability) {
      throw DOTProblem(
        first.start, to: first.end, "this edge has a probability",
        hint: "Markov chains, Markov decision processes and stochastic Mealy machines are not read")
    }
  }
}

extension DOTGraph.Node {
  /// Whether the node is drawn as a mark, not as a state with its own text.
  fileprivate var isMark: Bool {
    if id.isEmpty || attributes["label"]?.isBlank == true { return true }
    if attributes["style"]?.text.contains("invis") == true { return true }
    return ["point", "none", "plaintext", "plain"].contains(attributes["shape"]?.text)
  }
}

extension DOTGraph.Value {
  /// Whether the text is a decimal fraction from 0 to 1, or ends with one after a colon.
  fileprivate var endsWithProbability: Bool {
    let last = trim(text.split(separator: ":", omittingEmptySubsequences: false).last ?? "")
    guard last.contains("."), let number = Double(last) else { return false }
    return (0...1).contains(number)
  }
}
