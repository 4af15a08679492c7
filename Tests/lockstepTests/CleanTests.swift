import Basics
import Foundation
import TestSupport
import Testing

@testable import lockstep

@Suite("lockstep clean")
struct CleanTests {
  /// A folder with runs by name: the day in January 2026 on which they were, and what came of their case.
  private func reports(_ runs: [(day: Int, word: String)]) throws -> Command.Folder {
    let folder = try Command.Folder()
    for (day, word) in runs {
      let name = "Reports/runs/2026-01-0\(day)T02-00-00-run"
      try folder.write(
        name + "/manifest.json",
        #"{"id":"\#(day)","name":"n","host":"h","start":"2026-01-0\#(day)T02:00:00Z","command":["run"]}"#)
      let end =
        word == ""
        ? []
        : [
          #"{"verdict":"\#(word)","case":"c","t":"1.000","message":"m"}"#, #"{"end":{"cases":1,"status":0}}"#,
        ]
      let lines = [#"{"run":{"format":1,"seed":42}}"#, #"{"case":{"id":"c"}}"#] + end
      try folder.write(name + "/journal.jsonl", lines.map { $0 + "\n" }.joined())
      try folder.write(name + "/packets/c.btsnoop", "x")
    }
    return folder
  }

  /// Runs the command with some faults of its calls, and writes down all calls.
  private func faulty(
    _ line: String, calls: String, _ faults: String = "-", in folder: Command.Folder
  ) throws -> Command.Result {
    try Command.shell("$WORKBENCH faulty \(calls) '\(faults)' - -- \(line)", in: folder.path)
  }

  private func names(_ days: Int...) -> [String] { days.map { "2026-01-0\($0)T02-00-00-run" } }

  @Test(
    "removes what is old, of that what came to nothing, and not the latest",
    arguments: [
      ("--older 1d", []), ("--older 90000d", [1, 2, 3, 4, 5, 6]), ("--keep 2", [5, 6]),
      ("--keep 9", [1, 2, 3, 4, 5, 6]),
      ("--older 1d --keep 3", [4, 5, 6]), ("--older 1d --keep-failures", [2, 3, 6]),
      ("--keep 1 --keep-failures", [2, 3, 6]), ("--older 1d --dry-run", [1, 2, 3, 4, 5, 6]),
    ] as [(String, [Int])])
  func choice(_ words: String, _ left: [Int]) throws {
    let folder = try reports([
      (1, "agree"), (2, "divergence"), (3, "lab-fault"), (4, "agree"), (5, ""), (6, "divergence"),
    ])
    let result = try Command.line("clean \(words) -q", in: folder.path)
    expect([result.output, result.errors, "\(result.status)"], ["", "", "0"])
    expect(
      folder.names("Reports/runs").filter { !$0.hasPrefix(".") }, left.map { "2026-01-0\($0)T02-00-00-run" })
  }

  @Test(
    "where failures are kept, what has ended and does not say how stays too, and what ended with a divergence"
  )
  func unsaid() throws {
    let folder = try reports([(1, "agree"), (2, "agree"), (3, "agree")])
    let run = "Reports/runs/2026-01-0"
    try folder.write(run + "1T02-00-00-run/journal.jsonl", "")
    try folder.write(
      run + "1T02-00-00-run/manifest.json",
      try folder.read(run + "1T02-00-00-run/manifest.json").replacing(
        #""command""#, with: #""end":"2026-01-01T02:00:01Z","command""#))
    // Its verdict was lost, and its end was not.
    try folder.write(
      run + "2T02-00-00-run/journal.jsonl",
      "{\"run\":{\"format\":1,\"seed\":42}}\n{\"end\":{\"cases\":1,\"status\":1}}\n")
    let result = try Command.line("clean --older 1d --keep-failures", in: folder.path)
    #expect(result.output.contains("it has ended, and its journal does not say how"), "\(result.output)")
    expect(folder.names("Reports/runs").filter { !$0.hasPrefix(".") }, names(1, 2))
  }

  @Test("touches nothing that is no folder of a run, follows no link, and says what it did")
  func others() throws {
    let folder = try reports([(1, "agree"), (2, "divergence")])
    for name in [
      "outside/keep", "Reports/runs/mine/x", "Reports/runs/note.txt", "Reports/failures/a.yaml",
      "Reports/corpus/d/b.yaml",
    ] {
      try folder.write(name, "x")
    }
    try folder.write(
      "elsewhere/manifest.json", try folder.read("Reports/runs/2026-01-01T02-00-00-run/manifest.json"))
    try folder.write("elsewhere/journal.jsonl", "")
    let files = FileManager.default
    try files.createSymbolicLink(
      atPath: folder.path + "/Reports/runs/link", withDestinationPath: folder.path + "/elsewhere")
    try files.createSymbolicLink(
      atPath: folder.path + "/Reports/runs/2026-01-01T02-00-00-run/out",
      withDestinationPath: folder.path + "/outside")
    let line = "clean --older 1d --keep-failures"
    let text = """
        kept     link: it is no folder of a run
        kept     mine: it is no folder of a run
        kept     note.txt: it is no folder of a run
        kept     2026-01-02T02-00-00-run: it has a divergence

      """
    let trial = try Command.line("\(line) -n", in: folder.path)
    let size = "2[0-9][0-9] B"
    #expect(
      try trial.output.contains(Regex("^  would go  2026-01-01T02-00-00-run  \(size)\n")), "\(trial.output)")
    #expect(trial.output.contains(text.dropLast()), "\(trial.output)")
    let result = try Command.line("\(line) --format json", in: folder.path)
    expect([result.errors, "\(result.status)"], ["", "0"])
    let json = try JSON(parsing: Array(result.output.utf8))
    expect(json["removed"]?.elements?.map { $0["run"]?.string }, ["2026-01-01T02-00-00-run"])
    expect(json["kept"]?.elements?.map { $0["why"]?.string }.last, "it has a divergence")
    expect(folder.names("Reports/runs"), ["2026-01-02T02-00-00-run", "link", "mine", "note.txt"])
    expect(
      ["outside/keep", "elsewhere/journal.jsonl", "Reports/failures/a.yaml", "Reports/corpus/d/b.yaml"]
        .filter(folder.has).count, 4)
  }

  @Test(
    "stopped, killed or hindered at any call, it leaves each run whole or gone, says so, and the next one finishes"
  )
  func interrupted() throws {
    let runs = names(1, 2)
    let clean = "clean --keep 1 -q"
    /// Two runs of which one goes, one that stays, and what is nobody's.
    func arrange() throws -> Command.Folder {
      let folder = try reports([(1, "agree"), (2, "divergence"), (3, "agree")])
      try folder.write("Reports/runs/mine/x", "x")
      try folder.write("Reports/runs/.gone.mine/x", "x")
      return folder
    }
    func state(_ folder: Command.Folder) -> [String] {
      let all = folder.names("Reports/runs").filter { !$0.hasPrefix(".in") }
      return all.sorted()
    }
    let whole = try arrange()
    let calls = whole.path + "/calls"
    expect(try faulty(clean, calls: calls, in: whole).status, 0)
    let left = [".gone.mine", names(3)[0], "mine"]
    expect(state(whole), left)
    let made = try whole.read("calls").split(separator: "\n").map(String.init)
    let trials = made.flatMap { (call: String) -> [(String, String)] in
      switch call.prefix(while: { $0 != "@" }) {
      case "rename", "unlink": ["EACCES", "death-before", "death-after"].map { (call, $0) }
      case "open", "lock", "stat", "opendir", "read": [(call, "EIO")]
      default: []
      }
    }
    #expect(trials.count { $0.1 == "death-after" } >= 10)
    var outcomes: [String: Int] = [:]
    for (call, kind) in trials {
      let folder = try arrange()
      let result = try faulty(clean, calls: calls, "\(call)=\(kind)", in: folder)
      let there = state(folder)
      // What has the name of a run is all there.
      for name in runs where there.contains(name) {
        let files = ["manifest.json", "journal.jsonl", "packets/c.btsnoop"]
        #expect(files.allSatisfy { folder.has("Reports/runs/\(name)/\($0)") }, "\(call)=\(kind)")
      }
      #expect(Set(there).isSuperset(of: left), "\(call)=\(kind)")
      expect(folder.has("Reports/runs/.gone.mine/x") && folder.has("Reports/runs/mine/x"), true)
      if result.status == 0 { #expect(there == left, "\(call)=\(kind): \(there)") }
      if result.status == 3 { #expect(result.errors.hasPrefix("lockstep: "), "\(call)=\(kind): \(result)") }
      outcomes["\(result.status)", default: 0] += 1
      let next = try Command.line(clean, in: folder.path)
      expect("\(next.status)\(next.errors)", "0")
      #expect(state(folder) == left, "\(call)=\(kind): \(state(folder))")
    }
    expect(Set(outcomes.keys), ["0", "3", "137"])
  }

  @Test("what was begun to be removed and cannot be is not said to be gone, however often it is tried")
  func stuck() throws {
    let folder = try reports([(1, "agree")])
    let calls = folder.path + "/calls"
    let clean = "clean --older 1d -q"
    let trial = try reports([(1, "agree")])
    _ = try faulty(clean, calls: calls, in: trial)
    let unlinks = try folder.read("calls").split(separator: "\n").filter { $0.hasPrefix("unlink@") }
    let last = try #require(unlinks.last)
    let place = last.prefix { $0 != "#" }
    let faults = (1...20).map { "\(place)#\($0)=EACCES" }.joined(separator: ",")
    for _ in 1...2 {
      let result = try faulty(clean, calls: calls, faults, in: folder)
      expect(result.status, 3)
      #expect(
        result.errors.hasPrefix("lockstep: \(names(1)[0]) is not removed: Reports/runs/.gone."),
        "\(result.errors)")
    }
    let done = try Command.line(clean, in: folder.path)
    expect(done.status, 0)
    expect(folder.names("Reports/runs"), [])
  }

  @Test("asked to stop in the middle, it finishes the run at hand, ends with 5, and the next one goes on")
  func stopped() throws {
    let folder = try reports([(1, "agree")])
    let result = try Command.shell(
      """
      cd Reports/runs; first=$(ls); for number in $(seq 10 509); do cp -r $first $first-$number; done; cd ../..
      $LOCKSTEP clean --older 1d -q 2> errors & clean=$!
      while [ -d Reports/runs/$first ]; do :; done
      kill -TERM $clean; wait $clean; echo $?
      ls Reports/runs | wc -l; ls -A Reports/runs | grep -c gone
      find Reports/runs -name manifest.json | wc -l; find Reports/runs -name c.btsnoop | wc -l
      $LOCKSTEP clean --older 1d -q; echo $?; ls Reports/runs | wc -l
      """, in: folder.path)
    let words = result.output.split(separator: "\n").compactMap { Int($0) }
    try #require(words.count == 7)
    let (status, left) = (words[0], words[1])
    expect(status, left > 0 ? 5 : 0)
    expect(words, [status, left, 0, left, left, 0, 0])
    expect(
      try folder.read("errors"), status == 5 ? "lockstep: stopped; the remaining runs are complete\n" : "")
  }

  @Test(
    "says what is wrong",
    arguments: [
      (
        "clean", 2,
        "lockstep: name the runs to remove: --older AGE, --keep N, or both\nSee 'lockstep clean --help'.\n"
      ),
      (
        "clean --older 30", 2,
        "lockstep: '--older' expects an age such as 30d, 12h or 8w, not '30'\nSee 'lockstep clean --help'.\n"
      ),
      ("clean --older 1d --out none", 4, "lockstep: there are no runs: none/runs is not there\n"),
      (
        "clean --older 1d --out link", 2,
        "lockstep: link/runs is no folder itself; name the one that has the runs by --out\nSee 'lockstep clean --help'.\n"
      ),
    ] as [(String, Int32, String)])
  func wrong(_ words: String, _ status: Int32, _ said: String) throws {
    let folder = try reports([(1, "agree")])
    try folder.write("link/x", "")
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/link/runs", withDestinationPath: folder.path + "/Reports/runs")
    let result = try Command.line(words, in: folder.path)
    expect("\(result.status) \(result.output)\(result.errors)", "\(status) \(said)")
    expect(folder.names("Reports/runs"), names(1))
  }
}
