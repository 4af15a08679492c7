import Basics
public import Conformance

extension Scenario {
  /// A scenario that reproduces a generated test, with repeated steps folded into repetitions.
  ///
  /// - Parameters:
  ///   - title: one sentence.
  ///   - machine: the machine's name, or the path of its file.
  ///   - device: the device with its options.
  ///   - start: the condition in which the test starts.
  ///   - seed: the seed of the device's random choices.
  ///   - tags: words to select it by.
  ///   - actions: the actions, each with whether it is a stimulus that the device must not obey. An edge must
  ///     be given as the wait that it amounted to, as in ``Execution/actions``; others are left out. Without
  ///     any action the scenario only waits, and shows a failure during preparation.
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

  /// A scenario that reproduces a test.
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
  /// The step of an action; `nil` if it has none.
  public init?(_ action: TestAction, isForbidden: Bool = false, _ vocabulary: Vocabulary) {
    switch action {
    case .stimulus(let stimulus):
      let call = Call(vocabulary.stimuli[stimulus.number], stimulus.arguments)
      self.init(isForbidden ? .refuse(call) : .performNow(call))
    case .fault(let fault): self.init(.fault(fault))
    case .wait(let interval) where interval > .zero: self.init(.wait(interval))
    case .settle: self.init(.settle)
    case .next: self.init(.next)
    case .wait, .edge, .drawn: return nil
    }
  }
}
