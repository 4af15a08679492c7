import Basics
import Journal
import Drawing

/// A machine, or a region of it, drawn with what the run went through.
///
/// All ways from one state to another are one arrow: thick where the run went, dashed where it did not, dotted where
/// things happen by themselves. Ways that lead back to their state are counted in its box.
struct HTMLGraph {
  let visits: MachineVisits
  let name: String
  let states: [Int]
  let id: String

  /// The most arrows that a drawing can have and still be read.
  private static let (maximumStates, maximumArrows) = (200, 160)
  private static let (characterWidth, lineHeight, maximumLines, longest) = (7, 13, 4, 26)

  private struct Edge {
    var from: Int
    var to: Int
    var ways: [MachineVisits.Way] = []

    var counted: [MachineVisits.Way] { ways.filter { $0.isVisited != nil } }
    var kind: Markup {
      let counted = counted
      if counted.isEmpty { return "spont" }
      let visited = counted.filter { $0.isVisited == true }.count
      return visited == counted.count ? "went" : visited == 0 ? "not" : "part"
    }
  }

  var markup: Markup {
    guard states.count <= Self.maximumStates else {
      return "<p class=\"note\">\(counted(states.count, "state")): too many to draw.</p>\n"
    }
    var edges = edges()
    edges.removeAll { $0.from == $0.to }
    guard edges.count <= Self.maximumArrows else {
      return
        "<p class=\"note\">\(counted(edges.count, "arrow")): too many to draw; the table has them all.</p>\n"
    }
    let titles = states.map { boxLines($0) }
    let labels = edges.map(labelLines)
    let layout = GraphLayout(
      states: titles.map { size($0, padding: 8) }, starts: [0], arrows: edges.map { ($0.from, $0.to) },
      labels: labels.map { size($0, padding: 3) },
      spacing: GraphLayout.Spacing(margin: 6, top: 6, gap: 18, rowGap: 24))
    let (width, height) = (layout.extent.width + 8, layout.extent.height + 12)
    var drawing: Markup = """
      <svg class="graph" role="img" aria-labelledby="\(id)-title \(id)-text" width="\(width)" height="\(height)" \
      viewBox="0 0 \(width) \(height)"><title id="\(id)-title">\(name), drawn</title><desc id="\(id)-text">\
      The table of the machine says the same: which ways the run went and which not.</desc>\(tips)

      """
    for (arrow, edge) in zip(layout.arrows, edges) {
      let end: Markup = arrow.leadsUp ? "start" : "end"
      drawing += """
        <path class="\(edge.kind)" d="\(layout.curve(of: arrow))" \
        marker-\(end)="url(#\(id)-\(edge.kind))"/>

        """
    }
    for (index, lines) in titles.enumerated() { drawing += box(layout.boxes[index], lines) }
    for (arrow, lines) in zip(layout.arrows, labels) { drawing += label(layout.boxes[arrow.route[0]], lines) }
    return scrolling("\(name), drawn", drawing + "</svg>")
  }

  private var tips: Markup {
    let kinds: [Markup] = ["went", "part", "not", "spont"]
    let tips = kinds.markup { kind in
      """
      <marker id="\(id)-\(kind)" class="\(kind)" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" \
      markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path d="M0,0 L8,4 L0,8 z"/></marker>
      """
    }
    return "<defs>\(tips)</defs>"
  }

  // MARK: What is written

  /// All ways from one state of the drawing to another, by the numbers they have in it.
  private func edges() -> [Edge] {
    var numbers = [Int](repeating: -1, count: visits.machine.states.count)
    for (number, state) in states.enumerated() { numbers[state] = number }
    var places = [Int](repeating: -1, count: states.count * states.count)
    var edges: [Edge] = []
    for way in visits.ways where numbers[way.from] >= 0 && numbers[way.to] >= 0 {
      let (from, to) = (numbers[way.from], numbers[way.to])
      if places[from * states.count + to] < 0 {
        places[from * states.count + to] = edges.count
        edges.append(Edge(from: from, to: to))
      }
      edges[places[from * states.count + to]].ways.append(way)
    }
    return edges
  }

  /// The name of a state, and how many of the ways back to it and out of the drawing the run went.
  private func boxLines(_ state: Int) -> [String] {
    let own = visits.ways.filter { $0.from == state && $0.isVisited != nil }
    let loops = own.filter { $0.to == state }
    let out = own.filter { way in way.to != state && !states.contains(way.to) }
    var lines = [short(visits.machine.states[state])]
    var counts: [String] = []
    if !loops.isEmpty { counts.append("↻ \(loops.filter { $0.isVisited == true }.count)/\(loops.count)") }
    if !out.isEmpty { counts.append("↗ \(out.filter { $0.isVisited == true }.count)/\(out.count)") }
    if !counts.isEmpty { lines.append(counts.joined(separator: "  ")) }
    return lines
  }

  private func labelLines(_ edge: Edge) -> [String] {
    let lines = edge.ways.map { way in
      let sign = way.isVisited.map { $0 ? "● " : "○ " } ?? ""
      return short(sign + way.name)
    }
    return first(lines, to: Self.maximumLines)
  }

  private func short(_ text: String) -> String { shortened(text, to: Self.longest) }

  private func size(_ lines: [String], padding: Int) -> GraphLayout.Size {
    let longest = lines.map(\.count).max() ?? 0
    return GraphLayout.Size(
      longest * Self.characterWidth + 2 * padding, lines.count * Self.lineHeight + padding)
  }

  // MARK: Drawing

  private func box(_ box: GraphLayout.Box, _ lines: [String]) -> Markup {
    let texts = lines.enumerated().map { index, line -> Markup in
      let name: Markup = index == 0 ? "state" : "loops"
      return """
        <text class="\(name)" x="\(box.middle)" y="\(box.y + 15 + index * Self.lineHeight)">\(line)</text>
        """
    }
    return """
      <rect class="statebox" x="\(box.x)" y="\(box.y)" width="\(box.width)" height="\(box.height)" rx="6"/>\
      \(texts.joined())

      """
  }

  /// A label on paper of its own, so that arrows pass behind it.
  private func label(_ box: GraphLayout.Box, _ lines: [String]) -> Markup {
    let texts = lines.enumerated().map { index, line -> Markup in
      "<text x=\"\(box.x + 3)\" y=\"\(box.y + 11 + index * Self.lineHeight)\">\(line)</text>"
    }
    return """
      <rect class="paper" x="\(box.x)" y="\(box.y)" width="\(box.width)" height="\(box.height)"/>\(texts.joined())

      """
  }
}
