import Basics
import Documents
import Foundation
import TestSupport
import Testing

/// A scenario on the reference lock that agrees.
private let good = """
  scenario: A lock that is found
  machine: sesame-table
  steps:
    - closeTo
    - connect
    - refuse: lock

  """

/// One that does not.
private let bad = """
  scenario: A lock that is expected elsewhere
  device: { emulator: reference, registered: true }
  steps:
    - closeTo
    - expect: { status: connecting }

  """

@Suite("The command", .timeLimit(.minutes(10)))
struct CommandTests {
  @Test("what a terminal would obey is written out, whoever has named something so; our own colours stay")
  func inert() throws {
    let folder = try Command.Folder()
    try folder.write(
      "Scenarios/odd.yaml", good.replacing("A lock that is found", with: #""A\e[2J\a\x9block""#))
    expect(
      try Command.call("list", "Scenarios", in: folder.path).output.contains(
        #"A\u{1B}[2J\u{07}\u{009B}lock"#),
      true)
    try folder.write("Scenarios/odd.yaml", bad)
    let coloured = try Command.call("run", "--seed", "1", "--color", "always", in: folder.path).output
    expect(coloured.contains("\u{1B}[31m"), true)
    expect(coloured.contains(#"\u{1B}"#), false)
  }

  @Test("a run that agrees ends 0, with a report and a journal")
  func agrees() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/sub/good.yaml", good)
    let result = try Command.call("run", "--seed", "7", in: folder.path)
    expect(result.errors, "")
    expect(result.status, 0)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines[0].hasPrefix("1 case: 1 agree     ") && lines[0].hasSuffix("s   seed 7"), "\(lines)")
    expect(lines.dropFirst(), ["  report   Reports/report.html"])
    #expect(
      try folder.read("Reports/junit.xml").contains("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""))
    let names = folder.names("Reports/runs")
    expect(names.count, 1)
    expect(
      try folder.read("Reports/runs/\(names[0])/journal.jsonl"),
      """
      {"run":{"format":1,"seed":7,"cases":1}}
      {"case":{"id":"Scenarios/sub/good","name":"A lock that is found","file":"Scenarios/sub/good.yaml","line":1,"machine":"sesame-table","model":"cd5021eb45e083cb","device":"emulator:reference","seed":7,"digest":"90eec1f40c255a95","text":"374529b9dd0756e8"}}
      {"t":"0.000","model":["noSignal"]}
      {"t":"0.000","step":1,"line":4,"stimulus":"closeTo"}
      {"t":"0.000","model":["receivedBle"]}
      {"t":"0.000","status":"receivedBle"}
      {"t":"0.000","step":2,"line":5,"stimulus":"connect"}
      {"t":"0.000","model":["connecting"]}
      {"t":"0.000","status":"connecting"}
      {"t":"0.000","step":3,"line":6,"stimulus":"lock"}
      {"verdict":"agree","case":"Scenarios/sub/good","t":"0.000","observations":3}
      {"machine":{"name":"sesame-table","hash":"cd5021eb45e083cb","states":["noSignal (unregistered)","receivedBle (unregistered)","connecting (unregistered)","waitingGatt (unregistered)","readytoRegister (unregistered)","registering (unregistered)","noSignal (registered)","receivedBle (registered)","connecting (registered)","waitingGatt (registered)","logining (registered)","locked (registered)","unlocked (registered)","moved (registered)","nosetting (registered)","reset (registered)"],"regions":["unregistered","unregistered","unregistered","unregistered","unregistered","unregistered","registered","registered","registered","registered","registered","registered","registered","registered","registered","registered"],"stimuli":["closeTo","connect","linkUp","gattReady","register","registered","configure","loginDone","lock","unlock","toggle","disconnect","reset"],"cells":[[0,0,[1]],[6,0,[7]],[1,1,[2]],[7,1,[8]],[2,2,[3]],[8,2,[9]],[3,3,[4]],[9,3,[10]],[4,4,[5]],[5,5,[14]],[14,6,[11,12,13]],[10,7,[11,12,13,14]],[11,8,[11]],[12,8,[11]],[13,8,[11]],[11,9,[12]],[12,9,[12]],[13,9,[12]],[11,10,[12]],[12,10,[11]],[13,10,[11,12]],[10,11,[6]],[11,11,[6]],[12,11,[6]],[13,11,[6]],[14,11,[6]],[15,11,[0]],[11,12,[15]],[12,12,[15]],[13,12,[15]],[14,12,[15]]],"spontaneous":[]}}
      {"coverage":{"machine":"sesame-table","legal":[2,31],"empty":[1,177],"states":[3,16],"transitions":[2,37],"pairs":[1,106],"regions":[{"name":"unregistered","legal":[0,6],"empty":[0,72],"states":[0,6],"transitions":[0,6],"pairs":[0,8]},{"name":"registered","legal":[2,25],"empty":[1,105],"states":[3,10],"transitions":[2,31],"pairs":[1,98]}],"visited":["50000000","000000000000000000000000000000080000000000000","5000000000"]}}
      {"end":{"cases":1,"agree":1,"flaky":0,"divergences":0,"labFaults":0,"skipped":0,"incomplete":0,"observations":3,"status":0}}

      """)
    let manifest = try JSON(parsing: folder.read("Reports/runs/\(names[0])/manifest.json"))
    expect(manifest["name"], .text(names[0]))
    expect(manifest["seed"], 7)
    expect(manifest["command"], ["run", "--seed", "7"])
    #expect(manifest["start"] != nil && manifest["end"] != nil && manifest["host"] != nil)
  }

  @Test(
    "after so many failures no more is begun, what is left is skipped, and the verdict stands",
    arguments: [
      ("--fail-fast", "4 cases: 1 not as expected, 3 skipped", "1 case"),
      ("--max-fail 1", "4 cases: 1 not as expected, 3 skipped", "1 case"),
      ("--max-fail 2", "4 cases: 1 agree, 2 not as expected, 1 skipped", "2 cases"),
      ("--max-fail 3", "4 cases: 2 agree, 2 not as expected", ""),
    ])
  func failFast(options: String, summary: String, failures: String) throws {
    let folder = try Command.Folder()
    for (name, text) in [("a", bad), ("b", good), ("c", bad), ("d", good)] {
      try folder.write("Scenarios/\(name).yaml", text)
    }
    let result = try Command.call(
      ["run", "--seed", "7"] + options.split(separator: " ").map(String.init), in: folder.path)
    expect(result.status, 1)
    #expect(result.output.contains("\n\(summary)  "), "\(result.output)")
    let report = try folder.read("Reports/junit.xml")
    let words = "not begun: \(failures) failed, after which no more are wanted"
    expect(report.contains(words), !failures.isEmpty)
    expect(report.contains("errors=\"0\""), true)
  }

  @Test("a run that diverges ends 1, says why, and leaves a line that replays it")
  func diverges() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/bad.yaml", bad)
    try folder.write("Scenarios/good.yaml", good)
    let result = try Command.call("run", "--seed", "7", in: folder.path)
    expect(result.status, 1)
    let failures = folder.names("Reports/failures")
    expect(failures.count, 1)
    let text = """
      ≠ Scenarios/bad.yaml:5   not as expected at step 2, t = 0.000 s
          the model agrees; the scenario asks for more: expected status connecting, got receivedBle
          after   closeTo
          - status: connecting
          + status: receivedBle
        lockstep replay Reports/failures/\(failures[0])

      2 cases: 1 agree, 1 not as expected
      """
    #expect(result.output.hasPrefix(text), "\(result.output)")
    let replay = try Command.call("replay", "Reports/failures/\(failures[0])", in: folder.path)
    expect(replay.status, 1)
    expect(
      replay.output,
      """
      A lock that is expected elsewhere
        sesame-table and emulator:reference, seed 7

             0.000 s    1  closeTo
             0.000 s                    ▸ receivedBle
             0.000 s    2  expect status connecting

      ≠ Reports/failures/\(failures[0]):9   not as expected at step 2, t = 0.000 s
          the model agrees; the scenario asks for more: expected status connecting, got receivedBle
          after   closeTo
          - status: connecting
          + status: receivedBle
        trace ff35537fa3f6b830

      """)
    // A replay leaves nothing behind.
    expect(folder.names("Reports/runs").count, 1)
    let quiet = try Command.call("run", "--quiet", "--seed", "7", "Scenarios/good.yaml", in: folder.path)
    expect(quiet.output + quiet.errors, "")
  }

  @Test("two runs of one seed have equal journals, wherever they are written")
  func deterministic() throws {
    let folder = try Command.Folder()
    var journals: [String] = []
    for out in ["a", "b"] {
      let result = try Command.call(
        "run", "Scenarios/sesame5", "Scenarios/sesame3/autolock.yaml", "--seed", "11", "--out",
        folder.path + "/" + out,
        "--device", "emulator:sesame5?loss=0.05")
      #expect(result.status != 2, "\(result.errors)")
      let run = try #require(folder.names(out + "/runs").first)
      journals.append(
        try folder.read("\(out)/runs/\(run)/journal.jsonl").replacingOccurrences(
          of: "/\(out)/", with: "/out/"))
    }
    #expect(journals[0].utf8.count > 10_000)
    #expect(journals[0] == journals[1])
  }

  @Test("results as JSON, one object a line")
  func json() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/bad.yaml", bad)
    let result = try Command.call("run", "--format", "json", "--seed", "1", in: folder.path)
    let values = try result.output.split(separator: "\n").map { try JSON(parsing: String($0)) }
    expect(
      values.map { $0["verdict"] ?? $0["coverage"]?["machine"] ?? $0["end"]?["status"] },
      ["divergence", "sesame-table", 1])
    let list = try Command.call("list", "--format", "json", in: folder.path)
    expect(
      list.output,
      #"{"id":"Scenarios/bad","name":"A lock that is expected elsewhere","file":"Scenarios/bad.yaml","machine":"sesame-table","device":"emulator:reference","tags":[],"steps":2}"#
        + "\n")
  }

  @Test(
    "nothing selected ends 4, with a report all the same",
    arguments: [
      (["run", "--filter", "nowhere"], "lockstep: nothing to run: no scenario is selected\n"),
      (
        ["run", "--device", "emulator:door"], "lockstep: no case has a verdict: every case was skipped\n"
      ),
      (
        ["run", "empty"],
        "lockstep: empty: there is no scenario in this folder\nlockstep: nothing to run: no scenario is selected\n"
      ),
      (["bench", "--only", "zzz"], nil),
    ])
  func nothing(words: [String], errors: String?) throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/good.yaml", good)
    try folder.write("empty/readme.txt", "")
    let result = try Command.call(words, in: folder.path)
    expect(result.status, 4)
    if let errors {
      expect(result.errors, errors)
      #expect(folder.has("Reports/junit.xml"))
    }
  }

  @Test("shards share the scenarios out, and rounds have seeds of their own")
  func shards() throws {
    let folder = try Command.Folder()
    for number in 1...5 { try folder.write("Scenarios/\(number).yaml", good) }
    func files(_ words: String) throws -> [String] {
      try Command.line("list " + words, in: folder.path).output.split(separator: "\n").map {
        String($0.prefix { $0 != " " })
      }
    }
    expect(try files("--shard 1/2"), ["Scenarios/1.yaml", "Scenarios/3.yaml", "Scenarios/5.yaml"])
    expect(try files("--shard 2/2"), ["Scenarios/2.yaml", "Scenarios/4.yaml"])
    expect(try files("--filter 3.Y Scenarios Scenarios/3.yaml"), ["Scenarios/3.yaml"])
    let result = try Command.call("run", "--repeat", "3", "--seed", "5", "Scenarios/1.yaml", in: folder.path)
    expect(result.status, 0)
    let run = try #require(folder.names("Reports/runs").first)
    let cases = try folder.read("Reports/runs/\(run)/journal.jsonl").split(separator: "\n")
      .compactMap { try JSON(parsing: String($0))["case"] }.filter { $0["id"] != nil }
    expect(cases.map { $0["id"] }, ["Scenarios/1#1", "Scenarios/1#2", "Scenarios/1#3"])
    expect(Set(cases.compactMap { $0["seed"]?.line }).count, 3)
    expect(cases[0]["seed"], 5)
  }

  @Test(
    "the command line is checked before anything is done",
    arguments: [
      ("", 2, "Feeds the same events to a model"),
      ("buzz", 2, "unknown command 'buzz': did you mean 'fuzz'?"), ("fuzz", 2, "missing MACHINE"),
      ("report", 2, "missing RUN"), ("report nowhere", 2, "there is no run nowhere"),
      ("rnu", 2, "unknown command 'rnu': did you mean 'run'?"),
      ("--verbose", 2, "unknown option '--verbose'"),
      ("run --sede 3", 2, "unknown option '--sede': did you mean '--seed'?\nSee 'lockstep run --help'."),
      ("run --device oka", 2, "--device: unknown device `oka`"),
      ("run --device lock:x.yaml", 2, "a lock needs a transport: --transport usb:0"),
      (
        "run --device 'emulator:reference?defect=deaf'", 2,
        "--device: unknown defect `deaf`: expected one of deaf-unlock"
      ),
      ("run --device 'emulator:reference?spede=3'", 2, "--device: unknown setting `spede`"),
      ("run --out /proc/nowhere", 2, "/proc/nowhere"), ("replay", 2, "missing FILE"),
      ("machines nope", 2, "unknown machine `nope`"),
      ("machines door --format png", 2, "'--format' expects one of"),
      ("schema now", 2, "unknown schema 'now'"),
      ("run nowhere.yaml", 2, "nowhere.yaml: there is no such file or folder"),
      ("help rnu", 2, "unknown command 'rnu'"),
    ])
  func usage(words: String, status: Int32, message: String) throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/good.yaml", good)
    let result = try Command.line(words, in: folder.path)
    expect(result.status, status)
    expect(result.output, "")
    #expect(result.errors.contains(message), "\(result.errors)")
  }

