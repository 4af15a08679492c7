import Automata
import Models
import Basics
import TestSupport
import Testing

@testable import Conformance

/// Two regions; `jump` may lead to either of two states, and `b` lasts no time.
private let small: MachineDefinition = {
  var machine = MachineDefinition(name: "small")
  machine.events = ["go", "jump", "back"].map { Event($0) }
  // swift-format-ignore
  machine.add(table: """
    | action/status | start (near) | there (far)  | left (on the way) | right (on the way) |
    |:-------------:|:------------:|:------------:|:-----------------:|:------------------:|
    | go            | there (far)  |              | there (far)       |                    |
    | jump          |              | left (on the way)/right (on the way) |  |           |
    | back          |              | start (near) |                   | start (far)        |
    """)
  // swift-format-ignore
  machine.add(table: """
    | action/status | start (far) |
    |:-------------:|:-----------:|
    | go            | there (far) |
    """)
  machine.declare(regions: ["near", "far"])
  machine.starts = [Start("start (far)", when: [.init("far", true)]), Start("start (near)")]
  return machine
}()

extension CellCoverage.Figures {
  /// Visited and in all, in one line.
  fileprivate var text: String {
    "\(region): states \(states.text), legal \(legal.text), empty \(empty.text), "
      + "transitions \(transitions.text), pairs \(pairs.text)"
  }
}

extension CellCoverage.Share {
  fileprivate var text: String { "\(visited)/\(count)" }
}

@Suite("Coverage")
struct CellCoverageTests {
  /// What a tracker counts while it is given stimuli, each with the status that it shows, `-` for none.
  private func coverage(_ tests: [[(String, String)]]) throws -> CellCoverage {
    let specification = Specification(try Machine(small))
    var tracker = Tracker(specification)
    for test in tests {
      tracker.start(in: 1)
      for (name, status) in test {
        tracker.perform(Stimulus(specification.vocabulary.stimulus(name)!), at: .zero)
        if status != "-" {
          let observation = specification.vocabulary.observation(ofStatus: status)
          expect(tracker.observe(observation, at: .zero), true)
        }
        expect(tracker.settle(at: .zero), true)
      }
    }
    return tracker.coverage
  }

  @Test(
    "states, cells, transitions and pairs are counted by region; what is in between belongs to where it comes from"
  )
  func figures() throws {
    let walk = [
      ("go", "there"), ("go", "-"), ("jump", "left"), ("jump", "-"), ("go", "there"), ("jump", "right"),
    ]
    let coverage = try coverage([walk])
    expect(
      coverage.regions.map(\.text),
      [
        "near: states 1/1, legal 1/1, empty 0/2, transitions 1/1, pairs 1/2",
        "far: states 3/4, legal 2/5, empty 2/7, transitions 3/6, pairs 2/8",
      ])
    expect(
      coverage.total.text,
      ": states 4/5, legal 3/6, empty 2/9, transitions 4/7, pairs 3/10")
    expect(coverage.missingStates.map { small.states[$0].name }, ["start (far)"])
    expect(
      coverage.missing.filter(\.isLegal).map {
        "\(small.states[$0.state].name) \(small.events[$0.event].name)"
      },
      ["start (far) go", "there (far) back", "right (on the way) back"])
  }

  @Test("two tests are no pair, and coverages are added")
  func sums() throws {
    let first = [("go", "there")]
    let second = [("go", "there"), ("back", "start")]
    var sum = try coverage([first])
    sum.add(try coverage([second]))
    expect(sum, try coverage([first, second]))
    expect(sum.total.pairs.visited, 1)
    expect(sum.visits[0], 2)
    // The canary: one more stimulus is not the same.
    #expect(sum != (try coverage([first, second, first])))
  }

  @Test("while several states are possible no cell is visited")
  func uncertainty() throws {
    let specification = Specification(try Machine(small))
    var tracker = Tracker(specification)
    let vocabulary = specification.vocabulary
    tracker.perform(Stimulus(vocabulary.stimulus("go")!), at: .zero)
    expect(tracker.observe(vocabulary.observation(ofStatus: "there"), at: .zero), true)
    // Left or right: nothing says which.
    tracker.perform(Stimulus(vocabulary.stimulus("jump")!), at: .zero)
    expect(tracker.coverage.visits.filter { $0 > 0 }.count, 2)
    tracker.perform(Stimulus(vocabulary.stimulus("back")!), at: .zero)
    expect(tracker.coverage.visits.filter { $0 > 0 }.count, 2)
    expect(tracker.coverage.total.pairs.visited, 1)
  }

