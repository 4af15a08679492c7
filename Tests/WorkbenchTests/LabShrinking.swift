@testable import Workbench
import Basics

extension LabSimulation {
  /// The shortest and simplest list of faults found that breaks the same invariant: in shortlex order, the shorter list
  /// first, then faults that come earlier, about the first of everything, for a shorter time.
  ///
  /// - Parameter maximum: how many labs may be run for it.
  /// - Returns: `nil` where nothing is broken.
  func shrunk(maximum: Int = 400) -> LabSimulation? {
    guard let violation = run().violation else { return nil }
    var trial = Shrinking(self, violation.rule, maximum: maximum)
    // A night by itself is looked at many times as fast, and mostly it is enough.
    var alone = self
    alone.settings.nights = 1
    alone.faults = faults.filter { $0.night == violation.night }.map { fault in
      var fault = fault
      fault.night = 0
      return fault
    }
    var before = self
    before.settings.nights = violation.night + 1
    before.faults.removeAll { $0.night > violation.night }
    if !trial.take(alone) { trial.best = before }
    repeat {
      trial.hasShrunk = false
      trial.leaveOut()
      trial.simplify()
    } while trial.hasShrunk && trial.left > 0
    return trial.best
  }
}

/// The search for a shorter list of faults.
private struct Shrinking {
  var best: LabSimulation
  let rule: LabSimulation.Rule
  /// How many labs may still be run.
  var left: Int
  var hasShrunk = false

  init(_ lab: LabSimulation, _ rule: LabSimulation.Rule, maximum: Int) {
    (best, self.rule, left) = (lab, rule, maximum)
  }

  /// Takes another lab in place of the best one, if the same invariant does not hold in it.
  mutating func take(_ lab: LabSimulation) -> Bool {
    guard left > 0 else { return false }
    left -= 1
    guard lab.run().violation?.rule == rule else { return false }
    best = lab
    hasShrunk = true
    return true
  }

  /// Leaves out faults: many at a time, then fewer.
  mutating func leaveOut() {
    var size = max(1, (best.faults.count + 1) / 2)
    while true {
      var start = 0
      while start < best.faults.count, left > 0 {
        var lab = best
        lab.faults.removeSubrange(start..<min(start + size, lab.faults.count))
        if !take(lab) { start += size }
      }
      if size == 1 { return }
      size = max(1, size / 2)
    }
  }

  /// Makes each fault simpler.
  mutating func simplify() {
    for index in best.faults.indices {
      for simpler in best.faults[index].simpler {
        var lab = best
        lab.faults[index] = simpler(lab.faults[index])
        if lab.faults != best.faults { _ = take(lab) }
      }
    }
  }
}

extension LabSimulation.Fault {
  /// Ways in which it could be simpler.
  fileprivate var simpler: [(Self) -> Self] {
    func change(_ body: @escaping (inout Self) -> Void) -> (Self) -> Self {
      { fault in
        var fault = fault
        body(&fault)
        return fault
      }
    }
    return [
      change { $0.night = 0 }, change { $0.target = 0 }, change { $0.detail = 0 },
      change { $0.length = .zero },
      change { $0.time = .seconds($0.time.nanoseconds / 1_000_000_000) },
      change { $0.time = .seconds($0.time.nanoseconds / 60_000_000_000 * 60) },
    ]
  }
}
