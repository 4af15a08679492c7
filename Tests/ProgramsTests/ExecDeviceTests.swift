@testable import Programs
import System
import Conformance
import Glibc
import Basics
import TestSupport
import Testing

private let vocabulary = Vocabulary(stimuli: ["open", "close"], statuses: ["closed", "opened"])
private let open = Stimulus(0)
private let closed = Observation.status(0)
private let opened = Observation.status(1)

/// A door in Python, which the tests change a line of.
private func door(_ line: String = "say(status=name)") -> String {
  """
  python3 -u -c '
  import json, sys, time, os
  def say(**line): print(json.dumps(line), flush=True)
  status = "closed"
  for line in sys.stdin:
    ask = json.loads(line)
    if "reset" in ask: status = "closed"
    elif ask["stimulus"] == status.replace("ed", "").replace("clos", "close"):
      say(refused="it is " + status); continue
    else:
      name = {"open": "opened", "close": "closed"}[ask["stimulus"]]
      \(line)
      status = name
    say(settled=True)
  '
  """
}

/// What a shell does that answers one request.
private let greeting = #"read x; echo '{"settled":true}'"#

private func started(
  _ command: String, answerTimeout: Interval = timeLimit, reset: Bool = true
) throws -> ExecDevice {
  let device = ExecDevice(command: command, answerTimeout: answerTimeout)
  device.adopt(vocabulary)
  if reset { try device.reset(to: StartCondition()) }
  return device
}

/// Everything that is there to observe now.
private func observations(of device: ExecDevice) throws -> [Observation] {
  var all: [Observation] = []
  let limit = device.now
  while let observation = try device.observe(until: limit) { all.append(observation) }
  return all
}

/// The trouble of the lab that something ends with.
func labFault(_ body: () throws -> Void) -> LabFault? {
  do {
    try body()
    return nil
  } catch {
    return error as? LabFault
  }
}

/// Whether the end was asked for.
private final class StopFlag {
  var isSet = false
}

/// A file to which a program adds a line at each start.
private final class StartCount {
  let path = "/tmp/lockstep-starts-\(getpid())-\(UInt32.random(in: 0 ... .max))"

  deinit { unsafe unlink(path) }

  /// How often it was started.
  var lines: Int {
    let counter = try? ChildProcess(command: "wc -l <\(path)")
    guard case .line(let line)? = counter?.nextLine(until: MonotonicClock.now + timeLimit) else {
      return -1
    }
    return Int(String(decoding: line, as: UTF8.self)) ?? -1
  }
}

@Suite("Programs as devices", .timeLimit(.minutes(10)))
struct ExecDeviceTests {
  @Test("a program answers with statuses, and silence is no observation")
  func healthy() throws {
    let device = try started(door())
    expect(device.now, .zero)
    expect(try observations(of: device), [])
    try device.perform(open)
    expect(try observations(of: device), [opened])
    try device.perform(open)
    expect(try observations(of: device), [.refused("it is opened")])
    let limit = device.now + .milliseconds(20)
    expect(try device.observe(until: limit), nil)
    expect(device.now, limit)
    try device.reset(to: StartCondition())
    expect(device.now, .zero)
    try device.perform(Stimulus(1))
    expect(try observations(of: device), [.refused("it is closed")])
  }

  @Test("settings and arguments are sent as JSON, durations as seconds")
  func requests() throws {
    let echo =
      "while read -r line; do echo \"$line\" >> /dev/stderr; echo '{\"settled\":true}'; done; sleep 9"
    let device = try started(
      "(\(echo)) 2>&1 | while read -r l; do case $l in *settled*) echo \"$l\";; "
        + "*) printf '{\"status\":\"%s\"}\\n' \"$(echo \"$l\" | tr '\"' '~')\";; esac; done", reset: false)
    try device.reset(
      to: StartCondition([Argument("registered", .flag(true)), Argument("turns", .integer(3))]))
    expect(try observations(of: device), [.unknown("{~reset~:{~registered~:true,~turns~:3}}")])
    try device.perform(
      Stimulus(
        0,
        [
          Argument("delay", .duration(.milliseconds(7500))), Argument("by", .text("Zoé")),
          Argument("x", .number(0.1)),
        ]))
    expect(
      try observations(of: device),
      [.unknown("{~stimulus~:~open~,~arguments~:{~delay~:7.5,~by~:~Zoé~,~x~:0.1}}")])
  }

