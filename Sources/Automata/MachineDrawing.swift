import Drawing

/// A machine laid out for drawing: its texts and their positions.
struct MachineDrawing {
  /// All rows that lead from one state to another.
  struct Arrow {
    var from: Int
    var to: Int
    var lines: [String] = []
    /// Whether the tester causes none of its rows.
    var isSpontaneous = true
    /// Whether the author of the machine added all of its rows.
    var isAddedByAuthor = true

    /// Whether the rows stay in their state.
    var isLoop: Bool { from == to }
  }

  static let characterWidth = 7
  static let lineHeight = 14
  static let margin = 40

  /// The lines of text in each state.
  let titles: [[String]]
  /// The states in which a test can start.
  let starts: [Int]
  private(set) var arrows: [Arrow] = []
  /// The positions of states and arrows; loops are not among its arrows.
  private(set) var layout: GraphLayout

  init(_ machine: MachineDefinition) {
    var numbers: [String: Int] = [:]
    for (number, state) in machine.states.enumerated() { numbers[state.name] = number }
    var seen = Set<Int>()
    starts = machine.starts.compactMap { numbers[$0.state] }.filter { seen.insert($0).inserted }
    titles = machine.states.map { state in [state.name] + state.entry.map { "/ " + $0 } }
    arrows = Self.arrows(machine, numbers)
    // The label of a loop is next to its state.
    var loops = [GraphLayout.Size](repeating: GraphLayout.Size(0, 0), count: titles.count)
    for arrow in arrows where arrow.isLoop {
      loops[arrow.from] = GraphLayout.Size(
        40 + Self.width(arrow.lines), arrow.lines.count * Self.lineHeight)
    }
    let joining = arrows.filter { !$0.isLoop }
    layout = GraphLayout(
      states: titles.map { Self.size($0, padding: 12) }, loops: loops, starts: starts,
      arrows: joining.map { ($0.from, $0.to) }, labels: joining.map { Self.size($0.lines, padding: 4) },
      spacing: GraphLayout.Spacing(
        margin: Self.margin, top: Self.margin + 3 * Self.lineHeight, gap: 24, rowGap: 22))
  }

  private static func width(_ lines: [String]) -> Int { (lines.map(\.count).max() ?? 0) * characterWidth }

  private static func size(_ lines: [String], padding: Int) -> GraphLayout.Size {
    GraphLayout.Size(width(lines) + 2 * padding, lines.count * lineHeight + padding)
  }

  private static func arrows(_ machine: MachineDefinition, _ numbers: [String: Int]) -> [Arrow] {
    var arrows: [Arrow] = []
    struct Ends: Hashable {
      var from: Int
      var to: Int
    }
    var positions: [Ends: Int] = [:]
    var stimuli = Set<String>()
    for event in machine.events where event.kind != .spontaneous { stimuli.insert(event.name) }
    let wildcards = Wildcards(machine)
    for transition in machine.transitions {
      var isCaused = false
      if case .event(let name) = transition.trigger {
        isCaused = stimuli.contains(name) && transition.window == .any
      }
      for source in wildcards.sources(of: transition).compactMap({ numbers[$0] }) {
        for target in transition.targets(from: machine.states[source].name).compactMap({ numbers[$0] }) {
          let ends = Ends(from: source, to: target)
          let position = positions[ends] ?? arrows.count
          if position == arrows.count { arrows.append(Arrow(from: source, to: target)) }
          positions[ends] = position
          arrows[position].lines += transition.drawnLines
          if isCaused { arrows[position].isSpontaneous = false }
          if transition.origin == .seed { arrows[position].isAddedByAuthor = false }
        }
      }
    }
    return arrows
  }
}

extension Transition {
  /// The lines of text at the row's arrow: the event, and each effect on its own line.
  fileprivate var drawnLines: [String] {
    let label = RowLabel(self).description
    return [shows.map { "\(label)/\($0)" } ?? label] + data.words.map { "  " + $0 }
      + (before + after).map { "  / " + $0 }
  }
}
