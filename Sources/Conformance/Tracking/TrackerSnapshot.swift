import Automata
import Basics

extension Tracker {
  /// The set of possible states of a tracker, with times relative to the present: two moments with equal snapshots
  /// have equal futures.
  struct Snapshot: Hashable, Sendable {
    /// A possible node, and the longest and the shortest possible time since its entry.
    struct Node: Hashable, Sendable {
      var number: Int
      var longest: Interval
      var shortest: Interval
      /// The rank of the change after which it was entered; see ``PossibleNodes/Member/order``.
      var order: Int32 = -1
      /// The words of its valuation, with what is known of each; moments are relative to the present.
      var data: [Int64] = []
    }

    var nodes: [Node]
    var environment: EffectiveEnvironment.Snapshot
  }
}

extension Specification {
  /// Returns, for each node, whether the time of its entry matters.
  func timedNodes() -> [Bool] {
    var isTimed = [Bool](repeating: false, count: nodes.count)
    let fromEntry = machine.environment.fromEntry
    for node in nodes.indices where isResting[node] {
      isTimed[node] = freeSteps(of: node).contains {
        $0.earliest > .zero || $0.latest != .forever || $0.plus >= 0 || $0.guard.conditions & fromEntry != 0
      }
    }
    var hasChanged = true
    while hasChanged {
      hasChanged = false
      for node in nodes.indices where !isTimed[node] {
        let range = Int(causedStart[node * eventCount])..<Int(causedStart[(node + 1) * eventCount])
        // Time continues along silent steps, steps that do not enter a state, and pending symbols.
        var next = caused[range].filter { !$0.enters }
        next += freeSteps(of: node).filter { $0.symbol < 0 || $0.transition < 0 || !$0.enters }
        if next.contains(where: { isTimed[Int($0.node)] }) {
          isTimed[node] = true
          hasChanged = true
        }
      }
    }
    return isTimed
  }
}
