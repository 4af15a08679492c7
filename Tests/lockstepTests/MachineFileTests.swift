import Foundation
import TestSupport
import Testing

@Suite("Files of machines", .timeLimit(.minutes(10)))
struct MachineFileTests {
  /// The machine of the door with a state that no row leads to and a timer that another one beats.
  private static let door = """
    machine: door
    states: [{ name: Closed, entry: print(Closed) }, { name: Opened, entry: print(Opened) }, Ajar]
    events: [Open, Close]
    starts: [{ state: Closed }]
    transitions:
      - { event: Open, from: Closed, to: Opened }
      - { event: Close, from: Opened, to: Closed }
      - { from: Ajar, to: Opened, after: 3 s }
      - { from: Ajar, to: Closed, after: 5 s }

    """

  private static let warnings = """
    door.yaml:2:90: warning: state 'Ajar' cannot be reached from any start
      2 | states: [{ name: Closed, entry: print(Closed) }, { name: Opened, entry: print(Opened) }, Ajar]
        |                                                                                          ^~~~ lead a row to it, start in it, or remove it
    door.yaml:9:5: warning: 'after 5 s' is never taken from 'Ajar', since 'after 3 s' is always taken first
      9 |   - { from: Ajar, to: Closed, after: 5 s }
        |     ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~ give it an earlier time, or give the other a condition

    """

  /// A command, and with what it ends, whatever is warned of.
  private static let commands: [(command: String, status: Int32)] = [
    ("machines door.yaml", 0), ("machines ./door.yaml --format dot", 0), ("validate twice", 0),
    ("list twice", 0), ("run twice --quiet", 0), ("replay twice/a.yaml", 0),
    ("schema scenario --machine door.yaml", 0),
    ("fuzz door.yaml --device emulator:door --steps 100 --seed 1 --quiet", 0),
    ("fuzz door.yaml --device emulator:door --steps 100 --seed 1 --jobs 2 --quiet", 0),
    ("mutants door.yaml twice", 0),
    ("run twice --device emulator:door --seed 1 --filter nothing", 4), ("run wrong.yaml", 2),
  ]

  @Test(
    "what is hardly meant is said once, on standard error, and changes nothing else",
    arguments: commands.indices)
  func warned(index: Int) throws {
    let (command, status) = Self.commands[index]
    var results: [Command.Result] = []
    for isWarned in [true, false] {
      let folder = try Command.Folder()
      // Without what is warned of, nothing else is said.
      let lines = Self.door.replacing(", Ajar]", with: "]").split(separator: "\n").filter {
        !$0.contains("Ajar")
      }
      try folder.write("door.yaml", isWarned ? Self.door : lines.joined(separator: "\n"))
      for name in ["twice/a.yaml", "twice/b.yaml", "wrong.yaml"] {
        let step = name == "wrong.yaml" ? "Opne" : "Open"
        let machine = name == "wrong.yaml" ? "door.yaml" : "../door.yaml"
        try folder.write(
          name, "scenario: A\nmachine: \(machine)\ndevice: door\nsteps: [\(step), { wait: 1 s }]\n")
      }
      // The workers of a campaign are processes of the same program.
      let words = command.split(separator: " ").map(String.init)
      results.append(
        try words.contains("--jobs")
          ? Command.run(words, in: folder.path) : Command.call(words, in: folder.path))
    }
    expect(results.map(\.status), [status, status])
    expect(results[0].errors.components(separatedBy: Self.warnings).count, 2)
    expect(results[0].errors.replacing(Self.warnings, with: ""), results[1].errors)
    #expect(!results[0].output.contains("warning"))
  }

  /// What stands in the file, and how what is said of it begins.
  private static let broken: [(name: String, text: String, message: String)] = [
    ("it.yaml", "", "lockstep: it.yaml:1:1: the document is empty\n"),
    ("it.dot", "", "lockstep: it.dot:1:1: expected `digraph`, found the end of the file\n"),
    ("it.yaml", "- a\n", "lockstep: it.yaml:1:1: expected a mapping, found a list\n"),
    (
      "it.yaml", "machine: m\nstates: []\nevents: [a]\nstarts: []\ntransitions: []\n",
      """
      lockstep: it.yaml:1:1: no states are defined
        1 | machine: m
          | ^~~~~~~~~~
      it.yaml:1:1: no start is defined
        1 | machine: m
          | ^~~~~~~~~~
      it.yaml:3:10: event 'a' has no transitions
      """
    ),
    (
      "it.yaml", "machine: m\nsates: [a]\nevents: [a]\nstarts: []\ntransitions: []\n",
      """
      lockstep: it.yaml:1:1: missing key `states` or `regions`
        1 | machine: m
          | ^~~~~~~~~~
      it.yaml:2:1: unknown key `sates`
        2 | sates: [a]
          | ^~~~~ did you mean `states`?
      See 'lockstep
      """
    ),
    (
      "it.yaml", "machine: m\nstates: &a [*a]\nevents: [a]\nstarts: []\n",
      """
      lockstep: it.yaml:1:1: missing key `transitions`
        1 | machine: m
          | ^~~~~~~~~~
      it.yaml:2:13: `*a` stands inside the node it names
        2 | states: &a [*a]
          |             ^~
      """
    ),
    (
      "it.yaml",
      """
      machine: schloß
      states: [zugeschloßen, "öffen 🔓"]
      events: [öffne]
      starts: [{ state: zugeschloßn }]
      transitions: [{ event: öfne, from: zugeschloßen, to: "öffen 🔓" }, { event: öffne, from: zugeschloßen, to: zugeschloßen }]

      """,
      """
      lockstep: it.yaml:4:19: the machine starts in 'zugeschloßn', which is not defined
        4 | starts: [{ state: zugeschloßn }]
          |                   ^~~~~~~~~~~ did you mean `zugeschloßen`?
      it.yaml:5:24: a row names event 'öfne', which is not defined
        5 | transitions: [{ event: öfne, from: zugeschloßen, to: "öffen 🔓" }, { event: öffne, from: zugeschloßen, to: zugeschlo…
          |                        ^~~~ did you mean `öffne`?
      """
    ),
  ]

