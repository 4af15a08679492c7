/// The reached nodes of a graph with the cheapest paths to them: in breadth-first order if all steps cost the same.
///
/// All searches for paths and for reachable nodes use this type. Of several paths with the same cost, the first one
/// found wins; the search takes steps in the order in which `successors` gives them.
public struct StateSpace<Place: Hashable, Step> {
  /// The nodes in the order in which they were found, the start nodes first.
  public private(set) var places: [Place] = []
  /// The cost of the path to each node.
  public private(set) var costs: [Int] = []
  /// The number of the goal, if the search found one.
  public private(set) var found: Int?
  private var arrivals: [(from: Int, step: Step)?] = []
  private var numbers: [Place: Int] = [:]

  /// Searches for the cheapest path from one of several start nodes to a goal. If no node is a goal, the
  /// search reaches all nodes.
  ///
  /// - Parameters:
  ///   - limit: The search ends once it has found more nodes than this.
  ///   - successors: Reports the steps that lead on from a node, each with its target and its cost, a small number.
  ///   - isGoal: Returns whether this node is a goal of the search.
  public init(
    from starts: [Place], limit: Int = .max,
    successors: (Place, (_ step: Step, _ target: Place, _ cost: Int) -> Void) -> Void,
    isGoal: (Place) -> Bool = { _ in false }
  ) {
    // The open nodes by cost.
    var open: [[Int]] = [[]]
    var isClosed: [Bool] = []
    for start in starts where numbers[start] == nil {
      open[0].append(add(start, cost: 0, arrival: nil))
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
        if isGoal(places[number]) {
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
            open[total].append(add(target, cost: total, arrival: (number, step)))
            isClosed.append(false)
          }
        }
      }
      open[cost] = []
      cost += 1
    }
  }

  private mutating func add(_ place: Place, cost: Int, arrival: (from: Int, step: Step)?) -> Int {
    numbers[place] = places.count
    places.append(place)
    costs.append(cost)
    arrivals.append(arrival)
    return places.count - 1
  }

  /// Returns the number of a node, or `nil` if the search did not reach it.
  public func number(of place: Place) -> Int? { numbers[place] }

  /// Returns the previous node on the path to a node, with the step between them, or `nil` for a start node.
  public func arrival(at number: Int) -> (from: Int, step: Step)? { arrivals[number] }

  /// Returns the steps of the path to a node, and the start node of the path.
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
  /// Returns all nodes that can be reached from several start nodes.
  public static func reached(from starts: [Place], successors: (Place) -> [Place]) -> [Place] {
    StateSpace(from: starts) { place, report in
      for target in successors(place) { report((), target, 1) }
    }.places
  }
}

extension Machine {
  /// Returns the targets of the edges from a state, under any conditions; a state may occur several times.
  public func successors(of state: Int) -> [Int] { edges(from: state).map(\.target) }

  /// Returns the edges from a state: those that the tester causes, by event, and then the others.
  public func edges(from state: Int) -> [Edge] {
    Array(caused[state * eventCount..<(state + 1) * eventCount].joined()) + spontaneous[state]
  }
}
