@testable import CommandLine
import Basics
import Documents
import Foundation
import TestSupport
import Testing

/// A reference lock with a defect that takes a few hundred events to find.
private let defect = "'emulator:reference?defect=deaf-unlock'"

/// Starts `fuzz` through the shell, hands over its process, and waits for its end: its workers are processes of the same program.
private func fuzz(
  _ words: String, in folder: Command.Folder, then body: (Program) throws -> Void = { _ in }
) throws -> Command.Result {
  let out = try Command.Folder()
  let process = try Command.start(
    "/bin/sh", ["-c", "exec $LOCKSTEP fuzz " + words], in: folder.path, out: out)
  try body(process)
  let status = process.waitUntilExit()
  return Command.Result(status: status, output: try out.read("output"), errors: try out.read("errors"))
}

/// The last lines of the journal of the only run, as JSON.
private func journal(_ folder: Command.Folder) throws -> [JSON] {
  let run = try #require(folder.names("Reports/runs").first)
  return try folder.read("Reports/runs/\(run)/journal.jsonl").split(separator: "\n").map {
    try JSON(parsing: String($0))
  }
}

private func state(_ folder: Command.Folder) throws -> JSON {
  let run = try #require(folder.names("Reports/runs").first)
  return try JSON(parsing: folder.read("Reports/runs/\(run)/campaign.json"))
}

@Suite("Campaigns as a process", .timeLimit(.minutes(10)))
struct FuzzCommandTests {
  @Test("Ctrl-C once writes everything and says how to go on, and then it does", arguments: [1, 2])
  func resume(jobs: Int) throws {
    let folder = try Command.Folder()
    let result = try fuzz("sesame-table --seed 3 --jobs \(jobs)", in: folder) { process in
      eventually { folder.names("Reports/corpus/sesame-table").count > 20 }
      process.signal(SIGINT)
    }
    expect(result.errors, "")
    expect(result.status, 5)
    let run = try #require(folder.names("Reports/runs").first)
    let line = "lockstep fuzz sesame-table --resume Reports/runs/\(run)"
    #expect(result.output.contains("  resume   \(line)\n"), "\(result.output)")
    let before = try state(folder)
    let events = try #require(Int(before["status"]?["events"]?.line ?? ""))
    #expect(events > 0)
    expect(before["round"], 0)
    #expect(try folder.read("Reports/junit.xml").contains("errors=\"1\""))
    // A line that was torn off by a power cut is no trouble.
    try folder.append("Reports/runs/\(run)/journal.jsonl", "{\"t\":\"0.")
    let again = try fuzz(
      line.dropFirst("lockstep fuzz ".count) + " --steps \(events + 3000) --quiet", in: folder)
    expect(again.errors, "")
    expect(again.status, 0)
    expect(folder.names("Reports/runs"), [run])
    expect(try state(folder)["round"], 1)
    expect(try state(folder)["status"]?["events"], .number("\(events + 3000)"))
    #expect(try folder.read("Reports/junit.xml").contains("tests=\"1\" failures=\"0\" errors=\"0\""))
    // The name of the run is enough, and the machine may be left out; what there is to do is done.
    let done = try fuzz("--resume \(run)", in: folder)
    expect(done.status, 0)
    expect(try journal(folder).filter { $0["run"] != nil }.count, 3)
  }

  @Test("a corpus that cannot be kept is trouble, whatever was found")
  func corpusPlace() throws {
    let folder = try Command.Folder()
    try folder.write("file", "mine")
    let result = try Command.call("fuzz", "door", "--steps", "500", "--corpus", "file", in: folder.path)
    expect(result.status, 3)
    #expect(result.errors.contains("the corpus is not kept"), "\(result.errors)")
    expect(try folder.read("file"), "mine")
  }