  @Test("the regions of the machines")
  func regions() throws {
    let regions = try MachineDefinition.catalog.map { definition in
      "\(definition.name): \(CellCoverage(try Machine(definition)).regions.map(\.region).joined(separator: " "))"
    }
    expect(
      regions.sorted(),
      [
        "door: ", "flow: ", "launcher: ", "sesame-table: unregistered registered",
        "sesame: unregistered unconfigured configured orphaned", "socket: unknown off on",
      ].sorted())
  }

  @Test("what stands in brackets makes no region")
  func brackets() throws {
    var machine = MachineDefinition(name: "lock")
    machine.states = [
      State("locked"), State("locked (jammed)"), State("open", region: "by day"), State("open (jammed)"),
    ]
    machine.events = [Event("jam")]
    machine.starts = [Start("locked"), Start("open")]
    machine.transitions = [
      Transition(.event("jam"), from: .states(["locked"]), to: .states(["locked (jammed)"])),
      Transition(.event("jam"), from: .states(["open"]), to: .states(["open (jammed)"])),
    ]
    expect(CellCoverage(try Machine(machine)).regions.map(\.region), ["by day", "elsewhere"])
    machine.states[2].region = ""
    expect(CellCoverage(try Machine(machine)).regions.map(\.region), [""])
  }

  @Test("states that last no time under any conditions are not counted")
  func momentary() throws {
    let launcher = CellCoverage(try Machine(.launcher)).total
    expect(launcher.text, ": states 0/4, legal 0/4, empty 0/12, transitions 0/4, pairs 0/7")
  }

  @Test("what was visited is told as digits, and added from them, on a machine of the same table")
  func digits() throws {
    let first = try coverage([[("go", "there"), ("jump", "left"), ("jump", "-"), ("go", "there")]])
    let second = try coverage([[("back", "-"), ("go", "there"), ("back", "start")]])
    var sum = first
    sum.add(second)
    var told = CellCoverage(try Machine(small))
    for part in [first, second, second] { expect(told.add(digits: part.digits), true) }
    expect(told.digits, sum.digits)
    expect(told.regions, sum.regions)
    expect(told.missing, sum.missing)
    let (legal, empty, outcomes) = sum.stimulusDigits
    func count(_ digits: String) -> Int { digits.reduce(0) { $0 + $1.hexDigitValue!.nonzeroBitCount } }
    expect(
      [legal, empty, outcomes].map(count),
      [sum.total.legal, sum.total.empty, sum.total.transitions].map(\.visited))
    expect(sum.legalCells.map(\.next.count).reduce(0, +), sum.total.transitions.count)
    expect(sum.legalCells.map(\.cell.isLegal), [Bool](repeating: true, count: sum.total.legal.count))
    let before = told
    var bad = [[], first.digits.dropLast(), first.digits + ["0"]].map(Array.init)
    bad.append(["x"] + first.digits.dropFirst())
    bad.append(CellCoverage(try Machine(.sesameTable)).digits)
    for digits in bad { expect(told.add(digits: digits), false) }
    expect(told, before)
  }

  @Test("what is new is told as numbers, each once, and adds up to the same as all at once")
  func marks() throws {
    let first = try coverage([[("go", "there"), ("jump", "left"), ("jump", "-"), ("go", "there")]])
    var sum = first
    sum.add(try coverage([[("back", "-"), ("go", "there"), ("back", "start")]]))
    let nothing = CellCoverage(try Machine(small))
    let (early, late) = (first.marks(beyond: nothing), sum.marks(beyond: first))
    #expect(!early.isEmpty && !late.isEmpty)
    expect((early + late).sorted(), sum.marks(beyond: nothing))
    expect(first.marks(beyond: sum), [])
    var told = nothing
    for marks in [early, late, late] { expect(told.add(marks: marks), true) }
    expect(told.digits, sum.digits)
    expect(told.marks(beyond: sum), [])
    let before = told
    for marks in [[0, -1], [0, .max]] { expect(told.add(marks: marks), false) }
    expect(told, before)
  }
}
