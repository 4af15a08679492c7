/// A possible reduction of a failing test, before it is known whether it results in a new test.
struct ReductionPlan: Sendable {
  var kind: Reduction.Kind
  /// The start of the test.
  var start: Int32
  /// The stretch that is replaced by the model's shortest path between its ends, or removed.
  var stretch: Range<Int32>
  /// Whether to also remove those refusals, waits and disturbances in the rest of the test that probably do not
  /// matter.
  var removesUseless = false
  /// Whether it combines other reductions, so that it need not be refuted for the test to be minimal.
  var isCompound = false
  /// The expected savings per executed choice, at most.
  var value = 0.0

  /// Returns whether it precedes another plan: first by value, then by position.
  fileprivate func comes(before other: ReductionPlan) -> Bool {
    if value != other.value { return value > other.value }
    if stretch.lowerBound != other.stretch.lowerBound { return stretch.lowerBound < other.stretch.lowerBound }
    if stretch.upperBound != other.stretch.upperBound { return stretch.upperBound < other.stretch.upperBound }
    if kind != other.kind { return kind.rawValue < other.kind.rawValue }
    return start < other.start
  }
}

/// The open plans for a failing test, in a heap by value.
struct ShrinkerFrontier: Sendable {
  private var plans: [ReductionPlan]

  init(_ plans: [ReductionPlan]) {
    self.plans = plans
    for place in (0..<plans.count / 2).reversed() { sink(place) }
  }

  /// The plan with the greatest value.
  var first: ReductionPlan? { plans.first }

  /// Removes and returns the plan with the greatest value.
  mutating func pop() -> ReductionPlan? {
    guard let first = plans.first else { return nil }
    let last = plans.removeLast()
    if !plans.isEmpty {
      plans[0] = last
      sink(0)
    }
    return first
  }

  /// Adds a plan.
  mutating func push(_ plan: ReductionPlan) {
    plans.append(plan)
    var place = plans.count - 1
    while place > 0, plans[place].comes(before: plans[(place - 1) / 2]) {
      plans.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ top: Int) {
    var place = top
    while true {
      var next = place
      for child in 2 * place + 1...2 * place + 2 where child < plans.count {
        if plans[child].comes(before: plans[next]) { next = child }
      }
      if next == place { return }
      plans.swapAt(place, next)
      place = next
    }
  }
}