  @Test("statuses that come unasked are observed as time passes")
  func unasked() throws {
    let isLater = try sometimes {
      let device = try started(#"echo '{"settled":true}'; sleep 0.05; echo '{"status":"opened"}'; cat"#)
      expect(try device.observe(until: .zero + timeLimit), opened)
      return (.zero + .milliseconds(30))...(.zero + .seconds(4)) ~= device.now
    }
    expect(isLater, true)
  }

  @Test("what comes after a test belongs to no test")
  func leftOver() throws {
    let device = try started(
      #"while read x; do echo '{"settled":true}'; echo '{"status":"opened"}'; done"#)
    // Of the two that it writes, the first came before the test.
    let isPassedOver = try sometimes {
      usleep(50_000)
      try device.reset(to: StartCondition())
      expect(try device.observe(until: .zero + timeLimit), opened)
      return try device.observe(until: device.now + .milliseconds(50)) == nil
    }
    expect(isPassedOver, true)
  }

  @Test("what is shown on the way keeps its own time")
  func times() throws {
    let device = try started(
      door(#"say(status="opened"); time.sleep(0.1); say(status="closed"); time.sleep(0.1)"#))
    let areApart = try sometimes {
      try device.reset(to: StartCondition())
      try device.perform(open)
      let end = device.now
      var times: [Instant] = []
      while try device.observe(until: end) != nil { times.append(device.now) }
      expect(times.count, 2)
      expect(device.now, end)
      return times[1] - times[0] > .milliseconds(50) && end - times[1] > .milliseconds(50)
    }
    expect(areApart, true)
  }

  @Test("a program that cannot start so is no divergence")
  func refusedReset() {
    let fault = labFault { _ = try started(#"read x; echo '{"refused":"no keys"}'; cat"#) }
    expect(fault, LabFault(.notPossible, "the device refuses this start: no keys"))
  }

  @Test("a hanging program is killed with everything that it started")
  func hanging() throws {
    let mark = "7\(getpid())\(UInt16.random(in: 10_000...60_000))"
    let device = try started(
      "sleep \(mark) & \(door("say(status=name); print(1, file=sys.stderr); time.sleep(600)"))",
      answerTimeout: .seconds(10))
    let fault = labFault { try device.perform(open) }
    expect(
      fault,
      LabFault(
        .noAnswer,
        "no end of the answer within 10 s to {\"stimulus\":\"open\"}\nits standard error ended with:\n1"))
    // What was killed is gone soon, not at once.
    eventually { !runs(mark) }
    // It can be started afresh.
    try device.reset(to: StartCondition())
    expect(runs(mark), true)
    device.shutDown()
    eventually { !runs(mark) }
  }

  @Test(
    "an answer of no known form is quoted",
    arguments: [
      (
        "hello",
        "'hello': expected a JSON value at byte 0; a program prints nothing on its standard output but answers"
      ),
      (
        #"{"status":"a","settled":true}"#,
        #"'{"status":"a","settled":true}': expected {"status":"…"}, {"settled":true}, {"refused":"…"} or another line of a device, one a line"#
      ),
      (
        #"{"settled":false}"#,
        #"'{"settled":false}': expected {"status":"…"}, {"settled":true}, {"refused":"…"} or another line of a device, one a line"#
      ),
      (
        #"{"status":7}"#,
        #"'{"status":7}': expected {"status":"…"}, {"settled":true}, {"refused":"…"} or another line of a device, one a line"#
      ),
      (#"{"settled":}"#, #"'{"settled":}': expected a JSON value at byte 11"#),
      (
        "", "'': expected a JSON value at byte 0; a program prints nothing on its standard output but answers"
      ),
      (
        "\\033[1m\\377",
        "'\\u{1B}[1m\u{FFFD}': expected a JSON value at byte 0; a program prints nothing on its standard output but answers"
      ),
    ])
  func garbage(line: String, reason: String) throws {
    let fault = labFault { try started("\(greeting); printf '\(line)\\n'; cat >/dev/null").perform(open) }
    expect(fault, LabFault(.badAnswer, "the device wrote \(reason)"))
  }

  @Test("a long line is quoted up to two hundred bytes, and an endless one is cut")
  func longLines() {
    let long = labFault {
      try started("\(greeting); python3 -c 'print(\"x\" * 300)'; cat >/dev/null").perform(open)
    }
    expect(
      long,
      LabFault(
        .badAnswer,
        "the device wrote '\(String(repeating: "x", count: 200))'… (300 bytes): expected a JSON value at byte 0; a program prints nothing on its standard output but answers"
      ))
    let endless = labFault { try started("\(greeting); yes | tr -d '\\n'").perform(open) }
    expect(
      endless,
      LabFault(
        .badAnswer,
        "a line of more than 65536 bytes, which begins '\(String(repeating: "y", count: 200))'… (65536 bytes)"
      ))
  }

  @Test("a program that never stops writing is stopped")
  func flooding() throws {
    let answer = labFault { try started(greeting + #"; yes '{"status":"closed"}'"#).perform(open) }
    expect(answer?.symptom, .badAnswer)
    expect(answer?.detail.hasPrefix("more than 10000 lines without a pause"), true)
    let device = try started(greeting + #"; yes '{"status":"closed"}'"#)
    let unasked = labFault {
      while try device.observe(until: device.now) != nil {};
      while try device.observe(until: .zero + timeLimit) != nil {}
    }
    expect(unasked?.detail.hasPrefix("more than 10000 lines without a pause"), true)
  }

  @Test(
    "a program that ended says how",
    arguments: [
      (
        "echo out of ink >&2; read x; exit 3", LabFault.Symptom.ended, "exit status 3",
        "\nits standard error ended with:\nout of ink"
      ),
      ("kill -SEGV $$", .ended, "signal 11", ""),
      ("read x; exec 1>&-; sleep 5", .ended, "it closed its output and went on", ""),
      (
        "/no/such/program", .noDevice, "the program did not start: exit status 127",
        "\nits standard error ended with:\n/bin/sh: 1: /no/such/program: not found"
      ),
    ])
  func ending(command: String, symptom: LabFault.Symptom, how: String, words: String) {
    let line = symptom == .noDevice ? command : "\(greeting); \(command)"
    let fault = labFault { try started(line).perform(open) }
    expect(fault, LabFault(symptom, "\(how), of \(line)\(words)"))
  }

  /// What a shell does that answers nothing before its second request, and then what is given.
  private static func late(_ answers: String) -> String {
    "read x; read y; printf '\(answers)'; cat >/dev/null"
  }

  @Test(
    "a program that is slow to answer its greeting, and one that passes over it, are told apart by what comes first",
    arguments: [
      (#"{"hello":{"protocol":2,"stimuli":["open"]}}\n{"settled":true}\n{"settled":true}\n"#, ["open"]),
      (#"{"settled":true}\n"#, nil), (#"{"refused":"what is a hello?"}\n"#, nil),
    ] as [(String, [String]?)])
  func lateGreeting(answers: String, stimuli: [String]?) throws {
    let device = try started(Self.late(answers), answerTimeout: .seconds(3), reset: false)
    device.greet()
    expect(device.abilities.stimuli, stimuli)
    expect(device.abilities.areUnknown, false)
  }

  @Test("a program that runs and does not answer its greeting is trouble of the lab, and speaks no protocol")
  func unansweredGreeting() throws {
    let count = StartCount()
    let device = try started(
      "echo x >>\(count.path); echo wait >&2; cat >/dev/null", answerTimeout: .milliseconds(100), reset: false
    )
    device.greet()
    expect(device.abilities.areUnknown, true)
    let fault = LabFault(
      .noDevice,
      "the program has not answered once; --answer-timeout gives more time to one that starts slowly, no answer: "
        + #"no end of the answer within 200 ms to {"hello":{"protocol":2},"reset":{}}"#
        + "\nits standard error ended with:\nwait")
    for _ in 0..<2 { expect(labFault { try device.reset(to: StartCondition()) }, fault) }
    expect(count.lines, 1)
  }

  @Test(
    "a program that ends over its greeting speaks the first protocol where it answers a plain reset, and is none where it does not",
    arguments: [
      (#"read x; case "$x" in *hello*) exit 7;; esac; echo '{"settled":true}'; cat >/dev/null"#, false),
      ("exit 7", true),
    ])
  func endsWhenGreeted(command: String, areUnknown: Bool) throws {
    let count = StartCount()
    let device = try started("echo x >>\(count.path); \(command)", reset: false)
    device.greet()
    expect(count.lines, 3)
    expect(device.abilities.areUnknown, areUnknown)
    let fault = labFault { try device.reset(to: StartCondition()) }
    expect(fault?.symptom, areUnknown ? .noDevice : nil)
    #expect(
      fault?.detail.contains("did not start: exit status 7") ?? !areUnknown, "\(String(describing: fault))")
  }

  @Test("the first answer of each start has twice the time of others, since it includes the start")
  func slowStart() throws {
    let count = StartCount()
    let device = try started(
      "echo x >>\(count.path); test $(wc -l <\(count.path)) = 1 && { \(greeting); }; cat >/dev/null",
      answerTimeout: .seconds(2))
    for (request, time) in [("{\"stimulus\":\"open\"}", "2 s"), ("{\"reset\":{}}", "4 s")] {
      let fault = labFault {
        if time == "2 s" { try device.perform(open) } else { try device.reset(to: StartCondition()) }
      }
      expect(fault, LabFault(.noAnswer, "no end of the answer within \(time) to \(request)"))
    }
  }

  @Test(
    "a command that has never answered is no device, whatever is wrong with it, and is soon left alone",
    arguments: [
      ("exit 3", "did not start: exit status 3, of "),
      ("echo hello; cat", "has not answered once, an answer of no known form: the device wrote 'hello'"),
      (
        #"echo '{"status":"closed"}'; cat >/dev/null"#,
        "has not answered once; --answer-timeout gives more time to one that starts slowly, no answer: no end of the answer within 4 s to "
      ),
    ])
  func neverAnswered(command: String, message: String) throws {
    let count = StartCount()
    let device = try started(
      "echo x >>\(count.path); \(command)",
      answerTimeout: message.contains("within 4 s") ? .seconds(2) : timeLimit, reset: false)
    var faults: [LabFault?] = []
    for _ in 0..<5 { faults.append(labFault { try device.reset(to: StartCondition()) }) }
    for fault in faults {
      expect(fault?.symptom, .noDevice)
      #expect(fault?.detail.hasPrefix("the program \(message)") ?? false, "\(faults)")
    }
    expect(count.lines, 3)
  }

  @Test("a command that answered once may stop doing so, and is started again each time")
  func stoppedAnswering() throws {
    let count = StartCount()
    let device = try started(
      "echo x >>\(count.path); test $(wc -l <\(count.path)) = 1 && { \(greeting); }; read x")
    for _ in 0..<4 {
      expect(labFault { try device.perform(open) }?.symptom, .ended)
      try device.restart()
    }
    device.shutDown()
    expect(count.lines, 5)
  }

  @Test(
    "a start that ends before it reads what it is asked is no fault of the device, whatever it answered before"
  )
  func notStarted() throws {
    let count = StartCount()
    let device = try started(
      "echo x >>\(count.path); test $(wc -l <\(count.path)) = 1 && { \(greeting); read x; }; exit 3")
    expect(labFault { try device.perform(open) }?.symptom, .ended)
    for _ in 0..<3 {
      let fault = labFault { try device.reset(to: StartCondition()) }
      expect(fault?.symptom, .noDevice)
      #expect(
        fault?.detail.hasPrefix("the program ended before it was asked anything: exit status 3") ?? false)
    }
  }

  @Test("a program that ends while time passes, or settles unasked, is at fault")
  func betweenAnswers() throws {
    let dying = try started(#"echo '{"settled":true}'; sleep 0.05; exit 4"#)
    expect(labFault { _ = try dying.observe(until: .zero + timeLimit) }?.symptom, .ended)
    let eager = try started(#"echo '{"settled":true}'; echo '{"settled":true}'; cat >/dev/null"#)
    expect(
      labFault { _ = try eager.observe(until: .zero + timeLimit) },
      LabFault(.badAnswer, "nothing was asked, and the device wrote '{\"settled\":true}'"))
  }

  @Test("standard error is drained, and a program that does not read cannot block us")
  func fullPipes() throws {
    let loud = try started(door("say(status=name); sys.stderr.write(\"x\" * 500000)"))
    try loud.perform(open)
    expect(try observations(of: loud), [opened])
    let deaf = ExecDevice(command: "sleep 60", answerTimeout: .milliseconds(200))
    let long = StartCondition([Argument("text", .text(String(repeating: "x", count: 1_000_000)))])
    expect(labFault { try deaf.reset(to: long) }?.symptom, .noDevice)
    let gone = ExecDevice(command: "exec 0<&-; sleep 60", answerTimeout: .milliseconds(200))
    expect(labFault { try gone.reset(to: long) }?.symptom, .noDevice)
  }

  @Test("who asks for the end waits neither for an answer nor for the time to pass")
  func stops() throws {
    for (command, isAsked) in [("sleep 3600", true), (greeting + "; sleep 3600", false)] {
      let isStopped = StopFlag()
      let device = ExecDevice(command: command, answerTimeout: .seconds(3600)) { isStopped.isSet }
      device.adopt(vocabulary)
      isStopped.isSet = isAsked
      let found = labFault {
        try device.reset(to: StartCondition())
        isStopped.isSet = true
        _ = try device.observe(until: .zero + .seconds(3600))
      }
      expect(found, LabFault(.stopped, "a stop was requested"))
    }
  }

  @Test("a program is asked for nothing that only a lab can do")
  func faults() throws {
    let device = try started(door())
    expect(labFault { try device.bring(about: Fault("jam")) }?.symptom, .notPossible)
    let abilities = device.abilities
    expect(abilities.stimuli, nil)
    expect(abilities.settings, nil)
    expect(abilities.faults + abilities.conditions, [])
    expect(abilities.disturbances, [])
    expect(abilities.slack, .milliseconds(100))
  }

  @Test("no child and no descriptor is left behind")
  func nothingLeft() async {
    await #expect(processExitsWith: .success) {
      let before = pipes()
      for round in 0..<8 {
        let commands = [door(), "exit 1", "yes", "sleep 60", "exec 1>&-; sleep 60"]
        let device = ExecDevice(command: commands[round % 5], answerTimeout: .milliseconds(100))
        if round % 2 == 0 { try? device.reset(to: StartCondition()) }
        try? device.restart()
        if round % 3 == 0 { device.shutDown() }
      }
      guard pipes().isSubset(of: before) else { exit(1) }
      guard waitpid(-1, nil, WNOHANG) == -1, errno == ECHILD else { exit(2) }
    }
  }
}

/// Our ends of pipes: all else that a process has open, such as timers, is not the device's.
private func pipes() -> Set<Int32> {
  Set(
    (0..<200).filter { number in
      var status = stat()
      return unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO
    })
}

/// Whether a process with this word in its command line runs.
private func runs(_ word: String) -> Bool {
  let probe = try? ChildProcess(command: "pgrep -f '^sleep \(word)' >/dev/null && echo yes || echo no")
  return probe?.nextLine(until: MonotonicClock.now + timeLimit) == .line(Array("yes".utf8))
}
