import Journal
import Conformance
import Basics
import TestSupport
import Testing

@testable import Harness

/// Drives one scenario on a toy door and gives the journal of the case, without its beginning.
private func journal(
  _ steps: String, _ script: [String: [[(Interval, Show)]]] = ToyDoor.healthy, start: String = "ajar: false",
  stopAfter: Int = .max
) throws -> [String] {
  try run(steps, script, start: start, stopAfter: stopAfter).lines
}

private func run(
  _ steps: String, _ script: [String: [[(Interval, Show)]]] = ToyDoor.healthy, start: String = "ajar: false",
  stopAfter: Int = .max, inRealTime: Bool = false
) throws -> (lines: [String], summary: Run.Summary, provider: ToyProvider) {
  let list = steps.split(separator: "\n").map { "  - \($0)\n" }.joined()
  let text = "scenario: A door\ndevice: { lock: oak, \(start) }\nsteps:\n\(list)"
  let provider = ToyProvider()
  provider.script = script
  provider.isInRealTime = inRealTime
  let reader = ScenarioReader(machines: toyMachines(), provider: provider)
  let scenario = try reader.read(Array(text.utf8), path: "toys/door.yaml")
  let machine = try toyMachines().machine("door")
  let set = ScenarioSet([ScenarioSet.Item(path: "toys/door.yaml", scenario: scenario, machine: machine)])
  let journal = JournalList()
  var asked = 0
  var selection = Plan.Selection()
  selection.seed = 7
  let run = Run(
    try Plan(set, selection, provider: provider),
    in: [
      RunWorker(
        provider,
        conclude: { test, outcome, _ in
          if case .divergence = outcome.verdict { outcome.replay = "lockstep replay \(test.id)" }
        })
    ], listener: journal,
    isStopped: {
      asked += 1
      return asked > stopAfter
    })
  let summary = run.perform()
  return (journal.lines, summary, provider)
}

