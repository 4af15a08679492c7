import Foundation
import Glibc
import Testing

/// A lab of many benches that labgrid coordinates: a place is got, kept while it is used, and given back, whatever happens.
@Suite("A lab that labgrid coordinates", .timeLimit(.minutes(10)))
struct LabgridTests {
  @Test(
    "two runs want one lock: one waits for the other, both agree, and all is given back; replay and fuzz do too",
    .needs(.labgrid))
  func turns() async throws {
    let lab = try await LabgridLab(Rig(.labgrid))
    let visit = try lab.rig.write(
      "visit.yaml",
      """
      scenario: A visit
      machine: sesame
      device: { lock: sesame5, registered: true, configured: true }
      steps: [closeTo, connect, { until: { status: [locked, unlocked] } }, disconnect, { until: { status: noSignal } }]

      """)
    func command(_ name: String) -> [String] { lab.command("run", [visit, "--out", lab.rig.path(name)]) }
    let first = try await lab.rig.start(
      "first", command("first"), until: "got the place front-door")
    let second = try await lab.rig.start(
      "second", command("second"), until: "waiting for a place")
    #expect(second.output.contains("front-door is held by"), "\(second.output)")
    #expect(try await first.ended() == 0, "\(first.output)")
    #expect(try await second.ended() == 0, "\(second.output)")
    #expect(try await lab.isFree())
    let replay = try await lab.rig.run(
      "replay", lab.command("replay", [visit], tags: "name=front-door"))
    #expect(replay.status == 0, "\(replay.output)")
    // A second request is the end at once: the watchdog sees to the rest.
    let fuzz = try await lab.rig.start(
      "fuzz", lab.command("fuzz", ["sesame", "--twin", "none", "--out", lab.rig.path("fuzz")]),
      until: "corpus  ")
    #expect(try await !lab.isFree())
    fuzz.signalAndWait(SIGINT)
    fuzz.signal(SIGTERM)
    #expect(try await fuzz.ended() == 143, "\(fuzz.output)")
    try await lab.settled { try await lab.isFree() }
  }

  @Test(
    "killed, alone or with its process group, its place is free soon after", .needs(.labgrid),
    arguments: [false, true])
  func killed(wholeGroup: Bool) async throws {
    let lab = try await LabgridLab(Rig(.labgrid))
    let run = try await lab.startRun("run")
    #expect(try await !lab.isFree())
    let python = try #require(try await lab.python(of: run))
    kill(wholeGroup ? -run.id : run.id, SIGKILL)
    try await lab.settled { try await lab.isFree() }
    // It ends once it sees that nobody reads it any more.
    try await lab.settled { kill(python, 0) != 0 }
  }

  @Test("killed with its watchdog, its place is given back by the next run", .needs(.labgrid))
  func killedWithWatchdog() async throws {
    let lab = try await LabgridLab(Rig(.labgrid))
    let run = try await lab.startRun("run")
    // As a service manager ends all processes of a unit.
    let numbers = try await lab.watchdogs()
    #expect(numbers.count == 1)
    for number in numbers + [run.id] { kill(number, SIGKILL) }
    try await Task.sleep(for: .seconds(1))
    #expect(try await !lab.isFree())
    let next = try await lab.rig.run(
      "next", lab.command("run", ["Scenarios/peers/there-and-back.yaml", "--out", lab.rig.path("next")]))
    #expect(next.output.contains("gave back what a run that was killed held"), "\(next.output)")
    #expect(next.status == 0, "\(next.output)")
    #expect(try await lab.isFree())
  }

