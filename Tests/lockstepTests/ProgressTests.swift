@testable import Reporting
@testable import CommandLine
import System
import Journal
import Foundation
import Basics
import TestSupport
import Testing

@testable import lockstep

@Suite("How far a run is", .timeLimit(.minutes(10)))
struct ProgressTests {
  private var position: RunPosition {
    var position = RunPosition(total: 50, begin: .seconds(100))
    for number in 0..<12 {
      position.take(.verdict(Record.Verdict(number == 3 ? .divergence : .agree, of: "")))
    }
    begin("Scenarios/sesame5/jam.yaml", 12, step: 4, at: 150, &position)
    return position
  }

  @Test("a line for a log, an answer to who asks, and a bar that fits")
  func texts() {
    let (position, plain, now) = (position, Painter(isOn: false), Interval.seconds(160))
    expect(
      position.line(at: now, plain),
      "[12/50]  1:00  11 agree, 1 diverge  3:10 left  now Scenarios/sesame5/jam.yaml, step 4, 10.0 s")
    expect(
      position.answer(at: now),
      "lockstep: case 13 of 50, Scenarios/sesame5/jam.yaml, at step 4, for 10.0 s; so far 11 agree, 1 diverge; "
        + "1:00 since the start")
    expect(
      position.bar(at: now, columns: 120, plain),
      "[=====                   ] 12/50  1:00  3:10 left  11 agree, 1 diverge  Scenarios/sesame5/jam.yaml  step 4  10.0 s"
    )
    expect(
      position.bar(at: now, columns: 80, plain),
      "[==          ] 12/50  1:00  3:10 left  11 agree, 1 diverge  Scenarios/sesame5/…")
    for columns in [1, 2, 10, 20, 59, 60, 99, 100, 300] {
      for isOn in [false, true] {
        #expect(
          visibleWidth(position.bar(at: now, columns: columns, Painter(isOn: isOn))) <= max(columns - 1, 0))
      }
    }
    expect(
      RunPosition(total: nil, begin: .zero).answer(at: .seconds(5)),
      "lockstep: 0 cases done, none is being driven; so far none has a verdict; 5.0 s since the start")
  }

  @Test("a case counts once, however often it is tried", arguments: [false, true])
  func tries(failsFlaky: Bool) {
    var position = RunPosition(total: 2, begin: .zero)
    position.take(.run(Record.Run(seed: 1, cases: 2, failsFlaky: failsFlaky)))
    var failed = Record.Verdict(.divergence, of: "a")
    failed.isTriedAgain = true
    position.take(.verdict(failed))
    position.take(.verdict(failed))
    expect(position.done, 0)
    position.take(.verdict(Record.Verdict(.agree, of: "a")))
    position.take(.verdict(Record.Verdict(.divergence, of: "b")))
    expect(
      [position.done, position.tally.agree, position.tally.divergences], failsFlaky ? [2, 0, 2] : [2, 1, 1])
  }

  /// A door that takes its time over each stimulus.
  private func slowFolder(_ seconds: String) throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write(
      "slow.py",
      """
      import json, sys, time
      for line in sys.stdin:
          if "stimulus" in line: time.sleep(\(seconds))
          print(json.dumps({"status": "Closed"}))
          print(json.dumps({"settled": True}), flush=True)

      """)
    for name in ["a", "b"] {
      try folder.write(
        "Scenarios/\(name).yaml",
        "scenario: A door\nmachine: door\ndevice: exec:python3 slow.py\nsteps: [{ refuse: Close }]\n")
    }
    return folder
  }

  /// Has a case begin at a second, and come to a step.
  private func begin(
    _ file: String, _ place: Int, step: Int, at second: Int64, _ position: inout RunPosition
  ) {
    var test = Record.Case(id: file)
    test.file = file
    position.see(.begin(test), of: place, at: .seconds(second))
    var event = Record.Event(.stimulus, "lock", at: .zero)
    event.step = step
    position.see(.event(event), of: place, at: .seconds(second))
  }

  @Test("side by side: each slow case is named, each time that it has taken as long once more")
  func lanes() {
    var position = position
    begin("b.yaml", 13, step: 2, at: 155, &position)
    begin("c.yaml", 14, step: 1, at: 170, &position)
    func notices(_ second: Int64) -> [String] { position.notices(at: .seconds(second), after: .seconds(30)) }
    expect(notices(179), [])
    expect(notices(180), ["SLOW [> 30 s]  Scenarios/sesame5/jam.yaml, at step 4"])
    expect(notices(184), [])
    expect(notices(201), ["SLOW [> 30 s]  b.yaml, at step 2", "SLOW [> 30 s]  c.yaml, at step 1"])
    // The first one ends, and another one takes its place; what ends first is not the first that began.
    position.see(.verdict(Record.Verdict(.agree, of: "")), of: 12, at: .seconds(202))
    begin("c.yaml, tried again", 14, step: 1, at: 203, &position)
    expect(notices(215), ["SLOW [> 1 min]  b.yaml, at step 2"])
    expect(notices(240), ["SLOW [> 30 s]  c.yaml, tried again, at step 1"])
    let plain = Painter(isOn: false)
    expect(
      position.line(at: .seconds(240), plain),
      "[12/50]  2:20  11 agree, 1 diverge  7:23 left  now b.yaml, step 2, 1:25  +1")
    expect(
      position.answer(at: .seconds(240)),
      "lockstep: case 13 of 50, b.yaml, at step 2, for 1:25; beside it c.yaml, tried again, at step 1, for 37.0 s; so far "
        + "11 agree, 1 diverge; 2:20 since the start")
    #expect(position.bar(at: .seconds(240), columns: 120, plain).hasSuffix("b.yaml  step 2  1:25  +1"))
  }

  @Test("with --jobs all that are slow are named, and not only the first that is not done")
  func slowSideBySide() throws {
    let folder = try slowFolder("2")
    let result = try Command.call(
      "run", "--seed", "1", "--jobs", "2", "--slow-timeout", "1s", in: folder.path)
    expect(result.status, 0)
    for name in ["a", "b"] {
      #expect(
        result.errors.split(separator: "\n").contains {
          $0.hasPrefix("SLOW [> ") && $0.contains("]  Scenarios/\(name).yaml, at step ")
        },
        "\(result.errors)")
    }
  }

  @Test("in a log: who is slow, each tenth, and what SIGUSR1 asks for")
  func log() throws {
    let folder = try slowFolder("1.5")
    let result = try Command.shell(
      """
      $LOCKSTEP run --seed 1 -v --show-progress counter --slow-timeout 0.5s & run=$!
      until grep -qs a.yaml Reports/runs/*/journal.jsonl; do sleep 0.05; done
      kill -USR1 $run; wait $run
      """, in: folder.path)
    expect(result.status, 0)
    let errors = result.errors.replacing(/[0-9]+\.[0-9] s/, with: "N").replacing(
      /> [^\]]+\]/, with: "> N]"
    )
    .split(separator: "\n").map(String.init)
    #expect(errors.contains { $0.hasPrefix("SLOW [> N]  Scenarios/a.yaml, at step ") }, "\(result.errors)")
    #expect(
      errors.contains {
        $0.hasPrefix("lockstep: case ") && $0.hasSuffix("N since the start")
          && $0.contains(" of 2, Scenarios/")
      },
      "\(result.errors)")
    #expect(errors.contains { $0.hasPrefix("[1/2]  N  1 agree  N left") }, "\(result.errors)")
    expect(errors.last, "[2/2]  N  2 agree")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(
      lines[0].hasPrefix("✔ Scenarios/a.yaml   ") && lines[1].hasPrefix("✔ Scenarios/b.yaml   "), "\(lines)")
  }

  @Test("on a terminal: one line that is drawn over, and gone at the end")
  func terminal() throws {
    let folder = try slowFolder("0.7")
    func drawn(_ options: String = "") throws -> Command.Result {
      let line = "stty cols 70 rows 24; TERM=xterm $LOCKSTEP run --seed 1 --color never \(options)"
      return try Command.shell("script -qec '\(line)' /dev/null", in: folder.path)
    }
    let result = try drawn()
    expect(result.status, 0)
    let parts = result.output.components(separatedBy: "\r\u{1B}[J")
    #expect(parts.count > 2, "\(result.output.debugDescription)")
    #expect(
      parts.contains {
        $0.hasPrefix("[======      ] 1/2  ") && $0.contains("1 agree  Scenarios/b.yaml")
      })
    #expect(parts.dropFirst().dropLast().allSatisfy { $0.count < 70 && !$0.contains("\n") }, "\(parts)")
    // After the last time that it was taken away there is nothing but the summary.
    #expect(parts.last?.hasPrefix("2 cases: 2 agree") ?? false, "\(parts.last ?? "")")
    for quiet in ["--quiet", "--show-progress none"] {
      let silent = try drawn(quiet)
      #expect(!silent.output.contains("\u{1B}["), "\(silent.output.debugDescription)")
    }
  }

  @Test("twice -v is everything that happens, and as JSON the whole journal")
  func verbose() throws {
    let folder = try Command.Folder()
    try folder.write("a.yaml", "scenario: A\nmachine: sesame-table\nsteps: [closeTo, connect]\n")
    let trace = try Command.call("run", "-vv", "--seed", "1", "a.yaml", in: folder.path)
    #expect(trace.output.hasPrefix("A\n  sesame-table and emulator:reference, seed 1\n\n"), "\(trace.output)")
    #expect(
      trace.output.contains("    1  closeTo\n") && trace.output.contains("▸ receivedBle"), "\(trace.output)")
    let json = try Command.call("run", "-vv", "--format", "json", "--seed", "1", "a.yaml", in: folder.path)
    let run = try #require(folder.names("Reports/runs").last)
    expect(json.output, try folder.read("Reports/runs/\(run)/journal.jsonl"))
  }

  @Test("a campaign answers too, also while a device takes its time")
  func fuzz() throws {
    let folder = try slowFolder("3")
    let result = try Command.shell(
      """
      $LOCKSTEP fuzz door --device 'exec:python3 slow.py' --duration 10min 2>said & run=$!
      until ls Reports/runs/*-fuzz >/dev/null 2>&1; do sleep 0.05; done
      until grep -q '; so far ' said; do kill -USR1 $run || break; sleep 0.1; done
      kill -INT $run; sleep 0.2; kill -INT $run; wait $run; cat said >&2
      """, in: folder.path)
    #expect(
      result.errors.contains("lockstep: fuzz door on exec:python3 slow.py, seed "), "\(result.errors)")
    #expect(result.errors.contains("; so far "), "\(result.errors)")
  }
}
