import Synchronization

/// Processes inputs one at a time, whatever threads they come from: each input runs to completion before the next.
///
/// An input that arrives during a turn, from within that turn or from another thread, waits in a queue, and the
/// thread that has the turn takes it next. So no thread blocks, an effect may send inputs without a deadlock, and
/// effects keep the order of their transitions.
struct Turns<Input: Sendable>: ~Copyable, Sendable {
  /// Not private: the compiler lays out its generic owner in other files too.
  struct Queue {
    var waiting: [Input] = []
    var isBusy = false
  }

  private let queue = Mutex(Queue())

  /// Takes an input and the queue that then waits, or only adds the input to the queue if a turn is in progress.
  ///
  /// - Returns: Whether this call got the turn, so that it has taken the input.
  func take(_ input: Input, _ turn: (Input) -> Void) -> Bool {
    let hasTurn = queue.withLock { queue in
      if queue.isBusy { queue.waiting.append(input) }
      defer { queue.isBusy = true }
      return !queue.isBusy
    }
    guard hasTurn else { return false }
    turn(input)
    while true {
      let batch = queue.withLock { queue in
        let batch = queue.waiting
        queue.waiting = []
        queue.isBusy = !batch.isEmpty
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

  /// The names of the values in a definition.
  var names: [String] { values.map { String(describing: $0) } }
}

extension Roster: Sendable where Value: Sendable {}
