import Automata
import Conformance
import Basics
import TestSupport
import Testing

/// A lamp that a button switches on, that goes out by itself after three seconds, and that may fail to light.
private func lamp() -> MachineDefinition {
  var machine = MachineDefinition(name: "lamp")
  machine.events = [
    Event("press"), Event("shake"), Event("nudge"), Event("dim"), Event("lit", .spontaneous),
    Event("failed", .spontaneous),
  ]
  machine.conditions = [
    Condition("broken", faults: ["break"]), Condition("dimmed", stimuli: ["dim"]),
  ]
  // swift-format-ignore
  machine.add(table: """
    | event                          | off                     | off (warming) | on                   |
    |--------------------------------|-------------------------|---------------|----------------------|
    | press                          | off (warming) ! click   |               | off ! click ; thanks |
    | shake                          | =                       |               | =                    |
    | nudge                          |                         |               | = ! flicker ; settle |
    | dim                            |                         |               | on                   |
    | lit unless broken within 1 s   |                         | on            |                      |
    | failed given broken            |                         | off           |                      |
    | after 3 s unless dimmed        |                         |               | off                  |
    | within dimmed to dimmed + 1 s given dimmed |                       |               | off                  |
    """)
  machine.starts = [Start("off")]
  return machine
}

private typealias Script = [String: [(Interval, ScriptedDevice.Show)]]

/// What the tester does in one of the cases below.
private enum Do {
  case stimulus(String, [Argument] = [])
  case fault(String)
  case wait(Interval)
}

private let press: (Interval, ScriptedDevice.Show) = (.zero, .effect("click"))

private func run(_ script: Script, _ steps: [Do], effects: Bool = true) throws -> Divergence? {
  var device = ScriptedDevice(script)
  device.abilities.showsEffects = effects
  let specification = Specification(try Machine(lamp()), showsEffects: effects)
  var lockstep = Lockstep(specification, device, recorder: NoRecorder())
  _ = try lockstep.reset()
  for step in steps {
    let divergence: Divergence?
    switch step {
    case .stimulus(let name, let arguments):
      let number = try #require(specification.vocabulary.stimulus(name))
      divergence = try lockstep.perform(Stimulus(number, arguments))
    case .fault(let name): divergence = try lockstep.bring(about: Fault(name))
    case .wait(let interval): divergence = try lockstep.pass(until: lockstep.now + interval)
    }
    if let divergence { return divergence }
  }
  return nil
}

@Suite("Model and device in lockstep")
struct LockstepTests {
  private let healthy: Script = [
    "press": [press, (.milliseconds(400), .status("on")), (.milliseconds(3400), .status("off"))]
  ]

  @Test("a device that does what the model allows agrees, to the last millisecond")
  func agrees() throws {
    expect(try run(healthy, [.stimulus("press"), .wait(.seconds(60))]), nil)
  }

  @Test(
    "a timer is exact: early and late by a millisecond are both divergences",
    arguments: [(3399, "unexpected"), (3401, "overdue")])
  func timer(off: Int64, what: String) throws {
    let script: Script = [
      "press": [press, (.milliseconds(400), .status("on")), (.milliseconds(off), .status("off"))]
    ]
    let divergence = try #require(try run(script, [.stimulus("press"), .wait(.seconds(60))]))
    let expected: Divergence.Kind = what == "overdue" ? .overdue : .unexpected("off")
    expect(divergence.kind, expected)
    expect(divergence.time, .zero + .milliseconds(min(off, 3400)))
    expect(
      divergence.allowed,
      [
        .init(
          state: "on", cause: "after 3 s", shows: "off", isDue: true, isRequired: what == "overdue")
      ])
  }

  @Test("what is due and does not come is a divergence at its deadline, not at the end of the wait")
  func overdue() throws {
    let divergence = try #require(try run(["press": [press]], [.stimulus("press"), .wait(.seconds(60))]))
    expect(divergence.kind, .overdue)
    expect(divergence.time, .zero + .seconds(1))
    expect(divergence.lastStimulus, "press")
    expect(
      divergence.allowed,
      [
        .init(
          state: "off (warming)", cause: "lit within 1 s", shows: "on", isDue: true, isRequired: true)
      ])
  }

