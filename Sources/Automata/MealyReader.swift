import Documents
import Basics

/// Reads a Mealy machine of inputs and outputs, or a Moore machine, as tools for automata learning write them.
func mealyMachine(
  of graph: DOTGraph, name: String
) throws(DOTProblem) -> (MachineDefinition, DefinitionPlaces) {
  try graph.refuseOtherKinds()
  let markers = graph.startMarkers()
  var starts: [DOTGraph.Edge] = []
  var edges: [LabelledEdge] = []
  for edge in graph.edges {
    if markers.contains(edge.from) { starts.append(edge) } else { edges.append(try LabelledEdge(edge)) }
  }
  if starts.isEmpty, let marker = graph.nodes.first(where: { markers.contains($0.id) }) {
    throw DOTProblem(marker.start, to: marker.end, "no arrow leads from this start", hint: "\(startAdvice)")
  }
  let states = graph.nodes.filter { !markers.contains($0.id) }
  let outputs = try mooreOutputs(of: states, and: edges)
  var reader = MealyReader(name: graph.name.isEmpty ? name : graph.name)
  for state in states { reader.add(state, output: outputs[state.id]) }
  for start in starts { try reader.addStart(start) }
  for edge in edges { reader.add(edge) }
  reader.finish()
  return (reader.machine, reader.places)
}

/// An edge from a state, with the rows of its label.
private struct LabelledEdge {
  var edge: DOTGraph.Edge
  var label: DOTGraph.Value
  var rows: [MealyRow]

  init(_ edge: DOTGraph.Edge) throws(DOTProblem) {
    guard let label = edge.label else {
      throw DOTProblem(
        edge.start, to: edge.end, "this edge has no label", hint: "as in `[label=\"in/out\"]`; \(startAdvice)"
      )
    }
    self.edge = edge
    self.label = label
    rows = try label.mealyRows()
  }

  var hasOutputs: Bool { rows.contains { $0.output != nil } }
}

/// How a start is drawn.
let startAdvice = """
  a start is an arrow from a node without a text, drawn as a point, or called `__start0`
  """

private struct MealyReader {
  private struct Key: Hashable {
    var from: String
    var input: String
    var output: String?
  }

  private(set) var machine: MachineDefinition
  private(set) var places = DefinitionPlaces()
  private var inputs = Roster<String>()
  private var rows: [Key: Int] = [:]
  /// The states to which each row leads.
  private var targets: [Roster<String>] = []

  init(name: String) {
    machine = MachineDefinition(name: name)
  }

  mutating func add(_ node: DOTGraph.Node, output: String?) {
    machine.states.append(State(node.id, status: output))
    places.states.append((node.start, node.end))
  }

  mutating func addStart(_ edge: DOTGraph.Edge) throws(DOTProblem) {
    guard machine.starts.isEmpty else {
      throw DOTProblem(edge.start, to: edge.end, "this is a second start", hint: "a machine has one")
    }
    machine.starts = [Start(edge.to)]
    places.starts = [(edge.start, edge.end)]
  }