  @Test("a coordinator that is restarted knows no holder: trouble of the lab", .needs(.labgrid))
  func coordinatorRestarted() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig)
    // The coordinator saves its places some time after they change.
    try await lab.settled { FileManager.default.fileExists(atPath: rig.path("lab/places.yaml")) }
    let run = try await lab.startRun("run")
    rig.child(named: "coordinator")?.end()
    try await lab.startCoordinator("coordinator-2")
    try await Self.expectTrouble(run, "the coordinator no longer knows a holder of the place front-door")
    #expect(
      run.output.contains("the lock rests locked") || run.output.contains("brought to locked"),
      "\(run.output)")
    #expect(try await lab.isFree())
  }

  @Test("a coordinator that went away for good is trouble of the lab, and the run ends", .needs(.labgrid))
  func coordinatorGone() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig)
    let run = try await lab.startRun("run")
    rig.child(named: "coordinator")?.end()
    try await Self.expectTrouble(run, "cannot be asked")
    #expect(run.output.contains("a background process keeps trying"), "\(run.output)")
    #expect(try await lab.watchdogs().count == 1)
    try await lab.endWatchdogs()
  }

  @Test(
    "a Python that is killed is started again, and a coordinator that is silent for a while is waited for",
    .needs(.labgrid))
  func silence() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig)
    let run = try await lab.startRun("run")
    let first = try #require(try await lab.python(of: run))
    kill(first, SIGKILL)
    try await lab.settled { try await lab.python(of: run).map { $0 != first } ?? false }
    rig.child(named: "coordinator")?.signal(SIGSTOP)
    try await Task.sleep(for: .seconds(12))
    rig.child(named: "coordinator")?.signal(SIGCONT)
    try await Task.sleep(for: .seconds(4))
    #expect(run.isRunning, "\(run.output)")
    #expect(try await !lab.isFree())
    run.signal(SIGINT)
    #expect(try await run.ended() == 5, "\(run.output)")
    #expect(!run.output.contains("transport lost"), "\(run.output)")
    #expect(try await lab.isFree())
  }

  @Test("an exporter that vanishes is trouble of the lab", .needs(.labgrid))
  func exporterGone() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig)
    let run = try await lab.startRun("run")
    rig.child(named: "exporter")?.end()
    try await Self.expectTrouble(run, "the exporter of the place front-door went away")
    #expect(try await lab.isFree())
    // And without it there is nothing to acquire.
    let next = try await rig.run(
      "next", lab.command("run", ["Scenarios/peers", "--out", rig.path("next")]))
    #expect(
      next.status == 3
        && next.output.contains(
          "no exporter offers bench-1/front-door/*, which belongs to the place front-door"),
      "\(next.output)")
    #expect(try await lab.isFree())
  }

  @Test("a place that somebody takes away is left to him, and so is the lock", .needs(.labgrid))
  func takenAway() async throws {
    let lab = try await LabgridLab(Rig(.labgrid))
    let run = try await lab.startRun("run")
    let holder = try await lab.client(["who"]).split(separator: "\n").last.map(String.init) ?? ""
    #expect(holder.contains("lockstep-"), "\(holder)")
    // Both at once: what is released is reserved for the run.
    let token = try await lab.client(["reservations"]).split(separator: "'")[1]
    try await lab.client(["cancel-reservation", String(token)])
    try await lab.client(["--place", "front-door", "release", "--kick"])
    try await lab.client(["--place", "front-door", "acquire"])
    // Between the two, or after both.
    try await Self.expectTrouble(run, "transport lost: the ")
    #expect(
      run.output.contains("is held by office/admin now") || run.output.contains("no longer knows a holder"),
      "\(run.output)")
    // Who looks while nobody holds it parks the lock, if that is still so then.
    if run.output.contains("is held by office/admin now") {
      #expect(run.output.contains("the lock is left as it is"), "\(run.output)")
    } else {
      #expect(
        ["the lock is left as it is", "the lock rests locked", "brought to locked"].contains {
          run.output.contains($0)
        }, "\(run.output)")
    }
    // What is somebody else's is not given back.
    #expect(try await lab.client(["--place", "front-door", "show"]).contains("acquired: office/admin"))
  }

  @Test(
    "what is held by somebody else is waited for, as long as is allowed, and Ctrl-C ends the waiting",
    .needs(.labgrid))
  func waiting() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig)
    try await lab.client(["--place", "front-door", "acquire"])
    func command(_ name: String, _ wait: String) -> [String] {
      lab.command("run", ["Scenarios/peers", "--out", rig.path(name)], wait: wait)
    }
    let brief = try await rig.run("brief", command("brief", "2s"))
    #expect(brief.status == 3 && brief.output.contains("none became available within 2 s"), "\(brief.output)")
    #expect(brief.output.contains("front-door is held by office/admin"), "\(brief.output)")
    let stopped = try await rig.start(
      "stopped", command("stopped", "4min"), until: "waiting for a place")
    // A coordinator that is silent for a while ends no waiting.
    rig.child(named: "coordinator")?.signal(SIGSTOP)
    try await Task.sleep(for: .seconds(14))
    rig.child(named: "coordinator")?.signal(SIGCONT)
    try await Task.sleep(for: .seconds(2))
    stopped.signal(SIGINT)
    #expect(try await stopped.ended() == 5, "\(stopped.output)")
    let cancelled = try await rig.start(
      "cancelled", command("cancelled", "4min"), until: "waiting for a place")
    let reservations = try await lab.client(["reservations"])
    let token = try #require(reservations.split(separator: "'").dropFirst().first, "\(reservations)")
    try await lab.client(["cancel-reservation", String(token)])
    #expect(try await cancelled.ended() == 3, "\(cancelled.output)")
    #expect(try await lab.client(["reservations"]) == "")
    #expect(try await lab.client(["--place", "front-door", "show"]).contains("acquired: office/admin"))
  }

  @Test(
    "without labgrid, without a coordinator, without an answer: trouble of the lab, said clearly",
    .needs(.labgrid))
  func clear() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig)
    let hanging = rig.writeProgram("hanging", "#!/bin/sh\nexec sleep 100\n")
    let bare = rig.writeProgram("bare", "#!/bin/sh\nexec /usr/bin/python3 -S \"$@\"\n")
    let cases: [(python: String, tags: String, words: String)] = [
      ("/nowhere/python3", "model=sesame5", "No such file or directory; LABGRID_PYTHON names another"),
      (
        bare, "model=sesame5",
        "bare has no labgrid: ModuleNotFoundError: No module named 'labgrid'; it comes with"
      ),
      (hanging, "model=sesame5", "did not answer within 15 s, and was killed"),
      (LabgridLab.python, "model=sesame9", "there is front-door ("),
    ]
    for (python, tags, words) in cases {
      let run = try await rig.run(
        "run", lab.command("run", ["Scenarios/peers", "--out", rig.path("run")], tags: tags, python: python))
      #expect(run.status == 3 && run.output.contains(words), "\(run.output)")
      let report = try String(contentsOfFile: rig.path("run/junit.xml"), encoding: .utf8)
      #expect(
        report.contains(#"tests="1" failures="0" errors="1""#) && report.contains("no device"), "\(report)")
    }
    rig.child(named: "coordinator")?.end()
    let run = try await rig.run(
      "run", lab.command("run", ["Scenarios/peers", "--out", rig.path("run")]))
    #expect(run.status == 3 && run.output.contains("the coordinator does not answer"), "\(run.output)")
    // Nothing is held, and so nobody stays behind.
    #expect(try await lab.watchdogs().isEmpty)
  }

  @Test(
    "a night over two places: each lock is driven at its own, one that somebody else has is waited for, all is given back",
    .needs(.labgrid))
  func night() async throws {
    let lab = try await LabgridLab(Rig(.labgrid), and: "back-door")
    try await lab.client(["--place", "stray", "create"])
    try await lab.client(["--place", "back-door", "acquire"])
    let night = try await lab.startNight("night", rounds: 2)
    #expect(
      night.output.contains("not used: stray (no tag lock=NAME)")
        && night.output.contains("since none of its places has them: nowhere"), "\(night.output)")
    try await lab.settled {
      try await lab.client(["reservations"]).contains("state: waiting")
        && lab.verdicts().filter { $0.hasPrefix("front-door ") }.count == 2
    }
    #expect(try lab.verdicts().allSatisfy { $0.hasPrefix("front-door ") })
    try await lab.client(["--place", "back-door", "release"])
    #expect(try await night.ended() == 0, "\(night.output)")
    #expect(
      try lab.verdicts().sorted() == [
        "back-door agree", "back-door agree", "front-door agree", "front-door agree",
      ])
    #expect(try await lab.isFree())
    let page = try String(contentsOfFile: lab.rig.path("out/nightly.html"), encoding: .utf8)
    #expect(page.contains("<h2>Places</h2>") && page.contains(">back-door</th>"), "\(page)")
    #expect(!(page + night.output).lowercased().contains("dongle"), "\(page) \(night.output)")
    #expect(night.output.contains("4 planned: 4 agree"), "\(night.output)")
  }

  @Test(
    "a place whose only port has another protocol than raw is not taken, and the protocol is said",
    .needs(.labgrid))
  func unusablePort() async throws {
    let lab = try await LabgridLab(Rig(.labgrid))
    let file = try lab.rig.write(
      "usb.yaml",
      "usb-bench:\n  NetworkSerialPort: {host: 127.0.0.1, port: 9, protocol: rfc2217, speed: 115200}\n")
    try await lab.rig.start(
      "usb",
      [
        "\(Place.venv)/bin/labgrid-exporter", "-c", "127.0.0.1:\(lab.port)", "-n", "bench-2", "--hostname",
        "127.0.0.1", file,
      ], until: "add resource usb-bench", within: 60)
    for words in [
      ["create"], ["add-match", "bench-2/usb-bench/*"], ["set-tags", "model=usb", "lock=usb.yaml"],
    ] { try await lab.client(["--place", "usb-bench"] + words) }
    try await lab.settled { try await lab.client(["resources"]).contains("bench-2/usb-bench") }
    let run = try await lab.rig.run(
      "run", lab.command("run", ["Scenarios/sesame5/jam.yaml"], tags: "model=usb"), within: 60)
    #expect(run.status == 3, "\(run.output)")
    #expect(
      run.output.contains("the place usb-bench has a serial port with the protocol rfc2217, and only raw"),
      "\(run.output)")
    #expect(!run.output.contains("got the place"), "\(run.output)")
    #expect(try await lab.client(["--place", "usb-bench", "show"]).contains("acquired: None"))
  }

  @Test(
    "a night that waits for a place in vain says for which and how long, and drives the other",
    .needs(.labgrid))
  func nightInVain() async throws {
    let lab = try await LabgridLab(Rig(.labgrid), and: "back-door")
    try await lab.client(["--place", "back-door", "acquire"])
    let night = try await lab.startNight("night", rounds: 1, wait: "2s")
    #expect(try await night.ended() == 3, "\(night.output)")
    #expect(
      night.output.contains(
        "the lock back-door is out of use: 3 runs failed one after the other: no device: "
          + "no place with name=back-door at \(lab.address): none became available within 2 s"),
      "\(night.output)")
    #expect(night.output.contains("2 planned: 1 agree"), "\(night.output)")
    #expect(try await lab.client(["--place", "back-door", "show"]).contains("acquired: office/admin"))
    #expect(try await !lab.client(["reservations"]).contains("lockstep-"))
  }

  @Test(
    "a night that is killed leaves its places free soon after, and goes on by the same command, driving nothing twice",
    .needs(.labgrid))
  func nightKilled() async throws {
    let lab = try await LabgridLab(Rig(.labgrid), and: "back-door")
    let first = try await lab.startNight("first", rounds: 3)
    try await lab.settled { try lab.verdicts().count >= 2 }
    // In the middle of what comes next.
    try await lab.settled { try await !lab.isFree() }
    first.signal(SIGKILL)
    try await lab.settled { try await lab.isFree() }
    let before = try lab.verdicts()
    #expect(before.count < 6)
    let second = try await lab.startNight("second", rounds: 3)
    #expect(try await second.ended() == 0, "\(second.output)")
    #expect(second.output.contains("resuming the night"), "\(second.output)")
    let after = try lab.verdicts()
    #expect(Array(after.prefix(before.count)) == before)
    #expect(after.count == 6 && after.allSatisfy { $0.hasSuffix(" agree") }, "\(after)")
    // No case was begun again that had agreed.
    let agreed = Set(try lab.record().compactMap { $0.end }.filter { $0.verdict == "agree" }.map(\.run))
    let driven = try lab.record().compactMap { $0.start }.filter { agreed.contains($0.run) }.map(\.case)
    #expect(driven.count == 6 && Set(driven).count == 6, "\(driven)")
    #expect(try await lab.isFree())
  }

  @Test(
    "a night tells a run that hangs in its radio from one whose lab takes its time, and drives its case again",
    .needs(.labgrid))
  func nightHangs() async throws {
    let rig = try await Rig(.labgrid)
    let lab = try await LabgridLab(rig, and: "back-door")
    let library = rig.path("hang.so")
    try await rig.succeed(
      "compile",
      ["/usr/bin/gcc", "-shared", "-fPIC", "-o", library, "\(Place.root)/Tests/Peers/hang.c", "-ldl"])
    let hang = try rig.write("hang", "")
    let slow = rig.writeProgram(
      "slow",
      "#!/bin/sh\nwhile read -r line; do sleep 2; echo \"$line\"; done | \(LabgridLab.python) \"$@\"\n")
    let night = try await lab.startNight(
      "night", rounds: 1, under: ["LABGRID_PYTHON=\(slow)", "LD_PRELOAD=\(library)", "HANG=\(hang)"])
    #expect(try await night.ended() == 0, "\(night.output)")
    let ends = try lab.record().compactMap { $0.end }
    #expect(ends.filter { $0.verdict != "agree" }.map { $0.message?.prefix(9) } == ["it hung: "], "\(ends)")
    // What agreed after trouble is flaky.
    let verdicts = try lab.verdicts().sorted()
    let (back, front) = (["back-door agree", "back-door flaky"], ["front-door agree", "front-door flaky"])
    #expect([[back[0], front[1]], [back[1], front[0]]].contains(verdicts), "\(verdicts)")
    #expect(try await lab.isFree())
  }

  private static func expectTrouble(
    _ run: Rig.Child, _ words: String, within seconds: Double = Rig.responseTimeout,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let status = try await run.ended(within: seconds)
    #expect(status == 3, "\(run.output)", sourceLocation: sourceLocation)
    #expect(run.output.contains(words), "\(run.output)", sourceLocation: sourceLocation)
  }
}
