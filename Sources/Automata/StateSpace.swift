/// What was reached of a space of places by the cheapest ways: breadth first where all steps cost the same.
///
/// The one search for ways and for what can be reached. Of ways that cost the same, the one that was found first stays;
/// steps are looked at in the order in which they are given.
public struct StateSpace<Place: Hashable, Step> {
  /// The places in the order in which they were found, the beginnings first.
  public private(set) var places: [Place] = []
  /// What the way to each of them costs.
  public private(set) var costs: [Int] = []
  /// The number of the place that was wanted, if there was one.
  public private(set) var found: Int?
  private var arrivals: [(from: Int, step: Step)?] = []
  private var numbers: [Place: Int] = [:]

  /// Looks for the cheapest way from one of some places to one that is wanted; to all where none is.
  ///
  /// - Parameters:
  ///   - limit: once more places than these were found, no other is looked at.
  ///   - successors: gives the steps that lead on from a place, each with where it leads and a cost, a small number.
  ///   - isWanted: whether a place is what is looked for.
  public init(
    from starts: [Place], limit: Int = .max,
    successors: (Place, (_ step: Step, _ target: Place, _ cost: Int) -> Void) -> Void,
    isWanted: (Place) -> Bool = { _ in false }
  ) {
    // What costs so much is looked at in its turn.
    var open: [[Int]] = [[]]
    var isClosed: [Bool] = []
    for start in starts where numbers[start] == nil {
      open[0].append(note(start, cost: 0, arrival: nil))
      isClosed.append(false)
    }
    var cost = 0
    while cost < open.count {
      var next = 0
      while next < open[cost].count {
        let number = open[cost][next]
        next += 1
        if isClosed[number] { continue }
        isClosed[number] = true
        if isWanted(places[number]) {
          found = number
          return
        }
        if places.count > limit { return }
        successors(places[number]) { step, target, length in
          precondition(length >= 0, "a step that costs less than nothing")
          let total = cost + length
          while open.count <= total { open.append([]) }
          if let known = numbers[target] {
            guard !isClosed[known], total < costs[known] else { return }
            costs[known] = total
            arrivals[known] = (number, step)
            open[total].append(known)
          } else {
            open[total].append(note(target, cost: total, arrival: (number, step)))
            isClosed.append(false)
          }
        }
      }
      open[cost] = []
      cost += 1
    }
  }

  private mutating func note(_ place: Place, cost: Int, arrival: (from: Int, step: Step)?) -> Int {
    numbers[place] = places.count
    places.append(place)
    costs.append(cost)
    arrivals.append(arrival)
    return places.count - 1
  }

  /// The number of a place that was reached.
  public func number(of place: Place) -> Int? { numbers[place] }

  /// The place before another on the way to it, with the step between; `nil` for a beginning.
  public func arrival(at number: Int) -> (from: Int, step: Step)? { arrivals[number] }

  /// The steps of the way to a place, and the place it begins in.
  public func path(to number: Int) -> (start: Place, steps: [Step]) {
    var steps: [Step] = []
    var number = number
    while let arrival = arrivals[number] {
      steps.append(arrival.step)
      number = arrival.from
    }
    return (places[number], steps.reversed())
  }
}

extension StateSpace: Sendable where Place: Sendable, Step: Sendable {}

extension StateSpace where Step == Void {
  /// Everything that can be reached from some places.
  public static func reached(from starts: [Place], successors: (Place) -> [Place]) -> [Place] {
    StateSpace(from: starts) { place, go in
      for target in successors(place) { go((), target, 1) }
    }.places
  }
}

extension Machine {
  /// The states to which an edge leads from a state, under whatever conditions; one may stand there several times.
  public func successors(of state: Int) -> [Int] { edges(from: state).map(\.target) }

  /// The edges from a state: those that the tester causes, by event, and then the others.
  func edges(from state: Int) -> [Edge] {
    Array(caused[state * eventCount..<(state + 1) * eventCount].joined()) + spontaneous[state]
  }
}
