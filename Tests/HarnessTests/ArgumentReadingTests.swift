import Automata
import Basics
import Conformance
import Documents
import Models
import TestSupport
import Testing

@testable import Harness

/// A machine that says what goes with each of its stimuli.
private let machine = """
  machine: gate
  states: [shut, ajar]
  events:
    - rest
    - knock: { arguments: { times: { integer: [1, 9] }, force: { number: [0, 1] }, by: [hand, foot], hard: flag } }
    - wait3: { arguments: { delay: { duration: [0 s, 1 min] } } }
    - name: { one-of: { text: text, bytes: hex } }
    - nothing: { arguments: {} }
    - drift: { kind: spontaneous }
  readings: { load: { number: [0, 10] }, turns: integer, code: hex, word: text, side: [left, "null"], wet: flag, dry: flag }
  starts: [{ state: shut }]
  transitions:
    - { event: [], from: shut, to: ajar }

  """

@Suite("What goes with a stimulus, and what a reading is")
struct ArgumentReadingTests {
  private static let yaml = machine.replacing(
    "  - { event: [], from: shut, to: ajar }",
    with: ["rest", "knock", "wait3", "name", "nothing", "drift"].map {
      "  - { event: \($0), from: shut, to: ajar }"
    }
    .joined(separator: "\n"))

  private func problems(_ step: String, _ name: String = "gate") throws -> String {
    let gate = try MachineDefinition(yaml: Array(Self.yaml.utf8), name: "gate.yaml")
    let library = MachineLibrary(MachineDefinition.catalog + [gate]) { _ throws(MachineLibrary.Missing) in
      throw MachineLibrary.Missing("no files")
    }
    let text = "scenario: A\nmachine: \(name)\ndevice: exec:x\nsteps:\n  - \(step)\n"
    let provider = ToyProvider()
    provider.program.abilities.faults = ["jam"]
    provider.program.readings = ["load", "turns", "code", "word", "side", "wet", "battery"]
    do {
      _ = try ScenarioReader(machines: library, provider: provider).read(
        Array(text.utf8), path: "s.yaml")
      return ""
    } catch {
      return error.problems.map { problem in
        let place = "\(problem.position.line):\(problem.position.column): "
        return place + problem.message + (problem.hint.map { " (\($0))" } ?? "")
      }
      .joined(separator: "\n")
    }
  }

  @Test("a definition that says it comes back from its YAML, and is the same machine as without")
  func definition() throws {
    let gate = try MachineDefinition(yaml: Array(Self.yaml.utf8), name: "gate.yaml")
    expect(try MachineDefinition(yaml: Array(gate.yaml().utf8), name: "again.yaml"), gate)
    var bare = gate
    for number in bare.events.indices { bare.events[number].arguments = nil }
    bare.readings = []
    #expect(gate.readings.count == 7)
    expect(try Machine(gate).hash, try Machine(bare).hash)
    expect(
      gate.events[2].arguments, ArgumentForms([ValueForm("delay", .duration(.zero ... .seconds(60)))]))
    for known in MachineDefinition.catalog {
      expect(try MachineDefinition(yaml: Array(known.yaml().utf8), name: known.name), known)
    }
  }