  @Test(
    "help is data, and each command has some",
    arguments: [
      "--help", "help", "run --help", "help replay", "list -h", "validate --help", "schema --help",
      "machines --help",
      "bench --help", "version --help", "--version", "version",
    ])
  func help(words: String) throws {
    let result = try Command.line(words)
    expect(result.status, 0)
    expect(result.errors, "")
    #expect(result.output.contains("lockstep"))
  }

  @Test("colours come and go as asked")
  func colors() throws {
    let folder = try Command.Folder()
    try folder.write("Scenarios/bad.yaml", bad)
    func isColored(_ line: String) throws -> Bool {
      try Command.shell(line, in: folder.path).output.contains("\u{1B}[")
    }
    expect(try isColored("$LOCKSTEP run"), false)
    expect(try isColored("$LOCKSTEP run --color always"), true)
    // Whatever the terminal of these tests is.
    let colorful = "env -u NO_COLOR -u CLICOLOR_FORCE TERM=xterm script -qec \"$LOCKSTEP run\" /dev/null"
    expect(try isColored(colorful), true)
    expect(try isColored("NO_COLOR=1 script -qec \"$LOCKSTEP run 2>/dev/null\" /dev/null"), false)
    expect(try isColored("script -qec \"$LOCKSTEP run --color never 2>/dev/null\" /dev/null"), false)
  }

  @Test("what says nothing needs nobody to read it")
  func mute() throws {
    let none = try Command.shell("$LOCKSTEP run Scenarios/door --quiet --out \"$(mktemp -d)\" >&- 2>&-")
    expect(none.status, 0)
  }

  @Test(
    "every machine can be printed, and read back from what was printed",
    arguments: [
      "sesame", "sesame-table", "socket", "launcher", "flow", "door",
    ])
  func machines(name: String) throws {
    let folder = try Command.Folder()
    let text = try Command.call("machines", name, "--format", "yaml").output
    try folder.write("m.yaml", text)
    expect(try Command.call("machines", "./m.yaml", "--format", "yaml", in: folder.path).output, text)
    for (format, begin) in [("table", name), ("mermaid", "stateDiagram"), ("dot", "digraph")] {
      let drawing = try Command.call("machines", name, "--format", format).output
      #expect(drawing.prefix(40).contains(begin), "\(drawing)")
    }
  }
}
