import Automata
public import Basics

/// The values that a variable of the machine may have, given the stimuli and observations so far.
public struct PossibleValues: Sendable {
  /// The name of the variable.
  public var name: String
  /// The values, each once and at most as many as were asked for.
  public var values: [Value]
  /// Whether it may have more values than these.
  public var isMore: Bool

  /// Returns whether other values are the same, in any order.
  public func agrees(with other: PossibleValues) -> Bool {
    (isMore, values.count) == (other.isMore, other.values.count)
      && values.allSatisfy(other.values.contains)
  }
}

extension TimedTracker {
  /// Returns the values that each variable may have, at most so many of each.
  func possibleValues(most: Int) -> [PossibleValues] {
    guard var data else { return [] }
    var variables = data.data.variables.map {
      PossibleValues(name: $0.form.name, values: [], isMore: false)
    }
    var last: Int32 = -1
    for valuation in possible.members.map(\.valuation).sorted() where valuation != last {
      last = valuation
      data.load(valuation)
      for index in variables.indices where !variables[index].isMore {
        let value = data.value(ofVariable: index)
        guard !variables[index].values.contains(value) else { continue }
        if variables[index].values.count == most {
          variables[index].isMore = true
        } else {
          variables[index].values.append(value)
        }
      }
      if variables.allSatisfy(\.isMore) { break }
    }
    return variables
  }
}
