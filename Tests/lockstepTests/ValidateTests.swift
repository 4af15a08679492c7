import Basics
import Documents
import TestSupport
import Testing

@Suite("Files that are checked", .timeLimit(.minutes(5)))
struct ValidateTests {
  private static let scenario = "scenario: A\nmachine: door\n"
  private static let machine = "machine: m\nstates: [A, B]\nevents: [open]\nstarts: [{ state: A }]\n"
  private static let row = "{ event: open, from: A, to: B }"
  private static let own = "scenario: A\nmachine: ../knock\ndevice: exec:./lock\n".replacing(
    "knock", with: "own/knock.yaml")

  /// What is wrong with a file, where `‹` and `›` stand around it, or `‹` alone before it, and what puts it right.
  // swift-format-ignore
  private static let files: [(codes: [String], text: String, replacement: String?)] = [
    (["encoding"], "scenario: A ‹\u{1}\n", nil),
    (["syntax"], scenario + "steps: [Open\n‹", nil),
    (["unsupported"], "scenario: ‹!x A\nmachine: door\nsteps: [Open]\n", nil),
    (["empty"], "‹", nil),
    (["unknown-alias", "wrong-value"], "scenario: A\nmachine: &door door\ntags: [‹‹*dor››]\nsteps: [Open]\n", "*door"),
    (["wrong-value", "wrong-key"], scenario + "steps: [‹{ ‹[a]›: b }›]\n", nil),
    (["duplicate-key"], "scenario: A\n‹scenario›: B\nmachine: door\nsteps: [Open]\n", nil),
    (["missing-key"], "‹scenario: A\nmachine: door›\n", nil),
    (["unknown-key"], scenario + "‹tag›: [a]\nsteps: [Open]\n", "tags"),
    (["conflict"], scenario + "steps: [{ expect: { status: Closed, ‹for›: 1 s, within: 2 s } }]\n", nil),
    (["wrong-value"], scenario + "tags: ‹a›\nsteps: [Open]\n", nil),
    (["wrong-value"], scenario + "steps: [{ repeat: { times: ‹\"3\"›, steps: [Open] } }]\n", nil),
    (["wrong-duration"], scenario + "steps: [{ wait: ‹3› }]\n", nil),
    (["unknown-name"], scenario + "steps: [{ fuzz: { events: 3, levels: ‹evnts› } }]\n", "events"),
    (["unknown-step"], scenario + "steps: [‹Opne›]\n", "Open"),
    (["unknown-step"], scenario + "steps:\n  - ‹\"Opne\"›\n", "Open"),
    (["unknown-stimulus"], scenario + "steps: [{ now: ‹Opne› }]\n", "Open"),
    (["unknown-argument"], own + "steps: [{ knock: { ‹tims›: 3 } }]\n", "times"),
    (["unknown-status"], scenario + "steps: [{ expect: { status: ‹Close› } }]\n", "Closed"),
    (["unknown-effect"], scenario + "steps: [{ expect: { effect: ‹print(Opend)› } }]\n", "print(Opened)"),
    (["unknown-fault"], "scenario: A\nmachine: sesame\ndevice: sesame5\nsteps: [{ fault: ‹jma› }]\n", "jam"),
    (["unknown-machine"], "scenario: A\nmachine: ‹dor›\nsteps: [Open]\n", "door"),
    (["unknown-device"], scenario + "device: ‹emulater:door›\nsteps: [Open]\n", "emulator:door"),
    (["unknown-device"], scenario + "device: { lock: ‹dor› }\nsteps: [Open]\n", "door"),
    (["unknown-setting"], "scenario: A\nmachine: sesame\ndevice: { lock: sesame5, ‹defct›: x }\nsteps: [closeTo]\n", "defect"),
    (["spontaneous"], own + "steps: [‹ring›]\n", nil),
    (["impossible"], scenario + "device: ‹sesame5›\nsteps: [Open]\n", nil),
    (["wrong-device"], scenario + "device: ‹\"door?=x\"›\nsteps: [Open]\n", nil),
    (["wrong-machine"], "scenario: A\nmachine: ‹../own/none.yaml›\ndevice: door\nsteps: [Open]\n", nil),
    (["too-large"], scenario + "steps: [{ repeat: { times: 10000, steps: [{ repeat: { times: 10000, steps: [‹Open›] } }] } }]\n", nil),
    (["unknown-state"], machine + "transitions: [{ event: open, from: A, to: ‹b› }]\n", "B"),
    (["unknown-event"], machine + "transitions: [\(row), { event: ‹opne›, from: B, to: A }]\n", "open"),
    (["unknown-condition"], machine + "conditions: [wind]\ntransitions: [{ event: open, from: A, to: B, given: ‹wnid› }]\n", "wind"),
    (["unknown-option"], machine + "choices: { pace: [slow, fast] }\ntransitions: [{ event: open, from: A, to: B, option: ‹slwo› }]\n", "slow"),
    (["unknown-variable"], machine + "variables: { tries: integer }\ntransitions: [{ event: open, from: A, to: B, set: { ‹trise›: 1 } }]\n", "tries"),
    (["unknown-reading"], machine + "readings: { bat: integer }\ntransitions: [{ event: open, from: A, to: B, then: [{ reading: ‹bta›, is: 1 }] }]\n", "bat"),
    (["unknown-timer"], machine + "transitions: [{ event: open, from: A, to: B, start: out }, { from: B, to: A, timer: ‹uot›, after: 3 s }]\n", "out"),
    (["wrong-expression"], machine + "variables: { tries: integer }\ntransitions: [{ event: open, from: A, to: B, when: ‹trise› < 2 }]\n", "tries"),
    (["idle-choice"], machine + "choices: { ‹pace›: [slow, fast] }\ntransitions: [\(row)]\n", nil),
    (["missing-part"], machine.replacing("[open]", with: "[open, ‹idle›]") + "transitions: [\(row)]\n", nil),
    (["duplicate-name"], machine.replacing("A, B", with: "A, B, ‹A›") + "transitions: [\(row)]\n", nil),
    (["duplicate-row"], machine + "transitions: [\(row), ‹{ event: open, from: A, to: A }›]\n", nil),
    (["wrong-row"], machine + "transitions: [‹{ event: open, from: A, to: B, after: 3 s }›]\n", nil),
    (["unreachable-state"], machine.replacing("A, B", with: "A, B, ‹C›") + "transitions: [\(row)]\n", nil),
    (["idle-row"], machine + "conditions: [w]\ntransitions: [\(row), ‹{ event: open, from: B, to: A, given: w, unless: w }›]\n", nil),
    (["repeated-row"], machine + "transitions: [\(row), { from: B, to: A, after: 3 s }, ‹{ from: B, to: A, after: 3 s }›]\n", nil),
  ]

