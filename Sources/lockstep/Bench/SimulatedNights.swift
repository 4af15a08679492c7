import Conformance
import Benchmarks
import Journal
import Basics

extension Command {
  /// The nights of `make simulated-nights`.
  static var simulatedNights: Command {
    Command(
      "simulated-nights", "Lives through nights of labs in virtual time, for 'make simulated-nights'.",
      options: [
        .value("nights", \.nights, "N", "How many, 10000 unless given.", example: "500"),
        .value("seed", \.seed, "N", "The seed of the first lab, 1 unless given.", example: "42"),
      ], defaults: SimulatedNights(), perform: SimulatedNights.perform)
  }
}

/// Nights in virtual time in which everything goes wrong, and what they break.
struct SimulatedNights {
  var nights = Count(10_000)
  var seed: UInt64 = 1

  /// Prints how often each kind of fault struck, each lab that broke a promise, and what all of it came to.
  func perform(_ console: Console) -> CommandStatus {
    let lived = LabNights(nights.value, seed: seed)
    for kind in LabSimulation.Fault.Kind.allCases {
      console.print(["fault": .text("\(kind)"), "struck": .integer(lived.count(of: kind))] as JSON)
    }
    for broken in lived.broken {
      console.print(
        ["seed": .text("\(broken.lab.seed)"), "violation": .text("\(broken.violation)")] as JSON)
    }
    let faults = lived.struck.reduce(0, +)
    console.print(
      [
        "nights": .integer(lived.nights), "labs": .integer(lived.labs), "runs": .integer(lived.runs),
        "resumptions": .integer(lived.resumptions), "movements": .integer(lived.movements),
        "faults": .integer(faults), "violations": .integer(lived.broken.count),
      ] as JSON)
    return lived.broken.isEmpty ? .agree : .internalFault
  }
}
