public import Conformance

extension Lockstep {
  /// Does a test as the engine does, and nothing around it: from a start to its end, or to the first disagreement.
  ///
  /// A choice that is not what it was meant to be is left out: a stimulus that is not allowed in every possible
  /// state, one that was to be refused and is not, one that this device does not have.
  ///
  /// - Parameters:
  ///   - alphabet: what the choices stand for.
  ///   - starts: the conditions that the numbers of starts stand for.
  public mutating func run(
    _ test: TestCase, _ alphabet: Alphabet, starts: [StartCondition]
  ) throws(LabFault) -> Execution {
    var execution = Execution()
    execution.start = test.start
    execution.divergence = try begin(starts[test.start])
    for choice in test.choices where execution.divergence == nil {
      let explorationState = explorationState
      guard let action = alphabet.action(of: choice), explorationState.admits(choice, alphabet) else {
        continue
      }
      execution.performed.append(choice)
      execution.explorationStates.append(explorationState)
      let (done, divergence) = try carryOut(action)
      execution.actions.append(done)
      execution.divergence = divergence
    }
    if execution.divergence == nil {
      execution.end = explorationState
      execution.divergence = try conclude()
    }
    execution.wasDisturbed = wasDisturbed
    return execution
  }
}
