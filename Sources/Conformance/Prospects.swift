import Automata

extension Machine.Edge {
  /// Whether it can be taken under circumstances some of which may hold or not.
  fileprivate func mayBeEnabled(under circumstances: UInt64, _ uncertain: UInt64) -> Bool {
    (given == 0 || given & (circumstances | uncertain) != 0) && unless & circumstances & ~uncertain == 0
  }
}

extension Tracker {
  /// Whether a stimulus is allowed now, or may come to be by what happens without the tester.
  ///
  /// Follows what can happen by itself from every possible state, under the circumstances of this moment. A
  /// scenario's step waits as long as this holds and no possible state allows the stimulus yet.
  public func mayAllow(_ stimulus: Int) -> Bool {
    let machine = specification.machine
    var isSeen = [Bool](repeating: false, count: machine.stateCount)
    var open = possibleStates
    while let state = open.popLast() {
      guard !isSeen[state] else { continue }
      isSeen[state] = true
      if machine.edges(from: state, on: stimulus).contains(where: {
        $0.mayBeEnabled(under: circumstances, uncertain)
      }) {
        return true
      }
      for edge in machine.spontaneous[state] where edge.mayBeEnabled(under: circumstances, uncertain) {
        open.append(edge.target)
      }
    }
    return false
  }
}