  mutating func add(_ labelled: LabelledEdge) {
    for row in labelled.rows {
      if inputs.number(row.input) == machine.events.count {
        machine.events.append(Event(row.input))
        places.events.append((labelled.edge.start, labelled.edge.end))
      }
      add(Key(from: labelled.edge.from, input: row.input, output: row.output), labelled.edge)
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
}

extension DOTGraph.Edge {
  /// The label, unless it is empty.
  fileprivate var label: DOTGraph.Value? {
    attributes["label"].flatMap { $0.isBlank ? nil : $0 }
  }
}

extension DOTGraph.Value {
  fileprivate var isBlank: Bool { lines.isEmpty }
}

// MARK: - Moore machines

/// Returns the outputs of the states of a Moore machine; none for a Mealy machine.
///
/// A state is a record of its name and its output, or its label is `name / output`. If no edge has an output, the
/// slash needs no blanks.
private func mooreOutputs(
  of states: [DOTGraph.Node], and edges: [LabelledEdge]
) throws(DOTProblem) -> [String: String] {
  let edge = edges.first(where: \.hasOutputs)
  var found: [String?] = []
  for state in states { found.append(try state.outputInRecord()) }
  if found.allSatisfy({ $0 == nil }) {
    let spaced = states.map { $0.output(after: " / ") }
    let close = states.map { $0.output(after: "/") }
    // Where the edges have outputs, a slash in the name of some state is not an output.
    if !spaced.contains(nil) || edge == nil && spaced.contains(where: { $0 != nil }) {
      found = spaced
    } else if edge == nil, !close.contains(nil) {
      found = close
    }
  }
  guard found.contains(where: { $0 != nil }) else { return [:] }
  if let label = edge?.label {
    throw DOTProblem(
      label.start, to: label.end, "this edge has an output, and the states have some, too",
      hint: "a machine has outputs on its edges, or in its states")
  }
  var outputs: [String: String] = [:]
  for (state, output) in zip(states, found) {
    guard let output, !output.isEmpty else {
      throw DOTProblem(
        state.start, to: state.end, "this state has no output, and other states have one",
        hint: "label each state of a Moore machine `name|output` or `name / output`")
    }
    outputs[state.id] = output
  }
  return outputs
}

extension DOTGraph.Node {
  /// Returns the second field of a record.
  fileprivate func outputInRecord() throws(DOTProblem) -> String? {
    guard let label = attributes["label"], !label.isHTML else { return nil }
    let fields = recordFields(label.text)
    // A program that puts the name in the first field does not escape the output behind it.
    guard fields.count <= 2 || fields[0] == id else {
      throw DOTProblem(
        label.start, to: label.end, "this label has more than a name and an output",
        hint: "a state of a Moore machine is labelled `name|output`")
    }
    return fields.count > 1 ? fields.dropFirst().joined(separator: "|") : nil
  }

  /// Returns the text behind a slash, in a label of one line.
  fileprivate func output(after slash: String) -> String? {
    guard let lines = attributes["label"]?.lines, lines.count == 1, let range = lines[0].firstRange(of: slash)
    else { return nil }
    return trim(lines[0][range.upperBound...])
  }
}

/// Returns the fields of a record, without the names of its ports.
private func recordFields(_ label: String) -> [String] {
  var fields = [""]
  var rest = label[...]
  while let character = rest.popFirst() {
    switch character {
    case "|": fields.append("")
    case "{", "}": break
    case "\\":
      let next = rest.popFirst() ?? character
      fields[fields.count - 1].append(["n", "l", "r"].contains(next) ? " " : next)
    default: fields[fields.count - 1].append(character)
    }
  }
  return fields.map { field in
    let field = trim(field)
    guard field.hasPrefix("<"), let end = field.firstIndex(of: ">") else { return field }
    let text = trim(field[end...].dropFirst())
    return text.isEmpty ? field : text
  }
}

// MARK: - What a graph is

extension DOTGraph {
  /// Returns the nodes that are not states: an arrow from one of them points at the start state.
  ///
  /// A node is a start marker if its name begins with `__start` or `__initial`. Most programs that write DOT use
  /// other names. So a node is also one if it is drawn as a mark or not at all, no edge enters it, and only edges
  /// without a label leave it.
  fileprivate func startMarkers() -> Set<String> {
    var markers = Set(nodes.map(\.id).filter { $0.hasPrefix("__start") || $0.hasPrefix("__initial") })
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

  /// Rejects a graph that looks like a Mealy machine but means something else.
  fileprivate func refuseOtherKinds() throws(DOTProblem) {
    if let edge = edges.first(where: { $0.attributes["modality"] != nil }) {
      throw DOTProblem(
        edge.start, to: edge.end, "this edge says what a machine may or must do",
        hint: "modal transition systems are not read")
    }
    let labels = edges.compactMap(\.label)
    let probabilities = labels.compactMap(\.probability)
    if let first = labels.first, probabilities.count == labels.count,
      probabilities.contains(where: { $0.contains(".") })
    {
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
  /// The text, or its end after a colon, if it is a number from 0 to 1.
  fileprivate var probability: String? {
    let last = trim(text.split(separator: ":", omittingEmptySubsequences: false).last ?? "")
    guard let number = Double(last), (0...1).contains(number) else { return nil }
    return last
  }
}
