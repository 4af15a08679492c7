import Automata

/// The shortest paths in a model from node to node, by allowed stimuli, settling and waits for the next observation.
///
/// If the model leaves open what the device does, each outcome counts as a path: only a run can tell whether the
/// device takes it.
public struct ModelPaths: Sendable {
  private struct Edge {
    var choice: Choice
    var target: Int
  }

  private let edges: [[Edge]]

  /// Builds the graph of a machine.
  ///
  /// - Parameters:
  ///   - specification: the machine.
  ///   - alphabet: the acts that tests may use; each stimulus in its simplest variant.
  ///   - conditions: the conditions that hold in addition to those that always hold, as bits in the order of the
  ///     machine.
  public init(_ specification: Specification, _ alphabet: Alphabet, conditions: UInt64 = 0) {
    let conditions = conditions | specification.held
    edges = specification.nodes.indices.map { node in
      guard specification.isResting[node] else { return [] }
      var edges: [Edge] = []
      func add(_ choice: Choice, along steps: ArraySlice<Specification.Step>) {
        for step in steps where step.guard.holds(under: conditions) {
          edges += specification.shown(from: Int(step.node)).map { Edge(choice: choice, target: $0) }
        }
      }
      for event in 0..<specification.eventCount where !alphabet.acts[event].variants.isEmpty {
        add(Choice(event), along: specification.caused[specification.causedSteps(of: node, on: event)])
      }
      if !alphabet.acts[alphabet.settle].variants.isEmpty {
        let settled = specification.settled(from: node, under: conditions)
        edges += settled.map { Edge(choice: Choice(alphabet.settle), target: $0) }
        if specification.awaits(in: node, under: conditions) {
          let next = Choice(alphabet.settle, variant: 1)
          add(next, along: specification.visible[specification.visibleSteps(of: node)])
        }
      }
      return edges
    }
  }

  /// Returns the shortest path between two nodes, the simplest of several; `nil` if there is none.
  ///
  /// There is no path from or to -1, which stands for several possible nodes.
  public func path(from node: Int, to target: Int) -> [Choice]? {
    edges.indices.contains(node) ? shortestPaths(from: node)[to: target] : nil
  }

  /// Returns all shortest paths from a node.
  func shortestPaths(from node: Int) -> ShortestPaths {
    ShortestPaths(
      space: StateSpace(from: [node]) { from, go in
        for edge in edges[from] { go(edge.choice, edge.target, 1) }
      })
  }

  /// The shortest paths from one node to all others.
  struct ShortestPaths: Sendable {
    fileprivate let space: StateSpace<Int, Choice>

    /// Returns the number of choices on the path to a node; `Int.max` if there is no path.
    func length(to target: Int) -> Int { space.number(of: target).map { space.costs[$0] } ?? .max }

    /// Returns whether the path to a node visits one of some other nodes before it.
    func passes(_ nodes: Set<Int>, before target: Int) -> Bool {
      guard var number = space.number(of: target) else { return false }
      while let (from, _) = space.arrival(at: number) {
        number = from
        if nodes.contains(space.places[number]) { return true }
      }
      return false
    }

    /// The path to a node; `nil` if there is none, or if the node is -1, which stands for several possible nodes.
    subscript(to target: Int) -> [Choice]? { space.number(of: target).map { space.path(to: $0).steps } }
  }
}

extension Specification {
  /// Returns the nodes in which a node has shown everything that is still to be shown.
  fileprivate func shown(from node: Int) -> [Int] {
    guard !isResting[node] else { return [node] }
    return visible[visibleSteps(of: node)].flatMap { shown(from: Int($0.node)) }
  }

  /// Returns the nodes in which a node may settle: the device does not have to act there.
  fileprivate func settled(from node: Int, under conditions: UInt64) -> [Int] {
    let reached = StateSpace.reached(from: [node]) { from in
      guard awaits(in: from, under: conditions) else { return [] }
      return freeSteps(of: from).filter { $0.guard.holds(under: conditions) }
        .flatMap { shown(from: Int($0.node)) }
    }
    return reached.filter { $0 != node && !awaits(in: $0, under: conditions) }.sorted()
  }

  /// Returns whether the device must cause an event in a node by a known time.
  fileprivate func awaits(in node: Int, under conditions: UInt64) -> Bool {
    urgent[urgentSteps(of: node)].contains { $0.isAnswer && $0.guard.holds(under: conditions) }
  }
}
