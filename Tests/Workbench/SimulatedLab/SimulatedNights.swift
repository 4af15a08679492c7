import Conformance
import Journal
import Basics

/// Nights in virtual time in which everything goes wrong, and what they break.
struct SimulatedNights {
  /// How many.
  var nights = 10_000
  /// The seed of the first lab.
  var seed: UInt64 = 1

  /// Ten thousand of them.
  init() {}

  /// Gives how often each kind of fault struck, each lab that broke a promise, and what all of it came to, a line each.
  ///
  /// - Returns: whether every promise was kept.
  func perform(give: (JSON) -> Void) -> Bool {
    let lived = LabNights(nights, seed: seed)
    for kind in LabSimulation.Fault.Kind.allCases {
      give(["fault": .text("\(kind)"), "struck": .integer(lived.count(of: kind))] as JSON)
    }
    for broken in lived.broken {
      give(
        ["seed": .text("\(broken.lab.seed)"), "violation": .text("\(broken.violation)")] as JSON)
    }
    let faults = lived.struck.reduce(0, +)
    give(
      [
        "nights": .integer(lived.nights), "labs": .integer(lived.labs), "runs": .integer(lived.runs),
        "resumptions": .integer(lived.resumptions), "movements": .integer(lived.movements),
        "faults": .integer(faults), "violations": .integer(lived.broken.count),
      ] as JSON)
    return lived.broken.isEmpty
  }
}
