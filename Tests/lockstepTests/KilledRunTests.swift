import Databases
import Foundation
import TestSupport
import Testing

/// Runs that are killed while a lock is open: what nobody can catch leaves no lock open.
@Suite("A run that is killed over a lock", .timeLimit(.minutes(10)))
struct KilledRunTests {
  private let folder: Command.Folder
  private let air: EmulatedBench

  init() throws {
    folder = try Command.Folder()
    air = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"], in: folder)
    try folder.write("there.yaml", visit("There", "unlock", "until: { status: unlocked }"))
    try folder.write(
      "slow.yaml", visit("A long stay", "unlock", "until: { status: unlocked }", "wait: 1 h"))
    try folder.write(
      "bench.yaml",
      """
      bench: third-floor
      dongles: [{ name: air, transport: "\(air.transports[0])" }]
      locks: [{ name: front, file: lock.yaml }]

      """)
  }

  private func shell(_ line: String) throws -> Command.Result {
    try Command.shell("export LOCKSTEP_STATE=$PWD/state/lockstep; " + line, in: folder.path)
  }

  /// The runs that there are.
  private var runs: [String] { folder.names("Reports/runs").filter { !$0.hasPrefix(".") } }

  /// Starts a run and waits until the lock is open.
  private func open(_ out: Command.Folder) throws -> Program {
    let before = runs.last
    let process = try Command.start(drive: ["slow.yaml"], air, out: out)
    folder.awaitUnlocked(by: process, after: before)
    return process
  }

  /// What was noted last of the lock, beside its movements.
  private var lastNote: String? {
    folder.state(
      "SELECT kind, detail FROM events WHERE kind NOT IN ('movement', 'own') ORDER BY id DESC LIMIT 1"
    )
    .first?.compactMap(\.text).joined(separator: " ")
  }

  /// The process beside a run on the lock of this folder.
  private func watcher() throws -> Int32 {
    let found = try shell("pgrep -f 'lock-watcher '$PWD/lock.yaml").output
    return try #require(Int32(found.split(separator: "\n").first ?? ""))
  }

  private func waitForRest() {
    eventually { lastNote == "parked" }
  }

  @Test("the process beside it parks the lock, whichever way the run is ended at once")
  func watched() throws {
    let out = try Command.Folder()
    for ends in [[SIGKILL], [SIGINT, SIGTERM], [SIGSYS, SIGABRT]] {
      let process = try open(out)
      expect(lastNote, "away locked")
      for end in ends { process.signalAndWait(end) }
      process.waitUntilExit()
      waitForRest()
      let path = "Reports/runs/\(runs.last ?? "")/watcher.log"
      try eventually { try folder.read(path).split(separator: "\n").count >= 2 }
      let log = try folder.read(path)
      #expect(log.contains("Z the run is gone, and the lock was not parked\n"), "\(log)")
      #expect(log.contains(": the lock was unlocked and was brought to locked\n"), "\(log)")
      if ends.count == 2 {
        let errors = try out.read("errors")
        #expect(
          errors.contains(
            "ended at once; a background process parks the lock, and says so in Reports/runs/"
          ),
          "\(errors)")
      }
    }
    expect(folder.movements(), 6)
  }

  @Test("with that process killed as well, the bench shows it, and the next run does it first and says so")
  func unwatched() throws {
    let out = try Command.Folder()
    let process = try open(out)
    kill(try watcher(), SIGKILL)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    let shown = try shell("$LOCKSTEP devices; $LOCKSTEP devices --format json")
    #expect(shown.output.contains("not parked   to be parked, locked, since 20"), "\(shown.output)")
    #expect(shown.output.contains(#""owed":"to be parked, locked, since 20"#), "\(shown.output)")
    let next = try Command.drive(["there.yaml"], air)
    expect(next.status, 0)
    #expect(
      next.errors.contains("the lock lock.yaml is to be parked, locked, since 20"), "\(next.errors)")
    let manifest = try folder.read("Reports/runs/\(runs.last ?? "")/manifest.json")
    #expect(manifest.contains(#""lock.owed": "to be parked, locked, since"#), "\(manifest)")
    let journal = try folder.journal()
    #expect(
      journal.contains(#""diagnostic":"the last run on the lock left it unparked at 20"#),
      "\(journal)")
    expect(folder.movements(), 4)
    expect(lastNote, "parked")
    let after = try shell("$LOCKSTEP devices")
    #expect(!after.output.contains("not parked"), "\(after.output)")
  }

  @Test("a run that comes meanwhile waits until the lock is parked, and two never drive it at a time")
  func contested() throws {
    let process = try open(try Command.Folder())
    kill(process.processIdentifier, SIGKILL)
    let next = try Command.drive(["there.yaml"], air)
    expect(next.status, 0)
    expect(folder.movements(), 4)
    expect(lastNote, "parked")
  }

  @Test("a run that ends well leaves no process behind")
  func gone() throws {
    expect(try Command.drive(["there.yaml"], air).status, 0)
    expect(try shell("pgrep -f 'lock-watcher '$PWD/lock.yaml").output, "")
  }
}
