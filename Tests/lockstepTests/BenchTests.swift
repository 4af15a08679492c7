import Databases
import Bench
import Basics
import Documents
import Foundation
import TestSupport
import Testing

/// A lock that another program plays, in a folder with two inventories that know it by different names.
private final class BenchRoom {
  let folder: Command.Folder
  let air: EmulatedBench

  init(_ options: [String] = []) throws {
    folder = try Command.Folder()
    air = try EmulatedBench(
      ["sesame5", "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"] + options,
      in: folder)
    try folder.write("there.yaml", visit("There", "unlock", "until: { status: unlocked }"))
    try folder.write(
      "slow.yaml", visit("A long stay", "unlock", "until: { status: unlocked }", "wait: 60 s"))
    try folder.write(
      "bench.yaml",
      """
      bench: third-floor
      dongles:
        - { name: gone, transport: "tcp-client:127.0.0.1:1" }
        - { name: air, transport: "\(air.transports[0])" }
      locks:
        - { name: front, file: lock.yaml, dongles: [air], firmware: 1.2.3, limits: { per-shift: 50 } }
        - { name: played, device: "emulator:sesame5" }
      quarantine:
        - { lock: front, scenario: Scenarios/x.yaml, reason: "jams when cold", owner: ada, expires: 2020-01-01 }

      """)
    try folder.write(
      "lab/other.yaml",
      """
      bench: elsewhere
      dongles: [{ name: radio, transport: "\(air.transports[0])" }]
      locks: [{ name: back, file: ../lock.yaml, park: unlocked }]

      """)
  }

  /// Runs a line with the state in this folder.
  func shell(_ line: String) throws -> Command.Result {
    try Command.shell(
      "export LOCKSTEP_STATE=$PWD/state/lockstep XDG_CONFIG_HOME=$PWD/config; " + line, in: folder.path)
  }

  /// Starts a run that goes on until it is ended.
  func start(_ words: String, out: Command.Folder) throws -> Program {
    let line = "LOCKSTEP_STATE=$PWD/state/lockstep exec $LOCKSTEP run slow.yaml --quiet \(words)"
    return try Command.start("/bin/sh", ["-c", line], in: folder.path, out: out)
  }

}

@Suite("The locks of a bench", .timeLimit(.minutes(10)))
struct BenchTests {
  @Test("a lock is driven by its name, and the number of its lease stands in every line")
  func driven() throws {
    let room = try BenchRoom()
    let result = try room.shell(
      "$LOCKSTEP run there.yaml --device lock:front; $LOCKSTEP schema journal > schema")
    expect(result.status, 0)
    #expect(result.errors.contains("the lock was unlocked and was brought to locked"), "\(result.errors)")
    let lines = try room.folder.journal().split(separator: "\n").map(String.init)
    let numbers = try lines.map { try JSON(parsing: $0)["lease"]?.line }
    let token = try #require(numbers.first ?? nil).flatMap { Int(String($0)) } == nil ? nil : numbers[0]
    #expect(numbers.allSatisfy { $0 == token && $0 != nil }, "\(numbers)")
    #expect(lines[1].contains(#""device":"lock:front","firmware":"1.2.3""#), "\(lines[1])")
    let run = room.folder.names("Reports/runs")[0]
    let manifest = try room.folder.read("Reports/runs/\(run)/manifest.json")
    for words in [
      #""bench": "third-floor""#, #""lock": "front""#, #""dongle": "air""#, "\"lease.dongle\": \"tcp",
    ] {
      #expect(manifest.contains(words), "\(manifest)")
    }
    let junit = try room.folder.read("Reports/junit.xml")
    #expect(junit.contains("name=\"lockstep.lease\" value=\"\(token ?? "")\""), "\(junit)")
    // The journal is as its schema says.
    let check = try room.shell(
      """
      python3 -c '
      import json, sys, jsonschema
      schema = jsonschema.Draft7Validator(json.load(open("schema")))
      print(sum(not schema.is_valid(json.loads(line)) for line in open(sys.argv[1])))
      ' Reports/runs/\(run)/journal.jsonl
      """)
    expect(check.output, "0\n")
    // Another inventory, another name, and the same lock: its number grows.
    let again = try room.shell(
      "$LOCKSTEP run there.yaml --bench lab/other.yaml --device lock:back --out Again")
    expect(again.status, 0)
    #expect(again.errors.contains("the lock rests unlocked"), "\(again.errors)")
    let name = room.folder.names("Again/runs")[0]
    let next = try JSON(
      parsing: room.folder.read("Again/runs/\(name)/journal.jsonl").split(separator: "\n").first.map(
        String.init) ?? "")
    expect(next["lease"]?.line, (Int(token ?? "")).map { String($0 + 1) })
  }