  @Test("a campaign is not gone on with on another machine than its own")
  func changedMachine() throws {
    let folder = try Command.Folder()
    let door = try Command.line("machines door --format yaml").output
    try folder.write("gate.yaml", door)
    let begin = "fuzz gate.yaml --device emulator:door --steps 500 --quiet"
    expect(try Command.line(begin, in: folder.path).status, 0)
    let resumption = "fuzz --resume \(try #require(folder.names("Reports/runs").first)) --quiet --steps"
    expect(try Command.line("\(resumption) 600", in: folder.path).status, 0)
    #expect(door.contains("machine: door\n"))
    try folder.write("gate.yaml", door.replacing("machine: door\n", with: "machine: gate\n"))
    let changed = try Command.line("\(resumption) 700", in: folder.path)
    expect(changed.status, 2)
    #expect(
      changed.errors.contains(
        "gate.yaml is no longer the machine with which the campaign began: start a new campaign"),
      "\(changed.errors)")
  }

  @Test("workers share the budget out, and leave one run")
  func jobs() throws {
    let folder = try Command.Folder()
    let result = try fuzz("sesame-table --seed 1 --steps 5001 --jobs 3", in: folder)
    expect(result.errors, "")
    expect(result.status, 0)
    #expect(result.output.contains("seed 1, 3 workers\n"))
    #expect(result.output.contains("nothing found in 5,001 events"), "\(result.output)")
    expect(folder.names("Reports/runs").count, 1)
    let lines = try journal(folder)
    expect(lines.compactMap { $0["campaign"]?["events"] }, [5001])
    expect(lines.last?["end"]?["cases"], 1)
    #expect(folder.names("Reports/corpus/sesame-table").count > 20)
  }

  @Test(
    "every machine has workers, also one whose table is long",
    arguments: ["sesame", "sesame-table", "socket", "launcher", "flow", "door"])
  func machines(machine: String) throws {
    let folder = try Command.Folder()
    for jobs in [2, 8] {
      let result = try fuzz("\(machine) --seed 1 --steps 3000 --jobs \(jobs)", in: folder)
      expect(result.errors, "")
      expect(result.status, 0)
      #expect(result.output.contains("nothing found in 3,000 events"), "\(result.output)")
      // What all of them visited is counted together.
      let cells = try #require(result.output.split(separator: "\n").first { $0.hasPrefix("  coverage ") })
      let visited = try #require(Int(cells.split(separator: " ")[2]))
      #expect(visited >= ["sesame": 100, "flow": 20, "launcher": 3, "door": 2][machine] ?? 30, "\(cells)")
    }
  }

  @Test("a finding has its packets, however many look for it", arguments: [1, 2])
  func packets(jobs: Int) throws {
    let folder = try Command.Folder()
    let result = try fuzz(
      "sesame --seed 1 --jobs \(jobs) --steps 200k --device 'emulator:sesame5?defect=deaf-unlock'",
      in: folder)
    expect(result.status, 1)
    let lines = try journal(folder)
    let found = try #require(lines.first { $0["verdict"] == "divergence" })
    let run = try #require(folder.names("Reports/runs").first)
    guard case .list(let attachments)? = found["attachments"] else {
      Issue.record("it has none")
      return
    }
    expect(attachments.map { $0["kind"] }, ["capture", "packets"])
    for path in attachments.compactMap({ $0["path"]?.string }) {
      #expect(folder.has("Reports/runs/\(run)/\(path)"), "\(path)")
    }
    #expect(try folder.read("Reports/report.html").contains("class=\"packets\""))
  }

  @Test("the first finding of a worker stops all; with --keep-going each signature is told once")
  func findings() throws {
    let folder = try Command.Folder()
    let first = try fuzz("sesame-table --seed 1 --jobs 2 --device \(defect)", in: folder)
    expect(first.errors, "")
    expect(first.status, 1)
    #expect(first.output.contains("✘ finding 1: reproduced 3 of 3") && first.output.contains("1 finding in"))
    let path = try #require(first.output.split(separator: "\n").first { $0.contains("lockstep replay") })
    let replay = try Command.line(String(path.drop { $0 == " " }.dropFirst(9)), in: folder.path)
    expect(replay.status, 1)
    let other = try Command.Folder()
    let all = try fuzz(
      "sesame-table --seed 1 --jobs 2 --steps 30k --keep-going --device \(defect)", in: other)
    expect(all.status, 1)
    let signatures = try journal(other).compactMap { $0["finding"]?["signature"]?.line }
    #expect(all.output.components(separatedBy: "✘ finding").count - 1 == Set(signatures).count)
    #expect(try !other.read("Reports/report.html").contains("has changed since the run"))
    let xml = try other.read("Reports/junit.xml")
    #expect(xml.contains("failures=\"\(Set(signatures).count)\" errors=\"0\""), "\(xml)")
  }

  /// The processes that some campaign has started, once there are as many as it was asked for.
  private func workers(_ count: Int, of process: Program) throws -> [pid_t] {
    let path = "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children"
    var workers: [pid_t] = []
    try eventually {
      workers = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ").compactMap {
        pid_t($0)
      }
      return workers.count == count
    }
    return workers
  }

  @Test(
    "a worker that dies is a fault of ours, unless somebody killed it, and the others go on",
    arguments: [
      (nil, ["signal 9"], 3),
      // Without memory it ends itself, or its stack cannot grow; one that still loads what it needs is ended by the loader.
      (1_000_000, ["signal 4", "signal 6", "signal 11", "exit status 127"], 70),
    ] as [(UInt?, [String], Int32)])
  func dead(memory: UInt?, ends: [String], status: Int32) throws {
    let folder = try Command.Folder()
    let result = try fuzz("sesame-table --seed 1 --jobs 3 --duration 5s", in: folder) { process in
      let worker = try workers(3, of: process)[1]
      if let memory {
        let limited = try Program.run(
          "/usr/bin/env", ["prlimit", "--pid", "\(worker)", "--as=\(memory)"])
        expect(limited.status, 0)
      } else {
        expect(kill(worker, SIGKILL), 0)
      }
    }
    let head = "lockstep: worker 2: it ended with "
    let end = try #require(ends.first { result.errors.hasPrefix(head + $0) }, "\(result.errors)")
    #expect(result.status == status, "\(result.errors)")
    let events = try #require(try state(folder)["status"]?["events"]?.line)
    #expect(Int(events)! > 0)
    let xml = try folder.read("Reports/junit.xml")
    #expect(xml.contains("errors=\"1\"") && xml.contains("it ended with \(end)"), "\(xml)")
  }

  @Test("a worker that does not stop when it is asked to is killed, and said")
  func stuck() throws {
    let folder = try Command.Folder()
    let result = try fuzz("sesame-table --seed 1 --jobs 2", in: folder) { process in
      let worker = try workers(2, of: process)[1]
      eventually { !folder.names("Reports/corpus/sesame-table").isEmpty }
      kill(worker, SIGSTOP)
      process.signal(SIGINT)
    }
    expect(result.errors, "lockstep: worker 2: it did not stop, and was killed\n")
    expect(result.status, 70)
  }

  @Test(
    "a signal that all processes of a campaign are sent, as a service is stopped, is heard by the first of them",
    arguments: [SIGTERM, SIGHUP, SIGABRT])
  func stopped(_ signal: Int32) throws {
    for moment in 0..<4 {
      let folder = try Command.Folder()
      let result = try fuzz("sesame-table --seed 1 --jobs 3", in: folder) { process in
        let workers = try workers(3, of: process)
        // A worker that has just been started has not said yet what it does of a signal.
        usleep(UInt32(moment) * 30_000)
        for worker in workers { kill(worker, signal) }
        eventually { !folder.names("Reports/corpus/sesame-table").isEmpty }
        for worker in workers { kill(worker, signal) }
        kill(process.processIdentifier, signal)
      }
      expect(result.errors, "")
      expect(result.status, 5)
    }
  }

  @Test(
    "a campaign, and a device that is a program, end as ever where the parent of all ignores the end of its children"
  )
  func ignoredChildren() throws {
    let folder = try Command.Folder()
    for words in [
      "fuzz sesame-table --seed 1 --jobs 2 --steps 500", "run door.yaml --device 'exec:cat >/dev/null'",
    ] {
      try folder.write("door.yaml", "scenario: A\nmachine: door\ndevice: door\nsteps: [Open]\n")
      let results = try ["", "trap '' CHLD; "].map {
        try Command.shell("\($0)exec $LOCKSTEP \(words) --answer-timeout 1s --quiet", in: folder.path)
      }
      expect(results[1].errors, results[0].errors)
      expect(results[1].status, results[0].status)
    }
  }

  @Test("a parent that is killed takes its workers with it")
  func orphans() throws {
    let folder = try Command.Folder()
    var workers: [String] = []
    _ = try fuzz("sesame-table --seed 1 --jobs 2", in: folder) { process in
      try eventually {
        let path = "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children"
        workers = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ").map(String.init)
        return workers.count == 2
      }
      kill(process.processIdentifier, SIGKILL)
    }
    eventually {
      workers.allSatisfy { worker in
        let status = (try? String(contentsOfFile: "/proc/\(worker)/stat", encoding: .utf8)) ?? ""
        return status.isEmpty || status.contains(") Z ")
      }
    }
  }

  @Test("what a worker cannot save is told of all the same, and counts")
  func unsaved() throws {
    let folder = try Command.Folder()
    try folder.write("Reports/failures", "")
    let result = try fuzz("sesame-table --device \(defect) --seed 1 --steps 20k --jobs 2", in: folder)
    expect(result.status, 1)
    #expect(result.output.contains("✘ finding 1: reproduced 3 of 3"), "\(result.output)")
    #expect(result.errors.contains("the counterexample is not saved: Reports/failures"), "\(result.errors)")
    #expect(try folder.read("Reports/junit.xml").contains("failures=\"1\""))
  }

  @Test(
    "what workers found on a lock that lives on shows on a new one, too",
    arguments: [
      ("sesame5", "deaf-unlock", 1),
      // What keeps it from being made ready is no reason to end before a finding can be confirmed.
      ("sesame3", "counter-kept-across-sessions", 1), ("sesame3", "counter-kept-across-sessions", 8),
    ])
  func livesOn(lock: String, defect: String, seed: Int) throws {
    let folder = try Command.Folder()
    let allow = "--allow reset --allow register --allow configure"
    let result = try fuzz(
      "sesame --device 'emulator:\(lock)?as=real&defect=\(defect)' --steps 50k --seed \(seed) --jobs 2 \(allow)",
      in: folder)
    expect(result.status, 1)
    // A worker that was stopped may have been about to save one more, under another name.
    let sure = try folder.names("Reports/failures").filter { $0.hasSuffix(".yaml") }.filter {
      try folder.read("Reports/failures/\($0)").contains("\n# reproduced 3 of ")
    }
    let others = try sure.filter {
      try folder.read("Reports/failures/\($0)").contains("\n# a new device shows it too")
    }
    // The first worker that is done stops the other one, which may not have come so far.
    #expect(!others.isEmpty, "\(result.output)")
    for name in others {
      let replay = try Command.line("replay Reports/failures/\(name) \(allow)", in: folder.path)
      #expect(replay.status == 1, "\(name): \(replay)")
    }
  }

  @Test(
    "what makes no campaign is said before anything is written",
    arguments: [
      ("--resume nowhere", "neither nowhere/campaign.json nor Reports/runs/nowhere/campaign.json is there"),
      ("", "missing MACHINE"), ("sesame-table --jobs 0", "'--jobs' expects"),
      (
        "door --without messages --weight Open=0 --weight Close=0",
        "no stimulus and no fault of emulator:door is left that a test could try"
      ),
      (
        "sesame --weight unlok=3", "--weight: unknown stimulus or fault `unlok`: did you mean `unlock`?"
      ),
      (
        "sesame --device 'emulator:sesame5?bolt=sideways'",
        "--device: `bolt` is one of locked, unlocked, moved, and not 'sideways'"
      ),
    ])
  func usage(words: String, message: String) throws {
    let folder = try Command.Folder()
    let result = try Command.line("fuzz " + words, in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.contains(message), "\(result.errors)")
    expect(folder.names("Reports"), [])
  }

  @Test("a folder of reports that was moved shows its findings where they are now")
  func moved() throws {
    let folder = try Command.Folder()
    let made = try Command.line(
      "fuzz sesame-table --seed 1 --steps 20k --device \(defect) --history none", in: folder.path)
    expect(made.status, 1)
    let name = try #require(folder.names("Reports/failures").first)
    func report(_ line: String) throws -> (output: String, junit: String, html: String) {
      let result = try Command.line("report \(line) --out new --history none", in: folder.path)
      expect(result.status, 1)
      return (result.output, try folder.read("new/junit.xml"), try folder.read("new/report.html"))
    }
    func shown(_ path: String, _ report: (output: String, junit: String, html: String)) -> [Bool] {
      [
        report.output.contains(" events: \(path)\n"), report.output.contains("  lockstep replay \(path)\n"),
        report.junit.contains("lockstep replay \(path)"), report.html.contains("lockstep replay \(path)"),
        report.html.contains("<code>\(path)</code>"),
      ]
    }
    expect(shown("Reports/failures/\(name)", try report("Reports/runs/*")), Array(repeating: true, count: 5))
    folder.move("Reports", to: "elsewhere")
    try folder.copy("elsewhere", to: "a b/elsewhere")
    expect(
      shown("elsewhere/failures/\(name)", try report("elsewhere/runs/*")), Array(repeating: true, count: 5))
    let quoted = try report("'a b'/elsewhere/runs/*")
    #expect(
      quoted.output.contains("  lockstep replay 'a b/elsewhere/failures/\(name)'\n"), "\(quoted.output)")
    let replayed = try Command.line("replay 'a b/elsewhere/failures/\(name)'", in: folder.path)
    expect(replayed.status, 1)
    // What is in no place that is known keeps the one that it was saved at.
    folder.remove("elsewhere/failures")
    expect(
      shown("Reports/failures/\(name)", try report("elsewhere/runs/*")), Array(repeating: true, count: 5))
  }

  @Test("shards of a campaign are merged from their journals")
  func merge() throws {
    let folder = try Command.Folder()
    for shard in 1...2 {
      let result = try Command.line(
        "fuzz sesame-table --seed 1 --steps 20k --shard \(shard)/2 --device \(defect)", in: folder.path)
      expect(result.status, 1)
      #expect(result.output.contains("seed 1, shard \(shard)/2"))
    }
    let result = try Command.line("report Reports/runs/* --junit merged.xml", in: folder.path)
    expect(result.errors, "")
    expect(result.status, 1)
    #expect(result.output.contains("of 2 runs: ") && result.output.contains("  finding  the device showed"))
    #expect(result.output.contains("  coverage sesame-table: "))
    #expect(try folder.read("merged.xml").contains("failures=\"1\""))
    let json = try Command.line("report * --out .. --format json", in: folder.path + "/Reports/runs")
    expect(try JSON(parsing: json.output)["runs"], 2)
  }
}

