import Automata
import Basics
import Conformance
import Emulator
import Harness
import TestSupport
import Testing

/// What performs tests of a machine on a device that is one, too.
private func testEngine(
  of model: MachineDefinition, on device: MachineDefinition
) throws -> TestEngine<MachineDevice, NoRecorder> {
  let machine = try Machine(model)
  let device = MachineDevice(try Machine(device), .first, showsEffects: false)
  let specification = Specification(machine, showsEffects: false)
  return TestEngine(
    specification, Alphabet(specification, device.abilities),
    starts: machine.startConditions(of: device.abilities), device, recorder: NoRecorder())
}

/// A search for where a machine that is a device differs from its model.
private struct Search {
  let model: MachineDefinition
  let device: MachineDefinition
  /// Whether it is searched as a program in virtual time is.
  var isSimulated = false

  /// The events up to the first disagreement; `nil` where there is none.
  func found(seed: UInt64, within budget: Int) throws -> Int? {
    var engine = try testEngine(of: model, on: device)
    var settings = Explorer.Settings()
    settings.length = 200
    settings.isThrifty = !Specification(try Machine(model), showsEffects: false).isPlain
    settings.isSimulated = isSimulated
    var explorer = Explorer(engine.alphabet, starts: engine.starts.count, settings: settings, seed: seed)
    return try engine.perform(all: &explorer, maximum: budget).map { _ in engine.events }
  }
}

/// A lock that can be asked how it is.
///
/// - Parameters:
///   - wrong: the state in which a question turns its bolt, if there is one.
///   - times: how often it is asked before.
///   - isTimed: whether it locks by itself after a minute.
private func latch(wrong: String? = nil, after times: Int = 0, isTimed: Bool = false) -> MachineDefinition {
  var machine = MachineDefinition(name: "latch")
  let other = ["locked": "unlocked", "unlocked": "locked"]
  for count in 0...times {
    for (state, event) in [("locked", "unlock"), ("unlocked", "lock")] {
      let name = "\(state) (asked \(count))"
      let target = "\(other[state] ?? state) (asked 0)"
      machine.states.append(State(name, status: state))
      machine.transitions.append(
        Transition(.event(event), from: .states([name]), to: .states([target])))
      let asked: Transition.Target =
        wrong != state ? .stay : .states([count == times ? target : "\(state) (asked \(count + 1))"])
      machine.transitions.append(Transition(.event("ask"), from: .states([name]), to: asked))
      guard isTimed, state == "unlocked" else { continue }
      machine.transitions.append(
        Transition(
          .event("relock"), from: .states([name]), to: .states(["locked (asked 0)"]),
          window: Window(earliest: .seconds(60), latest: .seconds(60))))
    }
  }
  machine.events = [Event("unlock"), Event("lock"), Event("ask")]
  if isTimed { machine.events.append(Event("relock", .spontaneous)) }
  machine.starts = [Start("locked (asked 0)")]
  return machine
}

/// A lock that opens sessions; with a limit it opens none any more once it has opened so many since its power came.
private func sessions(limit: Int? = nil, isTimed: Bool, hasPowerCycle: Bool) -> MachineDefinition {
  var machine = MachineDefinition(name: "sessions")
  let last = limit ?? 0
  for count in 0...last {
    func name(_ state: String, _ count: Int) -> String { "\(state) (\(count))" }
    let (away, asking, session) = (name("away", count), name("asking", count), name("session", count))
    machine.states += [away, asking, session].map { State($0, status: State.status(of: $0)) }
    let isSilent = limit == count
    let next = name("session", limit == nil ? 0 : min(count + 1, last))
    func row(_ event: String, _ from: [String], _ to: String, _ window: Window? = nil) {
      machine.transitions.append(
        window.map { Transition(.event(event), from: .states(from), to: .states([to]), window: $0) }
          ?? Transition(.event(event), from: .states(from), to: .states([to])))
    }
    row("connect", [away], isTimed || isSilent ? asking : next)
    if isTimed, !isSilent {
      row("opens", [asking], next, Window(earliest: .milliseconds(300), latest: .seconds(1)))
    }
    row("leave", [asking, session], away)
    if hasPowerCycle { row("powerCycle", [away, asking, session], name("away", 0)) }
  }
  machine.events = [Event("connect"), Event("leave")]
  if hasPowerCycle { machine.events.append(Event("powerCycle")) }
  if isTimed { machine.events.append(Event("opens", .spontaneous)) }
  machine.starts = [Start("away (0)")]
  return machine
}

