import Foundation
import TestSupport
import Testing

/// The reference lock in a few lines of Python, as a user might write it from the description of the protocol.
private let lock = """
  import json, sys
  table = {"noSignal": {"closeTo": "receivedBle"}, "receivedBle": {"connect": "connecting"},
           "connecting": {"linkUp": "waitingGatt"}, "waitingGatt": {"gattReady": "logining"},
           "logining": {"loginDone": "locked", "disconnect": "noSignal"},
           "locked": {"unlock": "unlocked", "disconnect": "noSignal"}, "unlocked": {"lock": "locked", "disconnect": "noSignal"}}
  for line in sys.stdin:
      message = json.loads(line)
      if "reset" in message: status = "noSignal"
      else: status = table[status].get(message["stimulus"], status)
      EXTRA
      print(json.dumps({"status": status}))
      print(json.dumps({"settled": True}), flush=True)

  """

private let scenario = """
  scenario: A lock in another program
  machine: sesame-table
  device: exec:python3 lock.py
  steps:
    - closeTo
    - connect
    - linkUp
    - gattReady
    - loginDone
    - unlock
    - expect: { status: unlocked }
    - refuse: connect
    - disconnect

  """

private func folder(_ extra: String = "pass") throws -> Command.Folder {
  let folder = try Command.Folder()
  try folder.write("lock.py", lock.replacingOccurrences(of: "EXTRA", with: extra))
  try folder.write("Scenarios/lock.yaml", scenario)
  return folder
}

