import Basics
public import Conformance

extension Scenario {
  /// A test that was generated, as a scenario that does the same again. What it does many times in a row is a repetition.
  ///
  /// - Parameters:
  ///   - title: one sentence.
  ///   - machine: the machine's name, or the path of its file.
  ///   - device: the device with its options.
  ///   - start: the condition in which the test starts.
  ///   - seed: the seed of everything that the device draws.
  ///   - tags: words to select it by.
  ///   - actions: what is done, with whether it is a stimulus that the device must not obey. An edge is to be given
  ///     as the wait that it came to, as ``Execution/actions`` has it; one that is not is left out. Where nothing is left,
  ///     what was wrong while the device was made ready shows in a test that only waits.
  ///   - vocabulary: the names of the stimuli.
  public init(
    title: String, machine: String, device: DeviceSpec, start: StartCondition, seed: UInt64,
    tags: [String] = [], actions: [(action: TestAction, isForbidden: Bool)], vocabulary: Vocabulary
  ) {
    let steps = actions.compactMap { Step($0.action, isForbidden: $0.isForbidden, vocabulary) }
    self.init(
      title: title, machine: machine, device: device, start: start, seed: seed, tags: tags,
      steps: steps.isEmpty ? [Step(.settle)] : steps.folded)
  }

  /// A test as it was done, as a scenario that does the same again.
  public init(
    title: String, machine: String, device: DeviceSpec, start: StartCondition, seed: UInt64,
    tags: [String] = [], execution: Execution, vocabulary: Vocabulary
  ) {
    self.init(
      title: title, machine: machine, device: device, start: start, seed: seed, tags: tags,
      actions: zip(execution.actions, execution.performed).map { ($0, $1.isForbidden) },
      vocabulary: vocabulary)
  }
}

extension Step {
  /// The step that does what a test does; `nil` where that is nothing.
  public init?(_ action: TestAction, isForbidden: Bool = false, _ vocabulary: Vocabulary) {
    switch action {
    case .stimulus(let stimulus):
      let call = Call(vocabulary.stimuli[stimulus.number], stimulus.arguments)
      self.init(isForbidden ? .refuse(call) : .performNow(call))
    case .fault(let fault): self.init(.fault(fault))
    case .wait(let interval) where interval > .zero: self.init(.wait(interval))
    case .settle: self.init(.settle)
    case .next: self.init(.next)
    case .wait, .edge: return nil
    }
  }
}
