import Conformance
import Documents
import Basics
import TestSupport
import Testing

@testable import Harness

private typealias Expectation = Harness.Expectation

private func read(_ text: String, path: String = "toys/door.yaml") throws(DocumentError) -> Scenario {
  try ScenarioReader(machines: toyMachines(), provider: ToyProvider()).read(Array(text.utf8), path: path)
}

/// A scenario with one step, which stands on line 4 from column 5 on.
private func oneStep(_ step: String) -> String {
  "scenario: A door\nmachine: door\nsteps:\n  - \(step)\n"
}

@Suite("Reading scenarios")
struct ScenarioReaderTests {
  @Test("everything that a scenario can say")
  func everything() throws {
    let scenario = try read(
      """
      # yaml-language-server: $schema=../schema/scenario.schema.json
      scenario: A door in the wind
      machine: door
      device: { lock: oak, ajar: true, defect: loud, paint: [red, 3] }
      seed: 18446744073709551615
      tags: [draughty, slow]
      steps:
        - open
        - open: 10 s
        - close: { by: Alice, force: 3, hard: true, share: 0.5, quoted: "3 s" }
        - until: { status: closed, within: 7.5 ms }
        - until: { status: [opened, closed] }
        - expect: { status: opened, battery: 5.9, refused: "no hand", effect: ring, within: 1 min }
        - expect: { status: tired, for: 5 s }
        - expect: { battery: { above: 5, below: 6.5, is: 6 } }
        - expect: { refused: true }
        - expect: { quiet: 3 s }
        - wait: 1 h
        - fault: wind
        - fault: { wind: no }
        - refuse: close
        - now: { open: 3 }
        - repeat: { times: 2, steps: [ open, { repeat: { times: 3, steps: [ close ] } } ] }
        - note: that was all
      """)
    let call = Step.Call(
      "close",
      [
        Argument("by", .text("Alice")), Argument("force", .integer(3)), Argument("hard", .flag(true)),
        Argument("share", .number(0.5)), Argument("quoted", .text("3 s")),
      ])
    let all: [Expectation.Condition] = [
      .status(["opened"]), .reading("battery", .init(value: .number(5.9))), .refusal("no hand"),
      .effect("ring"),
    ]
    expect(
      scenario,
      Scenario(
        title: "A door in the wind", machine: "door",
        device: DeviceSpec(
          .emulator, "oak", [.init("defect", "loud"), .init("paint", "red"), .init("paint", "3")]),
        start: StartCondition([Argument("ajar", .flag(true))]), seed: .max, tags: ["draughty", "slow"],
        steps: [
          .perform(Step.Call("open")),
          .perform(Step.Call("open", [Argument("value", .duration(.seconds(10)))])), .perform(call),
          .until(Expectation([.status(["closed"])], .within(.microseconds(7500)))),
          .until(Expectation([.status(["opened", "closed"])], .within(.seconds(60)))),
          .expect(Expectation(all, .within(.seconds(60)))),
          .expect(Expectation([.status(["tired"])], .lasting(.seconds(5)))),
          .expect(Expectation([.reading("battery", .init(value: .integer(6), above: 5, below: 6.5))])),
          .expect(Expectation([.refusal("")])), .expect(Expectation([.quiet(.seconds(3))])),
          .wait(.seconds(3600)), .fault(Fault("wind")), .fault(Fault("wind", .flag(false))),
          .refuse(Step.Call("close")), .performNow(Step.Call("open", [Argument("value", .integer(3))])),
          .repeated(
            2, [Step(.perform(Step.Call("open"))), Step(.repeated(3, [Step(.perform(Step.Call("close")))]))]),
          .note("that was all"),
        ].map { Step($0) }))
    expect(scenario.steps.map(\.line), Array(8...24))
    expect(scenario.steps.writtenCount, 20)
    // What is saved reads back equal.
    expect(try read(scenario.yaml(comments: ["saved"])), scenario)
  }

