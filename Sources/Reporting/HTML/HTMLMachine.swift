import Basics
import Journal

/// A machine with its visits: figures, the table of states and stimuli, drawings.
struct HTMLMachine {
  let visits: MachineVisits
  let number: Int
  /// The cases that diverged, with their states.
  var divergences: [(state: Int, number: Int)] = []

  private static let longestName = 100
  /// A machine with more states is drawn region by region.
  private static let maximumStates = 20

  /// Whether a machine is drawn as a whole, with the states in which cases diverged.
  static func isDrawnWhole(_ machine: Record.Machine) -> Bool {
    (2...maximumStates).contains(machine.states.count)
  }

  /// The maximum number of drawn regions.
  private static let maximumDrawings = 30

  private var machine: Record.Machine { visits.machine }

  var markup: Markup {
    """
    <article class="machine" id="machine-\(number)"><h3>\(clipped(machine.name, toBytes: Self.longestName))</h3>
    \(figures)\(missing)\(table)\(drawings)</article>

    """
  }

  // MARK: Figures

  private var figures: Markup {
    guard let coverage = visits.coverage else {
      return "<p class=\"note\">The run does not say what it visited of this machine.</p>\n"
    }
    let total = coverage.total
    let rows: [(Markup, [Int])] = [
      ("allowed requests tried", total.legal), ("forbidden requests tried", total.empty),
      ("transitions covered", total.transitions ?? visits.transitions),
    ].map { ($0, $1.map { [$0.visited, $0.count] } ?? []) }
    return """
      <dl class="meters">\(rows.markup { meter($0.0, $0.1) })</dl>

      """
  }

  private func meter(_ name: Markup, _ share: [Int]) -> Markup {
    guard share.count == 2, share[1] > 0 else { return "" }
    return """
      <div><dt>\(name)</dt><dd><meter min="0" max="\(share[1])" value="\(min(share[0], share[1]))" \
      aria-label="\(name)"></meter> <span class="num">\(grouped(share[0])) of \(grouped(share[1]))</span> \
      <span class="share">\(percent(share[0], of: share[1]))</span></dd></div>

      """
  }

  private var missing: Markup {
    let rows = visits.missing
    guard !rows.isEmpty else { return "" }
    let count = rows.reduce(0) { $0 + $1.stimuli.count }
    let shown = rows.prefix(200).markup { row in
      "<tr><th scope=\"row\">\(short(row.state))</th><td>\(row.stimuli.map(short).joined(separator: ", "))</td></tr>\n"
    }
    return """
      <details><summary>Allowed requests never tried <span class="count">\(grouped(count))</span></summary>
      \(scrolling("Allowed requests that were never tried", """
        <table><thead><tr><th scope="col">state</th><th scope="col">never tried</th></tr></thead>
        <tbody>\(shown)</tbody></table>
        """))</details>

      """
  }

  // MARK: The table

  private var table: Markup {
    guard !machine.states.isEmpty, !machine.stimuli.isEmpty else { return "" }
    if visits.isTooLarge {
      return """
        <p class="note">\(counted(machine.states.count, "state")) and \(counted(machine.stimuli.count, "stimulus", "stimuli")): \
        too many for a table or a drawing.</p>

        """
    }
    let head = machine.stimuli.markup { "<th scope=\"col\"><span>\(short($0))</span></th>" }
    let regions = visits.regions
    let bodies = regions.markup { region in
      let title: Markup =
        regions.count > 1
        ? """
        <tr class="region"><th scope="rowgroup">\(short(region.name))</th>\
        <td colspan="\(machine.stimuli.count)"></td></tr>
        """ : ""
      return "<tbody>\(title)\(region.states.markup(row))</tbody>\n"
    }
    return """
      <h4>States and stimuli</h4>
      \(legend)\(scrolling("States and stimuli of \(short(machine.name))", """
        <table class="matrix"><thead><tr><th scope="col">state</th>\(head)</tr></thead>
        \(bodies)</table>
        """))
      """
  }

  private func row(_ state: Int) -> Markup {
    let cells = machine.stimuli.indices.markup { stimulus in
      let presentation = presentation(visits.cells[state][stimulus])
      return
        "<td class=\"\(presentation.name)\"><span aria-hidden=\"true\">\(presentation.sign)</span><span class=\"sr\">\(presentation.word)</span></td>"
    }
    return "<tr><th scope=\"row\">\(short(machine.states[state]))</th>\(cells)</tr>\n"
  }

  private func presentation(_ cell: MachineVisits.Cell) -> (name: Markup, sign: Markup, word: Markup) {
    switch cell {
    case .visited: ("v", "●", "tried")
    case .missing: ("m", "○", "allowed, not tried")
    case .refused: ("r", "×", "refused")
    case .untried: ("u", "·", "forbidden, not tried")
    case .unknown: ("m", "?", "unknown")
    }
  }

  private var legend: Markup {
    """
    <ul class="legend"><li><span class="key v">●</span> allowed, tried</li>\
    <li><span class="key m">○</span> allowed, never tried</li>\
    <li><span class="key r">×</span> forbidden, tried and refused</li>\
    <li><span class="key u">·</span> forbidden, never tried</li></ul>

    """
  }

  // MARK: The drawings

  private var drawings: Markup {
    guard machine.states.count > 1, !visits.isTooLarge else { return "" }
    let isWhole = Self.isDrawnWhole(machine)
    let marks = Dictionary(grouping: divergences, by: \.state).mapValues { $0.map(\.number) }
    let parts = isWhole ? [(name: "", states: Array(machine.states.indices))] : visits.regions
    let drawings = parts.prefix(Self.maximumDrawings).enumerated().map { index, part -> Markup in
      let title = part.name.isEmpty ? machine.name : "\(machine.name): \(part.name)"
      let graph = HTMLGraph(
        visits, name: short(title), states: part.states, id: "graph-\(number)-\(index)", marks: marks)
      return """
        <details class="drawing"\(isWhole ? " open" : "")><summary>\(part.name.isEmpty ? "Drawn" : "Drawn: \(short(part.name))")\
        </summary>
        \(graph.markup)</details>

        """
    }
    return """
      <h4>The machine</h4>
      <ul class="legend"><li><svg class="graph sample" width="36" height="10" aria-hidden="true">\
      <path class="went" d="M0,5 H36"/></svg> went</li>\
      <li><svg class="graph sample" width="36" height="10" aria-hidden="true"><path class="part" d="M0,5 H36"/></svg> \
      went in part</li>\
      <li><svg class="graph sample" width="36" height="10" aria-hidden="true"><path class="not" d="M0,5 H36"/></svg> \
      did not go</li>\
      <li><svg class="graph sample" width="36" height="10" aria-hidden="true"><path class="spont" d="M0,5 H36"/></svg> \
      by itself, not counted</li>\
      <li>↻ ways back to the same state</li><li>↗ ways out of the drawing</li></ul>
      \(diverged)\(drawings.joined())
      """
  }

  /// The states in which cases diverged, with links to the cases.
  private var diverged: Markup {
    guard !divergences.isEmpty else { return "" }
    let links = divergences.prefix(50).map { divergence -> Markup in
      "<a href=\"#case-\(divergence.number)\">case \(divergence.number)</a> in \(short(machine.states[divergence.state]))"
    }
    return "<p class=\"note bad\">✘ Diverged: \(links.joined(separator: ", "))</p>\n"
  }

  private func short(_ text: String) -> String { clipped(text, toBytes: Self.longestName) }
}
