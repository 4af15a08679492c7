import Basics
import Foundation
import Journal
import TestSupport
import Testing

@Suite("A lock on the air", .timeLimit(.minutes(10)))
struct RealLockTests {
  private let folder: Command.Folder

  init() throws {
    folder = try Command.Folder()
    try folder.write(
      "there.yaml", visit("There and back", "unlock", "until: { status: unlocked }", "disconnect"))
    try folder.write("hand.yaml", visit("A hand", "handToUnlocked", "until: { status: unlocked }"))
    try folder.write("reset.yaml", visit("A reset", "reset"))
    try folder.write("fault.yaml", visit("A jam", "fault: jam"))
    try folder.write(
      "register.yaml",
      visit("Becoming its owner", "register", "until: { status: nosetting }", start: "registered: false"))
    try folder.write(
      "turns.yaml", visit("Many turns", "repeat: { times: 20, steps: [toggle, { wait: 2 s }] }"))
    try folder.write(
      "slow.yaml", visit("A long stay", "unlock", "until: { status: unlocked }", "wait: 2 s", "wait: 60 s"))
  }

  private func bench(_ lock: String = "sesame5", _ options: [String] = []) throws -> EmulatedBench {
    let words =
      [lock, "--serve", "tcp-server:127.0.0.1:0", "--key-file", "lock.yaml", "--seed", "7"] + options
    return try EmulatedBench(words, in: folder)
  }