  @Test(
    "is checked before anything runs, with its place and the nearest name",
    arguments: [
      ("knock", "gate", ""), ("knock: { times: 3, force: 0.5, by: foot, hard: yes }", "gate", ""),
      ("knock: { tmes: 3 }", "gate", "5:14: unknown argument `tmes` (did you mean `times`?)"),
      ("knock: { times: 10 }", "gate", "5:21: `times` is a whole number from 1 to 9, and not `10`"),
      ("knock: { times: twice }", "gate", "5:21: `times` is a whole number from 1 to 9, and not `twice`"),
      ("knock: { force: 2 }", "gate", "5:21: `force` is a number from 0.0 to 1.0, and not `2`"),
      (
        "knock: { by: foto }", "gate",
        "5:18: `by` is one of hand, foot, and not `foto` (did you mean `foot`?)"
      ),
      ("knock: { hard: very }", "gate", "5:20: `hard` is yes or no, and not `very`"),
      (
        "knock: 3", "gate",
        "5:12: `knock` takes times, force, by, hard, by name (as in `knock: { times: … }`, a whole number from 1 to 9)"
      ),
      ("wait3: 10 s", "gate", ""), ("wait3: { delay: 10 s }", "gate", ""),
      (
        "wait3: 10", "gate",
        "5:12: `delay` is a duration with its unit, from 0 s to 1 min, and not `10` (`10 s` are seconds)"
      ),
      (
        "wait3: { delay: soon }", "gate",
        "5:21: `delay` is a duration with its unit, from 0 s to 1 min, and not `soon`"
      ),
      (
        "wait3: { delay: 61 s }", "gate",
        "5:21: `delay` is a duration with its unit, from 0 s to 1 min, and not `61 s`"
      ),
      ("name: { text: a, bytes: ff }", "gate", "5:22: `name` takes only one of text, bytes"),
      ("name: { text: true }", "gate", ""), ("name: { text: FALSE }", "gate", ""),
      (
        "name: { text: 7 }", "gate",
        "5:19: `text` is a text, and not `7` (for text, write it in quotes: `text: \"7\"`)"
      ),
      ("name: { text: \"7\" }", "gate", ""), ("name: { bytes: 0102 }", "gate", ""),
      (
        "name: { bytes: xyz }", "gate",
        "5:20: `bytes` is bytes in hexadecimal, two digits each, and not `xyz`"
      ),
      // What is not there is no value of any kind.
      (
        "name: { text: null }", "gate",
        "5:19: `text` is a text, and not `null` (for text, write it in quotes: `text: \"null\"`)"
      ),
      (
        "name: { text: ~ }", "gate",
        "5:19: `text` is a text, and not `~` (for text, write it in quotes: `text: \"~\"`)"
      ),
      ("name: { text: \"null\" }", "gate", ""),
      ("name: { text: }", "gate", "5:19: expected a value, found nothing"),
      ("knock: { hard: null }", "gate", "5:20: `hard` is yes or no, and not `null`"),
      ("knock: { force: NULL }", "gate", "5:21: `force` is a number from 0.0 to 1.0, and not `NULL`"),
      (
        "knock: { by: ~ }", "gate",
        "5:18: `by` is one of hand, foot, and not `~` (expected one of hand, foot)"
      ),
      (
        "wait3: null", "gate",
        "5:12: `delay` is a duration with its unit, from 0 s to 1 min, and not `null`"
      ),
      ("rest: { a: null }", "gate", "5:16: `null` is not a value (for text, write it in quotes)"),
      ("rest: ~", "gate", "5:11: `~` is not a value (for text, write it in quotes)"),
      ("rest: { a: \"~\" }", "gate", ""),
      ("fault: { jam: null }", "gate", "5:19: `null` is not a value (for text, write it in quotes)"),
      // What the machine says of its readings.
      ("expect: { load: 5 }", "gate", ""), ("expect: { load: { above: 2.5, below: 3 } }", "gate", ""),
      ("expect: { lod: 5 }", "gate", "5:15: unknown key `lod` (did you mean `load`?)"),
      ("expect: { load: low }", "gate", "5:21: `load` is a number from 0.0 to 10.0, and not `low`"),
      ("expect: { load: { is: 11 } }", "gate", "5:27: `load` is a number from 0.0 to 10.0, and not `11`"),
      ("expect: { load: null }", "gate", "5:21: `load` is a number from 0.0 to 10.0, and not `null`"),
      ("expect: { turns: 2.5 }", "gate", "5:22: `turns` is a whole number, and not `2.5`"),
      ("expect: { turns: { below: 3 } }", "gate", ""), ("expect: { code: 10 }", "gate", ""),
      ("expect: { code: 1 }", "gate", "5:21: `code` is bytes in hexadecimal, two digits each, and not `1`"),
      (
        "expect: { word: 7 }", "gate",
        "5:21: `word` is a text, and not `7` (for text, write it in quotes: `word: \"7\"`)"
      ),
      (
        "expect: { word: { above: 7 } }", "gate", "5:23: `word` is a text, and nothing is above or below it"
      ),
      (
        "expect: { side: lft }", "gate",
        "5:21: `side` is one of left, null, and not `lft` (did you mean `left`?)"
      ),
      ("expect: { side: null }", "gate", ""), ("expect: { wet: yes, side: left }", "gate", ""),
      ("expect: { wet: 3 }", "gate", "5:20: `wet` is yes or no, and not `3`"),
      ("expect: { battery: low }", "sesame", "5:24: `battery` is a number, and not `low`"),
      ("expect: { dry: yes }", "gate", "5:15: this device does not report `dry`"),
      ("nothing: { a: 1 }", "gate", "5:16: `nothing` takes nothing"), ("rest: { a: 1 }", "gate", ""),
      ("refuse: { knock: { tmes: 1 } }", "gate", "5:24: unknown argument `tmes` (did you mean `times`?)"),
      // The machines that are built in say it of every stimulus.
      ("unlock: { tga: Alice }", "sesame", "5:15: unknown argument `tga` (did you mean `tag`?)"),
      (
        "setAutolock: soon", "sesame",
        "5:18: `delay` is a duration with its unit, from 0 s to 32767 s, and not `soon`"
      ),
      (
        "setAutolock: 10", "sesame",
        "5:18: `delay` is a duration with its unit, from 0 s to 32767 s, and not `10` (`10 s` are seconds)"
      ),
      ("connect: 7", "sesame", "5:14: `connect` takes nothing"),
      (
        "unlock: { tag: 3 s }", "sesame-table",
        "5:20: `tag` is a text, and not `3 s` (for text, write it in quotes: `tag: \"3 s\"`)"
      ),
      ("Open: { fast: yes }", "door", "5:13: `Open` takes nothing"),
      // In no time nothing can be shown.
      (
        "expect: { quiet: 0 s }", "door",
        "5:22: the duration must be above zero"
      ),
    ])
  func steps(step: String, machine: String, expected: String) throws {
    expect(try problems(step, machine), expected)
  }

