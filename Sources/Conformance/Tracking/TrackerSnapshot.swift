import Automata
import Basics

extension Tracker {
  /// What a tracker thinks possible, with times counted back from the present: two moments with equal ones have equal
  /// futures.
  struct Snapshot: Hashable, Sendable {
    /// A node that is possible, and how long ago it was entered: at the most and at the least.
    struct Node: Hashable, Sendable {
      var number: Int
      var longest: Interval
      var shortest: Interval
      /// After which change of what counts from the entry; see ``PossibleNodes/Member/order``.
      var order: Int32 = -1
    }

    var nodes: [Node]
    var environment: EffectiveEnvironment.Snapshot
  }
}

extension Specification {
  /// The nodes in which it matters when they were entered.
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
        // Times go on along what is silent, what stays, and what is still to be shown.
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