@Suite("Programs as devices of the command", .timeLimit(.minutes(10)))
struct ExecTests {
  @Test("a program agrees, in place of an emulated lock too")
  func agrees() throws {
    let folder = try folder()
    let result = try Command.call("run", in: folder.path)
    expect(result.status, 0)
    #expect(result.output.hasPrefix("1 case: 1 agree"), "\(result.output)")
    try folder.write(
      "Scenarios/lock.yaml", scenario.replacingOccurrences(of: "device: exec:python3 lock.py\n", with: ""))
    let other = try Command.call("run", "--device", "exec:python3 lock.py", in: folder.path)
    expect(other.status, 0)
    // A program cannot be asked for faults: such scenarios are skipped, with the reason.
    try folder.write(
      "Scenarios/jam.yaml", "scenario: B\nmachine: sesame\ndevice: sesame5\nsteps: [closeTo, fault: jam]\n")
    let skipped = try Command.call(
      "run", "Scenarios/jam.yaml", "--device", "exec:python3 lock.py", in: folder.path)
    expect(skipped.status, 4)
    #expect(
      skipped.output.contains("  skipped  1: needs the fault jam, which python3 lock.py cannot inject"))
  }

  @Test("a program that does not answer its greeting is trouble, whatever a scenario needs of it")
  func unansweredGreeting() throws {
    let folder = try folder()
    try folder.write(
      "jam.yaml",
      "scenario: B\nmachine: sesame\ndevice:\n  exec: cat >/dev/null\nsteps: [fault: jam, expect: {battery: 5.0}]\n"
    )
    let result = try Command.call("run", "--answer-timeout", "0.1", "jam.yaml", in: folder.path)
    expect(result.status, 3)
    #expect(result.output.contains("no end of the answer within 200 ms to {\"hello\""), "\(result.output)")
  }

  @Test("a program that does what no state allows diverges")
  func diverges() throws {
    let folder = try folder("if status == 'unlocked': status = 'moved'")
    let result = try Command.call("run", in: folder.path)
    expect(result.status, 1)
    #expect(
      result.output.contains(
        """
            the device showed moved, which the model does not allow
            after   unlock
            model   unlocked (registered)
            device  moved
        """), "\(result.output)")
  }

  @Test("a program that refuses what is legal diverges")
  func refuses() throws {
    let folder = try folder(
      "if status == 'unlocked': print(json.dumps({'refused': 'tired'}), flush=True); continue")
    let result = try Command.call("run", in: folder.path)
    expect(result.status, 1)
    #expect(result.output.contains("the device refused what the model allows: tired"), "\(result.output)")
  }

  @Test(
    "trouble once is the lab's, and the same three times the device's",
    arguments: [
      ("if status == 'unlocked' and fails(1): sys.exit(3)", 3, "the device's program ended: exit status 3"),
      (
        "if status == 'unlocked' and fails(2): print('oops', flush=True)", 3,
        "an answer of no known form: the device wrote 'oops'"
      ),
      (
        "if status == 'unlocked': sys.exit(3)", 1,
        "stopped answering: the device's program ended: exit status 3, of python3 lock.py"
      ),
      (
        "if status == 'unlocked': import time; time.sleep(600)", 1,
        "no end of the answer within 10 s to {\"stimulus\":\"unlock\"}"
      ),
      (
        "if status == 'unlocked': print('oops', flush=True)", 1,
        "stopped answering: an answer of no known form: the device wrote 'oops'"
      ),
    ])
  func trouble(extra: String, status: Int32, message: String) throws {
    let folder = try folder(extra)
    let counter = """
      def fails(most):
          with open("count", "a+") as file:
              file.write("x"); file.seek(0)
              return len(file.read()) <= most

      """
    try folder.write("lock.py", counter + folder.read("lock.py"))
    // Far more than a start takes, for it is waited for to the end.
    let timeLimit = extra.contains("sleep") ? "10" : "200"
    let result = try Command.call("run", "--answer-timeout", timeLimit, in: folder.path)
    expect(result.status, status)
    #expect(result.output.contains(message), "\(result.output)")
    let tag = status == 1 ? "<failure" : "<error"
    #expect(try folder.read("Reports/junit.xml").contains(tag))
    // What stopped answering is saved like any other divergence, and replays.
    expect(folder.names("Reports/failures").count, status == 1 ? 1 : 0)
    #expect(
      result.output.contains(
        status == 1 ? "  lockstep replay " : "  lockstep run Scenarios/lock.yaml --seed "))
  }

  @Test("no program outlives the run")
  func nothingLeft() throws {
    let folder = try folder()
    let mark = "9\(getpid())\(UInt16.random(in: 10_000...60_000))"
    let device = "exec:sleep \(mark) & python3 lock.py; sleep \(mark)"
    for command in ["run", "replay Scenarios/lock.yaml"] {
      let result = try Command.line("\(command) --device '\(device)'", in: folder.path)
      expect(result.errors, "")
      #expect(result.output.contains("agree"), "\(result.output)")
      let left = try Program.run("/usr/bin/env", ["pgrep", "-f", "^sleep \(mark)"])
      // It ends with 1 where it finds none.
      expect([String(decoding: left.output + left.errors, as: UTF8.self), "\(left.status)"], ["", "1"])
    }
  }

  @Test("a program that is not there is trouble in the lab at once")
  func missing() throws {
    let folder = try folder()
    let result = try Command.call("run", "--device", "exec:/no/such/program", in: folder.path)
    expect(result.status, 3)
    #expect(
      result.output.contains("no device: the program did not start: exit status 127, of /no/such/program"),
      "\(result.output)")
  }

  @Test("a program that does not start is said once with its last words, and nothing is claimed of it")
  func notStarted() throws {
    let folder = try folder()
    let scenario = try folder.read("Scenarios/lock.yaml")
    for number in 2...3 { try folder.write("Scenarios/lock\(number).yaml", scenario) }
    let device = "exec:echo cannot open the port >&2; exit 7"
    let result = try Command.call("run", "--seed", "1", "--device", device, in: folder.path)
    expect(result.status, 3)
    let lines = result.output.split(separator: "\n").map(String.init)
    expect(
      lines.filter { !$0.contains("  report   ") && !$0.contains(" s   seed ") },
      [
        "⚡ Scenarios/lock.yaml   trouble in the lab",
        "    no device: the program did not start: exit status 7, of "
          + "echo cannot open the port >&2; exit 7", "    its standard error ended with:",
        "    cannot open the port",
        "  lockstep run Scenarios/lock.yaml --seed 1 --device 'exec:echo cannot open the port >&2; exit 7'",
      ])
    expect(try folder.read("Reports/junit.xml").components(separatedBy: "<error ").count, 4)
    for command in ["fuzz sesame --steps 100", "cover sesame"] {
      let result = try Command.line("\(command) --device '\(device)'", in: folder.path)
      expect(result.status, 3)
      let told = result.output.components(separatedBy: "the program did not start: exit status 7").count - 1
      #expect(told == 1, "\(result.output)")
      for claim in ["nothing found", "cells", "missing", "no verdict", "0 of"] {
        #expect(!result.output.contains(claim), "\(claim): \(result.output)")
      }
    }
  }

  @Test(
    "the first signal ends the run in its step, with a report",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGUSR2, SIGABRT, SIGSEGV, SIGTRAP, SIGSYS, SIGBUS, SIGFPE, SIGILL])
  func signals(signal: Int32) throws {
    let folder = try folder("if 'hello' not in message: open('begun', 'w')")
    try folder.write(
      "Scenarios/slow.yaml",
      "scenario: A\nmachine: sesame-table\ndevice: exec:python3 lock.py\nsteps: [wait: 1 h]\n")
    try folder.write("Scenarios/third.yaml", scenario)
    let process = try Command.start(Command.path, ["run"], in: folder.path, out: folder)
    eventually(by: process) { folder.has("begun") }
    process.awaitRest()
    kill(process.processIdentifier, signal)
    expect(process.waitUntilExit(), 5)
    let report = try folder.read("Reports/junit.xml")
    #expect(report.contains("stopped in step 1") && report.contains("not begun"), "\(report)")
  }

  @Test(
    "where the end is asked for while a program is greeted, nothing is called wrong, and all reports say so")
  func stoppedWhileGreeting() throws {
    let folder = try Command.Folder()
    try folder.write(
      "a.yaml",
      "scenario: A\nmachine: sesame-table\ndevice: \"exec:touch begun; sleep 60\"\nsteps: [closeTo]\n")
    let process = try Command.start(
      Command.path, ["run", "a.yaml"], in: folder.path, out: folder)
    eventually(by: process) { folder.has("begun") }
    kill(process.processIdentifier, SIGINT)
    expect(process.waitUntilExit(), 5)
    expect(
      try folder.read("errors"),
      "lockstep: stopped before anything was run\nlockstep: nothing was run\n")
    for name in ["Reports/junit.xml", "Reports/report.html"] {
      #expect(try folder.read(name).contains("stopped before anything was run"), "\(name)")
    }
    let run = try #require(folder.names("Reports/runs").first)
    #expect(try folder.read("Reports/runs/\(run)/journal.jsonl").contains("\"status\":5"))
    expect(try Command.call("report", "Reports/runs/\(run)", "--out", "again", in: folder.path).status, 5)
  }

  @Test(
    "what a program writes after the end of a test is said, after the last one too",
    arguments: [
      (
        #"{"violation":"twice"}"#,
        "the program wrote '{\"violation\":\"twice\"}' after the end of a test: it belongs to none"
      ),
      (#"{"status":"Opened"}"#, "the program wrote '{\"status\":\"Opened\"}' after the end of a test"),
      ("x", "after the last test: the device wrote 'x'"),
    ])
  func lastWords(line: String, words: String) throws {
    let folder = try Command.Folder()
    try folder.write(
      "door.py",
      """
      import json, os, sys
      for line in sys.stdin:
          message = json.loads(line)
          said = [{"hello": {"protocol": 2, "time": "virtual"}}] if "hello" in message else []
          if "reset" in message: said.append({"status": "Closed"})
          text = "".join(json.dumps(line) + os.linesep for line in [*said, {"settled": True, "next": None}])
          if "stimulus" in message: text += open("line").read()
          os.write(1, text.encode())

      """)
    try folder.write("line", line + "\n")
    try folder.write(
      "a.yaml", "scenario: A\nmachine: door\ndevice: exec:python3 door.py\nsteps: [{ refuse: Close }]\n")
    let run = try Command.call("run", "a.yaml", in: folder.path)
    #expect(run.errors.contains(words), "\(run.errors)\(run.output)")
    expect(run.status, 0)
  }

  @Test(
    "the second signal ends it at once, while the program has not answered the first",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func twice(signal: Int32) throws {
    let folder = try folder("if 'hello' not in message: open('begun', 'w')")
    // A program that does not end with its input keeps who lets it end waiting for half a second.
    try folder.write(
      "slow.yaml",
      "scenario: A\nmachine: sesame-table\ndevice: \"exec:trap '' PIPE TERM; python3 lock.py; sleep 60\"\n"
        + "steps: [wait: 1 h]\n")
    let process = try Command.start(Command.path, ["run", "slow.yaml"], in: folder.path, out: folder)
    eventually(by: process) { folder.has("begun") }
    kill(process.processIdentifier, SIGSTOP)
    kill(process.processIdentifier, signal)
    kill(process.processIdentifier, signal == SIGTERM ? SIGINT : SIGTERM)
    kill(process.processIdentifier, SIGCONT)
    process.waitUntilExit()
    // Of two that are there at one time the system gives either first.
    #expect([SIGINT, SIGTERM, SIGHUP].map { 128 + $0 }.contains(process.waitUntilExit()))
  }
}
