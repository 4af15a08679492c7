extension Machine {
  /// Returns the edges of a stimulus from a state, each with the number of its group: the edges of one group have the
  /// same conditions and options, and are adjacent. Of a group, the first row whose `when` is true is taken.
  public func groupedEdges(from state: Int, on event: Int) -> [(group: Int, edge: Edge)] {
    let edges = edges(from: state, on: event)
    guard data != nil else { return edges.map { (0, $0) } }
    let firsts = edges.map { edge in edges.firstIndex { $0.isAlternative(to: edge) } ?? 0 }
    return zip(firsts, edges).enumerated().sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
      .map { ($0.element.0, $0.element.1) }
  }

  /// Returns the rows that come before a spontaneous row of an event in the same group, if they lead from a state.
  public func rows(before edge: Edge, from state: Int) -> [Int] {
    guard data != nil, edge.event != nil else { return [] }
    var rows: [Int] = []
    for other in spontaneous[state]
    where other.event == edge.event && other.transition < edge.transition && other.isAlternative(to: edge) {
      if rows.last != other.transition { rows.append(other.transition) }
    }
    return rows
  }
}

extension Machine.Edge {
  fileprivate func isAlternative(to other: Self) -> Bool {
    `guard` == other.guard && options == other.options
  }
}

extension MachineDefinition {
  /// The names of the readings that rows show.
  public var shownReadings: Set<String> { Set(transitions.flatMap { $0.data.due.map(\.reading) }) }
}
