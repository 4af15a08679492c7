import Reporting
import Journal
@testable import Nightly
import Conformance
@testable import Bench
@testable import System
import Documents
import Foundation
import Basics
import Synchronization
import TestSupport
import Testing

@testable import lockstep

@Suite("Nights", .timeLimit(.minutes(10)))
struct NightlyTests {
  /// A bench of emulated locks, a plan for them, and a state folder of their own.
  private func floor(_ plan: String = "", logins: Int = 3) throws -> Command.Folder {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      """
      bench: floor-\(UUID().uuidString)
      locks:
        - { name: front, device: "emulator:sesame5", tags: [new] }
        - { name: back, device: "emulator:sesame5?defect=jam-reported-as-locked", tags: [new] }
        - { name: side, device: "emulator:sesame5?defect=jam-reported-as-locked", tags: [new] }
        - { name: old, device: "emulator:sesame3", tags: [old] }
      quarantine:
        - { lock: side, scenario: Scenarios/sesame5/jam.yaml, reason: cold, owner: ada, expires: 9999-01-01 }
        - { lock: front, reason: was bad, owner: bob, expires: 2020-01-01 }
      """)
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 30 min
      suites:
        - name: new
          scenarios: [\(Command.root)/Scenarios/sesame5/jam.yaml, \(Command.root)/Scenarios/sesame5/login.yaml]
          tags: [new]
        - { name: old, scenarios: \(Command.root)/Scenarios/sesame3/login.yaml, tags: [old], repeat: \(logins) }