  @Test("it is driven, counted, parked and written down, and its key is nowhere")
  func drives() throws {
    let bench = try bench()
    let result = try Command.drive(
      ["there.yaml", "hand.yaml", "reset.yaml", "fault.yaml", "register.yaml"], bench)
    expect(result.status, 0)
    for line in [
      "5 cases: 1 agree, 4 skipped",
      "1: needs the stimulus handToUnlocked, which lock.yaml does not have",
      "1: needs the stimulus reset: a real lock gets it only with --allow reset",
      "1: needs the fault jam, which lock.yaml cannot inject",
      "1: needs registered: no at the start, but lock.yaml starts with registered: yes",
    ] { #expect(result.output.contains(line), "\(result.output)") }
    #expect(result.errors.contains("the lock was unlocked and was brought to locked"), "\(result.errors)")
    #expect(result.errors.contains("2 of 100 movements were made, 2 in the lock's life"), "\(result.errors)")
    expect(folder.movements(), 2)
    let journal = try folder.journal()
    #expect(
      journal.contains(#""diagnostic":"the lock was unlocked and was brought to locked""#), "\(journal)")
    #expect(journal.contains(#""left":{"lock":"lock.yaml","parked":true}"#), "\(journal)")
    let junit = try folder.read("Reports/junit.xml")
    #expect(junit.contains("lockstep.diagnostics") && junit.contains("was brought to locked"), "\(junit)")
    let run = folder.names("Reports/runs")[0]
    expect(
      folder.names("Reports/runs/\(run)"),
      [".held", "capture.btsnoop", "journal.jsonl", "manifest.json", "times.jsonl"])
    let secret = try folder.secret()
    expect(folder.files(with: secret), ["lock.yaml"])
    let text = result.output + result.errors + (try bench.said) + (try bench.complaints)
    #expect(!text.contains(secret))
    let bytes = try #require(Data(hex: secret))
    let capture = try Data(contentsOf: URL(filePath: "\(folder.path)/Reports/runs/\(run)/capture.btsnoop"))
    #expect(capture.count > 1000 && capture.range(of: bytes) == nil)
    // The cycle counter goes on counting; the session before the second run is over.
    let again = try Command.drive(["there.yaml"], bench, ["--park", "unlocked"])
    expect(again.status, 0)
    #expect(again.errors.contains("the lock rests unlocked"), "\(again.errors)")
    expect(folder.movements(), 3)
  }

  @Test("a finding has the packets of the last attempt that confirmed it, in its folder and on its page")
  func finding() throws {
    let bench = try bench("sesame5?defect=publish-before-login")
    let options = ["--seed", "1", "--steps", "60", "--twin", "none", "--shrink-budget", "60s"]
    let result = try Command.drive(["sesame"], by: "fuzz", bench, options)
    expect(result.status, 1)
    #expect(result.output.contains("connect: the device broke the rule clear-text"), "\(result.output)")
    let records = try folder.journal().split(separator: "\n").map { try Record(parsing: Array($0.utf8).span) }
    let verdicts = records.compactMap { record -> Record.Verdict? in
      if case .verdict(let verdict) = record, verdict.word == .divergence { verdict } else { nil }
    }
    let verdict = try #require(verdicts.first)
    let run = "Reports/runs/\(folder.names("Reports/runs")[0])"
    expect(verdict.attachments.map(\.kind), ["capture", "packets"])
    let packets = try folder.read("\(run)/\(verdict.attachments[1].path)").split(separator: "\n")
    // One session, and not those of the attempts before it.
    expect(packets.count { $0.contains("Connection Complete") }, 1)
    #expect(packets.contains { $0.contains("0851b80b") }, "\(packets.suffix(3))")
    let seen = records.compactMap { record -> Instant? in
      if case .event(let event) = record, event.kind == .violation { event.time } else { nil }
    }
    // Its time is that of the same attempt.
    let (end, last) = (try #require(verdict.time), try #require(seen.last))
    #expect(end >= last && end < last + .milliseconds(50), "\(end) \(last)")
    expect(folder.names("\(run)/packets").count, 2)
    #expect(try folder.read("Reports/report.html").contains("class=\"packets\""))
    expect(folder.files(with: try folder.secret()), ["lock.yaml"])
  }

  @Test("out of budget, the run ends with status 6 and one movement for parking")
  func budget() throws {
    let bench = try bench()
    let result = try Command.drive(["turns.yaml", "there.yaml"], bench, ["--actuations", "4"])
    expect(result.status, 6)
    #expect(
      result.output.contains("stopped by a safety limit: the budget of 4 movements is used up: 3 were made"),
      "\(result.output)")
    #expect(result.output.contains("2 cases: 2 incomplete"), "\(result.output)")
    #expect(result.errors.contains("the lock was unlocked and was brought to locked"), "\(result.errors)")
    expect(folder.movements(), 4)
    let junit = try folder.read("Reports/junit.xml")
    #expect(
      junit.contains("errors=\"2\"") && junit.contains("not begun: stopped by a safety limit"), "\(junit)")
  }

  @Test(
    "whatever asks for the end once ends the waiting at once, and the lock is parked",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGALRM, SIGUSR2, SIGXCPU, 40])
  func interrupted(signal: Int32) throws {
    let bench = try bench()
    let out = try Command.Folder()
    let process = try Command.start(drive: ["slow.yaml", "there.yaml"], bench, out: out)
    folder.awaitUnlocked(by: process)
    kill(process.processIdentifier, signal)
    expect(process.waitUntilExit(), 5)
    let errors = try out.read("errors")
    #expect(errors.contains("the lock was unlocked and was brought to locked"), "\(errors)")
    expect(folder.movements(), 2)
    let junit = try folder.read("Reports/junit.xml")
    // The lock is unlocked a moment before the step that waits for that ends.
    #expect(junit.contains("stopped in step") || junit.contains("stopped after step 5"), "\(junit)")
  }

  @Test("a run that is to outlive its terminal does")
  func nohup() throws {
    let bench = try bench()
    let out = try Command.Folder()
    let line =
      "trap '' HUP; LOCKSTEP_STATE=\(folder.path)/state/lockstep exec \"$LOCKSTEP\" run slow.yaml --transport "
      + "\(bench.transports[0]) --device lock:lock.yaml --show-progress none"
    let process = try Command.start("/bin/sh", ["-c", line], in: folder.path, out: out)
    folder.awaitUnlocked(by: process)
    kill(process.processIdentifier, SIGHUP)
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    // Had it listened, this would be the second signal.
    expect(process.waitUntilExit(), 5)
  }

