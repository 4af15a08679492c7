/// Something that might be done to a failing test, before it is known whether it comes to anything new.
struct ReductionPlan: Sendable {
  var kind: Reduction.Kind
  /// The start of the test.
  var start: Int32
  /// The stretch that is replaced by the model's shortest way between its ends, or left out.
  var stretch: Range<Int32>
  /// Whether what is to be refused, and waits, are left out of the rest as well, where they seem to be of no use.
  var isBare = false
  /// Whether it is no more than others together, so that it need not be refuted as well.
  var isCompound = false
  /// What it promises at the most.
  var value = 0.0

  /// Whether it comes before another of the same value.
  fileprivate func comes(before other: ReductionPlan) -> Bool {
    if value != other.value { return value > other.value }
    if stretch.lowerBound != other.stretch.lowerBound { return stretch.lowerBound < other.stretch.lowerBound }
    if stretch.upperBound != other.stretch.upperBound { return stretch.upperBound < other.stretch.upperBound }
    if kind != other.kind { return kind.rawValue < other.kind.rawValue }
    return start < other.start
  }
}

/// The plans for a failing test that have not been looked into, by what they promise: a heap.
struct ShrinkerFrontier: Sendable {
  private var plans: [ReductionPlan]

  init(_ plans: [ReductionPlan]) {
    self.plans = plans
    for place in (0..<plans.count / 2).reversed() { sink(place) }
  }

  /// The plan that promises most.
  var first: ReductionPlan? { plans.first }

  /// Takes out the plan that promises most.
  mutating func pop() -> ReductionPlan? {
    guard let first = plans.first else { return nil }
    let last = plans.removeLast()
    if !plans.isEmpty {
      plans[0] = last
      sink(0)
    }
    return first
  }

  /// Puts a plan in.
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
