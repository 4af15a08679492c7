import Basics
import Journal
import Drawing

/// A graph of states as boxes and transitions as arrows.
///
/// All transitions from one state to another are one arrow, styled by their kind and labelled with their
/// names.
struct HTMLGraph {
  /// A state.
  struct Box {
    /// Its name and further lines.
    var lines: [String]
    /// `statebox`, and further classes.
    var kind: Markup = "statebox"
  }

  /// The transitions from one state to another.
  struct Edge {
    var from: Int
    var to: Int
    var lines: [String]
    var kind: Markup
  }

  let name: String
  let description: String
  let id: String
  /// The drawing begins with the first of them.
  var boxes: [Box]
  /// None of them returns to its own state.
  var edges: [Edge]

  /// The maximum size of a readable drawing.
  private static let (maximumStates, maximumArrows) = (200, 160)
  private static let (characterWidth, lineHeight, maximumLines, longest) = (7, 13, 4, 26)

  var markup: Markup {
    guard boxes.count <= Self.maximumStates else {
      return "<p class=\"note\">\(counted(boxes.count, "state")): too many to draw.</p>\n"
    }
    guard edges.count <= Self.maximumArrows else {
      return
        "<p class=\"note\">\(counted(edges.count, "arrow")): too many to draw; the table has them all.</p>\n"
    }
    let titles = boxes.map { $0.lines.map(short) }
    let labels = edges.map { first($0.lines.map(short), to: Self.maximumLines) }
    let layout = GraphLayout(
      states: titles.map { size($0, padding: 8) }, starts: [0], arrows: edges.map { ($0.from, $0.to) },
      labels: labels.map { size($0, padding: 3) },
      spacing: GraphLayout.Spacing(margin: 6, top: 6, gap: 18, rowGap: 24))
    let (width, height) = (layout.extent.width + 8, layout.extent.height + 12)
    var drawing: Markup = """
      <svg class="graph" role="img" aria-labelledby="\(id)-title \(id)-text" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)"><title id="\(id)-title">\(name), drawn</title><desc id="\(id)-text">\
      \(description)</desc>\(arrowheads)

      """
    for (arrow, edge) in zip(layout.arrows, edges) {
      let end: Markup = arrow.leadsUp ? "start" : "end"
      drawing += """
        <path class="\(edge.kind)" d="\(layout.curve(of: arrow))" \
        marker-\(end)="url(#\(id)-\(edge.kind))"/>

        """
    }
    for (index, lines) in titles.enumerated() {
      drawing += box(layout.boxes[index], lines, boxes[index].kind)
    }
    for (arrow, lines) in zip(layout.arrows, labels) { drawing += label(layout.boxes[arrow.route[0]], lines) }
    return scrolling("\(name), drawn", drawing + "</svg>")
  }

  private var arrowheads: Markup {
    var kinds: [Markup] = []
    for edge in edges where !kinds.contains(edge.kind) { kinds.append(edge.kind) }
    let arrowheads = kinds.markup { kind in
      """
      <marker id="\(id)-\(kind)" class="\(kind)" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" \
      markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z"/></marker>
      """
    }
    return "<defs>\(arrowheads)</defs>"
  }

  private func short(_ text: String) -> String { shortened(text, to: Self.longest) }

  private func size(_ lines: [String], padding: Int) -> GraphLayout.Size {
    let longest = lines.map(\.count).max() ?? 0
    return GraphLayout.Size(
      longest * Self.characterWidth + 2 * padding, lines.count * Self.lineHeight + padding)
  }

  private func box(_ box: GraphLayout.Box, _ lines: [String], _ kind: Markup) -> Markup {
    let texts = lines.enumerated().map { index, line -> Markup in
      let name: Markup = index == 0 ? "state" : "loops"
      return """
        <text class="\(name)" x="\(box.middle)" y="\(box.y + 15 + index * Self.lineHeight)">\(line)</text>
        """
    }
    return """
      <rect class="\(kind)" x="\(box.x)" y="\(box.y)" width="\(box.width)" height="\(box.height)" rx="6"/>\
      \(texts.joined())

      """
  }

