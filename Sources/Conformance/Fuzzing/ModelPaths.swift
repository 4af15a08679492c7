import Automata

/// The shortest ways in a model from node to node, made of stimuli that it allows, of settling and of what comes next.
///
/// Where the model leaves open what the device does, each outcome counts as a way: whether the device takes it is
/// known only when it was tried.
public struct ModelPaths: Sendable {
  private struct Edge {
    var choice: Choice
    var target: Int
  }

  private let edges: [[Edge]]

  /// Lays out the ways of a machine.
  ///
  /// - Parameters:
  ///   - specification: the machine.
  ///   - alphabet: what a test may do; of each stimulus the simplest variant is used.
  ///   - circumstances: the circumstances that hold, beside those that always do, as bits in the order of the machine.
  public init(_ specification: Specification, _ alphabet: Alphabet, circumstances: UInt64 = 0) {
    let circumstances = circumstances | specification.held
    edges = specification.nodes.indices.map { node in
      guard specification.resting.contains(node) else { return [] }
      var edges: [Edge] = []
      for event in 0..<specification.eventCount where !alphabet.acts[event].variants.isEmpty {
        let cell = node * specification.eventCount + event
        for index in Int(specification.causedStart[cell])..<Int(specification.causedStart[cell + 1]) {
          let step = specification.caused[index]
          guard step.mayBeEnabled(under: circumstances, 0) else { continue }
          edges += specification.shown(from: Int(step.node)).map { Edge(choice: Choice(event), target: $0) }
        }
      }
      if !alphabet.acts[alphabet.settle].variants.isEmpty {
        let settled = specification.settled(from: node, under: circumstances)
        edges += settled.map { Edge(choice: Choice(alphabet.settle), target: $0) }
        if specification.awaits(in: node, under: circumstances) {
          for index in Int(specification.visibleStart[node])..<Int(specification.visibleStart[node + 1]) {
            let step = specification.visible[index]
            guard step.mayBeEnabled(under: circumstances, 0) else { continue }
            let next = Choice(alphabet.settle, variant: 1)
            edges += specification.shown(from: Int(step.node)).map { Edge(choice: next, target: $0) }
          }
        }
      }
      return edges
    }
  }

  /// The shortest way between two nodes, of several the simplest; `nil` when there is none.
  ///
  /// There is none from or to -1, which stands for a place where several nodes were possible.
  public func path(from node: Int, to target: Int) -> [Choice]? {
    edges.indices.contains(node) ? ways(from: node)[to: target] : nil
  }

  /// All shortest ways from a node.
  func ways(from node: Int) -> Ways {
    var ways = Ways(source: node, count: edges.count)
    var queue = [node]
    var next = 0
    while next < queue.count {
      let from = queue[next]
      next += 1
      for edge in edges[from] where edge.target != node && ways.steps[edge.target] == nil {
        ways.steps[edge.target] = Ways.Step(from: from, choice: edge.choice)
        ways.lengths[edge.target] = ways.lengths[from] + 1
        queue.append(edge.target)
      }
    }
    return ways
  }

  /// The shortest ways from one node to all others.
  struct Ways: Sendable {
    struct Step: Sendable {
      var from: Int
      var choice: Choice
    }

    let source: Int
    fileprivate(set) var steps: [Step?]
    /// How many choices the way to each node has; `Int.max` where there is none.
    fileprivate(set) var lengths: [Int]

    fileprivate init(source: Int, count: Int) {
      self.source = source
      steps = [Step?](repeating: nil, count: count)
      lengths = [Int](repeating: .max, count: count)
      lengths[source] = 0
    }

    /// Whether a way to a node passes one of others before it.
    func passes(_ nodes: Set<Int>, before target: Int) -> Bool {
      var node = target
      while node != source, let step = steps[node] {
        node = step.from
        if nodes.contains(node) { return true }
      }
      return false
    }

    /// The way to a node; `nil` when there is none, or when it is -1 since several nodes were possible.
    subscript(to target: Int) -> [Choice]? {
      guard steps.indices.contains(target) else { return nil }
      var choices: [Choice] = []
      var node = target
      while node != source {
        guard let step = steps[node] else { return nil }
        choices.append(step.choice)
        node = step.from
      }
      return choices.reversed()
    }
  }
}

extension Specification {
  /// Where everything has been shown that a node still has to show.
  fileprivate func shown(from node: Int) -> [Int] {
    guard !resting.contains(node) else { return [node] }
    return visible[Int(visibleStart[node])..<Int(visibleStart[node + 1])].flatMap {
      shown(from: Int($0.node))
    }
  }

  /// Where a test can stand when a node has settled: nothing is awaited of the device there.
  fileprivate func settled(from node: Int, under circumstances: UInt64) -> [Int] {
    var found: [Int] = []
    var isSeen = [Bool](repeating: false, count: nodes.count)
    isSeen[node] = true
    var open = [node]
    while let from = open.popLast() {
      guard awaits(in: from, under: circumstances) else {
        if from != node { found.append(from) }
        continue
      }
      let steps =
        visible[Int(visibleStart[from])..<Int(visibleStart[from + 1])]
        + silent[Int(silentStart[from])..<Int(silentStart[from + 1])]
      for step in steps where step.mayBeEnabled(under: circumstances, 0) {
        for target in shown(from: Int(step.node)) where !isSeen[target] {
          isSeen[target] = true
          open.append(target)
        }
      }
    }
    return found.sorted()
  }

  /// Whether a node ends, by a known time, with an event that is the device's to cause.
  fileprivate func awaits(in node: Int, under circumstances: UInt64) -> Bool {
    urgent[Int(urgentStart[node])..<Int(urgentStart[node + 1])].contains { step in
      step.isEvent && step.mayBeEnabled(under: circumstances, 0)
    }
  }
}