  @Test(
    "a status that did not change may be left out or shown again, before each effect too; another one may not",
    arguments: [
      (["flicker", "settle"], nil), (["=on", "flicker", "=on", "settle", "=on"], nil),
      (["flicker", "=on", "=on", "settle"], nil), (["=off", "flicker", "settle"], "off"),
      (["flicker", "=off"], "off"), (["=on", "settle"], "settle"), (["=on", "flicker"], ""),
    ])
  func repeated(shown: [String], wrong: String?) throws {
    var script = healthy
    script["nudge"] = shown.map { name -> (Interval, ScriptedDevice.Show) in
      (.zero, name.hasPrefix("=") ? .status(String(name.dropFirst())) : .effect(name))
    }
    let divergence = try run(script, [.stimulus("press"), .wait(.seconds(1)), .stimulus("nudge")])
    expect(divergence?.kind, wrong.map { $0.isEmpty ? .overdue : .unexpected($0) })
    // The same of a machine without time, which is tracked as words.
    var machine = MachineDefinition(name: "lamp")
    machine.events = [Event("nudge")]
    machine.states = [State("on")]
    machine.transitions = [
      Transition(
        .event("nudge"), from: .states(["on"]), to: .states(["on"]), before: ["flicker"], after: ["settle"])
    ]
    machine.starts = [Start("on")]
    let plain = Specification(try Machine(machine))
    var tracker = Tracker(plain)
    tracker.start(in: 0)
    tracker.perform(Stimulus(0), at: .zero)
    let isRight = shown.allSatisfy { name in
      let isStatus = name.hasPrefix("=")
      let number = (isStatus ? plain.vocabulary.statuses : plain.vocabulary.effects)
        .firstIndex(of: isStatus ? String(name.dropFirst()) : name)
      return number.map { tracker.observe(isStatus ? .status($0) : .effect($0), at: .zero) } ?? false
    }
    expect(isRight && tracker.settle(at: .zero), wrong == nil)
  }

  @Test("a condition the tester brought about allows what it explains and forbids what it prevents")
  func condition() throws {
    expect(try run(["press": [press]], [.fault("break"), .stimulus("press"), .wait(.seconds(60))]), nil)
    let late: Script = ["press": [press, (.milliseconds(500), .status("on"))]]
    let lit = try #require(
      try run(late, [.fault("break"), .wait(.seconds(1)), .stimulus("press"), .wait(.seconds(2))]))
    expect(lit.kind, .unexpected("on"))
  }

  @Test("what a withdrawn condition allowed may still be on its way for a tenth of a second")
  func grace() throws {
    let quick: Script = [
      "press": [press, (.milliseconds(80), .status("on")), (.milliseconds(3080), .status("off"))]
    ]
    expect(try run(quick, [.stimulus("press"), .fault("break"), .wait(.seconds(5))]), nil)
  }

  @Test("while a condition has not had its effect for sure, what depends on it may be refused too")
  func openRefusal() throws {
    var machine = MachineDefinition(name: "lamp")
    machine.events = [Event("press")]
    machine.conditions = [Condition("power", faults: ["power"])]
    machine.states = [State("off"), State("on")]
    machine.transitions = [
      Transition(.event("press"), from: .states(["off"]), to: .states(["on"]), given: ["power"])
    ]
    machine.starts = [Start("off")]
    let lamp = try Machine(machine)
    for (wait, isRight) in [(100, true), (101, false)] {
      var tracker = Tracker(Specification(lamp))
      tracker.apply(Fault("power"), at: .zero)
      let now = Instant.zero + .milliseconds(Int64(wait))
      expect(tracker.perform(Stimulus(0), at: now), true)
      expect(tracker.observe(.refused("no power"), at: now), isRight)
    }
  }

  @Test("a stimulus can set how long a timer runs")
  func value() throws {
    let script: Script = [
      "press": [press, (.milliseconds(400), .status("on"))], "dim": [(.seconds(10), .status("off"))],
    ]
    let dim = Do.stimulus("dim", [Argument("time", .duration(.seconds(9)))])
    expect(try run(script, [.stimulus("press"), .wait(.seconds(1)), dim, .wait(.seconds(60))]), nil)
    let short = Do.stimulus("dim", [Argument("time", .duration(.seconds(8)))])
    let divergence = try #require(
      try run(script, [.stimulus("press"), .wait(.seconds(1)), short, .wait(.seconds(60))]))
    expect(divergence.kind, .overdue)
    expect(divergence.time, .zero + .seconds(10))
  }

  @Test(
    "effects are shown in their order: before the status, and after it",
    arguments: [
      ([.effect("click"), .status("off"), .effect("thanks")], nil),
      ([.status("off"), .effect("click"), .effect("thanks")], Divergence.Kind.unexpected("off")),
      ([.effect("click"), .status("off")], .overdue),
      ([.effect("click"), .effect("thanks"), .status("off")], .unexpected("thanks")),
    ] as [([ScriptedDevice.Show], Divergence.Kind?)])
  func effects(shows: [ScriptedDevice.Show], kind: Divergence.Kind?) throws {
    var device = ScriptedDevice(["press": [press, (.zero, .status("on"))]])
    device.abilities.showsEffects = true
    let specification = Specification(try Machine(lamp()))
    var lockstep = Lockstep(
      specification, SwitchingDevice(first: device, then: shows), recorder: NoRecorder())
    _ = try lockstep.reset()
    expect(try lockstep.perform(Stimulus(0)), nil)
    expect(try lockstep.perform(Stimulus(0))?.kind, kind)
  }

  @Test(
    "what may happen in a state that is left in time, unseen, may not happen after that",
    arguments: [(4999, nil), (5000, nil), (5001, .unexpected("open")), (60_000, .unexpected("open"))]
      as [(Int64, Divergence.Kind?)])
  func leftUnseen(after: Int64, kind: Divergence.Kind?) throws {
    var door = MachineDefinition(name: "door")
    door.events = [Event("rattle"), Event("settled", .spontaneous), Event("gaped", .spontaneous)]
    // swift-format-ignore
    door.add(table: """
      | event              | shut           | shut (rattled) | open |
      |--------------------|----------------|----------------|------|
      | rattle             | shut (rattled) |                |      |
      | settled within 5 s |                | shut           |      |
      | gaped              |                | open           |      |
      """)
    door.starts = [Start("shut")]
    let device = ScriptedDevice(["rattle": [(.milliseconds(after), .status("open"))]])
    let specification = Specification(try Machine(door), showsEffects: false)
    var lockstep = Lockstep(specification, device, recorder: NoRecorder())
    _ = try lockstep.reset()
    var divergence = try lockstep.perform(Stimulus(0))
    // Nobody looks before it is shown.
    if divergence == nil { divergence = try lockstep.pass(until: .zero + .seconds(120)) }
    expect(divergence?.kind, kind)
  }

  @Test("a device that shows no effects is not asked for them")
  func withoutEffects() throws {
    let script: Script = [
      "press": [(.milliseconds(400), .status("on")), (.milliseconds(3400), .status("off"))]
    ]
    expect(try run(script, [.stimulus("press"), .wait(.seconds(9))], effects: false), nil)
  }

  @Test("an illegal stimulus may be refused or ignored, and what follows is held to the state it left alone")
  func illegal() throws {
    expect(try run([:], [.stimulus("dim"), .wait(.seconds(9))]), nil)
    expect(try run(["dim": [(.zero, .refused("off"))]], [.stimulus("dim"), .wait(.seconds(9))]), nil)
    let obeyed = try #require(try run(["dim": [(.zero, .status("on"))]], [.stimulus("dim")]))
    expect(obeyed.kind, .unexpected("on"))
  }

  @Test("refusing a legal stimulus is a divergence")
  func refusedLegal() throws {
    let divergence = try #require(try run(["shake": [(.zero, .refused("no"))]], [.stimulus("shake")]))
    expect(divergence.kind, .refusedLegal("no"))
  }

  @Test("a stimulus that leaves the state alone does not start its timers again")
  func stay() throws {
    expect(
      try run(healthy, [.stimulus("press"), .wait(.seconds(2)), .stimulus("shake"), .wait(.seconds(9))]), nil)
  }

  @Test("nor does one that shows something: the timer counts from when the state was entered")
  func stayWithEffects() throws {
    let script = healthy.merging(["nudge": [(.zero, .effect("flicker")), (.zero, .effect("settle"))]]) { $1 }
    let steps: [Do] = [.stimulus("press"), .wait(.seconds(2)), .stimulus("nudge")]
    expect(try run(script, steps + [.wait(.seconds(9))]), nil)
    let late = script.merging(["press": [press, (.milliseconds(400), .status("on"))]]) { $1 }
    let divergence = try #require(try run(late, steps + [.wait(.seconds(9))]))
    expect(divergence.kind, .overdue)
    expect(divergence.time, .zero + .milliseconds(3400))
  }

  @Test("a status the model does not have is a divergence and not a trap")
  func unknown() throws {
    let divergence = try #require(try run(["shake": [(.zero, .status("green"))]], [.stimulus("shake")]))
    expect(divergence.kind, .unexpected("'green' (unknown to the model)"))
  }
}