  @Test("what is wrong with a file is said with its place", arguments: broken.indices)
  func refused(index: Int) throws {
    let folder = try Command.Folder()
    try folder.write(Self.broken[index].name, Self.broken[index].text)
    for command in ["machines", "schema scenario --machine", "fuzz"] {
      let result = try Command.line("\(command) \(Self.broken[index].name)", in: folder.path)
      expect(result.status, 2)
      expect(result.output, "")
      #expect(result.errors.hasPrefix(Self.broken[index].message), "\(result.errors)")
    }
  }

  @Test("a file of a megabyte, half of whose states are never reached, says a hundred of them in good time")
  func large() throws {
    let folder = try Command.Folder()
    let count = 20_000
    let states = (0..<count).map { "state\($0)" }.joined(separator: ", ")
    let rows = (0..<count / 2 - 1).map { "  - { event: go, from: state\($0), to: state\($0 + 1) }\n" }
      .joined()
    let start = "starts: [{ state: state0 }]\ntransitions:\n"
    try folder.write("large.yaml", "machine: m\nstates: [\(states)]\nevents: [go]\n\(start)\(rows)")
    let result = try Command.call("machines", "large.yaml", "--format", "json", in: folder.path)
    expect(result.status, 0)
    let lines = result.errors.split(separator: "\n")
    expect(lines.count, 301)
    #expect(lines[0].hasSuffix("warning: state 'state10000' cannot be reached from any start"), "\(lines[0])")
    expect(lines.last, "large.yaml: and 9900 more")
  }

  @Test(
    "the schema of scenarios takes a machine and a device, and says what does not go together",
    arguments: [
      ("schema journal --machine door", "lockstep: --machine goes with the schema of a scenario"),
      ("schema --device door", "lockstep: --device goes with --machine"),
      ("schema --machine dor", "lockstep: unknown machine `dor`: did you mean `door`?"),
      ("schema --machine dor.yaml", "lockstep: dor.yaml: there is no such file or folder"),
      (
        "schema --machine door --device dor", "lockstep: --device: unknown device `dor`: did you mean `door`?"
      ),
      (
        "schema --machine door --device sesame5",
        "lockstep: --device: sesame5 cannot be compared with the machine `door`: it goes with sesame"
      ),
      ("schema mahcine", "lockstep: unknown schema 'mahcine': did you mean 'machine'?"),
    ])
  func usage(line: String, message: String) throws {
    let result = try Command.line(line)
    expect(result.status, 2)
    expect(result.output, "")
    #expect(result.errors.hasPrefix(message), "\(result.errors)")
  }

  @Test("the schema of a machine's scenarios has its names")
  func names() throws {
    let result = try Command.call("schema", "scenario", "--machine", "door", "--device", "emulator:door")
    expect(result.status, 0)
    expect(result.errors, "")
    #expect(result.output.contains("\"title\": \"A scenario of Lockstep for the machine door\""))
    #expect(result.output.contains("\"enum\": [\"Open\", \"Close\"]"))
    #expect(result.output.contains("\"enum\": [\"Closed\", \"Opened\"]"))
  }

  @Test("no table of a machine that is built in is wider than a terminal, unless that is asked for")
  func widths() throws {
    let names = try Command.call("machines", "--format", "json").output.matches(of: /"name":"([^"]+)"/)
      .map { String($0.1) }
    #expect(names.count >= 6)
    for name in names {
      let table = try Command.call("machines", name)
      expect(table.status, 0)
      let wide = table.output.split(separator: "\n").filter { $0.count > 100 }
      expect(wide, [])
    }
    let whole = try Command.call("machines", "sesame", "--wide")
    #expect(whole.output.split(separator: "\n").contains { $0.count > 2000 })
    let door = try Command.call("machines", "door")
    expect(try Command.call("machines", "door", "--wide").output, door.output)
  }
}
