import Automata
import Models
import Basics
import TestSupport
import Testing

@testable import Conformance

/// A tour on a device that does what a machine says.
private struct Trip {
  var tests: [TestCase] = []
  var events = 0
  var coverage: CellCoverage
  var gaps: [CoverageGap] = []

  init(
    _ definition: MachineDefinition, _ preference: MachineDevice.Preference = .seeded(1),
    settings: Tour.Settings = Tour.Settings(), with change: (inout Abilities) -> Void = { _ in }
  ) throws {
    let machine = try Machine(definition)
    let device = MachineDevice(machine, preference)
    var abilities = device.abilities.disturbing(machine)
    change(&abilities)
    let specification = Specification(machine)
    let alphabet = Alphabet(specification, abilities)
    let conditions = machine.definition.starts.map { start in
      StartCondition(start.conditions.map { Argument($0.name, .flag($0.value)) })
    }
    let starts = machine.startConditions(conditions, of: abilities)
    var tour = Tour(specification, alphabet, starts: starts, settings: settings)
    var engine = TestEngine(specification, alphabet, starts: starts, device, recorder: NoRecorder())
    while !tour.isFinished {
      var execution = Execution()
      let start = tour.begin()
      try engine.perform(&tour, from: start, &execution)
      expect(execution.divergence, nil)
      tour.end(in: engine.lockstep.explorationState)
      tests.append(tour.test)
    }
    events = tour.events
    coverage = engine.lockstep.tracker.coverage
    gaps = GapFinder(specification, alphabet, starts: starts, after: tour).gaps(in: coverage)
  }

  var cells: String {
    let total = coverage.total
    return
      "\(total.legal.visited)/\(total.legal.count) legal, \(total.empty.visited)/\(total.empty.count) empty"
  }

  /// Why a cell is missing, with the way to it.
  func gap(_ state: String, _ event: String) -> (text: String, path: [String])? {
    let definition = coverage.machine.definition
    return gaps.first {
      guard case .cell(let cell) = $0.subject else { return false }
      return definition.states[cell.state].name == state && definition.events[cell.event].name == event
    }.map { ($0.text, $0.path) }
  }
}

@Suite("A tour")
struct TourTests {
  @Test("of a machine with data, each row is taken that its values can make the model take")
  func data() throws {
    let lock = """
      machine: code-lock
      states: [locked, unlocked, lockedOut]
      variables: { pin: { form: text, first: "'1234'" }, tries: { form: { integer: [0, 3] }, first: 0 } }
      events: [{ enter: { arguments: { code: text } } }, lock]
      starts: [{ state: locked }]
      transitions:
        - { event: enter, from: locked, when: code == pin, to: unlocked, set: { tries: 0 } }
        - { event: enter, from: locked, when: tries < 2, to: "=", then: buzz, set: { tries: tries + 1 } }
        - { event: enter, from: locked, to: lockedOut, set: { tries: 0 } }
        - { event: lock, from: [unlocked, lockedOut], to: locked }
      """
    let trip = try Trip(MachineDefinition(yaml: Array(lock.utf8), name: "lock.yaml"))
    expect(trip.gaps.map(\.text), [])
    expect(trip.cells, "3/3 legal, 3/3 empty")
  }

  @Test(
    "visits every cell of the tables in few events, however the device chooses",
    arguments: 1...20 as ClosedRange<UInt64>)
  func tables(seed: UInt64) throws {
    let trip = try Trip(.sesameTable, .seeded(seed))
    expect(trip.cells, "31/31 legal, 177/177 empty")
    #expect(trip.events <= 400, "\(trip.events)")
    expect(trip.gaps, [])
  }

  @Test(
    "visits every cell of the other machines",
    arguments: [
      (MachineDefinition.door, "2/2 legal, 2/2 empty"), (.flow, "23/23 legal, 322/322 empty"),
      (.launcher, "4/4 legal, 12/12 empty"), (.socket, "63/63 legal, 99/99 empty"),
    ])
  func others(definition: MachineDefinition, cells: String) throws {
    let trip = try Trip(definition)
    expect(trip.cells, cells)
    #expect(trip.events <= 500, "\(trip.events)")
  }

  @Test("is the same each time")
  func determinism() throws {
    expect(try Trip(.socket).tests, try Trip(.socket).tests)
    // The canary: a device that chooses otherwise is toured otherwise.
    #expect(try Trip(.sesameTable, .seeded(1)).tests != Trip(.sesameTable, .last).tests)
  }

