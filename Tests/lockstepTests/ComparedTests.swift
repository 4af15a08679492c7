import Foundation
import Glibc
import TestSupport
import Testing

/// A program that answers whatever is asked with nothing, or with one status.
private func program(_ lines: String) -> String {
  """
  import json, sys
  for line in sys.stdin:
      message = json.loads(line)
  \(lines.split(separator: "\n").map { "    " + $0 }.joined(separator: "\n"))
      print('{"settled":true}', flush=True)

  """
}

@Suite("What a verdict rests on", .timeLimit(.minutes(10)))
struct ComparedTests {
  private static let device = "'exec:python3 dead.py'"

  private func folder(_ program: String, _ steps: String) throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write("dead.py", program)
    try folder.write(
      "Scenarios/s.yaml", "scenario: A door\nmachine: door\ndevice: exec:python3 dead.py\nsteps: \(steps)\n")
    return folder
  }

  @Test(
    "a case in which nothing was compared is skipped, and a run of such cases is not green",
    arguments: [
      ("[wait: 10 ms]", "the device was asked for nothing, and showed nothing"),
      ("[refuse: Close]", "the device showed nothing at all, as one that is dead would"),
    ])
  func nothing(steps: String, why: String) throws {
    let folder = try folder(program("pass"), steps)
    let result = try Command.call("run", "--color", "never", in: folder.path)
    expect(result.status, 4)
    #expect(result.output.contains("  skipped  1: nothing was compared: \(why)\n"), "\(result.output)")
    expect(result.errors, "lockstep: no case has a verdict: every case was skipped\n")
    #expect(try folder.read("Reports/junit.xml").contains(#"skipped="1""#))
    expect(try Command.call("replay", "Scenarios/s.yaml", in: folder.path).status, 4)
  }

  @Test("agreement says what it rests on, and can be asked to rest on more")
  func options() throws {
    let folder = try Command.Folder()
    let head = "machine: door\ndevice: door\nsteps: "
    try folder.write("Scenarios/a.yaml", "scenario: A\n\(head)[Open, Close]\n")
    try folder.write("Scenarios/b.yaml", "scenario: B\n\(head)[wait: 1 s]\n")
    func run(_ words: String...) throws -> Command.Result {
      try Command.call(["run", "--color", "never"] + words, in: folder.path)
    }
    let green = try run("-v")
    expect(green.status, 0)
    #expect(green.output.contains("2 cases: 1 agree, 1 skipped"), "\(green.output)")
    #expect(green.output.contains("\n  compared 4 observations\n"), "\(green.output)")
    #expect(
      try folder.read("Reports/junit.xml").contains(#"<property name="lockstep.observations" value="4"/>"#))
    for (words, why) in [
      (["--fail-on-skipped"], "1 case was skipped; none may be (--fail-on-skipped)"),
      (["--min-cases", "2"], "1 case had a verdict; at least 2 are required (--min-cases)"),
    ] {
      let result = try Command.call(["run"] + words, in: folder.path)
      expect(result.status, 5)
      expect(result.errors, "lockstep: \(why)\n")
      // The reports of such a run are not green either.
      #expect(try folder.read("Reports/junit.xml").contains("the run ended with status 5; \(why)"))
    }
    expect(try run("--min-cases", "1", "--filter", "a.yaml", "--fail-on-skipped").status, 0)
    expect(try run("--min-cases", "0").status, 2)
    // Of several runs together.
    for (name, words) in [("one", ["--filter", "a.yaml"]), ("two", ["--filter", "b.yaml"])] {
      _ = try Command.call(["run", "--out", name] + words, in: folder.path)
    }
    let merged = try Command.line("report one/runs/* two/runs/* --min-cases 2", in: folder.path)
    expect(merged.status, 5)
    #expect(merged.errors.contains("1 case had a verdict; at least 2 are required"))
    expect(
      try Command.line("report one/runs/* two/runs/* --min-cases 1", in: folder.path).status, 0)
  }

  @Test(
    "what only an interlocked lock can honour is refused of other devices",
    arguments: [
      ("run s.yaml --actuations 4", "--actuations"), ("run s.yaml --park as-found", "--park"),
      ("run s.yaml --allow reset", "--allow"), ("replay s.yaml --park unlocked", "--park"),
      ("cover door --device exec:./x --allow reset", "--allow"),
      ("fuzz door --park locked --steps 1", "--park"),
    ])
  func safety(line: String, option: String) throws {
    let folder = try Command.Folder()
    try folder.write("s.yaml", "scenario: A\nmachine: door\ndevice: exec:./x\nsteps: [Open]\n")
    let result = try Command.line(line, in: folder.path)
    expect(result.status, 2)
    #expect(
      result.errors.contains("\(option) goes with a real lock, and cannot be honoured by "),
      "\(result.errors)")
  }

  @Test("a status that only looks like the model's is another one")
  func lookalike() throws {
    let folder = try folder(program(#"print(json.dumps({"status": "Ope\#u{301}ned"}))"#), "[Open]")
    try folder.write(
      "m.yaml",
      """
      machine: m
      states: [Closed, "Op\u{E9}ned"]
      events: [Open]
      starts: [{ state: Closed }]
      transitions: [{ event: Open, from: Closed, to: "Op\u{E9}ned" }]

      """)
    try folder.write(
      "dead.py", program(#"if "stimulus" in message: print(json.dumps({"status": "Ope\#u{301}ned"}))"#))
    try folder.write(
      "Scenarios/s.yaml", "scenario: A\nmachine: ../m.yaml\ndevice: exec:python3 dead.py\nsteps: [Open]\n")
    let result = try Command.call("run", in: folder.path)
    expect(result.status, 1)
    #expect(
      result.output.contains("(unknown to the model, which writes it with other characters that look alike)"),
      "\(result.output)")
  }

  @Test("two files whose names look alike are two, and one whose name is no text is not passed over")
  func files() throws {
    let folder = try Command.Folder()
    let text = "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n"
    let path = try folder.write("Scenarios/x.yaml", text)
    func link(_ letters: [UInt8]) {
      let name = Array("\(folder.path)/Scenarios/".utf8) + letters + Array(".yaml".utf8) + [0]
      expect(unsafe Glibc.link(path, name.map(CChar.init(bitPattern:))), 0)
    }
    link(Array("caf".utf8) + [0xC3, 0xA9])
    link(Array("cafe".utf8) + [0xCC, 0x81])
    let two = try Command.call("run", "--color", "never", in: folder.path)
    #expect(two.output.contains("3 cases: 3 agree"), "\(two.output) \(two.errors)")
    link(Array("b".utf8) + [0xFF])
    let garbled = try Command.call("run", in: folder.path)
    expect(garbled.status, 2)
    #expect(
      garbled.errors.contains("b\u{FFFD}.yaml: its name is no UTF-8, so that it cannot be named: rename it"))
  }

  @Test("what a program says colours nothing, and moves no cursor")
  func colours() throws {
    let status = #""\u001b[32m\u001b[2J\u009b1A\u202e\u2028x""#
    let folder = try folder(
      program(
        "print('{\"status\":\\(status)}')".replacing("\\(status)", with: status.replacing("\\", with: "\\\\"))
      ), "[Open]")
    for words in [
      ["run", "--color", "always"], ["run", "-vv", "--color", "always"], ["replay", "Scenarios/s.yaml"],
      ["run", "-vv", "--format", "json"],
    ] {
      let result = try Command.call(words, in: folder.path)
      expect(result.status, 1)
      for hostile in ["\u{1B}[2J", "\u{9B}", "\u{202E}", "\u{2028}", "\u{1B}[32m\u{1B}"] {
        #expect(
          !(result.output + result.errors).unicodeScalars.elementsEqual([])
            && !(result.output + result.errors).contains(hostile), "\(words)")
      }
    }
  }
}
