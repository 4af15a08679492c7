import Harness
import Automata
import Basics
import Conformance
import Emulator

extension Figure {
  /// How soon generated tests find the bugs of the reference lock, how short the tests become, and whether they
  /// report false alarms.
  static var fuzzing: [Figure] {
    [speed] + search(for: .deafUnlock, "fuzz.bug1") + search(for: .jamAfterAbortedLogins, "fuzz.bug2")
      + [1, 5].flatMap { noise($0) } + [cells, largeMachine]
      + ReferenceLock.Bug.allCases.filter { !$0.isOfBenchmark }.flatMap { otherBug($0) }
  }

  /// The number of events after which a search ends.
  private static let budget = 1_000_000

  private static var speed: Figure {
    Figure(
      name: "fuzz.events", unit: "events/s", better: .higher,
      method: """
        Generated tests on sesame-table with the healthy reference lock, with trace, coverage and virtual time, one \
        core; the best of 5 runs of 1 million events.
        """,
      measure: {
        var best: Double?
        for seed in 1...5 as ClosedRange<UInt64> {
          guard var search = FuzzSearch(ReferenceLock(), seed: seed, recorder: TraceList()) else {
            return nil
          }
          var agrees = false
          let time = seconds { agrees = search.disagreements(1_000_000) == 0 }
          guard agrees else { return nil }
          best = max(best ?? 0, Double(search.engine.events) / time)
        }
        return best
      })
  }

  /// Returns the figures of the search for one bug.
  private static func search(for bug: ReferenceLock.Bug, _ name: String) -> [Figure] {
    let searches = FuzzSearches(bug, seeds: 20, budget: budget)
    let walk = "20 seeds, up to 1 million events each"
    return [
      Figure(
        name: "\(name).found", unit: "of 20", better: .higher,
        method: "Searches for \(bug.rawValue), \(walk).",
        measure: { searches.foundCount }),
      Figure(
        name: "\(name).find", unit: "events", better: .lower,
        method: "Events up to the first disagreement on \(bug.rawValue), the median of \(walk).",
        measure: { searches.find }),
      Figure(
        name: "\(name).find-worst", unit: "events", better: .lower,
        method: "Events up to the first disagreement on \(bug.rawValue), the most of \(walk).",
        measure: { searches.findWorst }),
      Figure(
        name: "\(name).minimum", unit: "of 20", better: .higher,
        method: "Tests that were shrunk to the proved least of \(bug.shortest) events.",
        measure: { searches.minimumCount }),
      Figure(
        name: "\(name).shrink-runs", unit: "runs", better: .lower,
        method:
          "Tests run to shrink the first failure, the median; runs that confirm the finding are not counted.",
        measure: { searches.shrinkRuns }),
      Figure(
        name: "\(name).shrink-events", unit: "events", better: .lower,
        method: "Events of the tests run to shrink the first failure, the median.",
        measure: { searches.shrinkEvents }),
    ]
  }

  /// Returns the figures with a link that is sometimes lost by itself.
  private static func noise(_ percent: Int) -> [Figure] {
    let loss = Double(percent) / 100
    let name = "fuzz.noise\(percent)"
    var figures = [
      Figure(
        name: "\(name).false-alarms", unit: "in 10 million events", better: .lower,
        method: "Disagreements on the healthy reference lock where \(percent) % of the events cost the link.",
        measure: {
          guard
            var search = FuzzSearch(ReferenceLock(loss: loss, seed: 1), seed: 1, recorder: NoRecorder())
          else { return nil }
          return search.disagreements(10_000_000).map { Double($0) }
        })
    ]
    for (number, bug) in [ReferenceLock.Bug.deafUnlock, .jamAfterAbortedLogins].enumerated() {
      let searches = FuzzSearches(bug, loss: loss, seeds: 20, budget: budget)
      figures += [
        Figure(
          name: "\(name).bug\(number + 1).found", unit: "of 20", better: .higher,
          method: "Searches for \(bug.rawValue) where \(percent) % of the events cost the link.",
          measure: { searches.foundCount }),
        Figure(
          name: "\(name).bug\(number + 1).find", unit: "events", better: .lower,
          method: "Events up to the first disagreement, the median of 20 seeds.",
          measure: { searches.find }),
      ]
    }
    return figures
  }

  private static var cells: Figure {
    Figure(
      name: "fuzz.cells", unit: "events", better: .lower,
      method: "A tour of all 31 legal and all 177 empty cells of both tables, on the healthy reference lock.",
      measure: {
        var search = FuzzSearch(ReferenceLock(), seed: 1, recorder: NoRecorder())
        return (try? search?.tour()).flatMap { $0 }.map { Double($0) }
      })
  }

  private static var largeMachine: Figure {
    Figure(
      name: "fuzz.large-machine", unit: "ratio", better: .higher,
      method: """
        Events a second of generated tests on a machine of 4,000 states and 40,000 rows, to those on one of 100 states \
        and 1,000 rows: each compared with itself, with trace and coverage; the median of 5 turns of 50,000 events.
        """,
      measure: {
        let sizes = [4_000, 100]
        let machines = sizes.compactMap { try? Machine(.mealy(states: $0, stimuli: 10, outputs: 8, seed: 1)) }
        guard machines.count == sizes.count else { return nil }
        var searches = machines.map { machine in
          FuzzSearch(machine, MachineDevice(machine, showsEffects: false), seed: 1, recorder: TraceList())
        }
        var ratios: [Double] = []
        for turn in 1...5 {
          var times: [Double] = []
          for index in searches.indices {
            var agrees = false
            times.append(seconds { agrees = searches[index].disagreements(50_000 * turn) == 0 })
            guard agrees else { return nil }
          }
          ratios.append(times[1] / times[0])
        }
        return ratios.sorted()[2]
      })
  }

  /// Returns the figures of a bug of another kind than the two of the benchmark.
  private static func otherBug(_ bug: ReferenceLock.Bug) -> [Figure] {
    let searches = FuzzSearches(bug, seeds: 20, budget: budget)
    let name = "fuzz.zoo.\(bug.rawValue)"
    return [
      Figure(
        name: "\(name).find", unit: "events", better: .lower,
        method: """
          Events up to the first disagreement, the median of 20 seeds; a search that finds nothing counts with its \
          1 million.
          """,
        measure: { searches.find }),
      Figure(
        name: "\(name).minimum", unit: "of 20", better: .higher,
        method: "Tests that were found and shrunk to the proved least of \(bug.shortest) events.",
        measure: { searches.minimumCount }),
    ]
  }
}

extension MachineDefinition {
  /// Returns a machine in which every stimulus leads from every state to a drawn state and shows a drawn output.
  fileprivate static func mealy(
    states: Int, stimuli: Int, outputs: Int, seed: UInt64
  ) -> MachineDefinition {
    var generator = SeededGenerator(seed: seed, for: "mealy machine")
    let names = (0..<states).map { "s\($0)" }
    var rows: [Transition] = []
    for name in names {
      for stimulus in 0..<stimuli {
        rows.append(
          Transition(
            .event("e\(stimulus)"), from: .states([name]), to: .states([names[generator.below(states)]]),
            shows: "o\(generator.below(outputs))"))
      }
    }
    return MachineDefinition(
      name: "mealy", states: names.map { State($0) }, events: (0..<stimuli).map { Event("e\($0)") },
      transitions: rows, starts: [Start(names[0])])
  }
}
