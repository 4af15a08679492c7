extension Specification {
  /// The part of all nodes that can be reached from each node, itself included: what a test that is there can still come to.
  /// Empty where it is the same everywhere.
  ///
  /// Conditions are not looked at: under some of them it may be less.
  ///
  /// - Parameter isOffered: whether an event can be brought about, for those of the tester.
  func reach(where isOffered: (Int) -> Bool) -> [Double] {
    let successors = nodes.indices.map { node in
      var targets: [Int] = []
      for event in 0..<eventCount where isOffered(event) {
        targets += caused[causedSteps(of: node, on: event)].map { Int($0.node) }
      }
      targets += freeSteps(of: node).map { Int($0.node) }
      targets += reported[reportedSteps(of: node)].map { Int($0.node) }
      return targets
    }
    let counts = Components(successors).reached
    guard let first = counts.first, counts.contains(where: { $0 != first }) else { return [] }
    return counts.map { Double($0) / Double(nodes.count) }
  }
}

/// The parts of a graph from each of whose nodes each other of the same part can be reached (Tarjan, 1972), and how much can
/// be reached from them.
private struct Components {
  /// How many nodes can be reached from each node, itself included.
  private(set) var reached: [Int]

  /// More nodes than these are not counted one by one: all are taken for reached.
  private static let limit = 8192

  init(_ successors: [[Int]]) {
    let count = successors.count
    reached = [Int](repeating: count, count: count)
    guard count <= Self.limit else { return }
    // Without recursion: a machine may be one long way.
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