  /// A label with a background, so that arrows pass behind it.
  private func label(_ box: GraphLayout.Box, _ lines: [String]) -> Markup {
    let texts = lines.enumerated().map { index, line -> Markup in
      "<text x=\"\(box.x + 3)\" y=\"\(box.y + 11 + index * Self.lineHeight)\">\(line)</text>"
    }
    return """
      <rect class="paper" x="\(box.x)" y="\(box.y)" width="\(box.width)" height="\(box.height)"/>\(texts.joined())

      """
  }
}

// MARK: - A machine

extension HTMLGraph {
  /// A machine or a region of it, with the visited transitions thick, others dashed, and spontaneous ones
  /// dotted. Transitions that return to their state are counted in its box.
  ///
  /// - Parameter marks: the states in which cases diverged, with those cases.
  init(_ visits: MachineVisits, name: String, states: [Int], id: String, marks: [Int: [Int]]) {
    self.init(
      name: name,
      description: "The table of the machine says the same: which ways the run went and which not.", id: id,
      boxes: states.map { state in
        var lines = Self.lines(visits, state, in: states)
        guard let cases = marks[state] else { return Box(lines: lines) }
        lines += first(cases.map { "✘ case \($0)" }, to: 2)
        return Box(lines: lines, kind: "statebox here")
      }, edges: Self.edges(visits, states))
  }

  /// All transitions from one state of the drawing to another, by their numbers in it.
  private static func edges(_ visits: MachineVisits, _ states: [Int]) -> [Edge] {
    var numbers = [Int](repeating: -1, count: visits.machine.states.count)
    for (number, state) in states.enumerated() { numbers[state] = number }
    var places: [Int: Int] = [:]
    var all: [(from: Int, to: Int, edges: [MachineVisits.Edge])] = []
    for edge in visits.edges where numbers[edge.from] >= 0 && numbers[edge.to] >= 0 && edge.from != edge.to {
      let (from, to) = (numbers[edge.from], numbers[edge.to])
      let place = places[from * states.count + to] ?? all.count
      if place == all.count { all.append((from, to, [])) }
      places[from * states.count + to] = place
      all[place].edges.append(edge)
    }
    return all.map { from, to, edges in
      let lines = edges.map { edge in (edge.isVisited.map { $0 ? "● " : "○ " } ?? "") + edge.name }
      return Edge(from: from, to: to, lines: lines, kind: kind(of: edges))
    }
  }

  private static func kind(of edges: [MachineVisits.Edge]) -> Markup {
    let counted = edges.compactMap(\.isVisited)
    if counted.isEmpty { return "spont" }
    let visited = counted.filter { $0 }.count
    return visited == counted.count ? "went" : visited == 0 ? "not" : "part"
  }

  /// The name of a state, and how many of the transitions to itself and out of the drawing were visited.
  private static func lines(_ visits: MachineVisits, _ state: Int, in states: [Int]) -> [String] {
    let own = visits.edges.filter { $0.from == state && $0.isVisited != nil }
    let loops = own.filter { $0.to == state }
    let out = own.filter { edge in edge.to != state && !states.contains(edge.to) }
    var lines = [visits.machine.states[state]]
    var counts: [String] = []
    if !loops.isEmpty { counts.append("↻ \(loops.filter { $0.isVisited == true }.count)/\(loops.count)") }
    if !out.isEmpty { counts.append("↗ \(out.filter { $0.isVisited == true }.count)/\(out.count)") }
    if !counts.isEmpty { lines.append(counts.joined(separator: "  ")) }
    return lines
  }
}

// MARK: - A divergence

extension HTMLGraph {
  /// The maximum number of possible states in a useful drawing.
  private static let maximumPossible = 12

