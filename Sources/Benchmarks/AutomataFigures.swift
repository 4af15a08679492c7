import Automata
import Models
import Basics

extension Figure {
  /// The cost of a step of a machine.
  static var automata: Figure {
    Figure(
      name: "automata.step", unit: "ns", better: .lower,
      method:
        "One step of a compiled machine (sesame-table) from a drawn event, the least of 9 runs of 10 million.",
      measure: automataStep)
  }

  private static func automataStep() -> Double? {
    guard let machine = try? Machine(.sesameTable) else { return nil }
    let count = 10_000_000
    // The events are drawn in advance, so that only the steps are measured.
    var generator = SeededGenerator(seed: 1)
    let events = (0..<4096).map { _ in generator.below(machine.eventCount) }
    var state = 0
    let times = (0..<9).map { _ in
      seconds {
        for number in 0..<count {
          state = machine.step(state, events[number & 4095]) ?? state
        }
      }
    }
    // The result is used, so that the compiler cannot remove the loop.
    return state < 0 ? nil : minimum(times) / Double(count) * 1e9
  }
}
