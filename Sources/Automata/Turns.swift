import Synchronization

/// Inputs taken one after another, whichever threads they come from: each runs to completion before the next.
///
/// An input that arrives while a turn is under way, from within that turn or from another thread, waits in
/// line, and whoever has the turn takes it next. So nobody ever blocks, an effect may send inputs without a
/// deadlock, and effects happen in the order of the transitions that they belong to.
struct Turns<Input: Sendable>: ~Copyable, Sendable {
  /// Not private: the compiler lays out its generic owner in other files too.
  struct Line {
    var waiting: [Input] = []
    var isBusy = false
  }

  private let line = Mutex(Line())

  /// Takes an input and whatever then waits in line, or leaves it in line while a turn is under way.
  ///
  /// - Returns: whether the turn was ours, so that the input has been taken.
  func take(_ input: Input, _ turn: (Input) -> Void) -> Bool {
    let isOurs = line.withLock { line in
      if line.isBusy { line.waiting.append(input) }
      defer { line.isBusy = true }
      return !line.isBusy
    }
    guard isOurs else { return false }
    turn(input)
    while true {
      let batch = line.withLock { line in
        let batch = line.waiting
        line.waiting = []
        line.isBusy = !batch.isEmpty
        return batch
      }
      if batch.isEmpty { return true }
      for input in batch { turn(input) }
    }
  }
}

/// Values numbered in the order in which they first appear.
struct Roster<Value: Hashable> {
  private(set) var values: [Value] = []
  private(set) var numbers: [Value: Int] = [:]

  @discardableResult
  mutating func number(_ value: Value) -> Int {
    if let number = numbers[value] { return number }
    numbers[value] = values.count
    values.append(value)
    return values.count - 1
  }

  /// The names by which a definition knows the values.
  var names: [String] { values.map { String(describing: $0) } }
}

extension Roster: Sendable where Value: Sendable {}