  /// The states around a divergence: those before the last stimulus, those after it, their rows, and the
  /// observation that none of them allows.
  ///
  /// - Parameter machine: the model, if the journal has it.
  /// - Returns: `nil` if the verdict lacks them.
  init?(_ attempt: CaseAttempt, _ machine: Record.Machine?, id: String) {
    guard let verdict = attempt.verdict, verdict.word == .divergence, !verdict.allowed.isEmpty else {
      return nil
    }
    var neighbourhood = Neighbourhood(machine)
    let (stimulus, before) = attempt.moments.lastStimulus
    // If the stimulus itself can be answered, the states are those before it.
    let isPending = stimulus.map { name in verdict.allowed.contains { $0.cause?.hasPrefix(name) == true } }
    if let stimulus, isPending == false, !before.isEmpty {
      neighbourhood.begin(before.joined(separator: " or "))
      for allowance in verdict.allowed { neighbourhood.enter(allowance.state, "▸ \(stimulus)") }
    }
    for allowance in verdict.allowed { neighbourhood.add(allowance) }
    neighbourhood.end(verdict.allowed.map(\.state), verdict.seen ?? "nothing")
    guard neighbourhood.possible.count <= Self.maximumPossible else { return nil }
    self.init(
      name: "Where it diverged",
      description:
        "The same as in the table above: what was possible, what each state allows, and what was seen.",
      id: id, boxes: neighbourhood.boxes, edges: neighbourhood.edges)
  }

  /// The states around a divergence, each once.
  private struct Neighbourhood {
    private(set) var boxes: [Box] = []
    private(set) var edges: [Edge] = []
    private(set) var possible: [String] = []
    private var numbers: [String: Int] = [:]
    private let machine: Record.Machine?

    init(_ machine: Record.Machine?) { self.machine = machine }

    mutating func begin(_ before: String) { boxes.append(Box(lines: [before, "before"])) }

    /// Adds a possible state.
    private mutating func state(_ name: String) -> Int {
      if !possible.contains(name) { possible.append(name) }
      let number = box(name)
      boxes[number].kind = "statebox held"
      return number
    }

    private mutating func box(_ name: String) -> Int {
      if let number = numbers[name] { return number }
      numbers[name] = boxes.count
      boxes.append(Box(lines: [name]))
      return boxes.count - 1
    }

    private mutating func join(_ from: Int, _ to: Int, _ line: String, _ kind: Markup) {
      guard from != to else {
        if !boxes[from].lines.contains("↻ " + line) { boxes[from].lines.append("↻ " + line) }
        return
      }
      guard let index = edges.firstIndex(where: { $0.from == from && $0.to == to && $0.kind == kind }) else {
        return edges.append(Edge(from: from, to: to, lines: [line], kind: kind))
      }
      if !edges[index].lines.contains(line) { edges[index].lines.append(line) }
    }

    mutating func enter(_ name: String, _ line: String) { join(0, state(name), line, "went") }

    /// Adds a row of a state: to its targets in the machine, or else to its observation.
    mutating func add(_ allowance: Record.Allowance) {
      let from = state(allowance.state)
      let cause = allowance.cause ?? "–"
      for target in targets(of: allowance.state, cause) ?? ["shows \(allowance.shows)"] {
        join(from, box(target), cause, "allowed")
      }
    }

    private func targets(of name: String, _ cause: String) -> [String]? {
      guard let machine, let state = machine.states.firstIndex(of: name) else { return nil }
      let own = machine.spontaneous.filter { $0.state == state && cause.hasPrefix($0.event) }
        .map { (length: $0.event.utf8.count, next: $0.next) }
      let given = machine.cells.filter { $0.state == state && cause.hasPrefix(machine.stimuli[$0.stimulus]) }
        .map { (length: machine.stimuli[$0.stimulus].utf8.count, next: $0.next) }
      // Of two names with which the cause begins, the longer one is right.
      return (own + given).max { $0.length < $1.length }.map { $0.next.map { machine.states[$0] } }
    }

    /// Adds the observation that no row of the states allows.
    mutating func end(_ states: [String], _ seen: String) {
      let end = boxes.count
      boxes.append(Box(lines: ["✘ \(seen)", "seen"], kind: "statebox here"))
      for name in states { join(state(name), end, "✘ no row", "no") }
    }
  }
}

extension Moments {
  /// The last stimulus, with the possible states before it.
  fileprivate var lastStimulus: (name: String?, before: [String]) {
    guard let index = kept.lastIndex(where: { $0.kind == .stimulus }) else { return (nil, []) }
    return (kept[index].words, index > 0 ? kept[index - 1].possible : [])
  }
}