  @Test("gives up what the device never does, and says so")
  func givesUp() throws {
    // After each login it is locked, and so it is after each configuration.
    let trip = try Trip(.sesameTable, .first)
    let gap = try #require(trip.gap("moved (registered)", "lock"))
    #expect(gap.text.hasPrefix("given up: "), "\(gap.text)")
    #expect(gap.text.hasSuffix("to moved (registered) in 4 tries"), "\(gap.text)")
    expect(gap.path.last, "lock")
    #expect(trip.events <= 1_000, "\(trip.events)")
  }

  @Test("ends at its budget, and the rest is there to try")
  func budget() throws {
    var settings = Tour.Settings()
    settings.budget = 30
    let trip = try Trip(.sesameTable, settings: settings)
    expect(trip.events, 30)
    let gap = try #require(trip.gap("registering (unregistered)", "registered"))
    expect(gap.text, "not tried")
    expect(
      gap.path,
      [
        "start: noSignal (unregistered)", "closeTo", "connect", "linkUp", "gattReady", "register",
        "registered",
      ])
  }

  @Test("says what the device does not offer")
  func needs() throws {
    let trip = try Trip(.socket) { abilities in
      abilities.disturbances = []
      abilities.stimuli = abilities.stimuli?.filter { $0 != "writeElsewhere" }
    }
    expect(trip.gap("Connected", "writeElsewhere")?.text, "this device does not take writeElsewhere")
    let gap = try #require(trip.gap("Connected (sending)", "close"))
    expect(gap.text, "cannot be reached with this device: needs queueFull (queue-full)")
    #expect(gap.path.contains("fault queue-full: yes"), "\(gap.path)")
  }

  @Test("a state that may be left without a sign is never certain")
  func hidden() throws {
    var settings = Tour.Settings()
    settings.budget = 0
    let trip = try Trip(.sesame, settings: settings)
    expect(
      trip.gap("locked (to locked)", "lock")?.text, "never certain: nothing is shown when this state is left")
    expect(trip.gap("locked (configured)", "lock")?.text, "not tried")
  }

  /// A clock that cold or water stops, and that strikes within six to eight seconds.
  private static let clock: MachineDefinition = {
    var machine = MachineDefinition(name: "clock", summary: "")
    machine.events = [Event("wind"), Event("shake")]
    machine.conditions = [Condition("stiff", faults: ["cold"]), Condition("wet", faults: ["rain"])]
    machine.states = [State("still"), State("going")]
    machine.add(
      table: """
        | action/status                | still | going |
        |:----------------------------:|:-----:|:-----:|
        | wind unless stiff or wet     | going |       |
        | wind given stiff or wet      | =     |       |
        | shake                        |       | still |
        | within 6 s to 8 s            |       | still |
        """)
    machine.starts = [Start("still")]
    return machine
  }()

  /// A tour of the clock, for its rows and its timers.
  private func tour(
    longestTimer: Interval? = .forever, with change: (inout Abilities) -> Void = { _ in }
  ) throws -> [String] {
    var settings = Tour.Settings()
    (settings.coversRows, settings.longestTimer) = (true, longestTimer)
    let trip = try Trip(Self.clock, .first, settings: settings, with: change)
    let definition = trip.coverage.machine.definition
    return trip.gaps.map { gap in
      let what =
        switch gap.subject {
        case .cell(let cell): definition.events[cell.event].name
        case .row(let cell, let conditions, let isRefused):
          "\(definition.events[cell.event].name)\(isRefused ? " refused" : "") given \(conditions.isEmpty ? "nothing" : conditions.joined(separator: " and "))"
        case .timer(_, let window, let target): "\(window) to \(target)"
        }
      return "\(definition.states[gap.subject.state].name): \(what): \(gap.text)"
    }
  }

  @Test("each row is taken under each of its conditions, and each timer waited for to both ends")
  func rowsAndTimers() throws {
    expect(try tour(), [])
    var settings = Tour.Settings()
    (settings.coversRows, settings.longestTimer) = (true, .forever)
    let trip = try Trip(Self.clock, .first, settings: settings)
    let choices = trip.tests.flatMap(\.choices)
    // Cold alone, rain alone, and the end of each before the last, without either.
    #expect(choices.count <= 24, "\(choices.count)")
  }

  @Test("a row and a timer that were not come to are named with the reason")
  func missingRowsAndTimers() throws {
    let noRain = try tour { $0.disturbances.removeAll { $0.fault == "rain" } }
    expect(noRain, ["still: wind given wet: cannot be reached with this device: needs wet (rain)"])
    let short = try tour(longestTimer: .seconds(7))
    #expect(short.count == 1 && short[0].hasSuffix("takes longer than a tour waits by the clock"), "\(short)")
  }