  @Test(
    "a controller that is lost, or silent, is trouble of the lab at once, for all cases that are left",
    arguments: [SIGKILL, SIGSTOP])
  func lost(signal: Int32) throws {
    let bench = try bench()
    defer { bench.kill() }
    let out = try Command.Folder()
    let process = try Command.start(drive: ["slow.yaml", "there.yaml"], bench, out: out)
    folder.awaitUnlocked(by: process)
    kill(bench.process.processIdentifier, signal)
    process.waitUntilExit()
    let output = try out.read("output")
    expect(process.waitUntilExit(), 3)
    #expect(output.contains("2 cases: 2 in trouble"), "\(output)")
    let errors = try out.read("errors")
    let words = "the lock could not be brought to locked, see to it: "
    #expect(errors.contains(words), "\(errors)")
    // Once a person has looked at it, this parks it.
    let run = try #require(folder.names("Reports/runs").first)
    let park = "Reports/runs/\(run)/park.yaml"
    #expect(
      errors.contains(
        "\n  park     lockstep run \(park) --device lock:lock.yaml --transport \(bench.transports[0])\n"),
      "\(errors)")
    expect(try Command.call("validate", park, in: folder.path).status, 0)
    let journal = try folder.journal()
    for line in ["recovery, step 3 of 3: reopen failed after", "recovery: no step is left"] {
      #expect(journal.contains(line), "\(journal)")
    }
    #expect(journal.contains("reconnect failed after") == (signal == SIGSTOP), "\(journal)")
    #expect(
      journal.contains(#""left":{"lock":"lock.yaml","parked":false,"message":""# + words), "\(journal)")
    let junit = try folder.read("Reports/junit.xml")
    #expect(junit.contains("errors=\"2\"") && junit.contains("type=\"lab-fault\""), "\(junit)")
  }