      """ + plan)
    return folder
  }

  private static let night =
    "LOCKSTEP_STATE=$PWD/state/lockstep TERM=dumb $LOCKSTEP nightly plan.yaml --seed 1"

  /// Drives the night of a folder in a process: its cases are processes of the same program.
  private func night(
    _ options: String = "", with environment: String = "", in folder: Command.Folder
  ) throws -> Command.Result {
    try Command.shell("\(environment) \(Self.night) \(options)", in: folder.path)
  }

  private func summary(_ text: String) throws -> JSON { try JSON(parsing: text) }

  @Test("say what ran, what is new, what is excused, and what became of every case")
  func whole() throws {
    let folder = try floor()
    let result = try night("--format json", in: folder)
    expect(result.status, 1)
    let summary = try summary(result.output)
    expect(summary["planned"], .number("9"))
    expect(summary["agree"], .number("7"))
    guard case .list(let divergences) = summary["divergences"] else { throw CocoaError(.coderInvalidValue) }
    expect(divergences.map { $0["lock"]?.string }, ["back", "side"])
    #expect(divergences[0]["quarantine"] == nil && divergences[1]["quarantine"] != nil)
    // The second night knows the first.
    let again = try night(in: folder)
    expect(again.status, 1)
    #expect(again.output.contains("Seen before") && again.output.contains("In quarantine"), "\(again.output)")
    #expect(again.output.contains("quarantine has expired"))
    let junit = try folder.read("Reports/junit.xml")
    expect(junit.components(separatedBy: "<testcase").count - 1, 9)
    expect(junit.components(separatedBy: "<failure").count - 1, 1)
    expect(junit.components(separatedBy: "<error").count - 1, 0)
    try look(at: folder, folder.read("Reports/nightly.html"))
  }

  /// The page says what to do, and each of its links leads to what is there.
  private func look(at folder: Command.Folder, _ page: String) throws {
    #expect(page.contains("Test floor") && page.contains("<main id=\"main\">"))
    #expect(page.contains(##"<h1>1 of 4 locks needs you: <a href="#item-1">back</a> diverged</h1>"##))
    #expect(
      page.contains(
        ##"<li class="diverged" id="item-1"><strong><span aria-hidden="true">✘</span> back</strong>"##))
    let links = page.matches(of: /href="([^"#]+)">([a-z]+)</).map { (path: String($0.1), name: String($0.2)) }
    expect(
      links.map(\.name).filter { $0 != "Reports" },
      ["report", "journal", "capture", "report", "journal", "capture"])
    for link in links {
      #expect(
        link.path.hasPrefix("./")
          && FileManager.default.fileExists(atPath: folder.path + "/Reports/" + link.path),
        "\(link.path)")
    }
    // The report of that run tells of its one case.
    let report = try folder.read("Reports/" + (links.first?.path ?? ""))
    #expect(report.contains("<h1>1 of 1 case diverged</h1>"))
    // Which clock a time is of stands below both; that of the night is in its header.
    let (day, device) = ("All times of day are in UTC,", "all others in the time of the device.</p></footer>")
    #expect(page.contains("\(day) what the night took is by the clock, \(device)"))
    #expect(report.contains("\(day) \(device)"))
  }

  @Test("go on where they were killed, and drive nothing twice")
  func resumed() throws {
    let logins = 60
    let folder = try floor(logins: logins)
    // At once, while it begins, and where some cases are over and many are not.
    let kills = [
      "sleep 0.05", "sleep 0.2",
      "until grep -qs '\"done\"' Reports/runs/*/night.jsonl || ! kill -0 $!; do sleep 0.01; done",
    ]
    for kill in kills {
      _ = try Command.shell("env \(Self.night) -q & \(kill); kill -KILL $!; wait $!", in: folder.path)
    }
    let result = try night("--format json", in: folder)
    expect(result.status, 1)
    let agreed = try summary(result.output)["agree"]
    #expect(agreed == .number("\(4 + logins)"), "\(result.output)\(result.errors)")
    let record = try folder.read(all: "Reports/runs/*-nightly*/night.jsonl")
    let lines = try record.split(separator: "\n").map { try JSON(parsing: String($0)) }
    let done = lines.compactMap { $0["done"]?["case"]?.string }
    expect(done.count, 6 + logins)
    expect(Set(done).count, 6 + logins)
    // What is over is over: the next call is a new night, and nothing is left to be taken up.
    let idle = try Command.line("nightly plan.yaml --resume", in: folder.path)
    expect(idle.status, 0)
    #expect(idle.errors.contains("there is no unfinished night of plan.yaml to resume"), "\(idle.errors)")
  }

  @Test("name their plan in their manifest at all times, so that they are found whenever they are killed")
  func manifest() async throws {
    let folder = try Command.Folder()
    let out = folder.path + "/Reports"
    var reports = ReportPlaces()
    reports.out = out
    let path = try NightlyFolder(
      new: "plan", reports: reports, cases: 0, command: [], seed: 3
    ).folder.path
    let count = Mutex(0)
    let looks = Task {
      var bare = 0
      while !Task.isCancelled {
        let manifest = try JSON(parsing: String(contentsOfFile: path + "/manifest.json", encoding: .utf8))
        count.withLock { $0 += 1 }
        if manifest["properties"]?["plan"]?.string != "plan" { bare += 1 }
        await Task.yield()
      }
      return bare
    }
    var rounds = 0
    while rounds < 100 || count.withLock({ $0 }) <= 50 {
      rounds += 1
      let open = try #require(try NightlyFolder.unfinished("plan", out: out))
      _ = try NightlyFolder(open, EarlierRun(open.path), reports: reports, cases: 0)
      try await Task.sleep(for: .milliseconds(1))
    }
    looks.cancel()
    expect(try await looks.value, 0)
  }

  @Test("have their report made by the next command when they were killed over it")
  func unreported() throws {
    let folder = try floor()
    let first = try night("-q", in: folder)
    let nights = folder.names("Reports/runs").filter { $0.hasSuffix("-nightly") }
    for name in nights.map({ "runs/\($0)/summary.json" }) + ["nightly.html", "junit.xml"] {
      #expect(folder.has("Reports/" + name))
      folder.remove("Reports/" + name)
    }
    let second = try night("-q", in: folder)
    expect(nights.count, 1)
    expect(folder.names("Reports/runs").filter { $0.hasSuffix("-nightly") }, nights)
    expect([first, second].map { $0.output.components(separatedBy: "Test floor").count }, [2, 2])
    #expect(try folder.read("Reports/nightly.html").contains("Test floor"))
    let junit = try folder.read("Reports/junit.xml")
    expect(junit.components(separatedBy: "<testcase").count - 1, 9)
  }

  /// Waits, at most a minute, until the journal of the night has so many verdicts or more.
  private static func waiting(for count: String) -> String {
    """
    n=0
    until [ "$(cat Reports/runs/*-nightly*/journal.jsonl 2> errors | grep -cE '^."(kept|verdict)"')" -ge \(count) ]; do
      sleep 0.05; n=$((n + 1)); [ $n -lt 1200 ] || exit 9
    done
    """
  }

  @Test("can be reported on while they go on: what is judged by then, and that it is not all")
  func underWay() throws {
    let folder = try floor()
    let report = "$LOCKSTEP report Reports/runs/*-nightly* --history none --format json --out"
    let result = try Command.shell(
      """
      sed -i 's/repeat: 3/repeat: 2000/' plan.yaml
      start() { env \(Self.night) -q > night 2>&1 & night=$!; }
      end() { kill -KILL $night; wait $night; }
      start
      \(Self.waiting(for: "1"))
      \(report) one; echo $?
      kill -0 $night || exit 8
      end
      done=$(cat Reports/runs/*-nightly*/night.jsonl | grep -c '^{"done"')
      start
      \(Self.waiting(for: "$done"))
      \(report) two; echo $?
      end
      echo $done
      """, in: folder.path)
    let lines = result.output.split(separator: "\n").map(String.init)
    guard lines.count == 5 else {
      Issue.record("\(result)")
      return
    }
    let done = try #require(Int(lines[4]))
    for (index, name) in [(0, "one"), (2, "two")] {
      let summary = try summary(lines[index])
      guard case .number(let cases)? = summary["cases"], case .number(let missing)? = summary["notBegun"],
        let cases = Int(cases), let missing = Int(missing)
      else {
        Issue.record("\(lines[index])")
        continue
      }
      // A divergence outranks that it is not all.
      expect(lines[index + 1], summary["divergences"] == .number("0") ? "5" : "1")
      expect(cases + missing, 2006)
      // Taken up again it has at once what was done before, and what came to its end meanwhile.
      #expect((name == "one" ? 1...done : done...(done + 2)).contains(cases), "\(cases) of \(done)")
      let junit = try folder.read("\(name)/junit.xml")
      #expect(
        junit.contains("incomplete: the run did not end, \(missing) of its 2006 cases were not begun"),
        "\(lines[index])")
      let named = junit.components(separatedBy: "<testcase").filter { $0.contains("[") }.count
      expect(named, cases)
    }
  }

  @Test("write their journal beside everything else, not too often, and say once what went wrong")
  func scribe() throws {
    let scribe = NightlyJournalWriter()
    let path = try Command.Folder().path + "/none/journal.jsonl"
    let isBegun = scribe.write { () throws(FileFault) in _ = try OutputFile(creating: path) }
    #expect(isBegun)
    while scribe.isWriting { usleep(1000) }
    #expect(!scribe.write {})
    expect(scribe.takeFault()?.path, path)
    #expect(scribe.takeFault() == nil)
    expect(NightlyJournalWriter.pause(after: .milliseconds(200)), .seconds(10))
    expect(NightlyJournalWriter.pause(after: .milliseconds(600)), .seconds(30))
  }

  @Test("end with 5 where fewer verdicts than required, by the command that brings them to their end")
  func minimum() throws {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      """
      bench: floor-\(UUID().uuidString)
      locks:
        - { name: old, device: "emulator:sesame3", tags: [old] }
        - { name: new, device: "emulator:sesame5", tags: [new] }

