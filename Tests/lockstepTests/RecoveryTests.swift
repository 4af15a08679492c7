import Databases
import Foundation
import TestSupport
import Testing

/// A bench whose only controller hangs on a switch: turning its power off ends the emulator, turning it on starts another.
private final class SwitchedBench {
  let folder: Command.Folder
  private let out: Command.Folder
  private let port: Int

  init() throws {
    folder = try Command.Folder()
    try folder.write("slow.yaml", visit("A long stay", "unlock", "until: { status: unlocked }", "wait: 60 s"))
    try folder.write(
      "there.yaml", visit("There and back", "unlock", "until: { status: unlocked }", "disconnect"))
    port = try freePort()
    let words = [
      "emulate", "sesame5", "--serve", "tcp-server:127.0.0.1:\(port)", "--key-file", "lock.yaml", "--seed",
      "7",
      "--duration", "600s",
    ]
    // Who started the run waits for all that have a descriptor of it, which the emulator is not to be among.
    try folder.write(
      "hub.sh",
      """
      cd '\(folder.path)' || exit 9
      case $1 in
      off) kill -9 "$(cat pid)"; true ;;
      broken) : ;;
      on) sh "$0" check && exit 0
        rm -f pid
        setsid bash -c 'for n in {3..255}; do eval "exec $n>&-"; done; echo $$ > pid; exec "\(Command.path)" \(words.joined(separator: " "))' </dev/null >/dev/null 2>&1 &
        # Who is not on its own yet ends with us.
        until test -s pid; do sleep 0.02; done ;;
      check) kill -0 "$(cat pid)" && ! grep -q ' Z ' "/proc/$(cat pid)/stat" ;;
      esac

      """)
    out = try Command.Folder()
    let process = try Command.start(Command.path, words, in: folder.path, out: out)
    try folder.write("pid", "\(process.processIdentifier)\n")
    try eventually(by: process) { try out.read("output").contains("advertising") }
  }

  deinit { if let pid { kill(pid, SIGKILL) } }

  /// The emulator that runs now.
  var pid: Int32? {
    (try? folder.read("pid")).flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
  }

  /// Writes the inventory; `off` is what the switch does instead of turning off.
  func writeBench(off: String = "off", settle: String = "4 s") throws {
    let hub = "sh \(folder.path)/hub.sh"
    try folder.write(
      "bench.yaml",
      """
      bench: test
      dongles: [{ name: blue, transport: "tcp-client:127.0.0.1:\(port)", power: hub }]
      switches: [{ name: hub, off: "\(hub) \(off)", on: "\(hub) on", check: "\(hub) check", settle: \(settle) }]
      locks: [{ name: door, file: lock.yaml }]

      """)
  }

  /// Drives two cases, in the first of which the controller hangs.
  func runThroughHang() throws -> Command.Result {
    let out = try Command.Folder()
    let line =
      "LOCKSTEP_STATE=$PWD/state/lockstep exec \"$LOCKSTEP\" run slow.yaml there.yaml --bench bench.yaml --device lock:door "
      + "--out Reports --show-progress none"
    let process = try Command.start("/bin/sh", ["-c", line], in: folder.path, out: out)
    folder.awaitUnlocked(by: process)
    if let pid { kill(pid, SIGSTOP) }
    process.waitUntilExit()
    return Command.Result(
      status: process.waitUntilExit(), output: try out.read("output"), errors: try out.read("errors"))
  }
}

@Suite("A controller that hangs", .timeLimit(.minutes(10)))
struct RecoveryTests {
  @Test("it is brought back by its power, step by step, and the run goes on with it")
  func powerCycle() throws {
    let bench = try SwitchedBench()
    try bench.writeBench()
    let result = try bench.runThroughHang()
    expect(result.status, 3)
    #expect(result.output.contains("2 cases: 1 agree, 1 in trouble"), "\(result.output)\(result.errors)")
    #expect(result.errors.contains("the lock was unlocked and was brought to locked"), "\(result.errors)")
    let journal = try bench.folder.journal()
    for line in [
      "recovery, step 1 of 4: reconnect failed after", "recovery, step 2 of 4: HCI reset failed after",
      "recovery, step 3 of 4: reopen failed after", "the power of hub fell ",
      "recovery, step 4 of 4: power cycle helped, after",
    ] { #expect(journal.contains(line), "\(journal)") }
    // Tries are kept for those who come later.
    expect(
      bench.folder.state("SELECT step, helped FROM recoveries ORDER BY id"),
      [("reconnect", 0), ("hci-reset", 0), ("reopen", 0), ("power-cycle", 1)].map {
        [.text($0), .integer($1)]
      })
  }

  @Test("a switch that does not switch is found out, and the controller is out of use")
  func misbehaviour() throws {
    let bench = try SwitchedBench()
    try bench.writeBench(off: "broken", settle: "1 s")
    let result = try bench.runThroughHang()
    expect(result.status, 3)
    #expect(result.output.contains("2 cases: 2 in trouble"), "\(result.output)\(result.errors)")
    #expect(
      result.output.contains("is out of use: no step of the recovery escalation helped"), "\(result.output)")
    let journal = try bench.folder.journal()
    #expect(journal.contains("the power of hub did not fall within 1 s of 'off'"), "\(journal)")
    #expect(journal.contains("recovery: no step is left, the controller is out of use"), "\(journal)")
  }