  @Test("a registration keeps the key before anything else, and the key opens the lock again")
  func registers() throws {
    let bench = try bench("sesame5?registered=no")
    let before = try folder.read("lock.yaml")
    try FileManager.default.copyItem(atPath: folder.path + "/lock.yaml", toPath: folder.path + "/mine.yaml")
    let refused = try Command.drive(["register.yaml"], bench, lock: "mine.yaml")
    expect(refused.status, 4)
    let result = try Command.drive(["register.yaml"], bench, lock: "mine.yaml", ["--allow", "register"])
    expect(result.status, 0)
    #expect(
      result.errors.contains("the lock is left as it is: its positions were never set"), "\(result.errors)")
    #expect(!before.contains("secret"))
    // The emulator's own account of the key is the same.
    expect(try folder.secret("mine.yaml"), try folder.secret("lock.yaml"))
    let opened = try Command.drive(["there.yaml"], bench, lock: "mine.yaml")
    // Its positions were never set: that is seen before the case begins.
    expect(opened.status, 4)
    #expect(
      opened.output.contains("and the lock's positions were never set, which a real lock is brought to only"),
      "\(opened.output)")
    expect(folder.movements(), 0)
  }

  @Test("fuzzed for a time, its twin is explored beside it, and what was rare is known the next time")
  func fuzzed() throws {
    let bench = try bench()
    defer { bench.kill() }
    func fuzz(_ options: String) throws -> Command.Result {
      try Command.shell(
        "LOCKSTEP_STATE=$PWD/state/lockstep TERM=dumb $LOCKSTEP fuzz sesame --device lock:lock.yaml --transport "
          + "\(bench.transports[0]) --seed 3 -v --out Reports \(options)", in: folder.path)
    }
    /// On a busy machine less is done in a time: then it is given four times as much, and once more.
    func fuzz(for seconds: Int, until isDone: (Command.Result) -> Bool) throws -> Command.Result {
      var result = try fuzz("--duration \(seconds)s --actuations 40")
      for factor in [4, 16] where !isDone(result) {
        result = try fuzz("--duration \(seconds * factor)s --actuations 40")
      }
      return result
    }
    let first = try fuzz(for: 15) { _ in folder.movements() > 0 }
    expect(first.status, 0)
    #expect(
      first.output.contains(
        /twin    agrees with the model in [1-9][0-9,]* events of [1-9][0-9,]* tests, beside the device/))
    let movements = folder.movements()
    #expect(movements > 0, "\(first.output)")
    // Most tests move nothing, so it is given time for those that do.
    let second = try fuzz(for: 40) { _ in folder.movements() > movements }
    expect(second.status, 0)
    #expect(second.output.contains(/corpus  .*: [1-9][0-9]* tests?/), "\(second.output)")
    #expect(folder.movements() > movements, "\(second.output)")
    // Who may move it once moves it no more, whatever there is to do; one more is kept for parking.
    let limited = try fuzz("--duration 240s --actuations 2")
    expect(limited.status, 6)
    #expect(folder.movements() > movements, "\(limited.output)")
  }

  @Test("with the emulator's control everything that needs a hand can be driven, with a scenario's options")
  func control() throws {
    let bench = try bench("sesame5", ["--control", "unix:control"])
    try folder.write(
      "option.yaml",
      """
      scenario: A motor in no hurry
      machine: sesame
      device: { emulator: sesame5, motor: 3 s, registered: true, configured: true, bolt: unlocked }
      steps:
        - closeTo
        - connect
        - until: { status: unlocked }
        - lock
        - expect: { status: unlocked, for: 2500 ms }
        - expect: { status: locked, within: 2 s }

      """)
    let names = ["hand.yaml", "fault.yaml", "register.yaml", "reset.yaml", "option.yaml", "there.yaml"]
    let result = try Command.drive(names, bench, ["--control", "unix:control"])
    expect(result.status, 0)
    #expect(result.output.contains("6 cases: 6 agree"), "\(result.output)")
    expect(result.errors, "")
    expect(folder.movements(), 0)
    expect(folder.files(with: try folder.secret()), ["lock.yaml"])
    // A control that is gone is trouble of the lab.
    let missing = try Command.drive(["there.yaml"], bench, ["--control", "unix:nowhere"])
    expect(missing.status, 3)
    #expect(missing.output.contains("the emulator of the lock cannot be reached"), "\(missing.output)")
  }

  // swift-format-ignore
  static let mistakes: [(arguments: [String], status: Int32, words: String)] = [
    (["--device", "lock:lock.yaml"], 2, "a lock needs a transport: --transport usb:0"),
    (["--transport", "usb:0"], 2, "--transport leads to a lock: name it with --device lock:FILE"),
    (["--transport", "usbb:0", "--device", "lock:lock.yaml"], 2, "'usbb:0' is no transport"),
    (["--transport", "usb:0", "--device", "lock:gone.yaml"], 2, "gone.yaml: there is no such file or folder"),
    (["--transport", "usb:0", "--device", "lock:open.yaml"], 2, "(mode 0644): chmod 600 open.yaml"),
    (["--transport", "usb:0", "--device", "lock:wrong.yaml"], 2, "wrong.yaml:1:7: unknown lock `sesame55`"),
    (["--transport", "usb:0", "--device", "lock:lock.yaml", "--allow", "lock"], 2, "'--allow' expects one of reset, register, configure"),
    (["--transport", "usb:0", "--device", "lock:lock.yaml", "--park", "open"], 2, "'--park' expects one of locked, unlocked, as-found"),
    (["--transport", "usb:0", "--device", "lock:lock.yaml", "--control", "control"], 2, "'--control' expects unix:PATH"),
    (["--transport", "usb:0", "--device", "lock:driver.yaml", "--allow", "wipe"], 3, "exit status 127, of ./keypad"),
    (["--transport", "tcp-client:127.0.0.1:1", "--device", "lock:lock.yaml"], 3, "'lockstep doctor' checks this computer"),
  ]

  @Test("what is wrong with a call is said", arguments: mistakes.indices)
  func wrong(index: Int) throws {
    let (arguments, status, words) = Self.mistakes[index]
    let secret = "0123456789abcdef0123456789abcdef"
    let text = "lock: sesame5\nuuid: 5c2a2f49-3b0e-4b7a-9f51-0d1f4d6c7e10\nsecret: \(secret)\n"
    for (name, mode) in [("lock.yaml", 0o600), ("open.yaml", 0o644), ("wrong.yaml", 0o600)] {
      let path = try folder.write(
        name, name == "wrong.yaml" ? text.replacing("sesame5", with: "sesame55") : text)
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    let driver = try folder.write("driver.yaml", "driver: ./keypad\nmachine: sesame\nid: KP-0042\n")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: driver)
    let line =
      "LOCKSTEP_STATE=\(folder.path)/state/lockstep \"$LOCKSTEP\" run there.yaml "
      + arguments.joined(separator: " ")
    let result = try Command.shell(line, in: folder.path)
    expect(result.status, status)
    #expect((result.errors + result.output).contains(words), "\(result.errors)\(result.output)")
    #expect(!(result.errors + result.output).contains(secret))
  }
}

extension Data {
  /// Reads digits, two a byte.
  init?(hex: String) {
    let digits = Array(hex)
    self.init()
    for index in stride(from: 0, to: digits.count - 1, by: 2) {
      guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return nil }
      append(byte)
    }
  }
}