      """)
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 30 min
      suites:
        - { name: old, scenarios: \(Command.root)/Scenarios/sesame3/login.yaml, tags: [old], repeat: 3 }
        - { name: new, scenarios: \(Command.root)/Scenarios/sesame3/login.yaml, tags: [new] }

      """)
    let few = "3 cases had a verdict; at least 4 are required (--min-cases)"
    let skipped = "1 case was skipped; none may be (--fail-on-skipped)"
    for (options, status, words) in [
      ("--min-cases 3", 0, nil), ("--min-cases 4", 5, few), ("--fail-on-skipped", 5, skipped),
      ("--fail-on-skipped --min-cases 4", 5, few), ("--min-cases 0", 2, nil),
    ] as [(String, Int32, String?)] {
      folder.remove("Reports")
      let result = try night("\(options) --color never", in: folder)
      expect(result.status, status)
      expect(result.errors.hasSuffix("lockstep: \(words ?? few)\n"), words != nil)
      guard let words else { continue }
      #expect(
        result.output.hasPrefix("Test floor   fewer verdicts than required   "), "\(result.output)")
      expect(result.output.components(separatedBy: "\n")[2], "  \(words)")
      #expect(try folder.read("Reports/nightly.html").contains("<h1>All agrees, but \(words)</h1>"))
      // Its reports are not green either.
      #expect(try folder.read("Reports/junit.xml").contains("the run ended with status 5; \(words)"))
    }
    for (first, second, status) in [("--min-cases 9", "--min-cases 3", 0), ("", "--min-cases 4", 5)] {
      let result = try Command.shell(
        """
        rm -rf Reports; timeout -s KILL 0.2 env \(Self.night) -q \(first) > /dev/null 2>&1
        rm -f Reports/runs/*/summary.json
        \(Self.night) -q \(second); echo $?; ls Reports/runs | grep -c nightly
        """, in: folder.path)
      #expect(result.output.hasSuffix("\n\(status)\n1\n"), "\(result.output)")
    }
  }

  @Test(
    "say in every report what was planned and meets no lock",
    arguments: [
      ("[new]", "[gone]", 2, "no lock has the tags gone"),
      ("[gone]", "[gone]", 1, "no lock has the tags gone"),
    ])
  func unmet(first: String, second: String, shown: Int, words: String) throws {
    let folder = try Command.Folder()
    try folder.write(
      "bench.yaml",
      "bench: floor-\(UUID().uuidString)\nlocks: [{ name: new, device: \"emulator:sesame5\", tags: [new] }]\n"
    )
    try folder.write(
      "plan.yaml",
      """
      nightly: Test floor
      duration: 30 min
      suites:
        - { name: one, scenarios: \(Command.root)/Scenarios/sesame5/login.yaml, tags: \(first) }
        - { name: two, scenarios: \(Command.root)/Scenarios/sesame5/jam.yaml, tags: \(second) }

      """)
    for options in ["", "--fail-on-skipped", "--min-cases 2"] {
      folder.remove("Reports")
      let result = try night("\(options) --color never", in: folder)
      expect(result.status, 3)
      #expect(result.output.contains("Not run\n") && result.output.contains(words), "\(result.output)")
      #expect(result.output.contains("  2 planned: "), "\(result.output)")
      let junit = try folder.read("Reports/junit.xml")
      #expect(junit.contains(#"<testsuites name="lockstep" tests="3" failures="0" errors="1""#), "\(junit)")
      expect(junit.components(separatedBy: "<skipped").count - 1, 3 - shown)
      #expect(try folder.read("Reports/nightly.html").contains(words))
      let report = try Command.line(
        "report Reports/runs/*-nightly --out again -q", in: folder.path)
      expect(report.status, 3)
    }
  }

  @Test("go on where their journal cannot be written, and say so once")
  func unwritten() throws {
    let folder = try floor()
    let result = try Command.shell(
      """
      sed -i 's/repeat: 3/repeat: 20/' plan.yaml
      env \(Self.night) -q > night 2> errors & night=$!
      until ls Reports/runs/*-nightly* > there 2>&1; do sleep 0.01; done
      journal=$(echo Reports/runs/*-nightly*)/journal.jsonl
      until mkdir $journal 2> blocked; do rm -f $journal; done
      until grep -q 'cannot write the journal' errors; do kill -0 $night || exit 9; sleep 0.05; done
      rmdir $journal
      wait $night; echo $?
      grep -c 'cannot write the journal' errors
      """, in: folder.path)
    #expect(result.output == "1\n1\n", "\(result)")
    let junit = try folder.read("Reports/junit.xml")
    expect(junit.components(separatedBy: "<testcase").count - 1, 26)
  }

  @Test(
    "go by what a run wrote down of how it left its lock, and by no words for people",
    arguments: [
      (#"{"left":{"lock":"front","parked":true},"lease":3}"#, ParkState.parked),
      (
        #"{"left":{"lock":"front","parked":false,"message":"it is stuck"}}"#,
        .elsewhere("it is stuck")
      ),
      (#"{"left":{"lock":"front"}}"#, .unknown),
      // As it was before there was such a line.
      (#"{"t":"0.000","diagnostic":"the lock rests locked"}"#, .unknown),
    ])
  func left(_ line: String, _ park: ParkState) throws {
    let folder = try Command.Folder()
    try folder.write("journal.jsonl", #"{"run":{"format":1,"seed":1,"cases":0}}"# + "\n" + line + "\n")
    expect(RunHeaderScan(folder.path + "/journal.jsonl")?.park, park)
  }

  @Test("show the battery of a lock, and that it is low")
  func battery() throws {
    let folder = try Command.Folder()
    let air = try EmulatedBench(
      [
        "sesame5?battery=5.1", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7",
      ],
      in: folder)
    defer { air.stop() }
    try folder.write("there.yaml", visit("There", "unlock", "until: { status: unlocked }"))
    try folder.write(
      "bench.yaml",
      """
      bench: test
      dongles: [{ name: air, transport: "\(air.transports[0])" }]
      locks:
        - { name: door, file: lock.yaml, limits: { battery-floor: 20 % } }
        - { name: played, device: "emulator:sesame5" }

      """)
    try folder.write(
      "plan.yaml", "nightly: A door\nduration: 30 min\nsuites: [{ name: a, scenarios: there.yaml }]\n")
    let result = try self.night(in: folder)
    expect(result.status, 6)
    let words = "the battery is at 10 %, and below 20 % the lock is left alone"
    #expect(result.output.contains("! door   \(words)"), "\(result.output)")
    let rows = result.output.split(separator: "\n")
    let row = rows.first { $0.hasPrefix("  door ") }.map(String.init) ?? ""
    #expect(row.contains("10 %, LOW"), "\(result.output)")
    #expect(rows.contains { $0.hasPrefix("  played ") && !$0.contains("%") }, "\(result.output)")
    #expect(try folder.read("Reports/nightly.html").contains("<td class=\"num\">10 %, LOW</td>"))
    #expect(
      try folder.read("Reports/nightly.html").contains(
        "<h1>1 of 2 locks needs you: door has a low battery</h1>"))
    let night = folder.names("Reports/runs").first { $0.hasSuffix("-nightly") } ?? "none"
    let summary = try summary(folder.read("Reports/runs/\(night)/summary.json"))
    guard case .list(let locks)? = summary["locks"] else { throw CocoaError(.coderInvalidValue) }
    expect(locks.map { $0["battery"] }, [.number("10"), nil])
    expect(locks.map { $0["low"]?.string }, [words, nil])
    let schema = try folder.write("schema.json", Command.call("schema", "night").output)
    expect(
      validate(["\(folder.path)/Reports/runs/\(night)/summary.json"], against: schema),
      ["summary.json valid"])
  }

  @Test("tell of a battery how fast it falls")
  func slope() throws {
    var ledger = ActuationBudget()
    let limits = LockLimits(batteryFloor: 20)
    #expect(NightlyBattery(ledger, under: limits) == nil)
    /// The table's text, and the keys and values of the object.
    func shown(_ percent: Int, minute: Int64) -> [String] {
      ledger.read(battery: percent, at: .zero + .seconds(60 * minute))
      guard let battery = NightlyBattery(ledger, under: limits) else { return [] }
      var line = NightlyReport.LockLine(
        name: "front", left: "locked", isBad: false, judged: 0, planned: 0)
      line.battery = battery
      guard case .mapping(let members) = line.json else { return [] }
      let own = members.filter { ["battery", "batterySlope", "low"].contains($0.name) }
      return [battery.text, JSON.mapping(own).line]
    }
    expect(shown(40, minute: 0), ["40 %", #"{"battery":40}"#])
    expect(shown(40, minute: 30), ["40 %, steady", #"{"battery":40,"batterySlope":0}"#])
    expect(shown(33, minute: 90), ["33 %, −4.7 %/h", #"{"battery":33,"batterySlope":4.7}"#])
    expect(
      shown(19, minute: 120),
      [
        "19 %, −10.5 %/h, LOW",
        #"{"battery":19,"batterySlope":10.5,"low":"the battery is at 19 %, and below 20 % the lock is left alone"}"#,
      ])
  }

  @Test("tell the service manager how they are")
  func notified() throws {
    let folder = try floor()
    try folder.write(
      "listen.py",
      """
      import socket, subprocess, sys, os
      manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
      manager.bind("notify")
      manager.settimeout(60)
      night = subprocess.Popen(["/bin/sh", "-c", sys.argv[1]], env={**os.environ, "NOTIFY_SOCKET": os.path.abspath("notify"),
        "WATCHDOG_USEC": "200000"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
      heard = []
      while "STOPPING=1" not in heard:
        heard.append(manager.recv(4096).decode())
      night.wait()
      print(heard[0], heard[-1], heard.count("WATCHDOG=1") > 1, any("of 9 cases" in line for line in heard))
      """)
    let result = try Command.shell(
      "python3 listen.py 'exec env \(Self.night)'", in: folder.path)
    expect(result.output, "READY=1 STOPPING=1 True True\n")
  }

  @Test("say of a driver's lock what its driver does not, before anything is begun")
  func driver() throws {
    let folder = try Command.Folder()
    try folder.write("there.yaml", visit("There", "unlock", "until: { status: unlocked }"))
    let path = try folder.write("driver.yaml", "driver: ./keypad\nmachine: sesame\nid: KP-0042\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try folder.write(
      "bench.yaml",
      "bench: floor\nlocks: [{ name: back, file: driver.yaml, allow: [wipe] }]\ndongles: [{ name: red, transport: usb:0 }]\n"
    )
    try folder.write(
      "plan.yaml", "nightly: A door\nduration: 1 min\nsuites: [{ name: a, scenarios: there.yaml }]\n")
    let night = try Command.line("nightly plan.yaml --seed 1", in: folder.path)
    expect(night.status, 2)
    #expect(
      night.errors.contains("back: the driver did not start: exit status 127, of ./keypad"),
      "\(night.errors)")
    let devices = try Command.line("devices --format json", in: folder.path)
    expect(devices.status, 0)
    #expect(devices.output.contains("KP-0042"), "\(devices.output)")
  }

  @Test("ask for places only where a lab is named", arguments: ["nightly plan.yaml", "run plan.yaml"])
  func noLab(_ command: String) throws {
    let folder = try floor()
    for (option, value) in [("--tags", "floor=3"), ("--lab-wait", "1h")] {
      let result = try Command.line("\(command) \(option) \(value)", in: folder.path)
      expect(result.status, 2)
      #expect(result.errors.contains("\(option) goes with --lab"), "\(result.errors)")
    }
    let result = try Command.line("\(command) --lab lab:1 --tags floor=3", in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.contains("labgrid://HOST:PORT"), "\(result.errors)")
  }

  @Test(
    "say which places and locks of a lab are no part of them, and when nothing is left",
    arguments: [
      ([], "", 3, "no device: no place at labgrid://lab:9: the lab has no places"),
      (["floor=4"], "--tags floor=3", 3, "no place with floor=3 at labgrid://lab:9: there is p0 (floor=4)"),
      (["floor=3"], "--tags floor=3", 3, "places that are not used: p0 (no tag lock=NAME)"),
      (["lock=back"], "", 3, "not used: p0 (lock=back is no real lock of the bench floor)"),
      (
        ["lock=cellar"], "", 3,
        "no device: no place of labgrid://lab:9 has a real lock of the bench floor"
      ),
      (["lock=front", "lock=front"], "", 2, "p0 and p1 of labgrid://lab:9 both have the tag lock=front"),
      (["lock=front"], "", 2, "not part of this night, since none of its places has them: back, side"),
      (["lock=front"], "--resume", 0, "there is no unfinished night of plan.yaml to resume"),
    ] as [([String], String, Int32, String)])
  func places(_ tags: [String], _ options: String, _ status: Int32, _ words: String) throws {
    let folder = try floor()
    // The lock at the place is a real one, of which nothing is known here.
    try folder.write(
      "bench.yaml",
      "bench: floor\nlocks: [{ name: front, file: front.yaml }, { name: back, device: \"emulator:sesame5\" }, "
        + "{ name: side, file: side.yaml }]\n")
    let places = tags.enumerated().map { number, tag -> JSON in
      let sides = tag.split(separator: "=").map(String.init)
      return [
        "name": .text("p\(number)"), "tags": .mapping([.init(sides[0], .text(sides[1]))]), "orphans": [],
        "resources": [],
      ]
    }
    try folder.write(
      "answer", JSON(dictionaryLiteral: ("places", .list(places)), ("reservations", [])).line + "\n")
    TestFolder.write(folder.path + "/python", "#!/bin/sh\nread request; exec cat answer\n", mode: 0o755)
    let result = try night(
      "--lab labgrid://lab:9 \(options)", with: "LABGRID_PYTHON=./python", in: folder)
    expect(result.status, status)
    #expect(result.errors.contains(words), "\(result.errors)")
    expect(folder.names("Reports/runs").filter { !$0.hasPrefix(".") }, [])
  }

  @Test("say that the Python is missing that asks a lab for its places")
  func noPython() throws {
    let folder = try floor()
    let result = try night("--lab labgrid://lab:9", with: "LABGRID_PYTHON=./python", in: folder)
    expect(result.status, 3)
    #expect(result.errors.contains("No such file or directory; LABGRID_PYTHON names"), "\(result.errors)")
  }

  @Test(
    "say what is wrong with their plan or bench, and leave nothing behind",
    arguments: [
      ("plan.yaml", "duration", "duratoin", "did you mean `duration`?"),
      ("bench.yaml", "emulator:sesame3", "emulator:sesame9", "sesame9"),
      ("plan.yaml", "login.yaml", "logn.yaml", "there is no such file"),
    ])
  func wrong(_ file: String, _ text: String, _ other: String, _ words: String) throws {
    let folder = try floor()
    let before = try folder.read(file)
    #expect(before.contains(text))
    try folder.write(file, before.replacing(text, with: other))
    let result = try Command.line("nightly plan.yaml --seed 1", in: folder.path)
    expect(result.status, 2)
    #expect(result.errors.contains(words), "\(result.errors)")
    expect(folder.names("Reports/runs").filter { !$0.hasPrefix(".") }, [])
  }

  @Test("ask for a bench where neither the plan, its folder nor the user has one")
  func noBench() throws {
    let folder = try floor()
    folder.remove("bench.yaml")
    let result = try night(with: "HOME=$PWD", in: folder)
    expect(result.status, 2)
    #expect(result.errors.contains("name one with --bench FILE"), "\(result.errors)")
    expect(folder.names("Reports/runs").filter { !$0.hasPrefix(".") }, [])
  }
}
