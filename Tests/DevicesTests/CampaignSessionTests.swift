import Automata
import Basics
import Bench
import Conformance
import Devices
import Harness
import Journal
import TestSupport
import Testing

/// What a campaign says and keeps, on a clock that goes on by a millisecond whenever it is read.
private final class Output: CampaignOutput, CampaignReport, JournalListener {
  var earlier = EndingCount()
  let keepsJournal = true
  /// After how many looks at the clock somebody stops it.
  var patience = Int.max
  private(set) var looks = 0
  private(set) var records: [Record] = []
  private(set) var states: [CampaignState] = []
  private(set) var findings: [FindingNotice] = []
  private(set) var lines: [String] = []
  private(set) var warnings: [String] = []
  private(set) var took: [Interval] = []

  var report: any CampaignReport { self }
  var listener: any JournalListener { self }
  var isStopped: Bool { looks >= patience }
  var now: Interval {
    looks += 1
    return .milliseconds(Int64(looks))
  }

  func keep(_ state: CampaignState) { states.append(state) }
  func reportOnce(_ text: String) { if !lines.contains(text) { lines.append(text) } }
  func take(_ record: Record) { records.append(record) }
  func begin(_ head: CampaignHead) { lines.append(head.title) }
  func progress(_ progress: CampaignProgress) { took.append(progress.took) }
  func found(_ finding: FindingNotice) { findings.append(finding) }
  func say(_ text: String) { lines.append(text) }
  func warn(_ text: String) { warnings.append(text) }
  func end(_ end: CampaignSummary) {}
}

/// A campaign as it is asked for, its folder, and what comes of it.
private struct Asked {
  var machine = "sesame-table"
  var device = "emulator:reference"
  var twin: String?
  var allowed: [String] = []
  var seed: UInt64 = 1
  var steps: Int? = 20_000
  var duration: Interval?
  var keepsGoing = false
  var earlier: CampaignState?
  /// What the cases of earlier sessions came to.
  var count = EndingCount()
  var patience = Int.max
  let folder: TestFolder

  init(_ device: String = "emulator:reference") {
    folder = TestFolder()
    self.device = device
  }

  func perform() throws -> (end: CampaignSummary, output: Output) {
    var lab = LabSettings(of: nil, isNamed: false, allowing: allowed)
    lab.interlock.waitsForJams()
    let world = World(lab: lab)
    let machine = try world.machine(machine)
    let target = try FuzzTarget(machine, DeviceSpec(text: device), seed: seed, provider: world.devices)
    let twinTarget = try twin.map { twin in
      try #require(
        FuzzTarget(machine, DeviceSpec(text: twin), seed: seed, provider: world.devices).standing(in: target))
    }
    var settings = FuzzSettings()
    settings.seed = seed
    settings.steps = steps
    settings.keepsGoing = keepsGoing
    settings.round = earlier.map { $0.round + 1 } ?? 0
    var state = earlier ?? CampaignState(machine: self.machine, device: device, seed: seed)
    state.round = settings.round
    let output = Output()
    output.patience = patience
    output.earlier = count
    let end = CampaignSession(
      CampaignPlan(
        target: target, twin: twinTarget, settings: settings, state: state, duration: duration,
        provider: world.devices, reader: world.reader, corpus: .folder(folder.path + "/corpus"),
        failures: folder.path + "/failures", replayLine: { path, device in "replay \(path) on \(device)" }),
      output
    ).perform()
    world.devices.shutDown()
    return (end, output)
  }
}

private let deaf = "emulator:reference?defect=deaf-unlock"