  @Test(
    "what YAML takes for true or false is that where it is one, and a word where the machine has words",
    arguments: [
      ("name: { text: true }", [Argument("text", .text("true"))]),
      ("name: { text: No }", [Argument("text", .text("No"))]),
      ("knock: { hard: no }", [Argument("hard", .flag(false))]),
      ("knock: { hard: Off }", [Argument("hard", .flag(false))]),
      ("knock: { hard: FALSE }", [Argument("hard", .flag(false))]),
      ("knock: { hard: 0 }", [Argument("hard", .flag(false))]),
      ("knock: { hard: YES }", [Argument("hard", .flag(true))]),
      ("knock: { hard: on }", [Argument("hard", .flag(true))]),
      ("name: { text: No }", [Argument("text", .text("No"))]),
      ("turn: off", [Argument("way", .text("off"))]), ("turn: { way: On }", [Argument("way", .text("On"))]),
      ("turn: true", [Argument("way", .text("true"))]),
      ("rest: { a: Off }", [Argument("a", .flag(false))]), ("rest: no", [Argument("value", .flag(false))]),
      ("rest: { a: \"no\" }", [Argument("a", .text("no"))]), ("rest: nO", [Argument("value", .text("nO"))]),
      ("wait3: 10 s", [Argument("delay", .duration(.seconds(10)))]),
    ])
  func flags(step: String, expected: [Argument]) throws {
    let step = try steps("[\(step)]").first?.action
    expect(step, .perform(Step.Call(String(step.map(Self.name) ?? ""), expected)))
  }