  @Test("who comes second hears who has it, by whichever name, and has it at once when the first is killed")
  func exclusive() throws {
    let room = try BenchRoom()
    let out = try Command.Folder()
    let first = try room.start("--device lock:front", out: out)
    room.folder.awaitUnlocked(by: first)
    let second = "$LOCKSTEP run there.yaml --bench lab/other.yaml --device lock:back --out Second"
    let refused = try room.shell(second)
    expect(refused.status, 3)
    let holder = "is in use by process \(first.processIdentifier) on "
    #expect(refused.output.contains("no device: the lock back: "), "\(refused.output)")
    #expect(refused.output.contains(holder), "\(refused.output)")
    #expect(
      refused.output.contains("(lockstep run slow.yaml --quiet --device lock:front) since 20"),
      "\(refused.output)")
    let scan = try room.shell("$LOCKSTEP scan --transport dongle:air --duration 300ms")
    expect(scan.status, 3)
    #expect(scan.errors.contains("the dongle air: ") && scan.errors.contains(holder), "\(scan.errors)")
    let doctor = try room.shell("$LOCKSTEP doctor --bench bench.yaml --out Doctor")
    #expect(doctor.output.contains("· lock: front: held by process"), "\(doctor.output)")
    #expect(doctor.output.contains("quarantine expired: until 2020-01-01, ada"), "\(doctor.output)")
    // So it is through a transport of one's own, and with a lease file that somebody deletes or replaces.
    let own =
      "$LOCKSTEP run there.yaml --device lock:lock.yaml --transport \(room.air.transports[0]) --out Second"
    for line in [
      own, "rm state/lockstep/leases/*; " + second,
      "echo > state/lockstep/leases/x.lease; rm -r state/lockstep/leases; " + own,
    ] {
      let result = try room.shell(line)
      expect(result.status, 3)
      #expect(result.output.contains("is in use by"), "\(line): \(result.output)")
    }
    let shown = try room.shell("$LOCKSTEP devices; $LOCKSTEP devices --format json --quiet")
    expect(shown.status, 0)
    #expect(shown.output.contains("front    held   by"), "\(shown.output)")
    #expect(shown.output.contains("air      held   by"), "\(shown.output)")
    #expect(shown.output.contains("gone     available"), "\(shown.output)")
    kill(first.processIdentifier, SIGKILL)
    first.waitUntilExit()
    let taken = try room.shell(second)
    expect(taken.status, 0)
    // The first unlocked it, the second brought it to where its case starts, and unlocked it again.
    expect(room.folder.movements(), 3)
  }

  @Test("where no lease can be written, nothing moves")
  func unwritable() throws {
    let room = try BenchRoom()
    let result = try room.shell("LOCKSTEP_STATE=/proc/lockstep $LOCKSTEP run there.yaml --device lock:front")
    expect(result.status, 3)
    #expect(
      result.output.contains("the state of locks and dongles cannot be kept: /proc/lockstep"),
      "\(result.output)")
    expect(room.folder.movements(), 0)
  }

  // swift-format-ignore
  static let mistakes: [(words: String, message: String)] = [
    ("run there.yaml --device lock:frnot", "bench.yaml: the bench third-floor has no lock 'frnot': did you mean 'front'?"),
    ("run there.yaml --device lock:front --transport dongle:ari", "bench.yaml: the bench third-floor has no dongle 'ari': did you mean 'air'?"),
    ("run there.yaml --device lock:lock.yaml --transport dongle:air", "name the bench with --bench FILE"),
    ("run there.yaml --bench bench.yaml", "choose one with --device lock:NAME"),
    ("run there.yaml --bench nowhere.yaml --device lock:front", "nowhere.yaml: there is no such file or folder"),
    ("run there.yaml --bench there.yaml --device lock:front", "there.yaml:1:1: unknown key `scenario`"),
    ("run there.yaml --device lock:played --transport dongle:air", "the lock 'played' is played here, and needs no --transport"),
    ("run there.yaml --device lock:played --capture air.btsnoop", "--capture goes with --transport"),
    ("run there.yaml --check-health", "--check-health checks a lock: name it with --device lock:NAME"),
    ("fuzz sesame --device lock:played --jobs 2 --steps 10", "--jobs: a lock can be driven by one process only"),
    ("run there.yaml --bench wrong.yaml --device lock:a", "wrong.yaml:2:36: 'usbb:0' is no transport: it starts with none of"),
    ("run there.yaml --bench lost.yaml --device lock:a", "lost.yaml: no dongle reaches the lock 'a'"),
    ("run there.yaml --bench lost.yaml --device lock:b", "lost.yaml: the bench x has no lock 'b'"),
    ("run there.yaml --bench odd.yaml --device lock:a", "odd.yaml:2:28: unknown lock `sesame55`: did you mean `sesame5`?"),
    ("devices restore", "missing NAME: restore NAME"), ("devices show front", "unknown operand 'show'"),
    ("devices restore frnot", "unknown device 'frnot': did you mean 'front'?"),
  ]

  @Test("what nobody can say of the health of things is said to be trouble of this machine")
  func unknownHealth() throws {
    let folder = try Command.Folder()
    func restore() throws -> Command.Result {
      try Command.shell("LOCKSTEP_STATE=$PWD/state $LOCKSTEP devices restore gone", in: folder.path)
    }
    let before = try restore()
    expect(before.status, 2)
    #expect(before.errors.hasPrefix("lockstep: unknown device 'gone'\n"), "\(before.errors)")
    try folder.write("state/state.sqlite", "this is no database, however long it is read\n")
    let result = try restore()
    expect(result.status, 3)
    #expect(
      result.errors.hasPrefix(
        "lockstep: the health of locks and dongles is not known: \(folder.path)/state/state.sqlite: it is damaged: file is "
          + "not a database; "), "\(result.errors)")
  }

  @Test("what is wrong with a call is said")
  func wrong() throws {
    let room = try BenchRoom()
    let files = [
      (
        "wrong.yaml",
        "bench: x\ndongles: [{ name: blue, transport: \"usbb:0\" }]\nlocks: [{ name: a, file: lock.yaml }]\n"
      ),
      ("lost.yaml", "bench: x\nlocks: [{ name: a, file: lock.yaml }]\n"),
      ("odd.yaml", "bench: x\nlocks: [{ name: a, device: \"emulator:sesame55\" }]\n"),
    ]
    for (name, text) in files { try room.folder.write(name, text) }
    for (words, message) in Self.mistakes {
      let result = try Command.line(words, in: room.folder.path)
      expect(result.status, 2)
      #expect(result.errors.contains(message), "\(words): \(result.errors)")
    }
  }

  @Test("the bench is that of the option, of the folder or of the user")
  func usual() throws {
    let room = try BenchRoom()
    let words = try room.shell("$LOCKSTEP complete -- run --device lock:")
    expect(words.output, "lock:front\nlock:played\n:file\n")
    let moved = try room.shell(
      "mkdir -p config/lockstep; mv bench.yaml config/lockstep; $LOCKSTEP devices --quiet; $LOCKSTEP devices")
    #expect(moved.output.contains("/config/lockstep/bench.yaml"), "\(moved.output)")
    // Its paths are those of its own folder.
    #expect(moved.output.contains("front    unknown"), "\(moved.output)")
    let none = try room.shell("rm -r config; $LOCKSTEP devices")
    expect(none.status, 2)
    #expect(
      none.errors.contains("there is no bench.yaml here: name the bench with --bench FILE"), "\(none.errors)")
    expect(try room.shell("$LOCKSTEP devices --bench lab/other.yaml").status, 0)
    let list = try room.shell(
      "$LOCKSTEP list there.yaml --bench lab/other.yaml --device lock:back --format json")
    #expect(list.output.contains(#""device":"lock:back""#), "\(list.output)\(list.errors)")
  }
}

