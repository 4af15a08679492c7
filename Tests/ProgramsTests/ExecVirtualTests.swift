import Basics
import Conformance
import Foundation
import TestSupport
import Testing

@testable import Programs

private let vocabulary = Vocabulary(
  stimuli: ["open", "jammed"], statuses: ["closed", "opened"], effects: ["beep"])

/// A door without a clock that shuts by itself after five seconds. It keeps what it is asked in a file.
private struct ScriptedDoor {
  let folder = TestFolder()

  /// - Parameters:
  ///   - line: a line of its own that is done before each answer, on `request`, `name`, `now`, `due` and `say`.
  ///   - next: whether it says when it will do something by itself.
  func device(
    _ line: String = "pass",
    hello: String = #"{"protocol": 2, "time": "virtual", "faults": {"jam": [true]}, "effects": true}"#,
    next: Bool = true
  ) -> ExecDevice {
    let program = folder.write(
      "door.py",
      """
      import json, os, sys
      asked = open("\(folder.path)/asked", "a")
      now, due = 0, None
      said = []
      def say(**line): said.append(json.dumps(line) + "\\n")
      for line in sys.stdin:
        asked.write(line)
        asked.flush()
        request = json.loads(line)
        if "hello" in request: said.append('{"hello":\(hello)}\\n')
        name = [name for name in request if name != "hello"][0]
        now = request.get("at", 0)
        \(line)
        if name == "reset": due = None
        elif name == "stimulus":
          due = now + 5
          say(status="opened")
        elif name == "advance" and due is not None and due <= now + request["advance"]:
          say(status="closed", at=due)
          say(effect="beep", at=due)
          due = None
        if \(next ? "True" : "False"): say(settled=True, next=due)
        else: say(settled=True)
        # All of it in one piece.
        os.write(1, "".join(said).encode())
        said.clear()
      """)
    let device = ExecDevice(command: "exec python3 \(program)", answerTimeout: timeLimit)
    device.seed = 7
    device.greet()
    device.adopt(vocabulary)
    return device
  }

  /// What it was asked since its greeting.
  var asked: [String] { folder.read("asked").split(separator: "\n").dropFirst().map { String($0) } }
}

private func observed(_ device: ExecDevice, until limit: Instant) throws -> [String] {
  var device = device
  return try observed(&device, until: limit, vocabulary)
}

@Suite("Programs without a clock", .timeLimit(.minutes(10)))
struct ExecVirtualTests {
  @Test(
    "time passes as it is asked for, up to what is shown, and where nothing is due it is not asked for",
    arguments: [true, false])
  func advance(saysNext: Bool) throws {
    let door = ScriptedDoor()
    let device = door.device(next: saysNext)
    try device.reset(to: StartCondition([Argument("registered", .flag(true))]))
    expect(try observed(device, until: .zero), [])
    expect(try observed(device, until: seconds(1.5)), [])
    expect(device.now, seconds(1.5))
    try device.perform(Stimulus(0))
    expect(try observed(device, until: seconds(4)), ["1.500 opened"])
    expect(try observed(device, until: seconds(60)), ["6.500 closed", "6.500 beep"])
    expect(device.now, seconds(60))
    try device.bring(about: Fault("jam"))
    try device.perform(Stimulus(0, [Argument("wait", .duration(.milliseconds(250)))]))
    expect(try device.observe(until: seconds(60)), .status(1))
    expect(try device.observe(until: .never), .status(0))
    expect(device.now, seconds(65))
    try device.reset(to: StartCondition())
    expect(device.now, .zero)
    let all = [
      #"{"reset":{"registered":true},"seed":7}"#,
      #"{"advance":1.500,"at":0.000}"#,
      #"{"stimulus":"open","at":1.500}"#,
      #"{"advance":2.500,"at":1.500}"#,
      #"{"advance":56.000,"at":4.000}"#,
      #"{"advance":53.500,"at":6.500}"#,
      #"{"fault":"jam","value":true,"at":60.000}"#,
      #"{"stimulus":"open","arguments":{"wait":0.25},"at":60.000}"#,
      #"{"advance":31536000.000,"at":60.000}"#,
      #"{"reset":{},"seed":7}"#,
    ]
    // What is said to be nothing is not asked for.
    expect(door.asked, saysNext ? [0, 2, 4, 6, 7, 8, 9].map { all[$0] } : all)
  }

