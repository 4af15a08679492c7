import Basics
import Foundation
import TestSupport
import Testing

@Suite("lockstep mutants")
struct MutantsTests {
  /// A machine of two states and one test of it, which asks for nothing that must be refused.
  private func workshop() throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write(
      "gate.yaml",
      """
      machine: gate
      events: [open, close]
      states: [shut, ajar]
      starts: [{ state: shut }]
      transitions:
        - { event: open, from: shut, to: ajar }
        - { event: close, from: ajar, to: shut }

      """)
    try folder.write(
      "tests/there-and-back.yaml",
      """
      scenario: There and back
      machine: ../gate.yaml
      device: exec:true
      steps: [open, close]

      """)
    return folder
  }

  @Test("says what a suite kills and misses, with the test that it lacks")
  func score() throws {
    let folder = try workshop()
    let result = try Command.call("mutants", "gate.yaml", "tests", in: folder.path)
    expect(result.errors, "")
    expect(result.status, 0)
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
    expect(
      Array(lines.dropLast()),
      [
        "gate.yaml: 6 mutants", "suite: 1 test",
        "survived extra: shut, close: is obeyed and leads to ajar",
        "close → ajar: the device showed ajar, which the model does not allow",
        "survived extra: ajar, open: is obeyed and leads to shut",
        "open → ajar, open → shut: the device showed shut, which the model does not allow",
        "killed survived equivalent undecided of score",
        "wrong status 2 0 0 0 2 100.0 %", "missing 2 0 0 0 2 100.0 %", "extra 0 2 0 0 2 0.0 %",
        "all 4 2 0 0 6 66.6 %",
      ])
    #expect(lines.last?.hasPrefix("score 66.6 % in ") == true)
  }

  @Test("the tests that are saved complete the suite")
  func saved() throws {
    let folder = try workshop()
    _ = try Command.call("mutants", "gate.yaml", "tests", "--out", "tests", in: folder.path)
    expect(folder.names("tests"), ["gate-4.yaml", "gate-5.yaml", "schema", "there-and-back.yaml"])
    let result = try Command.call("mutants", "gate.yaml", "tests", "--threshold", "100", in: folder.path)
    expect(result.status, 0)
    #expect(result.output.contains("score 100.0 %"))
  }

  @Test("below the threshold the status is 1")
  func threshold() throws {
    let folder = try workshop()
    expect(try Command.call("mutants", "gate.yaml", "tests", "--threshold=67", in: folder.path).status, 1)
    expect(try Command.call("mutants", "gate.yaml", "tests", "--threshold=66%", in: folder.path).status, 0)
  }

  @Test("suites that are generated, and the defects of the machine's devices, a line of JSON each")
  func generated() throws {
    let result = try Command.call("mutants", "door", "--suite", "tour", "--format", "json", "--threshold=75")
    expect(result.errors, "")
    expect(result.status, 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.first == #"{"machine":"door","mutants":6,"tried":6,"seed":0,"tests":1,"leftOut":[]}"#)
    expect(lines.filter { $0.contains(#""fate":"killed","killer":"tour""#) }.count, 6)
    // A tour does each thing once, and these come the second time.
    expect(lines.filter { $0.contains(#""fate":"survived","killers":[]"#) }.count, 2)
    let fuzz = try Command.call("mutants", "door", "--suite", "fuzz:500", "--threshold=100")
    expect(fuzz.status, 0)
  }

  @Test("a sample is the same for a seed")
  func sample() throws {
    let arguments = ["mutants", "sesame-table", "--suite=fuzz:300", "--sample=30", "--format=json"]
    let first = try Command.call(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4])
    let second = try Command.call(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4])
    expect(first.status, 0)
    expect(first.output, second.output)
    #expect(first.output.contains(#""tried":30"#))
  }

  @Test(
    "what makes no sense is said in a line",
    arguments: [
      (["mutants"], "missing MACHINE [PATH]"), (["mutants", "dor"], "unknown machine `dor`"),
      (["mutants", "door", "--suite=walk"], "'--suite' expects tour, or fuzz:N"),
      (["mutants", "door", "Scenarios/door", "--suite=tour"], "one too many"),
      (["mutants", "door", "--threshold=101"], "'--threshold' expects a share in percent"),
      (
        ["mutants", "door", "--device=emulator:sesame3"],
        "--device: sesame3 cannot be compared with the machine `door`: it goes with sesame"
      ),
      (["mutants", "door", "--device=exec:true"], "--device: an emulated device is needed"),
    ] as [([String], String)])
  func usage(words: [String], message: String) throws {
    let result = try Command.call(words)
    expect(result.status, 2)
    #expect(result.errors.contains(message), "\(result.errors)")
  }
}