@Suite("Health and quarantine on a bench", .timeLimit(.minutes(10)))
struct BenchHealthTests {
  private let folder: Command.Folder

  init() throws {
    folder = try Command.Folder()
    try folder.write("there.yaml", visit("There", "unlock", "until: { status: unlocked }"))
    try write(quarantine: "")
  }

  private func write(quarantine: String) throws {
    try folder.write(
      "bench.yaml",
      """
      bench: played
      locks:
        - { name: well, device: "emulator:sesame5", tags: [a] }
        - { name: ill, device: "emulator:sesame5?defect=status-lags-one-behind" }
      \(quarantine)
      """)
  }

  private func shell(_ line: String) throws -> Command.Result {
    try Command.shell(
      "export LOCKSTEP_STATE=$PWD/state/lockstep XDG_CONFIG_HOME=$PWD/config; " + line, in: folder.path)
  }

  @Test("a lock that is well is used, one that fails twice is out of use until somebody restores it")
  func health() throws {
    let well = try shell("$LOCKSTEP run there.yaml --device lock:well --check-health")
    expect(well.status, 0)
    expect(well.errors, "lockstep: health of well: healthy: it was unlocked and locked\n")
    #expect(
      try folder.journal().contains(
        #"{"t":"0.000","diagnostic":"health of well: healthy: it was unlocked and locked","lease":"#))
    let ill = try shell("$LOCKSTEP run there.yaml --device lock:ill --check-health")
    expect(ill.status, 3)
    #expect(
      ill.errors.contains("ill is out of use: failed 2 times in a row: after unlock it showed nothing"),
      "\(ill.errors)")
    #expect(ill.output.contains("'lockstep devices restore ill' puts it back in use"), "\(ill.output)")
    // It is remembered, whether its health is asked for or not, and others are used.
    let later = try shell("$LOCKSTEP run there.yaml --device lock:ill")
    expect(later.status, 3)
    #expect(later.output.contains("no device: the lock ill is out of use since 20"), "\(later.output)")
    expect(try shell("$LOCKSTEP run there.yaml --device lock:well").status, 0)
    let shown = try shell("$LOCKSTEP devices")
    #expect(shown.output.contains("ill    out of use   since 20"), "\(shown.output)")
    let lines = try shell(
      "$LOCKSTEP devices --format json > lines; $LOCKSTEP schema devices > schema; cat lines")
    #expect(lines.output.contains(#""state":"out-of-use","since":"20"#), "\(lines.output)")
    let check = try shell(
      """
      python3 -c '
      import json, jsonschema
      schema = jsonschema.Draft7Validator(json.load(open("schema")))
      print([list(schema.iter_errors(json.loads(line))) for line in open("lines")])
      '
      """)
    expect(check.output, "[[], []]\n")
    expect(try shell("$LOCKSTEP devices restore ill").output, "ill is back in use\n")
    expect(try shell("$LOCKSTEP devices restore ill").output, "ill was not out of use\n")
    expect(try shell("$LOCKSTEP run there.yaml --device lock:ill").status, 1)
  }

