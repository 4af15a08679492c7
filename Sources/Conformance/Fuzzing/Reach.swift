extension Specification {
  /// Returns the share of all nodes that can be reached from each node, itself included; empty if it is the same for
  /// all nodes.
  ///
  /// Conditions are ignored: under some of them the share may be smaller.
  ///
  /// - Parameter isOffered: whether a stimulus is available to the tester.
  func reach(where isOffered: (Int) -> Bool) -> [Double] {
    let counts = Components(successors(where: isOffered)).reached
    guard let first = counts.first, counts.contains(where: { $0 != first }) else { return [] }
    return counts.map { Double($0) / Double(nodes.count) }
  }

  /// Returns the nodes to which each node may lead in one step, by an available stimulus or by itself.
  private func successors(where isOffered: (Int) -> Bool) -> [[Int]] {
    nodes.indices.map { node in
      var targets: [Int] = []
      for event in 0..<eventCount where isOffered(event) { targets += self.targets(of: node, on: event) }
      targets += freeSteps(of: node).map { Int($0.node) }
      targets += reported[reportedSteps(of: node)].map { Int($0.node) }
      return targets
    }
  }

  private func targets(of node: Int, on event: Int) -> [Int] {
    caused[causedSteps(of: node, on: event)].map { Int($0.node) }
  }

  /// Returns which stimuli lead from each node towards a goal, and which lead away from one, as bits. A goal is a
  /// node in which one of the goal events changes something. The result is empty if no goal event is ever available.
  ///
  /// - Parameters:
  ///   - goals: the goal events, as bits.
  ///   - offered: the available stimuli, as bits.
  func approaches(to goals: UInt64, among offered: UInt64) -> [(nearer: UInt64, farther: UInt64)] {
    guard goals & offered != 0 else { return [] }
    let successors = successors { offered >> UInt64($0) & 1 == 1 }
    var predecessors = [[Int]](repeating: [], count: nodes.count)
    for (node, targets) in successors.enumerated() {
      for target in targets where target != node { predecessors[target].append(node) }
    }
    let events = (0..<min(eventCount, 64)).filter { offered >> UInt64($0) & 1 == 1 }
    var distances = [Int](repeating: .max, count: nodes.count)
    var queue = nodes.indices.filter { node in
      events.contains {
        goals >> UInt64($0) & 1 == 1 && targets(of: node, on: $0).contains { $0 != node }
      }
    }
    for node in queue { distances[node] = 0 }
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for earlier in predecessors[node] where distances[earlier] == .max {
        distances[earlier] = distances[node] + 1
        queue.append(earlier)
      }
    }
    return nodes.indices.map { node in
      var (nearer, farther): (UInt64, UInt64) = (0, 0)
      for event in events {
        let targets = targets(of: node, on: event).map { distances[$0] }
        guard let nearest = targets.min() else { continue }
        if nearest < distances[node] { nearer |= 1 << UInt64(event) }
        if nearest > distances[node] { farther |= 1 << UInt64(event) }
      }
      return (nearer, farther)
    }
  }
}

/// The strongly connected components of a graph (Tarjan, 1972), and how many nodes can be reached from them.
private struct Components {
  /// The number of nodes that can be reached from each node, itself included.
  private(set) var reached: [Int]

  /// The maximum number of nodes of a graph that is analysed; in a larger one all nodes count as reachable.
  private static let limit = 8192

  init(_ successors: [[Int]]) {
    let count = successors.count
    reached = [Int](repeating: count, count: count)
    guard count <= Self.limit else { return }
    // Not recursive: a machine may be one long path.
    var order = [Int](repeating: -1, count: count)
    var low = order
    var component = order
    var sets: [[UInt64]] = []
    var open: [Int] = []
    var next = 0
    for root in successors.indices where order[root] < 0 {
      var calls: [(node: Int, edge: Int)] = [(root, 0)]
      while let (node, edge) = calls.last {
        if edge == 0 {
          (order[node], low[node]) = (next, next)
          next += 1
          open.append(node)
        }
        if edge < successors[node].count {
          calls[calls.count - 1].edge += 1
          let target = successors[node][edge]
          if order[target] < 0 {
            calls.append((target, 0))
          } else if component[target] < 0 {
            low[node] = min(low[node], order[target])
          }
          continue
        }
        calls.removeLast()
        if let parent = calls.last?.node { low[parent] = min(low[parent], low[node]) }
        guard low[node] == order[node] else { continue }
        var set = [UInt64](repeating: 0, count: (count + 63) / 64)
        var members: [Int] = []
        repeat {
          members.append(open.removeLast())
          component[members[members.count - 1]] = sets.count
        } while members[members.count - 1] != node
        for member in members {
          set[member / 64] |= 1 << UInt64(member % 64)
          for target in successors[member] where component[target] != sets.count {
            for word in set.indices { set[word] |= sets[component[target]][word] }
          }
        }
        let size = set.reduce(0) { $0 + $1.nonzeroBitCount }
        for member in members { reached[member] = size }
        sets.append(set)
      }
    }
  }
}
