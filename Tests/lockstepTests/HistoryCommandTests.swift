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
    expect(try Command.line("new pad --kind exec --quiet", in: folder.path).status, 0)
    let pad = folder.path + "/pad"
    func status() throws -> Int32 {
      try Command.line("run scenarios/shuts-out.yaml --quiet --seed 1", in: pad).status
    }
    let (device, scenario) = ("pad/device.py", "pad/scenarios/shuts-out.yaml")
    var statuses = [try status()]
    for (file, text, other) in [(device, "else 3", "else 2"), (scenario, "times: 3", "times: 2")] {
      let before = try folder.read(file)
      #expect(before.contains(text))
      for content in [before.replacing(text, with: other), before] {
        try folder.write(file, content)
        statuses.append(try status())
      }
    }
    let edited = try Command.line("history flaky", in: pad)
    try folder.write(
      "pad/other.py",
      """
      import os, sys
      if os.path.exists("broken"): sys.argv.append("bug")
      exec(open("device.py").read())

      """)
    try folder.write(scenario, try folder.read(scenario).replacing("device.py", with: "other.py"))
    statuses.append(try status())
    try folder.write("pad/broken", "")
    statuses.append(try status())
    expect(statuses, [0, 1, 0, 1, 0, 0, 1])
    let changed = try Command.line("history flaky", in: pad)
    expect([edited, changed].map(\.status), [0, 0])
    #expect(!edited.output.contains("shuts-out"), "\(edited.output)")
    #expect(
      changed.output.contains("  1        0     4/7") && changed.output.contains("shuts-out"),
      "\(changed.output)")
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
    let schema = try folder.write("schema.json", HistoryAnswer.shape.line)
    let asked = [
      ("add Reports/runs/*", "add"), ("", "overview"), ("runs", "runs"), ("flaky", "flaky"), ("slow", "slow"),
      ("cases", "cases"), ("failures", "failures"), ("case case-1", "case"),
    ]
    var answers: [String] = []
    for (words, question) in asked {
      let result = try Command.line("history \(words) --format json", in: folder.path)
      expect(result.errors, "")
      expect(try JSON(parsing: result.output)["question"]?.string, question)
      answers.append(try folder.write("\(question).json", result.output))
    }
    expect(validate(answers, against: schema), asked.map { "\($0.1).json valid" })
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
        "lockstep: with '--history none' there is no history to show\nSee 'lockstep history --help'.\n"
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