  private static let warnings = [
    "unreachable-state", "idle-row", "idle-choice", "repeated-row", "repeated-timer", "empty-folder",
  ]

  /// What a file in a folder is expected to be told: the place and the code of each problem, in the order of the text.
  private static func expected(_ number: Int) -> [String] {
    let (codes, text, replacement) = files[number]
    var (line, column) = (1, 1)
    var open: [Int] = []
    var ranges: [(start: String, end: String?)] = []
    for scalar in text.unicodeScalars {
      switch scalar {
      case "‹":
        open.append(ranges.count)
        ranges.append(("\(line):\(column)", nil))
      case "›": ranges[open.removeLast()].end = "\(line):\(column)"
      case "\n": (line, column) = (line + 1, 1)
      default: column += 1
      }
    }
    return zip(codes.indices, ranges).map { index, range in
      "\(name(number)) \(range.start)-\(range.end ?? "") \(warnings.contains(codes[index]) ? "warning" : "error") "
        + codes[index] + (index == 0 ? replacement.map { " → \($0)" } ?? "" : "")
    }
  }

  private static func name(_ number: Int) -> String { "bad/\(number < 10 ? "0" : "")\(number).yaml" }

  @Test("each kind of problem is a line with its place, its code and what puts it right; one row a file")
  func kinds() throws {
    let folder = try Command.Folder()
    for (number, file) in Self.files.enumerated() {
      try folder.write(Self.name(number), file.text.replacing("‹", with: "").replacing("›", with: ""))
    }
    try folder.write(
      "own/knock.yaml",
      """
      machine: knock
      states: [Idle]
      events: [knock: { arguments: { times: integer, by: text } }, ring: spontaneous]
      starts: [{ state: Idle }]
      transitions: [{ event: knock, from: Idle, to: "=" }, { event: ring, from: Idle, to: "=" }]

      """)
    try folder.write(
      "chart.scxml",
      """
      <scxml initial="a">
        <state id="a"><transition event="go" target="b"/></state>
        <state id="b">
          <onentry><send event="later" delay="9s"/></onentry>
          <transition event="later back" target="a"/>
        </state>
      </scxml>

      """)
    try folder.write("many.yaml", "scenario: A\n" + (0..<120).map { "k\($0)x: 1\n" }.joined())
    try folder.makeFolder("empty")
    folder.makePipe("pipe")
    let result = try Command.line(
      "validate bad own/knock.yaml chart.scxml gone.yaml many.yaml:999 pipe empty --format json",
      in: folder.path)
    expect(result.status, 2)
    expect(result.errors, "")
    let lines = try result.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
    let told = lines.map { line in
      func place(_ line: JSON?, _ column: JSON?) -> String {
        guard let line = line?.int, let column = column?.int else { return "" }
        return "\(line):\(column)"
      }
      let end = place(line["endLine"], line["endColumn"])
      return "\(line["file"]?.string ?? "") \(place(line["line"], line["column"]))-\(end) "
        + "\(line["severity"]?.string ?? "") \(line["code"]?.string ?? "")"
        + (line["replacement"]?.string.map { " → \($0)" } ?? "")
    }
    let paths = [
      "empty 1:1- warning empty-folder", "gone.yaml 1:1- error no-such-file",
      "many.yaml 999:1- error no-such-line", "pipe 1:1- error unreadable",
      "own/none.yaml 1:1- error no-such-file", "chart.scxml 4:14-4:46 warning repeated-timer",
    ]
    expect(told.sorted(), (paths + Self.files.indices.flatMap(Self.expected)).sorted())
    // Every code there is has its row, but for the one below.
    let codes = Set(lines.compactMap { $0["code"]?.string })
    expect(Problem.Code.allCases.map(\.rawValue).filter { !codes.contains($0) }, ["more"])
    let many = try Command.call("validate", "many.yaml", "--format", "json", in: folder.path)
    expect(
      many.output.split(separator: "\n").last,
      #"{"file":"many.yaml","line":1,"column":1,"severity":"error","code":"more","message":"and 22 more"}"#)
    // A person is told the same.
    let human = try Command.call("validate", "bad", in: folder.path)
    expect(human.status, 2)
    let heads = human.errors.split(separator: "\n").filter { $0.hasPrefix("bad/") }
      .compactMap { $0.split(separator: ":").first.map(String.init) }
    let named = Self.files.indices.flatMap { number in Self.files[number].codes.map { _ in Self.name(number) }
    }
    expect(heads.sorted(), named.sorted())
  }

  @Test("a whole line")
  func line() throws {
    let folder = try Command.Folder()
    try folder.write("a.yaml", Self.scenario + "steps: [Opne]\n")
    let result = try Command.call("validate", "a.yaml", "--format", "json", in: folder.path)
    expect(
      result.output,
      #"{"file":"a.yaml","line":3,"column":9,"endLine":3,"endColumn":13,"severity":"error","code":"unknown-step","message":"unknown step `Opne`","hint":"did you mean `Open`?","suggestion":"Open","replacement":"Open"}"#
        + "\n")
  }

  @Test(
    "what is well-formed is counted for a person, and no line for a program; a machine's file is checked, too"
  )
  func wellFormed() throws {
    let folder = try Command.Folder()
    try folder.write("m.yaml", Self.machine + "transitions: [\(Self.row)]\n")
    try folder.write("a.yaml", Self.scenario + "steps: [Open]\n")
    for (words, summary) in [
      ("a.yaml", "1 scenario is well-formed"), ("m.yaml", "1 machine is well-formed"),
      (".", "1 scenario and 1 machine are well-formed"),
      (folder.path + "/m.yaml", "1 machine is well-formed"),
    ] {
      let human = try Command.call("validate", words, in: folder.path)
      expect([human.output, human.errors], [summary + "\n", ""])
      let json = try Command.call("validate", words, "--format", "json", in: folder.path)
      expect([json.output, json.errors], ["", ""])
      expect([human.status, json.status], [0, 0])
    }
    try folder.makeFolder("e")
    expect(try Command.line("validate e --format json", in: folder.path).status, 4)
  }

  @Test("an editor is served until it has gone: 0 behind shutdown, else 1, and 3 where nobody listens")
  func server() throws {
    let folder = try Command.Folder()
    func framed(_ text: String) -> String { "Content-Length: \(text.utf8.count)\r\n\r\n\(text)" }
    let begin = framed(#"{"id":1,"method":"initialize","params":{}}"#)
    let end = framed(#"{"id":2,"method":"shutdown"}"#)
    try folder.write("whole", begin + end + framed(#"{"method":"exit"}"#))
    try folder.write("begun", begin)
    let results = try ["< whole", "< begun", "< /dev/null", "< whole >&-"].map {
      try Command.shell("$LOCKSTEP lsp \($0)", in: folder.path)
    }
    expect(results.map(\.status), [0, 1, 1, 3])
    let answer = framed(#"{"jsonrpc":"2.0","id":2,"result":null}"#)
    #expect(results[0].output.hasSuffix(answer), "\(results[0])")
    #expect(results[3].errors.hasPrefix("lockstep: the editor does not listen any more"), "\(results[3])")
  }
}
