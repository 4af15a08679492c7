import Documents
import Basics

/// Reads a graph that contains a whole definition; see ``MachineDefinition/dot()``.
func machine(of graph: DOTGraph) throws(DOTProblem) -> (MachineDefinition, DefinitionPlaces) {
  var reader = DOTReader(graph)
  try reader.read()
  return (reader.machine, reader.places)
}

private struct DOTReader {
  private let graph: DOTGraph
  private(set) var machine = MachineDefinition(name: "")
  private(set) var places = DefinitionPlaces()
  private var names: [String: String] = [:]

  init(_ graph: DOTGraph) { self.graph = graph }

  mutating func read() throws(DOTProblem) {
    if let version = graph.attributes["lockstep"] {
      places.machine = (version.start, version.end)
      guard version.text == dotVersion else {
        throw DOTProblem(version.start, to: version.end, "only version \(dotVersion) of a machine is known")
      }
    }
    machine.name = try graph.attributes["name"].map(decoded) ?? graph.name
    machine.summary = try graph.attributes["summary"].map(decoded) ?? ""
    try readStates()
    try readEvents()
    try readConditions()
    try readChoices()
    try readStarts()
    try readRows()
  }

  private mutating func readStates() throws(DOTProblem) {
    for node in graph.nodes where !node.id.hasPrefix("__start") && node.id != dotAnyState {
      let name = try node.attributes["name"].map(decoded) ?? node.id
      names[node.id] = name
      let status = try node.attributes["status"].map(decoded)
      machine.states.append(
        State(
          name, status: status, entry: try list(node.attributes["entry"]),
          region: try node.attributes["region"].map(decoded) ?? ""))
      places.states.append((node.start, node.end))
    }
  }

  private mutating func readEvents() throws(DOTProblem) {
    guard let value = graph.attributes["events"], !value.text.isEmpty else { return }
    for item in value.items {
      let parts = item.parts(":")
      let kind = parts.count > 1 ? Event.Kind(rawValue: parts[1].text) : .stimulus
      guard let kind, parts.count <= 2 else {
        throw DOTProblem(value.start, to: value.end, "`\(item.text)` is no event and its kind")
      }
      machine.events.append(Event(try decoded(parts[0]), kind))
      places.events.append((value.start, value.end))
    }
  }

  private mutating func readConditions() throws(DOTProblem) {
    guard let value = graph.attributes["conditions"] else { return }
    for item in value.items {
      let parts = item.parts(":")
      var condition = Condition(try decoded(parts[0]))
      for part in parts.dropFirst() {
        let pair = part.parts("=")
        switch (pair[0].text, pair.count) {
        case ("fault", 2): condition.faults.append(try decoded(pair[1]))
        case ("stimulus", 2): condition.stimuli.append(try decoded(pair[1]))
        case ("unsure", 2): condition.unsure.append(try decoded(pair[1]))
        case ("moment", 2): condition.moments.append(try decoded(pair[1]))
        case ("event", 2): condition.events.append(try decoded(pair[1]))
        case ("until", 2): condition.until.append(try decoded(pair[1]))
        case ("reading", 2): condition.reading = try decoded(pair[1])
        case ("from-entry", 1): condition.countsFromEntry = true
        case ("delay", 2): condition.delay = try interval(pair[1])
        default: throw DOTProblem(value.start, to: value.end, "`\(part.text)` says nothing of a condition")
        }
      }
      machine.conditions.append(condition)
      places.conditions.append((value.start, value.end))
    }
  }

  private mutating func readChoices() throws(DOTProblem) {
    guard let value = graph.attributes["choices"] else { return }
    for item in value.items {
      let parts = item.parts(":")
      var choice = DeviceChoice(try decoded(parts[0]), [])
      for part in parts.dropFirst() { choice.options.append(try decoded(part)) }
      machine.choices.append(choice)
      places.choices.append((value.start, value.end))
    }
  }

  private mutating func readStarts() throws(DOTProblem) {
    guard let value = graph.attributes["starts"], !value.text.isEmpty else { return }
    for item in value.items {
      let parts = item.parts(":")
      var start = Start(try decoded(parts[0]))
      for part in parts.dropFirst() {
        let pair = part.parts("=")
        guard pair.count == 2, ["yes", "no"].contains(pair[1].text) else {
          throw DOTProblem(value.start, to: value.end, "`\(part.text)` is no setting with yes or no")
        }
        start.conditions.append(.init(try decoded(pair[0]), pair[1].text == "yes"))
      }
      machine.starts.append(start)
      places.starts.append((value.start, value.end))
    }
  }

