import Foundation
import TestSupport
import Testing

/// A lock whose protocol is a program's, driven over a transport as a real one is.
@Suite("A driver's lock on the air", .timeLimit(.minutes(10)))
struct OwnProtocolTests {
  private let folder: Command.Folder

  /// A new project, with a lock that stays open and says what happens to it.
  init() throws {
    folder = try Command.Folder()
    let made = try Command.call("new", "pad", "--quiet", in: folder.path)
    expect(made.status, 0)
    for name in ["pad.yaml", "driver.py", "lock.py", "real.lock.yaml", "lockstep_device.py"] {
      try folder.write(name, try folder.read("pad/" + name))
    }
    try folder.write(
      "lock.py",
      try folder.read("lock.py").replacing("turn(UNLOCKED, 5)", with: "turn(UNLOCKED)")
        .replacing(
          "    tell()\n\n\ndef record", with: "    tell()\n    lock.log(\"now %d\" % state)\n\n\ndef record"))
    try folder.write(
      "visit.yaml",
      """
      scenario: Opens and locks
      machine: pad.yaml
      steps:
        - approach
        - { until: { status: heard, within: 5 s } }
        - connect
        - { until: { status: locked, within: 3 s } }
        - enter: { user: anna, code: "1234" }
        - { until: { status: unlocked, within: 1 s } }
        - lock
        - { until: { status: locked, within: 1 s } }

      """)
    _ = try shell("chmod 600 real.lock.yaml")
  }

  private func shell(_ line: String) throws -> Command.Result {
    try Command.shell("export LOCKSTEP_STATE=$PWD/state/lockstep; " + line, in: folder.path)
  }

  private func air() throws -> EmulatedBench {
    try EmulatedBench(["peripheral:python3 lock.py", "--serve", "tcp-server:127.0.0.1:0"], in: folder)
  }

  @Test("it is looked after as any real lock is: counted, spared, parked, and no other run's meanwhile")
  func lookedAfter() throws {
    let air = try air()
    let result = try Command.drive(["visit.yaml"], air, lock: "./real.lock.yaml", ["--actuations", "4"])
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect((result.output + result.errors).contains("2 of 4 movements were made"), "\(result.errors)")
    #expect((result.output + result.errors).contains("the lock rests locked"), "\(result.errors)")
    // What is left of the budget does not suffice for two movements and the one for parking.
    let spared = try Command.drive(
      ["visit.yaml", "visit.yaml"], air, lock: "./real.lock.yaml", ["--actuations", "2"])
    #expect(spared.status == 6, "\(spared.output)\(spared.errors)")
    let said = try air.said
    #expect(said.contains("lock: now 1"), "\(said)")
  }

