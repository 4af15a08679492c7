import Benchmarks
import Automata
import Basics
import Conformance
import Emulator
import System

extension Figure {
  /// What each strategy of generated tests is worth: how much dearer a fault is to find without it.
  static var strategies: [Figure] {
    let worth = StrategyWorth()
    return Explorer.Strategy.allCases.flatMap { strategy in
      StrategyWorth.Faults.allCases.map { faults in
        Figure(
          name: "fuzz.without.\(strategy.rawValue).\(faults.rawValue)", unit: faults.unit, better: .higher,
          method: "\(faults.cost): \(faults.text).",
          isOnRequest: true, measure: { worth.value(of: strategy, faults) })
      }
    }
  }
}

/// What it costs to find faults, with all strategies and without one.
final class StrategyWorth {
  /// What is looked for, and what that costs.
  enum Faults: String, CaseIterable {
    case benchmark, own, drawn, lock, movements, lost

    var text: String {
      switch self {
      case .benchmark: "100 searches for each of the two bugs of the open benchmark"
      case .own: "20 searches for each of the other bugs of the reference lock"
      case .drawn: "a search for each of 200 drawn faults of drawn machines, up to 100,000 events"
      case .lock, .movements, .lost:
        "\(StrategyWorth.seeds.count) searches for each of \(LockDefect.allCases.count) defects on \(StrategyWorth.lock)"
      }
    }

    var unit: String { self == .lost ? "searches" : "ratio" }

    var cost: String {
      let mean = "without this strategy over that with it, the geometric mean"
      return switch self {
      case .benchmark, .own, .drawn: "Events up to the first disagreement \(mean)"
      case .lock: "The lock's time up to a confirmed finding \(mean)"
      case .movements: "Movements up to a confirmed finding \(mean)"
      case .lost: "Searches that find something with this strategy, less those that do without it"
      }
    }
  }

  private static let lock = "emulator:sesame5?link=radio&loss=0.01"
  private static let seeds: ClosedRange<UInt64> = 1...6

  /// What was measured already, by strategy.
  private var events: [String: [Double]?] = [:]
  private var searches: [Explorer.Strategy?: AirSearches] = [:]

  /// How much more something costs without a strategy.
  func value(of strategy: Explorer.Strategy, _ faults: Faults) -> Double? {
    let (usual, other) = (air(nil), air(strategy))
    switch faults {
    case .benchmark, .own, .drawn: return ratio(events(strategy, faults), events(nil, faults))
    case .lock: return ratio(other.lockTimes, usual.lockTimes)
    case .movements: return ratio(other.movements, usual.movements)
    case .lost: return other.isMeasured && usual.isMeasured ? Double(usual.found - other.found) : nil
    }
  }

  private func ratio(_ other: [Double]?, _ usual: [Double]?) -> Double? {
    guard let other, let usual, other.count == usual.count else { return nil }
    return geometricMean(zip(other, usual).map { ($0 + 1) / ($1 + 1) })
  }

  private func air(_ strategy: Explorer.Strategy?) -> AirSearches {
    if let known = searches[strategy] { return known }
    let all = AirSearches(device: Self.lock, seeds: Self.seeds, workers: 2, without: strategy)
    searches[strategy] = all
    return all
  }

  private func events(_ strategy: Explorer.Strategy?, _ faults: Faults) -> [Double]? {
    let key = "\(strategy?.rawValue ?? "") \(faults)"
    if let known = events[key] { return known }
    var settings = Explorer.Settings()
    settings.without = strategy
    let costs =
      switch faults {
      case .benchmark: reference(settings, seeds: 100, isOfBenchmark: true)
      case .own: reference(settings, seeds: 20, isOfBenchmark: false)
      default: drawn(settings)
      }
    events[key] = costs
    return costs
  }

  private func reference(_ settings: Explorer.Settings, seeds: UInt64, isOfBenchmark: Bool) -> [Double]? {
    var costs: [Double] = []
    for bug in ReferenceLock.Bug.allCases where bug.isOfBenchmark == isOfBenchmark {
      let searches = FuzzSearches(bug, seeds: seeds, budget: 1_000_000, settings: settings)
      guard let finds = searches.finds else { return nil }
      costs += finds
    }
    return costs
  }

  private func drawn(_ settings: Explorer.Settings) -> [Double]? {
    let budget = 100_000
    return try? (0..<200).map { number in
      let machine = try WrongMachine(number: number)
      var search = FuzzSearch(
        machine.model, MachineDevice(machine.device, .seeded(UInt64(number)), showsEffects: false),
        settings: settings, seed: UInt64(number), recorder: NoRecorder())
      return Double(try search.run(budget, isShrunk: false).found ?? budget)
    }
  }
}