/// Behaves as one device for the first stimulus and shows a list for the second.
private struct SwitchingDevice: StandaloneDevice {
  var first: ScriptedDevice
  var then: [ScriptedDevice.Show]
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private var isSecond = false
  private var queue: [ScriptedDevice.Show] = []

  init(first: ScriptedDevice, then: [ScriptedDevice.Show]) {
    self.first = first
    self.then = then
  }

  var abilities: Abilities { first.abilities }
  var now: Instant { first.now }

  mutating func adopt(_ vocabulary: Vocabulary) {
    self.vocabulary = vocabulary
    first.adopt(vocabulary)
  }

  mutating func reset(to start: StartCondition) { first.reset(to: start) }

  mutating func perform(_ stimulus: Stimulus) {
    if isSecond { queue = then } else { first.perform(stimulus) }
    isSecond = true
  }

  mutating func bring(about fault: Fault) {}

  mutating func restart() {}

  mutating func observe(until limit: Instant) -> Observation? {
    guard !queue.isEmpty else { return first.observe(until: limit) }
    switch queue.removeFirst() {
    case .status(let name): return vocabulary.observation(ofStatus: name)
    case .effect(let name): return vocabulary.observation(ofEffect: name)
    case .refused(let reason): return .refused(reason)
    case .reading(let name, let value): return .reading(Reading(name, value))
    }
  }
}
