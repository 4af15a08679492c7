import Automata

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
      if machine.edges(from: state, on: stimulus).contains(where: { $0.isEnabled(under: circumstances) }) {
        return true
      }
      for edge in machine.spontaneous[state] where edge.isEnabled(under: circumstances) {
        open.append(edge.target)
      }
    }
    return false
  }
}