/// What stands in the way of a test on a terminal.
private let hasScript = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")

@Suite("Campaigns on a terminal", .timeLimit(.minutes(10)), .enabled(if: hasScript, "there is no script(1)"))
struct FuzzTerminalTests {
  /// What a terminal of some size is sent.
  private func terminal(
    _ words: String, columns: Int, rows: Int = 40, term: String = "xterm", set: String = ""
  ) throws -> (text: String, status: Int32) {
    let folder = try Command.Folder()
    let line = "stty cols \(columns) rows \(rows); TERM=\(term) \(set) $LOCKSTEP fuzz sesame-table \(words)"
    let result = try Command.shell("script -qec \"\(line)\" /dev/null", in: folder.path)
    return (result.output.replacingOccurrences(of: "\r\n", with: "\n"), result.status)
  }

  @Test("the screen is drawn in place, findings scroll above it, and the terminal is left tidy")
  func drawn() throws {
    let (text, status) = try terminal(
      "--seed 1 --steps 20k --color always --device \(defect)", columns: 80)
    expect(status, 1)
    #expect(text.contains("── \u{1B}[0m") && text.contains("run time"))
    // Each drawing hides the cursor and shows it again, and takes away the one before.
    expect(
      text.components(separatedBy: "\u{1B}[?25l").count, text.components(separatedBy: "\u{1B}[?25h").count)
    let last = try #require(text.components(separatedBy: "\u{1B}[J").last)
    #expect(last.contains("1 finding") && !last.contains("run time"), "\(last)")
    let found = try #require(text.range(of: "✘ finding 1"))
    #expect(text[..<found.lowerBound].hasSuffix("\u{1B}[J\u{1B}[?25h\u{1B}[31m"))
    // Once away from the screen, the colours are those of the lines.
    let plain = try terminal("--seed 1 --steps 5k", columns: 80, set: "NO_COLOR=1").text
    #expect(plain.contains("run time") && !plain.contains("\u{1B}[2m") && !plain.contains("\u{1B}[31m"))
  }

  @Test(
    "where it does not fit, or is not wanted, there are lines",
    arguments: [
      ("", 79, 40, "xterm"), ("", 80, 10, "xterm"), ("", 80, 40, "dumb"), ("--quiet", 80, 40, "xterm"),
      ("--format json", 80, 40, "xterm"),
    ])
  func lines(words: String, columns: Int, rows: Int, term: String) throws {
    let (text, status) = try terminal(
      "--seed 1 --steps 3k " + words, columns: columns, rows: rows, term: term)
    expect(status, 0)
    #expect(!text.contains("run time") && !text.contains("\u{1B}[J"), "\(text)")
  }
}
