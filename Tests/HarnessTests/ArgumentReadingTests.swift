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
  starts: [{ state: shut }]
  transitions:
    - { event: [], from: shut, to: ajar }

  """

@Suite("What goes with a stimulus")
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
    do {
      _ = try ScenarioReader(machines: library, provider: ToyProvider()).read(
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
    expect(try Machine(gate).hash, try Machine(bare).hash)
    expect(
      gate.events[2].arguments, ArgumentForms([ArgumentForm("delay", .duration(.zero ... .seconds(60)))]))
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
      ("name: { text: a, bytes: ff }", "gate", "5:22: `name` takes one of text, bytes, and this is another"),
      ("name: { text: 7 }", "gate", "5:19: `text` is a text, and not `7` (as text it stands in quotes)"),
      ("name: { text: \"7\" }", "gate", ""), ("name: { bytes: 0102 }", "gate", ""),
      (
        "name: { bytes: xyz }", "gate",
        "5:20: `bytes` is bytes in hexadecimal, two digits each, and not `xyz`"
      ),
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
        "5:20: `tag` is a text, and not `3 s` (as text it stands in quotes)"
      ),
      ("Open: { fast: yes }", "door", "5:13: `Open` takes nothing"),
      // In no time nothing can be shown.
      (
        "expect: { quiet: 0 s }", "door",
        "5:22: in no time nothing could be shown (expected a duration above zero)"
      ),
    ])
  func steps(step: String, machine: String, expected: String) throws {
    expect(try problems(step, machine), expected)
  }

  @Test("is known to an editor")
  func schema() {
    let line = Scenario.schema.line
    #expect(line.contains(#""setAutolock":{"description":"The stimulus of `sesame`.","anyOf":"#))
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
      ("{ argumnts: {} }", "unknown key `argumnts`"),
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
