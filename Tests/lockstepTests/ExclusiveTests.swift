import Foundation
import TestSupport
import Testing

/// What belongs to the lock and not to who drives it.
@Suite("A lock on a machine of many users", .timeLimit(.minutes(10)))
struct ExclusiveTests {
  private let folder: Command.Folder
  private let air: EmulatedBench

  init() throws {
    folder = try Command.Folder()
    // The lock is one on the whole machine: no other test may have it.
    air = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "\(getpid())"],
      in: folder)
    try folder.write(
      "slow.yaml", visit("A long stay", "unlock", "until: { status: unlocked }", "wait: 1 h"))
  }

  /// Starts a run with some environment, and waits until the lock is open.
  private func open(_ environment: String, _ out: Command.Folder) throws -> Program {
    let line =
      "\(environment) exec \"$LOCKSTEP\" run slow.yaml --transport \(air.transports[0]) --device lock:lock.yaml "
      + "--show-progress none"
    let process = try Command.start("/bin/sh", ["-c", line], in: folder.path, out: out)
    folder.awaitUnlocked(by: process)
    return process
  }

  @Test("another home and another state folder are no way round who has it, and what is not guarded is said")
  func exclusive() throws {
    let out = try Command.Folder()
    let process = try open("unset LOCKSTEP_STATE XDG_STATE_HOME; HOME=$PWD/one", out)
    for environment in ["HOME=$PWD/two", "HOME=$PWD/two XDG_STATE_HOME=$PWD/three"] {
      let other = try Command.shell(
        "unset LOCKSTEP_STATE XDG_STATE_HOME; \(environment) \"$LOCKSTEP\" run slow.yaml --transport "
          + "\(air.transports[0]) --device lock:lock.yaml --out Other", in: folder.path)
      expect(other.status, 3)
      #expect(
        other.output.contains("is in use by process \(process.processIdentifier) on "), "\(other.output)")
    }
    // Who waits has it as soon as it is free.
    try folder.write("short.yaml", visit("A short stay", "until: { status: locked }"))
    let waiting = try Command.Folder()
    let line =
      "unset LOCKSTEP_STATE XDG_STATE_HOME; HOME=$PWD/one exec \"$LOCKSTEP\" run short.yaml --transport "
      + "\(air.transports[0]) --device lock:lock.yaml --out Waiting --wait 4min"
    let patient = try Command.start("/bin/sh", ["-c", line], in: folder.path, out: waiting)
    eventually(by: patient) {
      (try? waiting.read("errors"))?.contains("; waiting up to 4 min") == true
    }
    kill(process.processIdentifier, SIGTERM)
    expect(process.waitUntilExit(), 5)
    patient.waitUntilExit()
    let errorsOfPatient = try waiting.read("errors")
    #expect(patient.waitUntilExit() == 0, "\(errorsOfPatient)")
    expect(
      try Command.call("run", "Scenarios/door", "--wait", "1min").errors.split(separator: "\n").first.map(
        String.init),
      "lockstep: --wait waits for a lock: name one with --device lock:NAME")
    // Where nobody has set up a folder for all.
    guard !FileManager.default.fileExists(atPath: "/var/lib/lockstep") else { return }
    let errors = try out.read("errors")
    #expect(errors.contains("/one/.local/state/lockstep (this user's alone): the movements that other users"))
    #expect(errors.contains("'lockstep doctor --set-up' prints the line"), "\(errors)")
    let run = folder.names("Reports/runs").last ?? ""
    let manifest = try folder.read("Reports/runs/\(run)/manifest.json")
    #expect(manifest.contains("/one/.local/state/lockstep (this user's alone)\""), "\(manifest)")
  }

  @Test("with the state folder deleted nothing moves any more, and the lock is said not to be parked")
  func deleted() throws {
    let out = try Command.Folder()
    let process = try open("LOCKSTEP_STATE=$PWD/state/lockstep", out)
    let count = folder.movements()
    try FileManager.default.moveItem(atPath: folder.path + "/state", toPath: folder.path + "/gone")
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    let words =
      "the lock could not be brought to locked, see to it: movements cannot be counted, and so nothing is moved: "
    let errors = try out.read("errors")
    #expect(
      errors.contains(words) && errors.contains("was deleted, replaced or written over while it was in use"),
      "\(errors)")
    let journal = try folder.journal()
    #expect(journal.contains(#""parked":false,"message":""# + words), "\(journal)")
    expect([count, folder.movements()], [1, 0])
  }

  @Test("a calendar that was set back revives no quarantine, and doctor says so")
  func calendar() throws {
    // A first run makes the state, and the calendar goes back from what it says then.
    let far = Int64(7_258_118_400) * 1_000_000_000
    let begin =
      "export LOCKSTEP_STATE=$PWD/state; $LOCKSTEP devices restore front; python3 -c 'import sqlite3; "
      + "c = sqlite3.connect(\"state/state.sqlite\"); c.execute(\"INSERT INTO calendar VALUES (0, \(far))\"); c.commit()'"
    try folder.write(
      "bench.yaml",
      """
      bench: third-floor
      locks: [{ name: front, device: "emulator:sesame5" }]
      quarantine:
        - { lock: front, reason: "jams when cold", owner: ada, expires: 2190-01-01 }

      """)
    let result = try Command.shell(
      """
      \(begin); $LOCKSTEP devices; $LOCKSTEP doctor --quiet
      echo restored; $LOCKSTEP devices restore calendar; $LOCKSTEP devices
      """, in: folder.path)
    let parts = result.output.components(separatedBy: "\nrestored\n")
    try #require(parts.count == 2, "\(result)")
    for (part, words) in [
      (0, "quarantine expired   until 2190-01-01, ada: jams when cold"),
      (0, "calendar: the calendar of this machine was set back: it says 20"),
      (1, "quarantined   until 2190-01-01"),
    ] { #expect(parts[part].contains(words), "\(result.output)") }
  }

  @Test("the line that makes one folder for all is one line, and nothing is made of it unasked")
  func setUp() throws {
    let before = FileManager.default.fileExists(atPath: "/var/lib/lockstep")
    let result = try Command.call("doctor", "--set-up")
    expect(result.status, 0)
    expect(result.output.split(separator: "\n").count, 1)
    #expect(result.output.contains("install -d -m 2775 -g lockstep /var/lib/lockstep"))
    expect(FileManager.default.fileExists(atPath: "/var/lib/lockstep"), before)
  }
}