  @Test("where nobody can say what is known of a lock, it is not used, and the cure is told")
  func damaged() throws {
    let run = "$LOCKSTEP run there.yaml --device lock:well"
    let path = "state/lockstep/state.sqlite"
    for (spoil, words) in [
      ("echo nonsense, and more of it > \(path)", "it is damaged: file is not a database; check the locks"),
      (
        "rm \(path); mkdir \(path)",
        "expected a file, and it is a folder; this user must be able to write the file and its folder"
      ),
      (
        "rmdir \(path); mkfifo \(path)",
        "expected a file, and it is a pipe; this user must be able to write the file and its folder"
      ),
    ] {
      let result = try shell("mkdir -p state/lockstep; \(spoil); \(run)")
      expect(result.status, 3)
      #expect(result.output.contains("the health of locks and dongles is not known: /"), "\(result.output)")
      #expect(result.output.contains("\(path): \(words)"), "\(result.output)")
      let restored = try shell("$LOCKSTEP devices restore well")
      expect(restored.status, 3)
      #expect(restored.errors.contains("\(path): \(words)"), "\(restored.errors)")
      let shown = try shell("$LOCKSTEP devices")
      expect(shown.status, 3)
      #expect(shown.output.contains(words), "\(shown.output)")
    }
    expect(try shell("rm \(path); \(run)").status, 0)
  }