  private static func name(of action: Step.Action) -> Substring {
    if case .perform(let call) = action { call.name[...] } else { "" }
  }

  @Test("faults, starts and readings are read alike, and come back from what is saved")
  func flagsElsewhere() throws {
    let text =
      "[{ fault: { jam: OFF } }, { fault: { jam: \"OFF\" } }, { expect: { wet: No } }, { expect: { battery: off } }]"
    let steps = try steps(text)
    expect(
      steps.map(\.action),
      [
        .fault(Fault("jam", .flag(false))), .fault(Fault("jam", .text("OFF"))),
        .expect(Expectation([.reading("wet", .init(value: .flag(false)))])),
        .expect(Expectation([.reading("battery", .init(value: .flag(false)))])),
      ])
    let comparison = Expectation.Comparison(value: .flag(false))
    let shown: [Value] = [.flag(false), .text("off"), .text("No"), .flag(true), .text("on"), .integer(0)]
    expect(shown.map(comparison.holds), [true, true, true, false, false, false])
    let scenario = Scenario(title: "A", machine: "gate", device: DeviceSpec(.exec, "x"), steps: steps)
    expect(try read(scenario.yaml()).steps, steps)
  }

  /// The steps of a scenario of the gate.
  private func steps(_ text: String) throws -> [Step] {
    try read("scenario: A\nmachine: gate\ndevice: exec:x\nsteps: \(text)\n").steps
  }

  private func read(_ text: String) throws -> Scenario {
    let turn = "  - turn: { arguments: { way: [off, \"On\", \"true\"] } }\nreadings:"
    let yaml =
      Self.yaml.replacing("\nreadings:", with: "\n" + turn) + "  - { event: turn, from: shut, to: ajar }\n"
    let gate = try MachineDefinition(yaml: Array(yaml.utf8), name: "gate.yaml")
    let library = MachineLibrary([gate]) { _ throws(MachineLibrary.Missing) in throw .init("no files") }
    let provider = ToyProvider()
    provider.program.abilities.faults = ["jam"]
    provider.program.readings = ["wet", "battery"]
    return try ScenarioReader(machines: library, provider: provider).read(Array(text.utf8), path: "s.yaml")
  }

  @Test("is known to an editor")
  func schema() {
    let line = Scenario.schema.line
    #expect(line.contains(#""setAutolock":{"description":"The stimulus of `sesame`.","anyOf":"#))
    #expect(
      line.contains(
        #""battery":{"description":"A reading of `sesame`: a number.","anyOf":[{"type":"number"},{"#))
    #expect(line.contains(#""from":{"description":"Here `bolt`.","enum":["bolt"]}"#))
  }

  @Test(
    "is declared in a form of its own",
    arguments: [
      ("{ arguments: { a: txt } }", "unknown type `txt`"),
      ("{ arguments: { a: [] } }", "words to choose from"),
      ("{ arguments: { a: { integer: [9, 1] } } }", "the least is more than the most"),
      ("{ arguments: { a: { integer: [9] } } }", "the least and the most, as in [1, 9]"),
      ("{ arguments: { a: { text: [1, 2] } } }", "`text` has no limits"),
      ("{ arguments: { a: text }, one-of: { b: text } }", "stands beside"),
      ("{ arguments: { a: null } }", "unknown type `null`"), ("{ argumnts: {} }", "unknown key `argumnts`"),
    ])
  func mistakes(form: String, message: String) {
    let text = Self.yaml.replacing("{ one-of: { text: text, bytes: hex } }", with: form)
    do {
      _ = try MachineDefinition(yaml: Array(text.utf8), name: "gate.yaml")
      Issue.record("\(form) is read")
    } catch {
      #expect(error.description.contains(message), "\(error)")
    }
  }
}
