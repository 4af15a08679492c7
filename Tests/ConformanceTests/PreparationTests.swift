import Automata
import Conformance
import Basics
import TestSupport
import Testing

/// A kettle that has to boil two seconds after it was switched on, unless its water is gone.
private func kettle() throws -> Specification {
  var machine = MachineDefinition(name: "kettle")
  machine.events = [
    Event("switch"), Event("bump"), Event("set"), Event("boiled", .spontaneous),
    Event("linkLost", .spontaneous), Event("kept", .spontaneous),
  ]
  machine.conditions = [Condition("loss"), Condition("keeping", stimuli: ["set"], reading: "keeping")]
  // swift-format-ignore
  machine.add(table: """
    | event                | cold (empty) | cold (full)    | cold (heating) | hot  |
    |----------------------|--------------|----------------|----------------|------|
    | switch               | =            | cold (heating) |                | cold (full) |
    | bump                 | =            | =              | =              | =    |
    | set                  | =            | =              | =              | =    |
    | boiled within 2 s    |              |                | hot            |      |
    | linkLost given loss  |              |                | cold (full)    |      |
    | kept given keeping   |              | hot            |                |      |
    """)
  machine.starts = [
    Start("cold (empty)", when: [.init("full", false)]), Start("cold (full)", when: [.init("full", true)]),
  ]
  return Specification(try Machine(machine))
}

/// A device that was in sessions before its test, and shows nothing in it.
private struct PreparedDevice: StandaloneDevice {
  var sessions: [Preparation]
  var trouble: LabFault?
  var abilities = Abilities(stimuli: nil, settings: nil, reports: ["linkLost"])
  var now = Instant.zero

  mutating func adopt(_ vocabulary: Vocabulary) {}
  mutating func reset(to start: StartCondition) throws(LabFault) { if let trouble { throw trouble } }
  mutating func takePreparations() -> [Preparation] { sessions }
  mutating func perform(_ stimulus: Stimulus) {}
  mutating func bring(about fault: Fault) {}
  mutating func restart() {}
  mutating func observe(until limit: Instant) -> Observation? {
    now = max(now, limit)
    return nil
  }
}

private let names = ["switch", "bump", "set", "boiled", "linkLost", "kept"]
private let full = StartCondition([Argument("full", .flag(true))])

private func did(_ stimulus: String) -> TraceEvent {
  .stimulus(Stimulus(names.firstIndex(of: stimulus)!))
}

private func shown(_ status: String) -> TraceEvent {
  .observation(.status(["cold", "hot"].firstIndex(of: status)!))
}

private func session(
  _ entries: [(Interval, TraceEvent)], from start: StartCondition? = full, unsure: [String] = [],
  underWay: [(status: String, stimulus: String)] = []
) -> Preparation {
  var session = Preparation(from: start, unsure: unsure, underWay: underWay)
  for (time, event) in entries { session.take(event, at: .zero + time) }
  return session
}

private func verdict(
  _ sessions: [Preparation], trouble: LabFault? = nil, conditions: [String] = [],
  invariants: [any Invariant] = []
) throws -> Divergence? {
  var device = PreparedDevice(sessions: sessions, trouble: trouble)
  device.abilities.conditions = conditions
  let specification = Specification(
    try kettle().machine, holding: conditions, reporting: device.abilities.reports)
  var lockstep = Lockstep(specification, device, invariants: invariants, recorder: TraceList())
  return try lockstep.reset(to: full)
}

@Suite("What happens while a device is made ready is judged like a test")
struct PreparationTests {
  private let boils: [(Interval, TraceEvent)] = [
    (.zero, did("switch")), (.seconds(2), shown("hot")), (.seconds(60), did("bump")),
  ]

  @Test("what the model allows agrees, and the test begins")
  func agrees() throws {
    expect(try verdict([]), nil)
    expect(try verdict([session(boils), session(boils)]), nil)
  }

  @Test("what comes too late, or not at all by what comes next, is overdue when it was due")
  func overdue() throws {
    for late in [[(.zero, did("switch")), (.milliseconds(2001), shown("hot"))], [boils[0], boils[2]]] {
      let divergence = try #require(try verdict([session(boils), session(late)]))
      expect(divergence.kind, .overdue)
      expect(divergence.time, .zero + .seconds(2))
      expect(divergence.isInPreparation, true)
      expect(divergence.lastStimulus, "switch")
      expect(
        divergence.summary,
        "the fault lies before the test, and was seen while the device was made ready for it: the device showed nothing, "
          + "although the model required something by this time")
    }
    // Silence after the last that was written down is no evidence.
    expect(try verdict([session([boils[0]])]), nil)
  }

