import System
import Basics

extension Figure {
  /// The cost of whole runs of the command.
  static var processes: [Figure] {
    [
      Figure(
        name: "scenarios.wall", unit: "s", better: .lower,
        method: "Wall time of `lockstep run Scenarios/`, the least of 3 runs.",
        measure: { scenarios()?.map(\.time.seconds).min() }),
      Figure(
        name: "scenarios.rss", unit: "MB", better: .lower,
        method: "The most memory of `lockstep run Scenarios/` at a time, the most of 3 runs.",
        measure: { scenarios().flatMap { $0.map(\.memory).max() }.map { Double($0) / 1e6 } }),
      Figure(
        name: "start", unit: "ms", better: .lower,
        method: "Wall time of `lockstep version`, median of 21 runs.",
        measure: { runs(21, ["version"]).map { median($0.map(\.time.seconds)) * 1000 } }),
    ]
  }

  private static func scenarios() -> [Measurement]? {
    runs(3, ["run", "Scenarios", "--no-config", "--quiet", "--seed", "1", "--out", scratch("")])
  }
}