  @Test(
    "with --control a hand is at the lock: what its program offers beside its Bluetooth is done and tested")
  func controlled() throws {
    let machine = try folder.read("pad.yaml")
    try folder.write(
      "pad.yaml",
      machine.replacing("  - lock\n", with: "  - lock\n  - turnKey\n  - pry\n")
        + "  - { event: turnKey, from: locked, to: turning }\n"
        + "  - { event: pry, from: heard, to: \"=\" }\n"
        + "  - { from: turning, to: unlocked, within: 1 s }\n")
    try folder.write(
      "pad.yaml",
      try folder.read("pad.yaml").replacing(
        "  - unlocked\n", with: "  - unlocked\n  - { name: turning, status: locked }\n"))
    try folder.write(
      "lock.py",
      try folder.read("lock.py").replacing(
        "lock.run()",
        with: """
          @lock.stimulus
          def turnKey():
              turn(UNLOCKED)


          @lock.fault
          def jam(isOn):
              lock.log("jammed %s" % isOn)


          @lock.stimulus
          def pry():
              lock.violation("pried-open", "by hand")


          lock.run()
          """))
    try folder.write(
      "pry.yaml",
      """
      scenario: It is pried open
      machine: pad.yaml
      steps: [approach, { until: { status: heard, within: 5 s } }, pry, { wait: 1 s }]

      """)
    try folder.write(
      "hand.yaml",
      """
      scenario: A key opens it from outside
      machine: pad.yaml
      steps:
        - approach
        - { until: { status: heard, within: 5 s } }
        - connect
        - { until: { status: locked, within: 3 s } }
        - fault: jam
        - turnKey
        - { until: { status: unlocked, within: 1 s } }

      """)
    let air = try EmulatedBench(
      ["peripheral:python3 lock.py", "--serve", "tcp-server:127.0.0.1:0", "--control", "unix:control"],
      in: folder)
    let control = ["--control", "unix:\(folder.path)/control"]
    let result = try Command.drive(["hand.yaml", "visit.yaml"], air, lock: "./real.lock.yaml", control)
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("2 cases: 2 agree"), "\(result.output)\(result.errors)")
    let said = try air.said
    #expect(said.contains("lock: jammed True"), "\(said)")
    // What its program shows is told there, and compared.
    let pried = try Command.drive(["pry.yaml"], air, lock: "./real.lock.yaml", control)
    #expect(pried.status == 1, "\(pried.output)\(pried.errors)")
    #expect(pried.output.contains("pried-open"), "\(pried.output)")
    // Without it nobody is there who could.
    let alone = try Command.drive(["hand.yaml"], air, lock: "./real.lock.yaml")
    #expect(alone.output.contains("1 skipped"), "\(alone.output)\(alone.errors)")
  }

  @Test("a run that is killed while it is open: a process that stays behind brings it to rest")
  func killed() throws {
    let air = try air()
    try folder.write(
      "slow.yaml", try folder.read("visit.yaml").replacing("  - lock\n", with: "  - wait: 1 h\n  - lock\n"))
    let out = try Command.Folder()
    let process = try Command.start(drive: ["slow.yaml"], air, lock: "./real.lock.yaml", out: out)
    try eventually(by: process) { try air.said.contains("lock: now 1") }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try eventually { try air.said.contains("lock: now 0") }
    let said = try air.said
    #expect(said.contains("lock: now 0"), "\(said)")
  }

  @Test(
    "what its driver does not say, or says wrongly, is said before anything moves",
    arguments: [
      (#"(?s)    requests=\{.*?\},\n"#, "", "does not say what its stimuli ask for"),
      (
        #""away": "away""#, #""away": "awya""#, "`meanings` has the unknown word `awya`; did you mean `away`?"
      ),
      (#""leave": "leave", "#, "", "no stimulus asks for leave"),
      (#"services=\["fff0"\],"#, #"services=["fff0"], secrets=["pin"],"#, "needs the secret `pin`"),
      (#"linkFaults=\["lose-link"\]"#, #"linkFaults=["lose-lnk"]"#, "did you mean `lose-link`?"),
    ])
  func wrong(what: String, other: String, words: String) throws {
    let air = try air()
    let driver = try folder.read("driver.py")
    let changed = driver.replacing(try Regex(what), with: other)
    #expect(changed != driver)
    try folder.write("driver.py", changed)
    let result = try Command.drive(["visit.yaml"], air, lock: "./real.lock.yaml")
    #expect(result.status == 2, "\(result.output)\(result.errors)")
    #expect((result.output + result.errors).contains(words), "\(result.errors)")
    let said = try air.said
    #expect(!said.contains("lock: now 1"))
  }

  @Test("a driver that cannot be started, and one that dies over its lock, are trouble of the lab")
  func dying() throws {
    let air = try air()
    let driver = try folder.read("driver.py")
    try folder.write("driver.py", "raise SystemExit(3)\n")
    let none = try Command.drive(["visit.yaml"], air, lock: "./real.lock.yaml")
    #expect(none.status == 3, "\(none.output)\(none.errors)")
    try folder.write(
      "driver.py",
      driver.replacing("def enter(user, code):\n", with: "def enter(user, code):\n    raise SystemExit(4)\n"))
    let dead = try Command.drive(["visit.yaml"], air, lock: "./real.lock.yaml")
    // However often the client dies, that is no fault of the lock.
    #expect(dead.status == 3, "\(dead.output)\(dead.errors)")
    #expect((dead.output + dead.errors).contains("exit status 4"), "\(dead.output)\(dead.errors)")
  }

  @Test("what its packets mean stands beside those of a case that failed")
  func packets() throws {
    try folder.write(
      "fails.yaml",
      try folder.read("visit.yaml").replacing(
        "machine: pad.yaml",
        with: "machine: pad.yaml\ndevice: { driver: python3 driver.py, peripheral: python3 lock.py bug }"
      )
      .replacing(
        "  - enter:",
        with:
          "  - repeat: { times: 2, steps: [{ enter: { user: bob, code: x } }, { wait: settled }] }\n  - enter:"
      ))
    let result = try shell("\"$LOCKSTEP\" run fails.yaml --quiet")
    expect(result.status, 1)
    let run = try #require(folder.names("Reports/runs").first { !$0.hasPrefix(".") })
    let name = try #require(folder.names("Reports/runs/\(run)/packets").first { $0.hasSuffix(".jsonl") })
    let text = try folder.read("Reports/runs/\(run)/packets/\(name)")
    for meaning in ["enter the code of bob", "it is locked", "it is shutOut"] {
      #expect(text.contains(#"{"layer":"driver","text":"\#(meaning)"}"#), "\(meaning)")
    }
  }
}
