import Automata
import Conformance
import Basics

/// A bug of a machine that plays itself: what it remembers of a test, and when it strikes.
struct SeededBug: Sendable {
  /// One event of a test as the bug sees it.
  struct Step {
    var event: String
    var before: String
    var after: String
    var isRefused: Bool
  }

  var name: String
  var memory: [Int]
  /// The memory after a step.
  var remember: @Sendable ([Int], Step) -> [Int]
  /// Whether an event, in a status, goes wrong.
  var strikes: @Sendable ([Int], _ event: String, _ status: String) -> Bool
}

/// A plain machine as a device of its own: where the model leaves the outcome open it draws, with a generator that
/// starts anew with each test, and where its bug strikes it shows a status that the model does not allow.
struct SimulatedMachine: StandaloneDevice {
  let machine: Machine
  let bug: SeededBug
  private(set) var state: Int
  private(set) var draw: UInt32 = 0
  private(set) var memory: [Int]
  private(set) var isStruck = false
  private var shows: Int?
  private var vocabulary = Vocabulary(stimuli: [], statuses: [])
  private(set) var now = Instant.zero

  init(_ machine: Machine, _ bug: SeededBug) {
    self.machine = machine
    self.bug = bug
    state = machine.usualStart
    memory = bug.memory
  }

  var abilities: Abilities { Abilities(stimuli: nil, settings: nil) }

  mutating func adopt(_ vocabulary: Vocabulary) { self.vocabulary = vocabulary }

  mutating func reset(to start: StartCondition) {
    state = machine.usualStart
    draw = 0x9E37_79B9
    memory = bug.memory
    isStruck = false
    shows = nil
    now = .zero
  }

  mutating func perform(_ stimulus: Stimulus) {
    let event = machine.definition.events[stimulus.number].name
    let before = status
    let edges = machine.edges(from: state, on: stimulus.number)
    guard !edges.isEmpty else {
      remember(SeededBug.Step(event: event, before: before, after: before, isRefused: true))
      return
    }
    isStruck = bug.strikes(memory, event, before)
    if isStruck {
      let allowed = edges.map { machine.definition.states[$0.target].status } + [before]
      shows = vocabulary.statuses.indices.first { !allowed.contains(vocabulary.statuses[$0]) }
      return
    }
    if edges.count > 1 {
      draw ^= draw << 13
      draw ^= draw >> 17
      draw ^= draw << 5
    }
    state = edges[Int(draw % UInt32(edges.count))].target
    shows = vocabulary.status(status)
    remember(SeededBug.Step(event: event, before: before, after: status, isRefused: false))
  }

  mutating func bring(about fault: Fault) {}

  mutating func observe(until limit: Instant) -> Observation? {
    defer { shows = nil }
    if shows == nil { now = max(now, limit) }
    return shows.map { .status($0) }
  }

  mutating func restart() {}

  private var status: String { machine.definition.states[state].status }

  private mutating func remember(_ step: SeededBug.Step) { memory = bug.remember(memory, step) }
}

extension SimulatedMachine {
  private struct Place: Hashable {
    var state: Int
    var draw: UInt32
    var memory: [Int]
  }

  /// How many choices the shortest test has that meets the bug, by breadth-first search over everything that the
  /// device can remember; `nil` when none of so many places does.
  func shortest(refusals: Bool, within places: Int = 400_000) -> Int? {
    var first = self
    first.adopt(Vocabulary(machine: machine))
    first.reset(to: StartCondition())
    var seen: Set<Place> = []
    var level = [first]
    var length = 0
    while !level.isEmpty, seen.count < places {
      length += 1
      var next: [SimulatedMachine] = []
      for device in level {
        for event in 0..<machine.eventCount {
          if !refusals, machine.edges(from: device.state, on: event).isEmpty { continue }
          var device = device
          device.perform(Stimulus(event))
          if device.isStruck { return length }
          let place = Place(state: device.state, draw: device.draw, memory: device.memory)
          if seen.insert(place).inserted { next.append(device) }
        }
      }
      level = next
    }
    return nil
  }
}