  @Test("what is left out is the usual")
  func usual() throws {
    expect(try read(oneStep("open")).device, DeviceSpec(.emulator, "oak"))
    let scenario = try read("scenario: A\ndevice: emulator:glass?ajar=true\nsteps: [open]")
    expect(scenario.machine, "door")
    expect(scenario.start, StartCondition([Argument("ajar", .flag(true))]))
    let own = try read(
      "scenario: A\nmachine: own.yaml\ndevice: { exec: ./door.py, anything: 3 }\nsteps: [open]")
    expect(own.device, DeviceSpec(.exec, "./door.py"))
    expect(own.start, StartCondition([Argument("anything", .integer(3))]))
    expect(try read(own.yaml()), own)
  }

  @Test(
    "a step that is wrong is told where and why",
    arguments: [
      ("opne", "4:5: unknown step `opne` | did you mean `open`?"),
      (
        "shut",
        "4:5: `shut` happens by itself and cannot be done | wait for what it leads to, with `until` or `expect`"
      ),
      ("wait", "4:5: `wait` needs a value"),
      ("wait: 3", "4:11: expected a duration such as 3 s, found `3` | a unit is missing: `3 s`"),
      ("wait: -3 s", "4:11: expected a duration such as 3 s, found `-3 s`"),
      ("wait: [3 s]", "4:11: expected a duration such as 3 s, found a list"),
      ("wait:", "4:10: expected a duration such as 3 s, found nothing"),
      ("expect: { statuss: closed }", "4:15: unknown key `statuss` | did you mean `status`?"),
      ("expect: { status: close }", "4:23: unknown status `close` | did you mean `closed`?"),
      ("expect: { status: [] }", "4:23: expected a status, found a list"),
      (
        "expect: { within: 3 s }",
        "4:13: expected something that must be shown, such as `status`, found a mapping"
      ),
      ("expect: { status: closed, for: 1 s, within: 1 s }", "4:31: `for` and `within` exclude each other"),
      ("expect: { battery: 5, for: 1 s }", "4:27: `for` goes with `status` alone | nothing else lasts"),
      (
        "expect: { quiet: 1 s, status: closed }",
        "4:15: `quiet` excludes all other keys | its value is the time in which nothing may be shown"
      ),
      (
        "expect: { battery: { over: 5 } }",
        "4:26: unknown key `over` | expected is, above, below"
      ),
      ("expect: { effect: rings }", "4:23: unknown effect `rings` | did you mean `ring`?"),
      (
        "expect: { refused: false }",
        "4:24: `refused` is true or words of the reason | use `quiet` where nothing may be shown"
      ),
      ("expect: closed", "4:13: expected a mapping, found `closed`"),
      ("until: { within: 3 s }", "4:12: missing key `status`"),
      ("fault: wint", "4:12: unknown fault `wint` | did you mean `wind`?"),
      ("fault: draught", "4:12: this device cannot inject the fault `draught` | expected one of wind"),
      ("refuse: walk", "4:13: unknown stimulus `walk` | expected open, close, tire"),
      ("now: [open]", "4:10: expected a stimulus, found a list"),
      ("open: { by: [a] }", "4:17: expected a value, found a list"),
      (
        "{ open: , close: }",
        "4:15: a step has only one key | is the line indented too little, or `- ` missing?"
      ),
      ("repeat: { times: 0, steps: [open] }", "4:22: expected a whole number from 1 to 10000, found `0`"),
      (
        "repeat: { steps: [opne], time: 3 }",
        "4:13: missing key `times`; 4:23: unknown step `opne` | did you mean `open`?; 4:30: unknown key `time` | did you mean `times`?"
      ),
      (
        "repeat: { times: 10000, steps: [ { repeat: { times: 10000, steps: [ open ] } } ] }",
        "4:73: with this step the scenario has more than 100000 steps"
      ),
      ("note:", "4:10: expected text, found nothing"),
    ])
  func wrongSteps(step: String, problems: String) throws {
    expect(problemsOf { try read(oneStep(step)) }, problems)
  }

