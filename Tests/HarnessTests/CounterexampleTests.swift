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
