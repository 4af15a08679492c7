import Benchmarks
import CommandLine
import Journal
import lockstep

extension CommandSet {
  /// The commands of `lockstep-workbench`: what tests and measurements of Lockstep itself need, and no user of it.
  static var workbench: CommandSet {
    CommandSet(
      purpose: "Tests and measures Lockstep itself; all commands of lockstep are here too.",
      all: [.workbenchFigures, .airTable, .simulatedNights, .faulty],
      hidden: [.airSearch, .execReference, .leaseContestant, .expressions],
      examples: ["lockstep-workbench bench --only lab.", "lockstep-workbench simulated-nights --nights 500"],
      statuses: CommandSet.statuses.map { ("\($0.status.rawValue)", $0.meaning) })
  }
}

extension Command {
  /// The figures of labs, of searches over the radio, and of what each strategy is worth.
  static var workbenchFigures: Command {
    bench(
      Figure.workbench, "Measures labs and what is found over the radio, a figure a line as JSON.",
      examples: [
        Example("lockstep-workbench bench", "All figures but those of single strategies."),
        Example("lockstep-workbench bench --only fuzz.without", "What is dearer without each strategy."),
      ])
  }
}

extension Figure {
  /// The figures of the workbench, in the order in which they are measured.
  static var workbench: [Figure] { air + leases + [lab] + nights + [engine] + strategies }
}