  @Test(
    "a program whose time is not as it was told is at fault, and it is said how",
    arguments: [
      (#"if name == "advance": say(status="closed")"#, "time passes, so that it must say `at` when"),
      (
        #"if name == "advance": say(status="closed", at=9)"#,
        "time passes from 0.000 s to 8.000 s, and no further"
      ),
      (
        #"if name == "advance": say(status="closed", at=2); say(status="opened", at=3)"#,
        "it has shown something at 2.000 s, and time stops there"
      ),
      (#"if name == "stimulus": say(status="closed", at=2)"#, "it is 0.000 s, and nothing else is asked"),
      (
        #"if name == "advance": say(status="closed", at=-1)"#,
        "`at` is -1, and no number of seconds since the test began"
      ),
      (
        #"if name == "advance": say(settled=True, next="soon")"#,
        "`next` is \"soon\", and neither a number of seconds since the test began nor null"
      ),
      (#"if name == "advance": say(refused="no")"#, "the device refuses to let time pass: no"),
    ])
  func wrongTime(line: String, words: String) throws {
    let door = ScriptedDoor()
    defer { withExtendedLifetime(door) {} }
    let device = door.device(line, next: false)
    try device.reset(to: StartCondition())
    let trouble = labFault {
      if line.contains("stimulus") { try device.perform(Stimulus(0)) }
      _ = try device.observe(until: seconds(8))
    }
    expect(trouble?.symptom, .badAnswer)
    #expect(trouble?.detail.contains(words) == true, "\(trouble?.detail ?? "")")
    // It is started afresh, and greeted no more.
    try device.restart()
    device.adopt(vocabulary)
    try device.reset(to: StartCondition())
  }

  @Test("an argument that stands alone has the name that the machine gives it")
  func soleArgument() throws {
    let door = ScriptedDoor()
    let device = door.device()
    device.adopt(
      Vocabulary(stimuli: ["open", "jammed"], statuses: ["closed", "opened"], soleArguments: ["speed"]))
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(0, [Argument(Argument.only, .integer(3))]))
    try device.perform(Stimulus(1, [Argument(Argument.only, .integer(3))]))
    expect(
      Array(door.asked.dropFirst()),
      [
        #"{"stimulus":"open","arguments":{"speed":3},"at":0.000}"#,
        #"{"stimulus":"jammed","arguments":{"value":3},"at":0.000}"#,
      ])
  }

  @Test("what comes after a complete answer is at fault, and not taken for the next one")
  func secondAnswer() throws {
    let door = ScriptedDoor()
    let device = door.device(#"if name == "stimulus": say(status="opened"); say(settled=True)"#)
    try device.reset(to: StartCondition())
    try device.perform(Stimulus(0))
    let trouble = labFault { try device.perform(Stimulus(0)) }
    expect(trouble?.symptom, .badAnswer)
    #expect(
      trouble?.detail.hasPrefix("its answer was complete, and the device wrote") == true,
      "\(trouble?.detail ?? "")")
  }

  @Test(
    "the last that it says is kept when it is let end, and is no trouble when nobody looks after it any more")
  func lastWords() throws {
    let folder = TestFolder()
    let command = #"while read line; do echo '{"settled":true}'; done; echo bye >&2"#
    for isShutDown in [true, false] {
      var device: ExecDevice? = ExecDevice(command: command, answerTimeout: timeLimit)
      let output = ProgramOutput(in: folder.path)
      device?.output = output
      device?.adopt(vocabulary)
      try device?.reset(to: StartCondition())
      if isShutDown { device?.shutDown() }
      device = nil
      expect(output.lastLines, isShutDown ? ["bye"] : [])
    }
  }

  @Test("what was added up in floating point is a little off")
  func rounding() throws {
    let door = ScriptedDoor()
    defer { withExtendedLifetime(door) {} }
    let device = door.device(
      #"if name == "advance": say(status="closed", at=8.0000000004)"#, next: false)
    try device.reset(to: StartCondition())
    expect(try device.observe(until: seconds(8)), .status(0))
    expect(device.now, seconds(8))
  }

  @Test("a greeting that is passed over, or that a program ends over, leaves it as it was")
  func firstProtocol() throws {
    let folder = TestFolder()
    for first in ["", "if \"hello\" in json.loads(line): sys.exit(3)"] {
      let program = folder.write(
        "plain.py",
        """
        import json, sys
        for line in sys.stdin:
          \(first.isEmpty ? "pass" : first)
          print('{"status":"closed"}')
          print('{"settled":true}', flush=True)
        """)
      let device = ExecDevice(command: "exec python3 \(program)", answerTimeout: timeLimit)
      device.greet()
      expect(device.introduction, nil)
      expect(device.misunderstanding, nil)
      device.adopt(vocabulary)
      try device.reset(to: StartCondition())
      expect(try device.observe(until: .zero), .status(0))
    }
  }

  @Test("a program that says of itself what means nothing is no device, and it is said why")
  func misunderstood() throws {
    let door = ScriptedDoor()
    defer { withExtendedLifetime(door) {} }
    let device = door.device(hello: #"{"protocol": 2, "time": "slow"}"#)
    let words = try #require(device.misunderstanding?.detail)
    #expect(words.contains(#"`time` is "slow", and not real or virtual"#), "\(words)")
    expect(labFault { try device.reset(to: StartCondition()) }?.symptom, .noDevice)
  }

  @Test("a fault that it does not offer is not asked for, and one that it refuses is trouble of the lab")
  func faults() throws {
    let door = ScriptedDoor()
    defer { withExtendedLifetime(door) {} }
    let device = door.device(
      #"if name == "fault": say(refused="it is stuck"); os.write(1, "".join(said).encode()); said.clear(); continue"#
    )
    try device.reset(to: StartCondition())
    expect(labFault { try device.bring(about: Fault("cut")) }?.detail, "the program offers no fault 'cut'")
    expect(
      labFault { try device.bring(about: Fault("jam")) }?.detail,
      "the device refuses the fault 'jam': it is stuck")
  }

  @Test("what a program says of itself, and what is wrong with it")
  func introductions() throws {
    let good = try ProgramIntroduction(
      JSON(
        parsing: #"""
          {"protocol":2,"name":"keypad","time":"virtual","stimuli":["enter","lock"],
           "arguments":{"enter":[{"code":"1234"},{"code":"0000","wait":"2 s"}]},
           "faults":{"jam":[true,false],"cut":{"level":"link","values":["2 s",3]},"noise":{"level":"att"}},
           "settings":["registered"],"conditions":["loss"],"reports":["linkLost"],"readings":["battery"],
           "effects":true,"moves":["lock"]}
          """#))
    let abilities = good.abilities
    expect(abilities.stimuli, ["enter", "lock"])
    expect(
      abilities.disturbances,
      [
        Disturbance(.events, "jam", [.flag(true), .flag(false)]),
        Disturbance(.link, "cut", [.duration(.seconds(2)), .integer(3)]),
        Disturbance(.att, "noise", [.flag(true), .flag(false)]),
      ])
    expect(abilities.faults, ["jam", "cut", "noise"])
    expect(
      abilities.arguments[0].values,
      [
        [Argument("code", .text("1234"))],
        [Argument("code", .text("0000")), Argument("wait", .duration(.seconds(2)))],
      ])
    expect(abilities.settings, ["registered"])
    expect(abilities.conditions, ["loss"])
    expect(abilities.reports, ["linkLost"])
    #expect(abilities.isInVirtualTime && abilities.showsEffects && abilities.slack == .zero)
    expect(good.moving, ["lock"])
    let none = ProgramIntroduction().abilities
    #expect(none.stimuli == nil && none.settings == nil && !none.isInVirtualTime)
    expect(none.slack, .milliseconds(100))
    let bad = [
      ("3", "`hello` is no object"),
      ("{}", "`hello` says no `protocol`; this one is 2"),
      (#"{"protocol":3}"#, "`protocol` is 3, and not 2"),
      (#"{"protocol":2,"time":"slow"}"#, #"`time` is "slow", and not real or virtual"#),
      (#"{"protocol":2,"stimuli":"open"}"#, #"`stimuli` is "open", and not a list of names"#),
      (#"{"protocol":2,"stimuli":["a","b","a"]}"#, "`stimuli` has `a` twice, the second time as number 3"),
      (#"{"protocol":2,"stimulli":[]}"#, "`hello` has an unknown member `stimulli`; did you mean `stimuli`?"),
      (#"{"protocol":2,"stimuli":[],"moves":["lock"]}"#, "`lock` is not among its `stimuli`"),
      (
        #"{"protocol":2,"faults":{"jam":{"level":"air"}}}"#,
        "the fault `jam` has a level that is not one of events, messages, att, link"
      ),
      (
        #"{"protocol":2,"faults":{"jam":[]}}"#,
        #"the fault `jam` is [], and not a list of values, or an object of a `level` and `values`"#
      ),
      (
        #"{"protocol":2,"arguments":{"enter":["1234"]}}"#,
        #"`arguments` is {"enter":["1234"]}, and not a list of objects for each stimulus, such as [{"code":"1234"}]"#
      ),
    ]
    for (text, reason) in bad {
      do {
        _ = try ProgramIntroduction(JSON(parsing: text))
        Issue.record("\(text) is taken")
      } catch {
        expect((error as? ProgramAnswer.Malformed)?.reason, reason)
      }
    }
  }
}

@Suite("Lines that were read before")
struct ProgramLineCacheTests {
  private func cache(_ lines: String...) throws -> ProgramLineCache {
    var cache = ProgramLineCache()
    for line in lines { cache.learn(Array(line.utf8), (try ProgramLine(parsing: Array(line.utf8)), nil)) }
    return cache
  }

  @Test("are known with any moment at their end, and say what they would say if they were taken apart")
  func moments() throws {
    let cache = try cache(
      #"{"settled":true}"#, #"{"settled": true, "next": null}"#, #"{"refused":"no, \"at\":5"}"#,
      #"{"status":"a,b","at":0.5}"#, #"{"reading":{"at":5}}"#, #"{"violation":"x","detail":"y"}"#)
    let lines = [
      #"{"settled":true}"#, #"{"settled":true,"next":12.5}"#, #"{"settled":true, "next": 0.000000001}"#,
      #"{"settled":true,"next":null}"#, #"{"settled": true, "next": 7}"#,
      #"{"refused":"no, \"at\":5"}"#, #"{"refused":"no, \"at\":5","next":8999999999}"#,
      #"{"status":"a,b"}"#, #"{"status":"a,b","at":31536000.123456789}"#, #"{"status":"a,b","at":1}"#,
      #"{"reading":{"at":5}}"#, #"{"reading":{"at":5},"at":3}"#, #"{"violation":"x","detail":"y","at":0}"#,
    ]
    for line in lines {
      let entry = try #require(cache.entry(of: Array(line.utf8)), "\(line)")
      expect(entry.parsed, try ProgramLine(parsing: Array(line.utf8)))
    }
  }

  @Test(
    "are not known with what is none",
    arguments: [
      #"{"settled":true,"next":-1}"#, #"{"settled":true,"next":1e3}"#, #"{"settled":true,"next":.5}"#,
      #"{"settled":true,"next":05}"#, #"{"settled":true,"next":9000000000}"#, #"{"settled":true,"next":5.}"#,
      #"{"settled":true,"next":}"#, #"{"settled":true,"at":5}"#,
      #"{"settled":true,"next":99999999999}"#, #"{"settled":true,"next":1.0000000001}"#,
      #"{"status":"a","next":5}"#, #"{"status":"a","at":null}"#, #"{"status":"a","at":5"#, #"{"status":"b"}"#,
      "", "}",
    ])
  func unknown(line: String) throws {
    let cache = try cache(#"{"settled":true}"#, #"{"status":"a"}"#)
    expect(cache.entry(of: Array(line.utf8))?.parsed, nil)
  }

  @Test("a greeting is said once, and a program whose lines all differ is not remembered for ever")
  func bounds() throws {
    var cache = try cache(#"{"hello":{"protocol":2}}"#)
    expect(cache.entry(of: Array(#"{"hello":{"protocol":2}}"#.utf8))?.parsed, nil)
    for number in 0..<2000 {
      let line = Array(#"{"status":"\#(number)"}"#.utf8)
      cache.learn(line, (try ProgramLine(parsing: line), nil))
    }
    expect(cache.entry(of: Array(#"{"status":"999"}"#.utf8))?.parsed.answer, .status("999"))
    expect(cache.entry(of: Array(#"{"status":"1999"}"#.utf8))?.parsed, nil)
  }
}