/// The lines of the case alone, without its beginning and without what follows it.
private func events(_ lines: [String]) -> [String] {
  lines.filter { $0.hasPrefix(#"{"t""#) && !$0.contains("model") }
}

private func verdict(_ lines: [String]) -> String? { lines.first { $0.hasPrefix(#"{"verdict""#) } }

@Suite("Running scenarios")
struct RunTests {
  @Test("the journal says what was done and what was seen, and nothing else")
  func wholeJournal() throws {
    let result = try run(
      """
      note: a visitor
      open: 3
      expect: { effect: ring }
      wait: 1.5 s
      close
      until: { status: closed }
      """)
    expect(
      result.lines,
      [
        #"{"run":{"format":1,"seed":7,"cases":1}}"#,
        #"{"case":{"id":"toys/door","name":"A door","machine":"door","model":"6ab56441ef0a4bef","device":"emulator:oak","seed":7,"digest":"f6d12fe613075a8e"}}"#,
        #"{"t":"0.000","model":["closed"]}"#,
        #"{"t":"0.000","step":1,"line":4,"note":"a visitor"}"#,
        #"{"t":"0.000","step":2,"line":5,"stimulus":"open","arguments":{"value":3}}"#,
        #"{"t":"0.000","model":["opened"]}"#,
        #"{"t":"0.000","status":"opened"}"#, #"{"t":"0.000","effect":"ring"}"#,
        #"{"t":"0.000","step":3,"line":6,"expect":"effect ring"}"#,
        #"{"t":"0.000","step":4,"line":7,"wait":"1.5 s"}"#,
        #"{"t":"1.500","step":5,"line":8,"stimulus":"close"}"#, #"{"t":"1.500","model":["closed"]}"#,
        #"{"verdict":"divergence","case":"toys/door","t":"1.500","step":5,"line":8,"observations":3,"message":"the device showed nothing, although the model required something by this time","expected":"closed","observed":"opened","sentence":"open 3, wait 1.5 s, close: closed was due, the device still showed opened.","details":["after   close","model   closed","device  opened"],"allowed":[{"state":"closed","shows":"closed"}],"signature":"overdue: closed after close","replay":"lockstep replay toys/door"}"#,
        #"{"machine":{"name":"door","hash":"6ab56441ef0a4bef","states":["closed","opened","tired"],"stimuli":["open","close","tire"],"cells":[[0,0,[1]],[1,1,[0]],[1,2,[2]]],"spontaneous":[[1,"shut",[0]],[2,"shut",[0]]]}}"#,
        #"{"coverage":{"machine":"door","legal":[2,3],"empty":[0,6],"states":[2,3],"transitions":[2,3],"pairs":[1,5],"visited":["c","00","c"]}}"#,
        #"{"end":{"cases":1,"agree":0,"flaky":0,"divergences":1,"labFaults":0,"skipped":0,"incomplete":0,"observations":0,"status":1}}"#,
      ])
    expect(result.summary.exitStatus, .divergence)
    expect(result.provider.seeds, [7])
  }

  /// Steps, what the door does otherwise than a healthy one, and the verdict's message, or `agree`.
  typealias Row = (steps: String, script: [String: [[(Interval, Show)]]], message: String)

  private static let shuts: [String: [[(Interval, Show)]]] = [
    "close": [[(.zero, .status("closed"))]],
    "open": [[(.zero, .status("opened")), (.zero, .effect("ring")), (.seconds(3), .status("closed"))]],
  ]
  private static let reads: [String: [[(Interval, Show)]]] = [
    "open": [
      [
        (.zero, .status("opened")), (.zero, .effect("ring")),
        (.seconds(1), .reading("battery", .number(5.9))),
        (.seconds(2), .reading("battery", .integer(5))),
      ]
    ]
  ]
  private static let stubborn: [String: [[(Interval, Show)]]] = [
    "close": [[(.zero, .refused("no hand near"))]]
  ]

  private static let more = "the model agrees; the scenario asks for more: "

  // swift-format-ignore
  static let rows: [Row] = [
    // Statuses
    ("expect: { status: closed }\nopen\nexpect: { status: opened }", [:], "agree"),
    ("open\nexpect: { status: closed }", [:], more + "expected status closed, got opened"),
    ("open\nexpect: { status: [tired, opened], for: 5 s }", [:], "agree"),
    ("open\nfault: wind\nexpect: { status: opened, for: 2 s }", [:], more + "expected status opened for 2 s, got closed"),
    ("open\nfault: wind\nexpect: { status: opened, for: 1999 ms }", [:], "agree"),
    ("open\nfault: wind\nexpect: { status: closed, within: 2 s }", [:], "agree"),
    ("open\nfault: wind\nexpect: { status: closed, within: 1999 ms }", [:], more + "expected status closed within 1.999 s, got opened"),
    ("open\nuntil: { status: tired, within: 3 s }", [:], more + "expected status tired within 3 s, got opened"),
    ("open\nwait: 4 s", shuts, "the device showed closed, which the model does not allow"),
    ("open\nexpect: { status: opened, within: 4 s }\nwait: 1 s", shuts, "agree"),
    // What the model promises is demanded at the end.
    ("open\nfault: wind", [:], "agree"),
    ("open\nfault: wind", ["wind": []], "the device showed nothing, although the model required something by this time"),
    ("open\ntire", ["tire": [[(.zero, .status("tired"))]]], "the device showed nothing, although the model required something by this time"),
    // A stimulus waits for its moment, unless it is given now.
    ("open\ntire\nopen", [:], "agree"),
    ("open\ntire\nnow: open", [:], "the device showed opened, which the model does not allow"),
    ("open\nclose\nclose", ["close": [[(.zero, .status("closed"))], []]], "agree"),
    // What was not compared is not agreed upon: nothing was asked for, or the device is as silent as a dead one.
    ("wait: 2 s", [:], "nothing was compared: the device was asked for nothing, and showed nothing"),
    ("close", ["close": []], "nothing was compared: the device showed nothing at all, as one that is dead would"),
    ("refuse: tire", ["tire": []], "nothing was compared: the device showed nothing at all, as one that is dead would"),
    ("refuse: tire\nopen", ["tire": []], "agree"),
    // Refusals
    ("refuse: close\nexpect: { refused: true }", stubborn, "agree"),
    ("close\nexpect: { refused: no hand }", stubborn, "agree"),
    ("close\nexpect: { refused: no foot }", stubborn, more + "expected refusal with 'no foot', got no hand near"),
    ("open\nexpect: { refused: true }", [:], more + "expected refusal with any reason, got none"),
    ("open\nclose", stubborn, "the device refused what the model allows: no hand near"),
    ("open\nrefuse: close", [:], more + "expected refusal of close, got none, since the model allows it here"),
    ("refuse: tire", [:], "the device showed tired, which the model does not allow"),
    ("refuse: tire", ["tire": [[(.zero, .refused("not open"))]]], "agree"),
    // Effects: each is used up by one expectation, and what came before something was done does not count.
    ("open\nexpect: { effect: ring }\nexpect: { effect: ring }", [:], more + "expected effect ring, got nothing"),
    ("open\nrefuse: open\nexpect: { effect: ring }", ["open": [ToyDoor.healthy["open"]![0], []]], more + "expected effect ring, got nothing"),
    ("open", ["open": [[(.zero, .status("opened"))]]], "the device showed nothing, although the model required something by this time"),
    // Readings
    ("open\nexpect: { battery: 5.9, within: 1 s }\nexpect: { battery: 5, within: 1 s }", reads, "agree"),
    ("open\nexpect: { battery: 5.9, within: 1 s }\nexpect: { battery: 5.9 }\nexpect: { battery: 5.9, within: 3 s }", reads, more + "expected battery 5.9 within 3 s, got 5"),
    // What was reported before is not what was expected to come, though it fits.
    ("open\nexpect: { battery: 5.9, within: 1 s }\nwait: 3 s\nwait: 100 ms\nexpect: { battery: { above: 4 }, within: 5 s }", reads, more + "expected battery above 4.0 within 5 s, got nothing in that time, and 5 before it"),
    ("open\nexpect: { battery: 5.9, within: 1 s }\nwait: 3 s\nwait: 100 ms\nexpect: { battery: { above: 4 } }", reads, "agree"),
    ("open\nwait: 3 s\nexpect: { battery: { above: 4.5, below: 5.5 } }\nexpect: { battery: { is: 5.0 } }", reads, "agree"),
    ("open\nwait: 3 s\nexpect: { battery: { above: 5 } }", reads, more + "expected battery above 5.0, got 5"),
    ("open\nexpect: { battery: 5 }", reads, more + "expected battery 5, got nothing"),
    ("open\nwait: 1 s\nexpect: { battery: five }", reads, more + "expected battery five, got 5.9"),
    ("open\nexpect: { battery: 5 }", ["open": [ToyDoor.healthy["open"]![0] + [(.zero, .reading("battery", .text("5")))], []]], more + "expected battery 5, got the text '5'"),
    ("open\nexpect: { battery: 5.9, status: opened, effect: ring, within: 2 s }", reads, "agree"),
    // All that is wrong is named, and nothing else.
    ("open\nexpect: { battery: 5.9, status: [closed, tired], effect: ring }", reads, more + "expected battery 5.9, got nothing; expected status closed or tired, got opened"),
    ("open\nexpect: { effect: ring }\nexpect: { status: tired, effect: ring, battery: 7, within: 2 s }", reads, more + "expected status tired within 2 s, got opened; expected effect ring within 2 s, got nothing; expected battery 7 within 2 s, got 5"),
    // Quiet
    ("open\nexpect: { quiet: 999 ms }", reads, "agree"),
    ("open\nexpect: { quiet: 1 s }", reads, more + "expected quiet for 1 s, got battery 5.9"),
    // Repetitions
    ("repeat: { times: 3, steps: [ open, close, repeat: { times: 2, steps: [ refuse: close ] } ] }", ["close": [[(.zero, .status("closed"))], []]], "the device showed nothing, although the model required something by this time"),
    ("repeat: { times: 3, steps: [ open, close ] }", ["close": [[(.zero, .status("closed"))]]], "agree"),
    // What no model knows
    ("open", ["open": [[(.zero, .status("ajar"))]]], "the device showed 'ajar' (unknown to the model), which the model does not allow"),
  ]

  @Test("steps are done, waited for and judged", arguments: rows.indices)
  func steps(index: Int) throws {
    let row = Self.rows[index]
    let lines = try journal(row.steps, ToyDoor.healthy.merging(row.script) { $1 })
    let verdict = verdict(lines) ?? ""
    let expected = row.message == "agree" ? "\"verdict\":\"agree\"" : "\"message\":\"\(row.message)\""
    #expect(verdict.contains(expected), "\(row.steps) gave \(verdict)")
  }

  @Test("what a device that is driven by the clock was too fast for is not tried, and not held against it")
  func refusedTooLate() throws {
    let lines = try run("open\nrefuse: close", inRealTime: true).lines
    let verdict = verdict(lines) ?? ""
    #expect(
      verdict.contains(
        "\"verdict\":\"skipped\"")
        && verdict.contains("step 2 cannot be done with this device: close must be forbidden here"),
      "\(verdict)")
  }

  @Test("steps are numbered as they are written, in repetitions too")
  func numbers() throws {
    let lines = try journal(
      "repeat: { times: 2, steps: [ open, repeat: { times: 2, steps: [ note: in ] }, close ] }\nnote: out",
      [
        "open": [[(.zero, .status("opened")), (.zero, .effect("ring"))]],
        "close": [[(.zero, .status("closed"))]],
      ])
    let steps = events(lines).compactMap { $0.split(separator: ",").first { $0.hasPrefix("\"step\"") } }
    expect(steps.map { $0.dropFirst(7) }.joined(separator: " "), "2 4 4 5 2 4 4 5 6")
  }

  @Test(
    "the device is told where the machine starts, and what it shows of it is compared",
    arguments: [
      ("ajar: true", true, "opened", "agree"), ("paint: red", false, "closed", "agree"),
      ("paint: red", false, "opened", "divergence"),
    ])
  func start(setting: String, ajar: Bool, shown: String, verdict word: String) throws {
    let result = try run(
      "close", ["reset": [[(.zero, .status(shown))]], "close": [[(.zero, .status("closed"))]]], start: setting
    )
    expect(result.provider.last?.log.resets, [StartCondition([Argument("ajar", .flag(ajar))])])
    expect(verdict(result.lines)?.contains("\"\(word)\""), true)
  }

  private static let hangs: (Interval, Show) = (.zero, .trouble(LabFault(.noAnswer, "silence")))
  private static let ends: (Interval, Show) = (.zero, .trouble(LabFault(.ended, "exit status 1")))
  private static let gone: (Interval, Show) = (.zero, .trouble(LabFault(.transportLost, "unplugged")))
  private static let fine: [(Interval, Show)] = [(.zero, .status("opened")), (.zero, .effect("ring"))]

  /// What the opening does at each attempt, how the case ends, how often the device is started afresh.
  // swift-format-ignore
  typealias Trouble = (answers: [[(Interval, Show)]], part: String, restarts: Int, status: CommandStatus)

  // swift-format-ignore
  static let troubles: [Trouble] = [
    ([[hangs], fine], #""verdict":"lab-fault","case":"toys/door","t":"0.000","step":1,"line":4,"message":"no answer: silence""#, 1, .labFault),
    ([[hangs], [hangs], fine], #""verdict":"lab-fault""#, 2, .labFault),
    ([[hangs], [ends]], #""verdict":"lab-fault""#, 1, .labFault),
    ([[hangs], [(.zero, .status("tired"))]], #""message":"the device showed tired, which the model does not allow""#, 1, .divergence),
    ([[hangs]], #""message":"stopped answering: no answer: silence, and again in two fresh starts","expected":"an answer","observed":"no answer""#, 2, .divergence),
    ([[gone]], #""verdict":"lab-fault""#, 1, .labFault),
([[(.zero, .trouble(LabFault(.notPossible, "too cold")))]], #""verdict":"lab-fault","case":"toys/door","t":"0.000","step":1,"line":4,"message":"not possible with this device: too cold""#, 0, .labFault),
  ]

  @Test(
    "trouble in the lab is tried again, and only the same three times is the device's",
    arguments: troubles.indices)
  func trouble(index: Int) throws {
    let (answers, part, restarts, status) = Self.troubles[index]
    let result = try run("open", ["open": answers])
    #expect(verdict(result.lines)?.contains(part) ?? false, "\(result.lines)")
    expect(result.provider.last?.log.restarts, restarts)
    expect(result.summary.exitStatus, status)
  }

  @Test("trouble stands where it was, though another attempt went on to the end")
  func placeOfTrouble() throws {
    let result = try run("wait: 2 s\nopen\nwait: 1 s", ["open": [[Self.hangs], Self.fine]])
    let part =
      #""verdict":"lab-fault","case":"toys/door","t":"2.000","step":2,"line":5,"message":"no answer: silence""#
    #expect(verdict(result.lines)?.contains(part) ?? false, "\(result.lines)")
  }

  @Test("a device that cannot start so skips the case")
  func impossibleStart() throws {
    let result = try run("open", ["reset": [[(.zero, .trouble(LabFault(.notPossible, "too cold")))]]])
    expect(
      verdict(result.lines), #"{"verdict":"skipped","case":"toys/door","t":"0.000","message":"too cold"}"#)
    expect(result.summary.exitStatus, .nothingSelected)
  }

  @Test("a run that is stopped finishes its step and says so")
  func stopped() throws {
    let result = try run("open\nwait: 1 s\nwait: 1 s", stopAfter: 3)
    expect(
      verdict(result.lines),
      #"{"verdict":"incomplete","case":"toys/door","t":"1.000","step":2,"line":5,"message":"stopped after step 2"}"#
    )
    expect(result.summary.exitStatus, .incomplete)
    let nothing = try run("open", stopAfter: 0)
    expect(
      verdict(nothing.lines),
      #"{"verdict":"incomplete","case":"toys/door","t":"0.000","message":"not begun"}"#)
  }
}
