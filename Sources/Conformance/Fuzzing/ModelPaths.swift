import Automata

/// The shortest paths in a model from node to node, by allowed stimuli, settling and waits for the next observation.
///
/// Where the model leaves open what the device does, each outcome counts as a path: whether the device takes it is
/// known only when it was tried.
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
  ///   - alphabet: what a test may do; of each stimulus the simplest variant is used.
  ///   - conditions: the conditions that hold, beside those that always do, as bits in the order of the machine.
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

  /// The shortest path between two nodes, and of several the simplest; `nil` if there is none.
  ///
  /// There is none from or to -1, which means that several nodes were possible.
  public func path(from node: Int, to target: Int) -> [Choice]? {
    edges.indices.contains(node) ? shortestPaths(from: node)[to: target] : nil
  }

  /// All shortest paths from a node.
  func shortestPaths(from node: Int) -> ShortestPaths {
    ShortestPaths(
      space: StateSpace(from: [node]) { from, go in
        for edge in edges[from] { go(edge.choice, edge.target, 1) }
      })
  }

  /// The shortest paths from one node to all others.
  struct ShortestPaths: Sendable {
    fileprivate let space: StateSpace<Int, Choice>

    /// The number of choices on the path to a node; `Int.max` if there is none.
    func length(to target: Int) -> Int { space.number(of: target).map { space.costs[$0] } ?? .max }

    /// Whether a path to a node passes one of some others before it.
    func passes(_ nodes: Set<Int>, before target: Int) -> Bool {
      guard var number = space.number(of: target) else { return false }
      while let (from, _) = space.arrival(at: number) {
        number = from
        if nodes.contains(space.places[number]) { return true }
      }
      return false
    }

    /// The path to a node; `nil` if there is none, or if it is -1 since several nodes were possible.
    subscript(to target: Int) -> [Choice]? { space.number(of: target).map { space.path(to: $0).steps } }
  }
}

extension Specification {
  /// Where everything has been shown that a node still has to show.
  fileprivate func shown(from node: Int) -> [Int] {
    guard !isResting[node] else { return [node] }
    return visible[visibleSteps(of: node)].flatMap { shown(from: Int($0.node)) }
  }

  /// Where a test can stand when a node has settled: nothing is awaited of the device there.
  fileprivate func settled(from node: Int, under conditions: UInt64) -> [Int] {
    let reached = StateSpace.reached(from: [node]) { from in
      guard awaits(in: from, under: conditions) else { return [] }
      return freeSteps(of: from).filter { $0.guard.holds(under: conditions) }
        .flatMap { shown(from: Int($0.node)) }
    }
    return reached.filter { $0 != node && !awaits(in: $0, under: conditions) }.sorted()
  }

  /// Whether a node ends, by a known time, with an event that is the device's to cause.
  fileprivate func awaits(in node: Int, under conditions: UInt64) -> Bool {
    urgent[urgentSteps(of: node)].contains { $0.isAnswer && $0.guard.holds(under: conditions) }
  }
}