@Suite("Campaigns from what was asked for to their end")
struct CampaignSessionTests {
  @Test("where nothing is found, all steps are made, and its journal says what was visited")
  func nothing() throws {
    let (end, output) = try Asked().perform()
    expect(end.cause, .done)
    expect(end.exit, .agree)
    expect(end.status.events, 20_000)
    expect(output.findings, [])
    expect(output.warnings, [])
    expect(output.lines.first, "fuzz sesame-table on emulator:reference, seed 1")
    guard case .end(let last)? = output.records.last else {
      Issue.record("it has no end")
      return
    }
    expect(last.cases, 1)
    expect(
      output.records.compactMap {
        if case .coverage(let figures) = $0 { figures.total.legal?.visited } else { nil }
      },
      [try #require(end.coverage).cells.total.legal.visited])
  }

  @Test("one seed is one campaign, to the last line of its journal and to the state that is kept")
  func deterministic() throws {
    func all(seed: UInt64) throws -> [String] {
      var asked = Asked(deaf)
      (asked.seed, asked.keepsGoing) = (seed, true)
      let output = try asked.perform().output
      return (output.records.map { "\($0)" } + output.states.map { "\($0)" }).map {
        $0.replacing(asked.folder.path, with: "")
      }
    }
    let (first, second, other) = (try all(seed: 1), try all(seed: 1), try all(seed: 2))
    expect(first, second)
    #expect(first != other)
  }

  @Test("a finding is saved, told with the line that does it again, and ends it")
  func found() throws {
    let asked = Asked(deaf)
    let (end, output) = try asked.perform()
    expect(end.cause, .found)
    expect(end.exit, .divergence)
    let finding = try #require(output.findings.first)
    expect(output.findings.count, 1)
    #expect(finding.path.hasPrefix(asked.folder.path + "/failures/fuzz-sesame-table-"))
    expect(finding.replay, "replay \(finding.path) on \(deaf)")
    expect(output.states.last?.findings.map(\.path), [finding.path])
    expect(output.states.last?.findings.map(\.signature), [finding.signature])
    // What was saved is a scenario that shows it.
    let saved = try World().reader.read(ScenarioFiles.read(finding.path), path: finding.path)
    expect(saved.device, try DeviceSpec(text: deaf))
  }

  @Test("what cannot be saved is told of all the same, and counts")
  func unsaved() throws {
    let asked = Asked(deaf)
    asked.folder.write("failures", "a file")
    let (end, output) = try asked.perform()
    expect(end.exit, .divergence)
    expect(output.findings.count, 1)
    expect(output.warnings.count, 1)
    #expect(output.warnings[0].hasPrefix("the counterexample is not saved: \(asked.folder.path)/failures"))
  }

  @Test(
    "what was found is counted when it goes on, and not found again; twice from one place, it does the same")
  func known() throws {
    let first = Asked(deaf)
    let state = try #require(try first.perform().output.states.last)
    func goOn() throws -> (end: CampaignSummary, output: Output) {
      var asked = Asked(deaf)
      asked.earlier = state
      asked.count.count(.diverged)
      asked.keepsGoing = true
      asked.steps = state.status.events + 20_000
      return try asked.perform()
    }
    let (end, output) = try goOn()
    expect(end.exit, .divergence)
    expect(end.status.events, state.status.events + 20_000)
    #expect(end.status.repeats > 0)
    #expect(!output.findings.contains { $0.signature == state.findings[0].signature })
    let known = try #require(
      output.states.last?.findings.first { $0.signature == state.findings[0].signature })
    expect(known.path, state.findings[0].path)
    #expect(known.count > 1)
    expect(output.states.last?.round, 1)
    let again = try goOn()
    expect(again.output.states.last?.status, output.states.last?.status)
    expect(again.output.states.last?.cells, output.states.last?.cells)
  }

  /// A session that is opened 0.3 s after it is asked for; of each start of the program only so many are.
  private func sessions(in folder: TestFolder, limit: Int) -> (machine: String, command: String) {
    let machine = folder.write(
      "sessions.yaml",
      """
      machine: sessions
      states: [away, asking, session]
      events: [connect, leave]
      starts: [{ state: away }]
      transitions:
        - { event: connect, from: away, to: asking }
        - { from: asking, to: session, within: 1 s }
        - { event: leave, from: [asking, session], to: away }
      """)
    let program = folder.write(
      "sessions.py",
      """
      import json, os, sys
      count, due, state = 0, None, "away"
      for line in sys.stdin:
        request = json.loads(line)
        said = []
        if "hello" in request:
          said.append({"hello": {"protocol": 2, "time": "virtual", "stimuli": ["connect", "leave"], "moves": []}})
        at = request.get("at", 0)
        end = {"settled": True}
        if "reset" in request: due, state = None, "away"; said.append({"status": state})
        elif request.get("stimulus") == "connect":
          if state != "away": end = {"refused": "it is not away"}
          else:
            state = "asking"
            if count < \(limit): due = round(at + 0.3, 9)
            said.append({"status": state})
        elif request.get("stimulus") == "leave":
          if state == "away": end = {"refused": "it is away"}
          else: due, state = None, "away"; said.append({"status": state})
        elif "advance" in request and due is not None and due <= round(at + request["advance"], 9):
          # A reset leaves the count alone.
          count, state = count + 1, "session"
          said.append({"status": state, "at": due})
          due = None
        end["next"] = due
        os.write(1, "".join(json.dumps(line) + "\\n" for line in said + [end]).encode())
      """)
    return (machine, "exec:exec python3 \(program)")
  }

  @Test("what a program's reset leaves behind is in the test that is saved: it shows on a program of its own")
  func leftBehind() throws {
    let folder = TestFolder()
    let (machine, command) = sessions(in: folder, limit: 5)
    var asked = Asked(command)
    asked.machine = machine
    asked.steps = 3000
    let (end, output) = try asked.perform()
    expect(end.exit, .divergence)
    let finding = try #require(output.findings.first)
    expect(finding.record.past, .included)
    // Five sessions, and one that is opened no more.
    expect(finding.steps.count { $0.contains("connect") }, 6)
  }

  @Test("one that is stopped keeps what it takes to go on, with its time and its cells")
  func stopped() throws {
    var asked = Asked()
    asked.steps = nil
    asked.patience = 12_000
    let (end, output) = try asked.perform()
    expect(end.cause, .stopped)
    expect(end.exit, .incomplete)
    let state = try #require(output.states.last)
    // Written down every five seconds, and at the end.
    expect(output.states.map { Int($0.elapsed.seconds) }, [5, 10, 12])
    asked.earlier = state
    asked.patience = .max
    asked.steps = state.status.events + 1_000
    let later = try asked.perform()
    expect(later.end.cause, .done)
    expect(later.end.status.events, state.status.events + 1_000)
    #expect(later.output.took.allSatisfy { $0 >= state.elapsed })
    let (before, after) = (try #require(state.coverage), try #require(later.end.coverage))
    #expect(after.cells.total.legal.visited >= before.cells.total.legal.visited)
  }

  @Test("a time that was asked for is a budget, and no end before its time")
  func budget() throws {
    var asked = Asked()
    asked.steps = nil
    asked.duration = .seconds(3)
    let (end, _) = try asked.perform()
    expect(end.cause, .done)
    expect(end.exit, .agree)
    #expect(end.took >= .seconds(3) && end.took < .seconds(4), "\(end.took)")
  }

  @Test("one whose time is over before its first event has shown nothing")
  func empty() throws {
    var asked = Asked()
    (asked.steps, asked.duration) = (nil, .milliseconds(1))
    let (end, _) = try asked.perform()
    expect(end.status.events, 0)
    expect(end.exit, .nothingSelected)
  }

  /// A link that ends in a registration leaves a lock with an owner whose key nobody has, and such a lock is silent here.
  @Test("a lock that may have another owner owes no answer to the former one")
  func silentToAFormerOwner() throws {
    var asked = Asked("emulator:sesame5?as=real&wrong-login=silent&link-loss=0.005")
    (asked.machine, asked.seed, asked.steps, asked.keepsGoing) = ("sesame", 92001, 15_000, true)
    asked.allowed = ["reset", "register", "configure"]
    let (end, output) = try asked.perform()
    guard case .trouble(let fault) = end.cause else {
      Issue.record("it ended with \(end.cause)")
      return
    }
    #expect("\(fault)".contains("an owner whose key was never received"), "\(fault)")
    expect(output.findings, [])
  }

  @Test(
    "what was found on a lock that lives on shows on a new one, too",
    arguments: [
      // A reset long before, movements of many tests, a lock that nobody can register any more.
      ("sesame3", "deaf-unlock", 2), ("sesame5", "calibration-drifts", 2),
      ("sesame5", "registration-busy-after-reset", 1),
    ])
  func keepsState(lock: String, defect: String, seed: UInt64) throws {
    var asked = Asked("emulator:\(lock)?as=real&defect=\(defect)")
    (asked.machine, asked.seed, asked.steps) = ("sesame", seed, 50_000)
    asked.allowed = ["reset", "register", "configure"]
    let (end, output) = try asked.perform()
    expect(end.exit, .divergence)
    let sure = output.findings.filter(\.isSure)
    #expect(!sure.isEmpty)
    for finding in sure {
      #expect(finding.lines.contains { $0.hasPrefix("a new device shows it too") }, "\(finding.lines)")
    }
  }
}

@Suite("Campaigns with a twin")
struct TwinCampaignTests {
  @Test(
    "what the twin does is asked of the device, and what the device does of the twin",
    arguments: [
      (nil, nil, .agree, nil),
      // A twin without the defect is explored in vain; the device does its tests.
      (
        "deaf-unlock", nil, .divergence,
        "the twin is wrong here: at step 16 the twin showed unlocked, the device locked"
      ),
      // Without a device that does it, there is no verdict.
      (
        nil, "deaf-unlock", .labFault,
        "the twin is wrong here: at step 16 the twin showed locked, the device unlocked"
      ),
      (
        "deaf-unlock", "deaf-unlock", .divergence,
        "the device does the same: reproduced 3 of 3"
      ),
    ] as [(String?, String?, CommandStatus, String?)])
  func verdicts(device: String?, twin: String?, status: CommandStatus, said: String?) throws {
    func lock(_ defect: String?) -> String {
      "emulator:reference" + (defect.map { "?defect=\($0)" } ?? "")
    }
    var asked = Asked(lock(device))
    asked.twin = lock(twin)
    let (end, output) = try asked.perform()
    expect(end.exit, status)
    expect(output.findings.map { $0.lines.last }, said.map { [$0] } ?? [])
    expect(
      output.lines.contains {
        $0.hasPrefix("twin    agrees with the model; the device does ")
          && $0.hasSuffix(" of its tests, and 0 of the corpus") && !$0.contains(" does 0 of")
      }, twin == nil)
  }

  @Test(
    "a twin has a tenth of the time; what is left is the device's, and its tests are not explored further")
  func time() throws {
    var asked = Asked()
    (asked.twin, asked.steps, asked.duration) = ("emulator:reference", nil, .seconds(20))
    let (end, output) = try asked.perform()
    expect(end.cause, .done)
    #expect(output.lines.contains { $0.hasPrefix("twin    agrees with the model; the device does ") })
    #expect(end.took > .seconds(2) && end.took < .seconds(20), "\(end.took)")
  }

  @Test("a lock whose motor wears is searched from the beginning, its twin beside it, and the same each time")
  func beside() throws {
    func all() throws -> (end: CampaignSummary, output: Output) {
      var asked = Asked("emulator:sesame5?as=real")
      (asked.machine, asked.twin, asked.steps) = ("sesame", "emulator:sesame5", 600)
      return try asked.perform()
    }
    let (end, output) = try all()
    expect(end.cause, .done)
    expect(end.status.events, 600)
    #expect(end.status.actuations > 2, "\(end.status.actuations)")
    expect(
      output.lines.first, "fuzz sesame on emulator:sesame5?as=real, with its twin emulator:sesame5, seed 1")
    let said = try #require(output.lines.last { $0.hasPrefix("twin    agrees with the model in ") })
    let again = try all()
    // Only the folder of the corpus is another one.
    let (first, second) = (output.lines, again.output.lines)
    expect(second.filter { !$0.hasPrefix("corpus") }, first.filter { !$0.hasPrefix("corpus") })
    expect(again.output.states.last?.status, output.states.last?.status)
    #expect(said.hasSuffix(" tests, beside the device"), "\(said)")
    let shares = end.status.timeShares
    expect(shares.map(\.count), [4, 3])
    #expect(shares.allSatisfy { (98...102).contains($0.reduce(0) { $0 + $1.percent }) }, "\(shares)")
  }

  @Test(
    "what a twin beside fails is followed up there, and the device is asked for it between two of its tests",
    arguments: [
      (
        "?as=real&defect=history-never-empties", CommandStatus.divergence,
        "the device does the same: reproduced 3 of 3"
      ),
      // Without a device that does it, there is no verdict.
      ("?as=real", .labFault, "the twin is wrong here: "),
    ])
  func followedUp(settings: String, status: CommandStatus, said: String) throws {
    func all() throws -> (end: CampaignSummary, output: Output) {
      var asked = Asked("emulator:sesame5\(settings)")
      (asked.machine, asked.steps) = ("sesame", 2_000)
      asked.twin = "emulator:sesame5?defect=history-never-empties"
      return try asked.perform()
    }
    let (end, output) = try all()
    expect(end.exit, status)
    let finding = try #require(output.findings.first)
    #expect(finding.lines.last?.hasPrefix(said) == true, "\(finding.lines)")
    let again = try all()
    expect(again.output.findings.map(\.lines), output.findings.map(\.lines))
  }

  @Test("stopped while its twin is explored, it leaves the device alone")
  func stopped() throws {
    var asked = Asked()
    (asked.twin, asked.steps, asked.patience) = ("emulator:reference", nil, 1_000)
    let (end, output) = try asked.perform()
    expect(end.cause, .stopped)
    #expect(!output.lines.contains { $0.hasPrefix("twin ") })
  }
}