  @Test("one that is gone when a run begins is brought back by its power too")
  func gone() throws {
    let bench = try SwitchedBench()
    try bench.writeBench()
    kill(try #require(bench.pid), SIGKILL)
    let line =
      "LOCKSTEP_STATE=$PWD/state/lockstep \"$LOCKSTEP\" run there.yaml --bench bench.yaml --device lock:door --out Reports"
    let result = try Command.shell("{ \(line); } 2>&1", in: bench.folder.path)
    expect(result.status, 0)
    let journal = try bench.folder.journal()
    for line in [
      "recovery, step 3 of 4: reopen failed after", "recovery, step 4 of 4: power cycle helped, after",
    ] {
      #expect(journal.contains(line), "\(journal)")
    }
  }

  @Test("a doctor who is asked to tries the switches, and says whether power fell")
  func doctor() throws {
    let bench = try SwitchedBench()
    let line = "doctor --bench bench.yaml"
    try bench.writeBench(off: "broken", settle: "1 s")
    let untouched = try Command.line(line, in: bench.folder.path)
    #expect(!untouched.output.contains("power"), "\(untouched.output)")
    let before = bench.pid
    let broken = try Command.line(line + " --power", in: bench.folder.path)
    expect(broken.status, 3)
    #expect(
      broken.output.contains("✘ power: blue: the power of hub did not fall within 1 s of 'off'"),
      "\(broken.output)")
    expect(bench.pid, before)
    expect(try Command.line("doctor --power", in: bench.folder.path).status, 2)
  }

  @Test(
    "a doctor who is stopped between off and on turns the power on again; one who may not says that it is off"
  )
  func stoppedDoctor() throws {
    let folder = try Command.Folder()
    let out = try Command.Folder()
    for (on, signals, status, output, errors) in [
      (
        "touch on", 1, Int32(5),
        "✘ power: blue: stopped, and the power of hub was turned on again\n✘ power: red: not tried "
          + "because of the interruption\nstopped: it is not known whether this bench is fit\n", ""
      ),
      (
        "touch on; sleep 60", 2, 130, "",
        "lockstep: ended at once: blue may be without power until this is run: touch on; sleep 60\n"
      ),
    ] {
      for name in ["off", "on"] { folder.remove(name) }
      try folder.write(
        "bench.yaml",
        """
        bench: test
        dongles:
          - { name: blue, transport: "tcp-client:127.0.0.1:1", power: hub }
          - { name: red, transport: "tcp-client:127.0.0.1:2", power: hub }
        switches: [{ name: hub, off: touch off, on: \(on), check: "true", settle: 50 s }]
        locks: []

        """)
      let line =
        "LOCKSTEP_STATE=$PWD/state/lockstep exec \"$LOCKSTEP\" doctor --bench bench.yaml --power --quiet"
      let process = try Command.start("/bin/sh", ["-c", line], in: folder.path, out: out)
      for (name, count) in [("off", 1), ("on", 2)] where count <= signals {
        eventually(by: process) { folder.has(name) }
        kill(process.processIdentifier, name == "off" ? SIGTERM : SIGINT)
      }
      expect(process.waitUntilExit(), status)
      let lines = try out.read("output").split(separator: "\n", omittingEmptySubsequences: false)
      let said = lines.filter { $0.contains("power") || $0.contains("stopped") || $0.isEmpty }
      expect(said.joined(separator: "\n"), output)
      expect(try out.read("errors"), errors)
      expect(folder.has("on"), true)
    }
  }
}
