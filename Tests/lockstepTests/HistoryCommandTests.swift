import Reporting
import Basics
import Documents
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("lockstep history")
struct HistoryCommandTests {
  /// A folder of reports with the runs of some nights; a letter for each case: `.` agrees, `F` diverges, `~` takes two
  /// tries, and it takes a second for each of its letter's places.
  private func reports(_ nights: String...) throws -> Command.Folder {
    let folder = try Command.Folder()
    for (index, letters) in nights.enumerated() {
      let name = "2026-01-0\(index + 1)T02-00-00-run"
      let start = "2026-01-0\(index + 1)T02:00:00Z"
      try folder.write(
        "Reports/runs/\(name)/manifest.json",
        #"{"name":"\#(name)","host":"bench-01","start":"\#(start)","version":"1.0","properties":{"revision":"61f6abf"}}"#
      )
      var lines = [#"{"run":{"format":1,"seed":42,"cases":\#(letters.count)}}"#]
      for (number, letter) in letters.enumerated() {
        let id = "Scenarios/door/case-\(number)"
        func add(_ verdict: String, attempt: Int = 1) {
          lines += [
            #"{"case":{"id":"\#(id)","file":"\#(id).yaml","device":"emulator:door","firmware":"3.0","seed":42,"attempt":\#(attempt)}}"#,
            #"{\#(verdict),"case":"\#(id)","t":"\#(number + 1).000"}"#,
          ]
        }
        let divergence =
          #""verdict":"divergence","message":"stayed\u001b[31m open","signature":"s\#(number)""#
        if letter != "." { add(divergence) }
        if letter != "F" { add(#""verdict":"agree""#, attempt: letter == "~" ? 2 : 1) }
      }
      lines.append(#"{"end":{"cases":\#(letters.count),"status":\#(letters.contains("F") ? 1 : 0)}}"#)
      try folder.write("Reports/runs/\(name)/journal.jsonl", lines.joined(separator: "\n") + "\n")
    }
    return folder
  }

  @Test(
    "an edit of the program, the scenario or the machine is no flakiness, and a verdict that changes without one is"
  )
  func edits() throws {
    let folder = try Command.Folder()
    let script = #"""
      "$LOCKSTEP" new pad --kind exec --quiet && cd pad
      go() { "$LOCKSTEP" run scenarios/shuts-out.yaml --quiet --seed 1 > said 2>&1; echo "status $?"; }
      go
      cp device.py kept; sed 's/else 3/else 2/' kept > device.py; go
      cp kept device.py; go
      cp scenarios/shuts-out.yaml kept; sed 's/times: 3/times: 2/' kept > scenarios/shuts-out.yaml; go
      cp kept scenarios/shuts-out.yaml; go
      "$LOCKSTEP" history flaky; echo "flaky $?"
      cat > other.py <<'END'
      import os, sys
      if os.path.exists("broken"): sys.argv.append("bug")
      exec(open("device.py").read())
      END
      sed -i 's/device.py/other.py/' scenarios/shuts-out.yaml
      go; touch broken; go
      "$LOCKSTEP" history flaky; echo "flaky $?"
      """#
    let result = try Command.shell(script, in: folder.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    expect(lines.filter { $0.hasPrefix("status") }, [0, 1, 0, 1, 0, 0, 1].map { "status \($0)" })
    expect(lines.filter { $0.hasPrefix("flaky") }, ["flaky 0", "flaky 0"])
    let told = result.output.components(separatedBy: "flaky 0")
    #expect(!told[0].contains("shuts-out"), "\(result.output)")
    #expect(told[1].contains("  1        0     4/7") && told[1].contains("shuts-out"), "\(result.output)")
  }

  @Test("tells what runs came to, for people")
  func text() throws {
    let folder = try reports("..", "F~", ".F")
    let results = try [
      "", "add Reports/runs/*", "add Reports/runs/*/", "", "flaky", "slow", "failures --last 1",
      "cases --filter case-0", "case case-1", "case x", "runs --since 2027-01-01",
    ].map { try Command.line("history " + $0, in: folder.path) }
    expect(results.map(\.status), [4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 4])
    expect(
      results.map(\.output).joined(),
      """
      3 runs taken into Reports/history.sqlite
      3 runs taken into Reports/history.sqlite
                 started  cases  agree  diverge  trouble  incomplete  skipped  flaky  run
        2026-01-03 02:00      2      1        1        ·           ·        ·      ·  2026-01-03T02-00-00-run on bench-01
        2026-01-02 02:00      2      1        1        ·           ·        ·      1  2026-01-02T02-00-00-run on bench-01
        2026-01-01 02:00      2      2        ·        ·           ·        ·      ·  2026-01-01T02-00-00-run on bench-01

      3 runs of 2 cases in Reports/history.sqlite
        flaky   2 cases: lockstep history flaky
        slower  none
        changes  retried  agreed            latest  runs  case
              2        0     2/3  66 %  2026-01-03  ✔✘✔   Scenarios.door / case-0
              1        1     2/3  66 %  2026-01-03  ✔~✘   Scenarios.door / case-1
      no case is slower than usual in 3 runs
      ✘ stayed\\u{1B}[31m open
          in 1 run, 2026-01-03 02:00   s1
          Scenarios.door / case-1
        agreed        flaky  usual  first seen  runs  case
           2/3  66 %      2      ·  2026-01-01  ✔✘✔   Scenarios.door / case-0
      Scenarios.door / case-1
        first seen 2026-01-01, agreed 2 of 3, 1 change, 1 with another try
        2026-01-03 02:00  ✘  2.000 s  emulator:door 3.0  2026-01-03T02-00-00-run
            stayed\\u{1B}[31m open
        2026-01-02 02:00  ~  2.000 s  emulator:door 3.0  2026-01-02T02-00-00-run (2 tries)
            stayed\\u{1B}[31m open
        2026-01-01 02:00  ✔  2.000 s  emulator:door 3.0  2026-01-01T02-00-00-run

      """)
    expect(
      results.map(\.errors).joined(),
      """
      lockstep: there is no history at Reports/history.sqlite yet
      lockstep: no case of Reports/history.sqlite is called x
      lockstep: no such run is in Reports/history.sqlite

      """)
  }

  @Test("what it prints for programs is as its schema says")
  func json() throws {
    let folder = try reports("..", "F~", ".F", "..", "..", "..", "..", "..")
    try folder.write("schema.json", HistoryAnswer.shape.line)
    let validator = """
      import json, sys, jsonschema
      lines = [json.loads(line) for line in sys.stdin]
      validator = jsonschema.Draft7Validator(json.load(open("schema.json")))
      print([line["question"] for line in lines], [e.message for l in lines for e in validator.iter_errors(l)])
      """
    let result = try Command.shell(
      "for q in 'add Reports/runs/*' '' runs flaky slow cases failures 'case case-1'; do "
        + "$LOCKSTEP history $q --format json; done | python3 -c '\(validator)'", in: folder.path)
    expect(result.errors, "")
    expect(
      result.output,
      "['add', 'overview', 'runs', 'flaky', 'slow', 'cases', 'failures', 'case'] []\n")
  }

  @Test(
    "what is asked wrongly, and what cannot be used, says so",
    arguments: [
      (
        "flakey", 2,
        "lockstep: no question is called 'flakey': did you mean 'flaky'?\nSee 'lockstep history --help'.\n"
      ),
      ("case", 2, "lockstep: missing NAME: lockstep history case NAME\nSee 'lockstep history --help'.\n"),
      ("flaky slow", 2, "lockstep: unexpected argument 'slow'\nSee 'lockstep history --help'.\n"),
      (
        "--history none", 2,
        "lockstep: '--history none' leaves nothing to tell\nSee 'lockstep history --help'.\n"
      ),
      (
        "--since yesterday", 2,
        "lockstep: '--since' expects a date such as 2026-11-20, or 2026-11-20T22:38:51Z, not 'yesterday'\nSee 'lockstep history --help'.\n"
      ),
      (
        "--since 2026-13-01", 2,
        "lockstep: '--since' expects a date such as 2026-11-20, or 2026-11-20T22:38:51Z, not '2026-13-01'\nSee 'lockstep history --help'.\n"
      ),
      (
        "--since 2026-02-30", 2,
        "lockstep: '--since' expects a date such as 2026-11-20, or 2026-11-20T22:38:51Z, not '2026-02-30'\nSee 'lockstep history --help'.\n"
      ),
      (
        "--since 2026-11-20T24:00:00Z", 2,
        "lockstep: '--since' expects a date such as 2026-11-20, or 2026-11-20T22:38:51Z, not '2026-11-20T24:00:00Z'\nSee 'lockstep history --help'.\n"
      ),
      (
        "--since 2026-11-20T22:60", 2,
        "lockstep: '--since' expects a date such as 2026-11-20, or 2026-11-20T22:38:51Z, not '2026-11-20T22:60'\nSee 'lockstep history --help'.\n"
      ),
      (
        "--history text", 2,
        "lockstep: the history at text is damaged: file is not a database. Put it aside: 'lockstep history add RUN…' fills a new one from the journals\n"
      ),
      (
        "--history=postgres://me:hunter2@/db?host=/none", 3,
        "lockstep: the history at postgres:///db cannot be reached: connection to server on socket \"/none/.s.PGSQL.5432\" failed: No such file or directory; Is the server running locally and accepting connections on that socket?\n"
      ),
      (
        "add nothing", 2,
        "lockstep: there is no run nothing: neither nothing/journal.jsonl nor Reports/runs/nothing/journal.jsonl is there\nSee 'lockstep history --help'.\n"
      ),
    ] as [(String, Int32, String)])
  func trouble(_ words: String, _ status: Int32, _ said: String) throws {
    let folder = try Command.Folder()
    try folder.write("text", String(repeating: "no database ", count: 1000))
    let result = try Command.line("history \(words)", in: folder.path)
    expect("\(result.status) \(result.output)\(result.errors)", "\(status) \(said)")
  }

  @Test("eight processes that add runs at once lose none")
  func writers() throws {
    let folder = try reports("..", "F~", ".F", "..", "..", "..", "..", "~F")
    let place = "deep/history.sqlite"
    // Each adds its own run, and all of them the first one.
    let result = try Command.shell(
      "seq 8 | xargs -P 8 -I N sh -c '$LOCKSTEP history add 2026-01-01T02-00-00-run 2026-01-0NT02-00-00-run "
        + "--history \(place) --format json >N.json 2>>errors'; cat errors; "
        + "$LOCKSTEP history cases --history '\(place)' --color never | sed 's/  [a-zS].*//'", in: folder.path
    )
    expect(
      result.output,
      """

           7/8  87 %      3  1.000 s  2026-01-01  ✔✘✔✔✔✔✔~
           6/8  75 %      4  2.000 s  2026-01-01  ✔~✘✔✔✔✔✘

      """)
  }
}