  @Test("a dongle that does not answer is out of use, and the next is tried")
  func dongles() throws {
    let room = try BenchRoom()
    let bench = try room.folder.read("bench.yaml").replacing("dongles: [air], ", with: "")
    try room.folder.write("bench.yaml", bench)
    let result = try room.shell("$LOCKSTEP run there.yaml --device lock:front --check-health")
    expect(result.status, 0)
    #expect(result.errors.contains("gone is out of use: failed 2 times in a row"), "\(result.errors)")
    #expect(
      result.errors.contains("the dongle air (\(room.air.transports[0])) is tried in its place"),
      "\(result.errors)")
    #expect(
      result.errors.contains("health of front over air: healthy: it was unlocked and locked"),
      "\(result.errors)")
    // The check is counted like everything else that moves.
    expect(room.folder.movements(), 4)
    // From now on it is passed over.
    let next = try room.shell("$LOCKSTEP run there.yaml --device lock:front")
    expect(next.status, 0)
    let shown = try room.shell("$LOCKSTEP devices")
    #expect(shown.output.contains("gone     out of use"), "\(shown.output)")
    #expect(
      shown.output.contains("6 movements, 6 in the last hour, 6 of 50 in the last twelve hours"),
      "\(shown.output)")
    #expect(
      shown.output.contains("quarantine expired   Scenarios/x.yaml, until 2020-01-01, ada: jams when cold"),
      "\(shown.output)")
    // What is held against a lock is shown, and is forgotten when somebody has seen to it.
    let identity = try #require(room.folder.state("SELECT identity FROM locks").first?.first?.text)
    let counter = try CycleCounter(
      of: identity, in: room.folder.path + "/state/lockstep/state.sqlite", takingOver: nil)
    try counter.noteJam("unlock")
    let jammed = try room.shell("$LOCKSTEP devices")
    #expect(jammed.output.contains("jammed   the motor rests 5 min after a jam"), "\(jammed.output)")
    expect(try room.shell("$LOCKSTEP devices restore front").output, "front is back in use\n")
    expect(
      try room.shell("$LOCKSTEP devices restore \(identity)").output,
      "\(identity) was not out of use\n")
    #expect(try !room.shell("$LOCKSTEP devices").output.contains("jammed"))
    let out = try room.shell("$LOCKSTEP run there.yaml --device lock:front --transport dongle:gone")
    expect(out.status, 3)
    #expect(out.output.contains("the dongle gone is out of use since 20"), "\(out.output)")
    let doctor = try room.shell("$LOCKSTEP doctor --bench bench.yaml --quiet")
    expect(doctor.status, 3)
    #expect(doctor.output.contains("✘ dongle: gone: out of use since 20"), "\(doctor.output)")
    #expect(doctor.output.contains("    lockstep devices restore gone\n"), "\(doctor.output)")
    expect(try room.shell("$LOCKSTEP devices restore gone").output, "gone is back in use\n")
    // Other controllers than its own do not count.
    expect(try room.shell("$LOCKSTEP doctor --bench bench.yaml").status, 0)
    let scan = try room.shell("$LOCKSTEP scan --transport dongle:air --duration 2s")
    #expect(scan.output.contains("Sesame 5"), "\(scan.output)\(scan.errors)")
  }

  @Test("what diverges in quarantine is reported and turns nothing red, until the quarantine has lapsed")
  func quarantine() throws {
    try write(quarantine: "quarantine: [{ lock: ill, reason: \"lags\", owner: ada, expires: 2999-12-31 }]")
    let known = try shell("$LOCKSTEP run there.yaml --device lock:ill --retries 2")
    // Where nothing else agrees, nothing was shown.
    expect(known.status, 4)
    #expect(
      known.errors.contains("no case has a verdict: all that failed is in quarantine, 1 of 1 cases"),
      "\(known.errors)")
    #expect(known.output.contains("1 case: 1 skipped"), "\(known.output)")
    #expect(
      known.output.contains(
        "1: in quarantine until 2999-12-31, ada: lags; it diverged: the device showed nothing"),
      "\(known.output)")
    let junit = try folder.read("Reports/junit.xml")
    #expect(
      junit.contains("failures=\"0\" errors=\"0\" skipped=\"1\"") && junit.contains("ada: lags; it diverged"),
      "\(junit)")
    // The counterexample is kept all the same.
    expect(folder.names("Reports/failures").count, 1)
    let judged = try shell("$LOCKSTEP run there.yaml --device lock:ill --ignore-quarantine")
    expect(judged.status, 1)
    // Every line to paste can be pasted.
    let line = judged.output.split(separator: "\n").first { $0.hasPrefix("  lockstep replay ") }
    expect(try shell("$LOCKSTEP " + (line ?? "").dropFirst(11)).status, 1)
    let trouble = try shell(
      "mv state state-kept; mkdir -p state/lockstep/state.sqlite; "
        + "$LOCKSTEP run there.yaml --bench bench.yaml --device lock:well; rm -r state; mv state-kept state")
    #expect(trouble.output.contains("lockstep run there.yaml --seed"), "\(trouble.output)")
    let again = trouble.output.split(separator: "\n").first { $0.hasPrefix("  lockstep run ") }
    expect(try shell("$LOCKSTEP " + (again ?? "").dropFirst(11)).status, 0)
    // Another lock is not in quarantine.
    expect(try shell("$LOCKSTEP run there.yaml --device lock:well").status, 0)
    try write(quarantine: "quarantine: [{ lock: ill, reason: \"lags\", owner: ada, expires: 2020-12-31 }]")
    let lapsed = try shell("$LOCKSTEP run there.yaml --device lock:ill")
    expect(lapsed.status, 1)
    #expect(
      lapsed.errors.contains("the quarantine of there.yaml on ill has expired: until 2020-12-31, ada: lags"),
      "\(lapsed.errors)")
  }
}

@Suite("Measuring", .timeLimit(.minutes(10)))
struct MeasuringTests {
  @Test(
    "who is stopped says so, and no process that measures for it stays behind",
    arguments: [
      (SIGTERM, "lockstep: stopped before everything was measured\n"), (SIGKILL, ""),
    ])
  func stopped(_ signal: Int32, words: String) throws {
    let out = try Command.Folder()
    let process = try Command.start(
      BuiltProgram.workbench, ["bench", "--only", "air."], in: out.path, out: out)
    let number = process.processIdentifier
    var children: [String] = []
    eventually(by: process) {
      let list = try? String(contentsOfFile: "/proc/\(number)/task/\(number)/children", encoding: .utf8)
      children = (list ?? "").split(separator: " ").map(String.init)
      return children.count >= 2
    }
    // Each must be the program that it is to be, which closes what it inherited.
    usleep(300_000)
    kill(number, signal)
    expect(process.waitUntilExit(), 128 + signal)
    expect(try out.read("errors"), words)
    eventually { !children.contains(where: isAlive) }
    expect(children.filter(isAlive), [])
  }

  private func isAlive(_ process: String) -> Bool {
    let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
    return !status.isEmpty && !status.contains(") Z ")
  }
}