  /// Combines the edges of each row.
  private mutating func readRows() throws(DOTProblem) {
    var rows: [(number: Int, edges: [DOTGraph.Edge])] = []
    var positions: [Int: Int] = [:]
    for edge in graph.edges where !edge.from.hasPrefix("__start") {
      guard let number = edge.attributes["row"].flatMap({ Int($0.text) }) else {
        throw DOTProblem(edge.start, to: edge.end, "this edge does not say which `row` it belongs to")
      }
      if let position = positions[number] {
        rows[position].edges.append(edge)
      } else {
        positions[number] = rows.count
        rows.append((number, [edge]))
      }
    }
    rows.sort { $0.number < $1.number }
    for row in rows {
      machine.transitions.append(try transition(row.edges))
      places.rows.append((row.edges[0].start, row.edges[0].end))
    }
  }

  private func transition(_ edges: [DOTGraph.Edge]) throws(DOTProblem) -> Transition {
    let first = edges[0]
    let attributes = first.attributes
    let trigger = try attributes["event"].map(decoded).map(Transition.Trigger.event) ?? .timer
    var sources = Roster<String>()
    var targets = Roster<String>()
    for edge in edges {
      sources.number(names[edge.from] ?? edge.from)
      targets.number(names[edge.to] ?? edge.to)
    }
    let to: Transition.Target =
      attributes["stay"] != nil
      ? .stay : attributes["shift"] != nil ? .shift(targets.values) : .states(targets.values)
    return Transition(
      trigger, from: first.from == dotAnyState ? .wildcard : .states(sources.values),
      to: to, window: try window(attributes),
      before: try list(attributes["first"]), after: try list(attributes["then"]),
      shows: try attributes["shows"].map(decoded), given: try list(attributes["given"]),
      unless: try list(attributes["unless"]), options: try list(attributes["option"]),
      origin: attributes["ours"] != nil ? .ours : .seed)
  }

  private func window(_ attributes: DOTGraph.Attributes) throws(DOTProblem) -> Window {
    if let after = attributes["after"] { return .after(try interval(after)) }
    var window = Window.any
    if let value = attributes["notbefore"] { window.earliest = try interval(value) }
    if let value = attributes["within"] { window.latest = try interval(value) }
    window.plus = try attributes["plus"].map(decoded)
    return window
  }

  private func interval(_ value: DOTGraph.Value) throws(DOTProblem) -> Interval {
    guard let interval = Interval(word: value.text) else {
      throw DOTProblem(value.start, to: value.end, "expected a duration such as 3 s, found `\(value.text)`")
    }
    return interval
  }

  private func list(_ value: DOTGraph.Value?) throws(DOTProblem) -> [String] {
    var names: [String] = []
    for item in value?.items ?? [] { names.append(try decoded(item)) }
    return names
  }
}

extension DOTGraph.Value {
  /// The members of a list in the value.
  fileprivate var items: [DOTGraph.Value] { parts(",") }

  /// Splits between Unicode scalars, so that a separator counts even before a combining accent.
  fileprivate func parts(_ separator: Unicode.Scalar) -> [DOTGraph.Value] {
    text.unicodeScalars.split(separator: separator, omittingEmptySubsequences: false).map {
      DOTGraph.Value(text: String($0), start: start, end: end)
    }
  }
}

/// Returns the text with its percent escapes decoded.
private func decoded(_ value: DOTGraph.Value) throws(DOTProblem) -> String {
  guard value.text.utf8.contains(UInt8(ascii: "%")) else { return value.text }
  var bytes: [UInt8] = []
  var rest = Array(value.text.utf8)[...]
  while let byte = rest.popFirst() {
    guard byte == UInt8(ascii: "%") else {
      bytes.append(byte)
      continue
    }
    let digits = String(decoding: rest.prefix(2), as: UTF8.self)
    guard digits.utf8.count == 2, let code = UInt8(digits, radix: 16), code < 0x80 else {
      throw DOTProblem(value.start, to: value.end, "a `%` stands for itself as `%25`")
    }
    bytes.append(code)
    rest = rest.dropFirst(2)
  }
  return String(decoding: bytes, as: UTF8.self)
}