  @Test("silence at the end counts as far as it is the device's own doing, with its reason")
  func silence() throws {
    var silent = session([boils[0]])
    silent.silence = .zero + .milliseconds(1999)
    expect(try verdict([silent]), nil)
    silent.silence = .zero + .seconds(30)
    silent.explanation = Explanation("unheard", "others whistle", isOfDevice: true)
    expect(silent.length, .seconds(30))
    let gone = LabFault(.noDevice, "it is not there")
    let divergence = try #require(try verdict([silent], trouble: gone))
    expect(divergence.kind, .overdue)
    expect(divergence.time, .zero + .seconds(2))
    #expect(divergence.summary.hasSuffix("; unheard: others whistle"), "\(divergence.summary)")
    silent.start = nil
    expect(try verdict([silent]), nil)
  }

  @Test("what is to be shown at once may be seen a moment later, and has to be seen before what is done next")
  func atOnce() throws {
    let begin = (Interval.seconds(1), did("switch"))
    let hot = [(Interval.zero, did("switch")), (.seconds(2), shown("hot")), (.seconds(3), did("switch"))]
    expect(try verdict([session(hot + [(.milliseconds(3001), shown("cold"))])]), nil)
    expect(try verdict([session(hot + [(.milliseconds(3001), did("bump"))])])?.kind, .overdue)
    expect(try verdict([session([begin, (.milliseconds(1001), did("bump"))])]), nil)
  }

  @Test("what no start of the machine allows is unexpected; each that goes with what is known is possible")
  func starts() throws {
    let empty = StartCondition([Argument("full", .flag(false))])
    expect(try verdict([session(boils, from: empty)])?.kind, .unexpected("hot"))
    expect(try verdict([session(boils, from: StartCondition([Argument("colour", .text("red"))]))]), nil)
  }

  @Test("where too little is known, the model is not asked, and rules are")
  func rules() throws {
    expect(try verdict([session([(.zero, shown("hot"))], from: nil)]), nil)
    let violation = Violation("too-loud", "it is too loud")
    let broken = try #require(
      try verdict(
        [session([(.seconds(1), .observation(.violation(violation)))], from: nil)],
        invariants: [NoViolation()]))
    expect(broken.kind, .violation(violation))
    expect(broken.time, .zero + .seconds(1))
    expect(broken.isInPreparation, true)
  }

  @Test("what may have been set before, or was under way, is open")
  func unsure() throws {
    let kept = [(Interval.seconds(1), shown("hot"))]
    expect(try verdict([session(kept)])?.kind, .unexpected("hot"))
    expect(try verdict([session(kept, unsure: ["keeping"])]), nil)
    let bumped = [(Interval.zero, shown("cold")), (.seconds(1), shown("hot"))]
    expect(try verdict([session(bumped)])?.kind, .unexpected("hot"))
    expect(try verdict([session(bumped, underWay: [("cold", "switch")])]), nil)
  }

  @Test("a reading of another setting than the known one is wrong, and one of what may have been set is not")
  func settings() throws {
    let told = [(Interval.zero, TraceEvent.observation(.reading(Reading("keeping", .integer(20)))))]
    let divergence = try #require(try verdict([session(told)]))
    expect(divergence.kind, .unexpected("keeping 20"))
    expect(divergence.allowed.map(\.shows), ["keeping 0"])
    expect(try verdict([session(told, unsure: ["keeping"])]), nil)
    let set = TraceEvent.stimulus(Stimulus(2, [Argument("value", .duration(.seconds(20)))]))
    expect(try verdict([session([(.zero, set), (.seconds(1), told[0].1)])]), nil)
    let other = Reading("keeping", .integer(8))
    let later = [(Interval.zero, set), (.seconds(1), .observation(.reading(other)))]
    expect(try verdict([session(later)])?.kind, .unexpected("keeping 8"))
  }

  @Test("a session that only a lost link explains proves nothing")
  func losses() throws {
    let lost = TraceEvent.observation(.event(SeenEvent(names.firstIndex(of: "linkLost")!)))
    let entries = [
      boils[0], (.seconds(1), lost), (.seconds(3), shown("hot")), (.seconds(9), did("bump")),
    ]
    let wrong = [session(entries), session([boils[0], boils[2]])]
    expect(try verdict([session(entries)])?.kind, .unexpected("linkLost"))
    expect(try verdict([session(entries)], conditions: ["loss"]), nil)
    expect(try verdict(wrong, conditions: ["loss"])?.kind, .overdue)
  }

  @Test("trouble is the lab's only where the device did nothing wrong")
  func trouble() throws {
    let fault = LabFault(.noDevice, "it cannot be made ready")
    #expect(throws: fault) { try verdict([session(boils)], trouble: fault) }
    expect(try verdict([session([boils[0], boils[2]])], trouble: fault)?.kind, .overdue)
  }

  @Test("what was done up to the disagreement is in the trace, and what agrees is not")
  func trace() throws {
    let device = PreparedDevice(sessions: [session(boils), session([boils[0], boils[2]])])
    var lockstep = Lockstep(try kettle(), device, recorder: TraceList())
    _ = try lockstep.reset(to: full)
    expect(lockstep.recorder.entries.map(\.event), [did("switch")])
    expect(lockstep.preparations.count, 2)
    expect(lockstep.preparations[1].stimuli.map(\.number), [0, 1])
  }
}