  @Test(
    "what is wrong around the steps is told too",
    arguments: [
      ("", "1:1: the document is empty"),
      ("[]", "1:1: expected a mapping, found a list"),
      ("scenario: A", "1:1: missing key `machine`; 1:1: missing key `steps`"),
      (
        "scenario: A\nmachine: dor\nsteps: [x, wait: 3]",
        "2:10: unknown machine `dor` | did you mean `door`?; 3:18: expected a duration such as 3 s, found `3` | a unit is missing: `3 s`"
      ),
      ("scenario: A\nmachine: ../no.yaml\nsteps: [x]", "2:10: there is no such file | look again"),
      (
        "scenario: A\nmachine: door\nmachine: door\nsteps: [open]",
        "3:1: duplicate key `machine` | it is given on line 2 already"
      ),
      ("scenario: A\nmachine: door\nsteps: []", "3:8: expected at least one step, found a list"),
      ("scenario: A\nmachine: door\nsteps: [open]\nseed: -1", "4:7: expected a whole number, found `-1`"),
      (
        "scenario: A\nmachine: door\nsteps: [open]\nseed: \"1\"",
        "4:7: expected a whole number, found the text `1` | write it without quotes"
      ),
      ("scenario: A\ndevice: oka\nsteps: [open]", "2:9: unknown device `oka` | did you mean `oak`?"),
      (
        "scenario: A\ndevice: emulater:oak\nsteps: [open]",
        "2:9: unknown kind of device `emulater` | did you mean `emulator`?"
      ),
      (
        "scenario: A\ndevice: { loc: oak }\nsteps: [open]",
        "2:9: missing key `lock`, `emulator`, `exec` or `driver`"
      ),
      (
        "scenario: A\ndevice: { lock: oak, exec: x }\nsteps: [open]",
        "2:22: a device has only one name"
      ),
      (
        "scenario: A\ndevice: { lock: oak, ajar: maybe }\nsteps: [open]",
        "2:28: expected yes or no, found `maybe`"
      ),
      (
        "scenario: A\ndevice: { lock: oak, ajra: true }\nsteps: [open]",
        "2:22: unknown setting `ajra` | did you mean `ajar`?"
      ),
      (
        "scenario: A\ndevice: { lock: oak, defect: lod }\nsteps: [open]",
        "2:30: unknown defect `lod` | did you mean `loud`?"
      ),
      (
        "scenario: A\ndevice: emulator:oak?defect=lod\nsteps: [open]",
        "2:9: unknown defect `lod` | did you mean `loud`?"
      ),
      (
        "scenario: A\nmachine: door\ndevice: hatch\nsteps: [open]",
        "3:9: `hatch` cannot be compared with the machine `door` | its machine is hatch"
      ),
      (
        "scenario: &a [*a]\nmachine: door\nsteps: [open]",
        "1:11: expected text, found a list; 1:15: `*a` stands inside the node it names"
      ),
    ])
  func wrongElsewhere(text: String, problems: String) throws {
    expect(problemsOf { try read(text) }, problems)
  }

  @Test("nothing that is read can stop the process", arguments: 0..<64)
  func mutated(seed: UInt64) throws {
    let text = Array(
      """
      scenario: A door in the wind
      device: { lock: oak, ajar: true, paint: [red, 3] }
      steps:
        - close: { by: Alice, share: 0.5, quoted: "3 s" }
        - expect: { status: opened, battery: { above: 5 }, within: 1 min }
        - repeat: { times: 2, steps: [ open, { repeat: { times: 3, steps: [ close ] } } ] }
      """.utf8)
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<20 {
      var bytes = text
      for _ in 0...generator.below(3) {
        let place = generator.below(bytes.count)
        if generator.below(2) == 0 {
          bytes.remove(at: place)
        } else {
          bytes[place] = UInt8(generator.below(128))
        }
      }
      _ = try? ScenarioReader(machines: toyMachines(), provider: ToyProvider()).read(bytes, path: "x.yaml")
    }
  }
}

/// Everything that is wrong, each with its place and hint, in one line.
private func problemsOf(_ body: () throws -> Scenario) -> String {
  do {
    _ = try body()
    return "nothing"
  } catch let error as DocumentError {
    return error.problems.map { "\($0.position): \($0.message)" + ($0.hint.map { " | \($0)" } ?? "") }
      .joined(separator: "; ")
  } catch {
    return "\(error)"
  }
}
