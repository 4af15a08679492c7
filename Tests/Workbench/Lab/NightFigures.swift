import Benchmarks
import Harness
import System
import Basics

extension Figure {
  /// What a lab does by itself at night: in virtual time, and with emulated benches.
  static var nights: [Figure] {
    let lab =
      "eight locks on three benches for thirty nights in virtual time, with faults ten times as often as usual"
    return [
      Figure(
        name: "lab.nights", unit: "%", better: .higher,
        method: "The share of planned cases that came to a verdict, the least of 3 seeds: \(lab).",
        measure: { month(seeds: 1...3)?.map { $0.share * 100 }.min() }),
      Figure(
        name: "lab.nights-hung", unit: "s", better: .lower,
        method: "From when a dongle hung to when it was back in work, the longest of 3 seeds: \(lab).",
        measure: { month(seeds: 1...3)?.flatMap(\.hangs).map(\.seconds).max() }),
      Figure(
        name: "lab.nights-wall", unit: "s", better: .lower, method: "The time that one seed takes: \(lab).",
        measure: {
          let begin = MonotonicClock.now
          return LabSimulation(seed: 4).run().violation == nil ? (MonotonicClock.now - begin).seconds : nil
        }),
      Figure(
        name: "lab.benches", unit: "", better: .higher,
        method:
          "Cases a second of a night on 8 emulated locks, each driven by processes of its own, two at a time, by "
          + "those of one lock after the other; the median of 3.",
        measure: { benches() }),
    ]
  }

  /// What came of a month of nights with each of some seeds; `nil` where a promise was broken.
  private static func month(seeds: ClosedRange<UInt64>) -> [LabSimulation.Outcome]? {
    let outcomes = seeds.map { LabSimulation(seed: $0).run() }
    return outcomes.contains { $0.violation != nil } ? nil : outcomes
  }

  /// How many times as fast two processes drive eight locks as one does.
  private static func benches() -> Double? {
    let ratios = (0..<3).compactMap { round -> Double? in
      guard let one = night(processes: 1, round), let two = night(processes: 2, round) else { return nil }
      return one / two
    }
    return ratios.count == 3 ? median(ratios) : nil
  }

  /// How long a night takes; `nil` where it does not end as it should.
  private static func night(processes: Int, _ round: Int) -> Double? {
    let folder = scratch("-nights-\(Host.processNumber)-\(round)-\(processes)")
    let locks = (1...8).map { #"  - { name: lock-\#($0), device: "emulator:sesame5?link=radio" }"# }
    let plan = """
      nightly: Eight benches
      duration: 10 min
      suites:
        - { name: all, scenarios: case.yaml, repeat: 2 }

      """
    let scenario = """
      scenario: A lock at work
      machine: sesame
      device: { lock: sesame5, registered: true, configured: true }
      steps:
        - fuzz: { events: 4000 }

      """
    do {
      try makeFolder(folder)
      let bench = "bench: bench-\(Host.processNumber)-\(round)-\(processes)\nlocks:\n"
      try WholeFile.replace(folder + "/bench.yaml", with: bench + locks.joined(separator: "\n") + "\n")
      try WholeFile.replace(folder + "/plan.yaml", with: plan)
      try WholeFile.replace(folder + "/case.yaml", with: scenario)
    } catch {
      return nil
    }
    let words = [
      "nightly", folder + "/plan.yaml", "--bench", folder + "/bench.yaml", "--jobs", "\(processes)", "--seed",
      "1", "--out", folder, "--html", "none", "--history", "none", "--quiet",
    ]
    return runs(1, words)?.first?.time.seconds
  }
}
