import Conformance
import Basics
import Testing

@testable import Harness

@Suite struct CounterexampleTests {
  private let vocabulary = Vocabulary(stimuli: ["lock", "unlock", "set"], statuses: ["locked"])

  @Test func everyActionBecomesTheStepThatDoesIt() {
    let scenario = Scenario(
      title: "A title.", machine: "door", device: DeviceSpec(.emulator, "door"),
      start: StartCondition([Argument("registered", .flag(true))]), seed: 7, tags: ["found"],
      actions: [
        (.stimulus(Stimulus(1)), false),
        (.stimulus(Stimulus(0)), true),
        (.stimulus(Stimulus(2, [Argument("value", .integer(3))])), false),
        (.fault(Fault("jam")), false),
        (.wait(.milliseconds(1500)), false),
        (.wait(.zero), false),
        (.settle, false),
        (.edge(.past), false),
      ], vocabulary: vocabulary)
    #expect(
      scenario
        == Scenario(
          title: "A title.", machine: "door", device: DeviceSpec(.emulator, "door"),
          start: StartCondition([Argument("registered", .flag(true))]), seed: 7, tags: ["found"],
          steps: [
            Step(.performNow(Step.Call("unlock"))),
            Step(.refuse(Step.Call("lock"))),
            Step(.performNow(Step.Call("set", [Argument("value", .integer(3))]))),
            Step(.fault(Fault("jam"))),
            Step(.wait(.milliseconds(1500))),
            Step(.settle),
          ]))
  }

  @Test(
    "a test in which nothing was done waits, so that its file can be read again", arguments: [true, false])
  func nothingDone(isEmpty: Bool) {
    let scenario = Scenario(
      title: "A title.", machine: "door", device: DeviceSpec(.emulator, "door"), start: StartCondition(),
      seed: 7, actions: isEmpty ? [] : [(.wait(.zero), false)], vocabulary: vocabulary)
    #expect(scenario.steps == [Step(.settle)])
  }

  @Test(
    "what is done many times in a row is written as a repetition, which reads back and is told in one line")
  func repetitions() throws {
    func stimulus(_ number: Int) -> (action: TestAction, isForbidden: Bool) {
      (.stimulus(Stimulus(number)), number == 0)
    }
    var actions = [stimulus(1)] + Array(repeating: stimulus(0), count: 256)
    actions += Array(repeating: stimulus(1), count: 5)
    for _ in 0..<6 { actions += [stimulus(0), (.wait(.seconds(1)), false)] }
    let scenario = Scenario(
      title: "A title.", machine: "door", device: DeviceSpec(.emulator, "door"), start: StartCondition(),
      seed: 7, actions: actions, vocabulary: vocabulary)
    let (lock, unlock) = (Step(.refuse(Step.Call("lock"))), Step(.performNow(Step.Call("unlock"))))
    let second = Step(.wait(.seconds(1)))
    #expect(
      scenario.steps
        == [unlock, Step(.repeated(256, [lock]))] + Array(repeating: unlock, count: 5)
        + [Step(.repeated(6, [lock, second]))])
    #expect(
      scenario.stepLines
        == ["- { now: unlock }", "- { refuse: lock }, 256 times"]
        + Array(repeating: "- { now: unlock }", count: 5)
        + ["- 6 times:", "  - { refuse: lock }", "  - { wait: 1 s }"])
    let unfolded = scenario.steps.unfolded()
    #expect(
      unfolded.map(\.step) == actions.compactMap { Step($0.action, isForbidden: $0.isForbidden, vocabulary) })
    #expect(
      unfolded.map(\.mark.number) == [1] + Array(repeating: 3, count: 256) + [4, 5, 6, 7, 8]
        + (0..<6).flatMap { _ in [10, 11] })
    let yaml = Array(scenario.yaml().utf8)
    #expect(
      String(decoding: yaml, as: UTF8.self).contains(
        "  - repeat:\n      times: 256\n      steps:\n        - { refuse: lock }\n"))
  }

  @Test func anExecutionKeepsWhatWasToBeRefused() {
    var execution = Execution()
    execution.performed = [Choice(1), Choice(0, isForbidden: true)]
    execution.actions = [.stimulus(Stimulus(1)), .stimulus(Stimulus(0))]
    let scenario = Scenario(
      title: "t", machine: "door", device: DeviceSpec(.emulator, "door"), start: StartCondition(), seed: 0,
      execution: execution, vocabulary: vocabulary)
    #expect(
      scenario.steps == [
        Step(.performNow(Step.Call("unlock"))), Step(.refuse(Step.Call("lock"))),
      ])
  }
}