@Suite("What generated tests find")
struct SearchTests {
  @Test(
    "what changes nothing in the model is asked within a hundred events, with a timer and without",
    arguments: ["locked", "unlocked"], [0, 1, 3])
  func idle(wrong: String, times: Int) throws {
    for isTimed in [false, true] {
      let search = Search(
        model: latch(isTimed: isTimed), device: latch(wrong: wrong, after: times, isTimed: isTimed),
        isSimulated: isTimed)
      for seed in 1...100 as ClosedRange<UInt64> {
        #expect(try search.found(seed: seed, within: 100) != nil, "timed \(isTimed), seed \(seed)")
      }
    }
  }

  @Test(
    "a count of some dozens is found, whether or not a stimulus ends it",
    arguments: [12, 40, 75], [false, true])
  func counts(limit: Int, hasPowerCycle: Bool) throws {
    for isTimed in [false, true] {
      let search = Search(
        model: sessions(isTimed: isTimed, hasPowerCycle: hasPowerCycle),
        device: sessions(limit: limit, isTimed: isTimed, hasPowerCycle: hasPowerCycle), isSimulated: isTimed)
      for seed in 1...5 as ClosedRange<UInt64> {
        #expect(try search.found(seed: seed, within: 200_000) != nil, "timed \(isTimed), seed \(seed)")
      }
    }
  }

  /// A way of many states, each of which may be left for one that nothing leads out of.
  private static let trap: MachineDefinition = {
    var machine = MachineDefinition(name: "trap")
    machine.states = (0..<12).map { State("step \($0)") } + [State("over")]
    for number in 0..<12 {
      let name = "step \(number)"
      machine.transitions += [
        Transition(.event("on"), from: .states([name]), to: .states(["step \((number + 1) % 12)"])),
        Transition(.event("off"), from: .states([name]), to: .states(["over"])),
      ]
    }
    machine.transitions += ["on", "off"].map {
      Transition(.event($0), from: .states(["over"]), to: .states(["over"]))
    }
    machine.events = [Event("on"), Event("off")]
    machine.starts = [Start("step 0")]
    return machine
  }()

  @Test("a state that nothing leads out of does not take the tests", arguments: 1...20 as ClosedRange<UInt64>)
  func absorbing(seed: UInt64) throws {
    var engine = try testEngine(of: Self.trap, on: Self.trap)
    var settings = Explorer.Settings()
    settings.length = 200
    var explorer = Explorer(engine.alphabet, starts: engine.starts.count, settings: settings, seed: seed)
    _ = try engine.perform(all: &explorer, maximum: 5_000)
    let visits = engine.lockstep.tracker.coverage.visits
    let over = visits.suffix(2).reduce(0, +)
    #expect(over > 50 && 3 * over < 2 * visits.reduce(0, +), "\(over) of \(visits.reduce(0, +))")
  }

  @Test("a campaign visits first what a tour can, and what an earlier session has visited it leaves out")
  func tourFirst() throws {
    let lock = RiggedLock(.deafUnlock)
    lock.rig.isSick = { _ in false }
    var settings = FuzzSettings()
    settings.seed = 1
    settings.steps = 1_000
    let target = try lock.target()
    var first = Campaign(target, lock, settings, edge: Campaign<RiggedLock>.Edge())
    expect(first.perform(), .done)
    let total = first.coverage.total
    expect(total.legal.visited, total.legal.count)
    expect(total.empty.visited, total.empty.count)
    var earlier = Campaign<RiggedLock>.Earlier()
    earlier.visited = first.coverage
    settings.round = 1
    var second = Campaign(target, lock, settings, earlier: earlier, edge: Campaign<RiggedLock>.Edge())
    expect(second.perform(), .done)
    #expect(second.coverage.total.empty.visited < total.empty.count)
    // The other workers of a campaign leave the tour to the first.
    settings.round = 0
    settings.shard = (2, 2)
    var other = Campaign(target, lock, settings, edge: Campaign<RiggedLock>.Edge())
    expect(other.perform(), .done)
    #expect(other.coverage.total.empty.visited < total.empty.count)
  }
}