  /// A lamp whose button does nothing while it is dead, and switches it off only while it is charged. It is warm after 3 s.
  private static let lamp: MachineDefinition = {
    var machine = MachineDefinition(name: "lamp", summary: "")
    machine.events = [Event("press")]
    machine.states = [State("off"), State("on"), State("on (warm)", status: "on")]
    machine.add(
      table: """
        | action/status       | off | on        | on (warm) |
        |:-------------------:|:---:|:---------:|:---------:|
        | press unless dead   | on  |           |           |
        | press given charged |     | off       | off       |
        | within 2 s to 3 s   |     | on (warm) |           |
        """)
    machine.conditions = [Condition("dead", faults: ["dead"]), Condition("charged", faults: ["charged"])]
    machine.starts = [Start("off")]
    return machine
  }()

  @Test("where no row holds under a condition, the refusal is tried under it")
  func refusals() throws {
    var settings = Tour.Settings()
    (settings.coversRows, settings.longestTimer) = (true, .forever)
    let trip = try Trip(Self.lamp, .first, settings: settings)
    // Dead while it is off, and not charged while it is on.
    #expect(trip.tests.flatMap(\.choices).filter(\.isForbidden).count >= 2)
    expect(
      trip.gaps.map { "\(Self.lamp.states[$0.subject.state].name): \($0.text)" },
      ["on: nothing is shown when it ends"])
  }

  @Test("a state that the device leaves at once is no obstacle to what lies behind it")
  func fleeting() throws {
    var machine = MachineDefinition(name: "bell", summary: "")
    machine.events = [Event("press"), Event("hush")]
    machine.states = [State("still"), State("struck"), State("ringing")]
    machine.add(
      table: """
        | action/status | still  | struck  | ringing |
        |:-------------:|:------:|:-------:|:-------:|
        | press         | struck |         | =       |
        | hush          |        | still   | still   |
        | within 5 ms   |        | ringing |         |
        """)
    machine.starts = [Start("still")]
    let trip = try Trip(machine, .first)
    expect(
      trip.gaps.map { "\(machine.states[$0.subject.state].name): \($0.text)" },
      ["struck: the device leaves this state at once", "struck: the device leaves this state at once"])
    #expect(trip.gaps.allSatisfy { !$0.isAvoidable })
  }

  @Test("what is refused under two conditions together is tried under both, and under no other")
  func pairs() throws {
    var machine = MachineDefinition(name: "gate", summary: "")
    machine.events = [Event("pull")]
    machine.states = [State("shut"), State("open")]
    machine.conditions = ["ice", "low", "rain"].map { Condition($0, faults: [$0]) }
    machine.add(
      table: """
        | action/status                     | shut | open |
        |:---------------------------------:|:----:|:----:|
        | pull unless ice or low            | open | shut |
        | pull given ice or low unless rain | open | shut |
        """)
    machine.starts = [Start("shut")]
    var settings = Tour.Settings()
    settings.coversRows = true
    expect(try Trip(machine, .first, settings: settings).gaps, [])
    let dry = try Trip(machine, .first, settings: settings) {
      $0.disturbances.removeAll { $0.fault == "rain" }
    }
    expect(
      dry.gaps.compactMap { gap in
        if case .row(_, let conditions, true) = gap.subject {
          conditions.joined(separator: " and ")
        } else {
          nil
        }
      }, ["ice and rain", "low and rain", "ice and rain", "low and rain"])
  }

  @Test("what one condition allows and another forbids is refused under both")
  func forbidden() throws {
    var machine = MachineDefinition(name: "valve", summary: "")
    machine.events = [Event("turn")]
    machine.states = [State("shut"), State("open")]
    machine.conditions = ["key", "ice"].map { Condition($0, faults: [$0]) }
    machine.add(
      table: """
        | action/status            | shut | open |
        |:------------------------:|:----:|:----:|
        | turn given key unless ice | open | shut |
        """)
    machine.starts = [Start("shut")]
    var settings = Tour.Settings()
    settings.coversRows = true
    let trip = try Trip(machine, .first, settings: settings)
    expect(trip.gaps, [])
    // In both states: without a key, with ice alone, and with both.
    expect(trip.tests.flatMap(\.choices).filter(\.isForbidden).count, 6)
  }
}
