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
          name: "fuzz.without.\(strategy.rawValue).\(faults.rawValue)", unit: "ratio", better: .higher,
          method:
            "\(faults.cost) without this strategy, over that with it, the geometric mean of \(faults.text).",
          isOnRequest: true, measure: { worth.ratio(without: strategy, faults) })
      }
    }
  }
}

/// What it costs to find faults, with all strategies and without one.
final class StrategyWorth {
  /// What is looked for.
  enum Faults: String, CaseIterable {
    case benchmark, own, drawn, lock, movements

    var text: String {
      switch self {
      case .benchmark: "20 searches for each of the two bugs of the open benchmark"
      case .own: "5 searches for each of the other bugs of the reference lock"
      case .drawn: "a search for each of 200 drawn faults of drawn machines"
      case .lock, .movements:
        "3 searches for each of \(LockDefect.allCases.count) defects of a lock that loses links"
      }
    }

    var cost: String {
      switch self {
      case .benchmark, .own, .drawn: "Events up to the first disagreement"
      case .lock: "The lock's time up to a confirmed finding"
      case .movements: "Movements up to a confirmed finding"
      }
    }
  }

  /// What was measured already, by strategy and faults.
  private var known: [String: [Double]] = [:]

  func ratio(without strategy: Explorer.Strategy, _ faults: Faults) -> Double? {
    guard let usual = costs(nil, faults), let other = costs(strategy, faults), usual.count == other.count
    else { return nil }
    return geometricMean(zip(other, usual).map { ($0 + 1) / ($1 + 1) })
  }

  private func costs(_ strategy: Explorer.Strategy?, _ faults: Faults) -> [Double]? {
    let key = "\(strategy?.rawValue ?? "") \(faults == .movements ? "lock" : faults.rawValue)"
    if known[key] == nil {
      switch faults {
      case .benchmark: known[key] = reference(strategy, seeds: 100) { $0.isOfBenchmark }
      case .own: known[key] = reference(strategy, seeds: 20) { !$0.isOfBenchmark }
      case .drawn: known[key] = drawn(strategy)
      case .lock, .movements: known[key] = lock(strategy)
      }
    }
    guard let all = known[key] else { return nil }
    switch faults {
    case .lock: return Array(all.prefix(all.count / 2))
    case .movements: return Array(all.suffix(all.count / 2))
    default: return all
    }
  }

  private func reference(
    _ strategy: Explorer.Strategy?, seeds: UInt64, _ isWanted: (ReferenceLock.Bug) -> Bool
  ) -> [Double]? {
    var settings = Explorer.Settings()
    settings.without = strategy
    var costs: [Double] = []
    for bug in ReferenceLock.Bug.allCases where isWanted(bug) {
      guard let finds = FuzzSearches(bug, seeds: seeds, budget: 1_000_000, settings: settings).finds else {
        return nil
      }
      costs += finds
    }
    return costs
  }

  private func drawn(_ strategy: Explorer.Strategy?) -> [Double]? {
    var settings = Explorer.Settings()
    settings.without = strategy
    let budget = 100_000
    var costs: [Double] = []
    for number in 0..<200 {
      guard let machine = try? WrongMachine(number: number) else { return nil }
      var search = FuzzSearch(
        machine.model, MachineDevice(machine.device, .seeded(UInt64(number)), showsEffects: false),
        settings: settings, seed: UInt64(number), recorder: NoRecorder())
      guard let result = try? search.run(budget, isShrunk: false) else { return nil }
      costs.append(Double(result.found ?? budget))
    }
    return costs
  }

  private func lock(_ strategy: Explorer.Strategy?) -> [Double]? {
    let searches = LockDefect.allCases.flatMap { defect in
      (1...3 as ClosedRange<UInt64>).map { seed in
        AirSearch(
          device: "emulator:sesame5?link=radio&loss=0.01", defect: defect, seed: seed,
          lockTime: AirSearches.lockTime,
          isShrunk: false, without: strategy)
      }
    }
    let results = AirWorkers(count: 2).run(searches).compactMap(\.self)
    guard results.count == searches.count else { return nil }
    let times = results.map { ($0.isFound ? $0.lockTime : AirSearches.lockTime).seconds }
    return times + results.map { Double($0.movements) }
  }
}
