import Automata
import Basics
import Conformance

/// A machine that was drawn, and a device that does otherwise somewhere: nobody had it in mind when tests were designed.
///
/// The device remembers up to six things that are not seen, which some steps change: by a random rule, or by one step that
/// counts up and another that starts anew. In one cell, and while it remembers one of them, it is wrong: it leads
/// elsewhere, refuses what is allowed, or does what is to be refused.
struct WrongMachine {
  /// What the device is compared with.
  let model: Machine
  /// What the device does.
  let device: Machine

  /// Where a step leads from a place: a state, and what is remembered there.
  private struct Place: Hashable, Comparable {
    var state: Int
    var memory = 0

    static func < (left: Place, right: Place) -> Bool {
      (left.state, left.memory) < (right.state, right.memory)
    }
  }

  private struct Cell: Hashable {
    var state: Int
    var event: Int
  }

  /// Draws one; every fourth has things to do by itself, after a time.
  init(number: Int) throws {
    var draft = Draft(number: number)
    model = try Machine(draft.definition(memories: 1, wrong: nil))
    let wrong = draft.drawWrong()
    device = try Machine(draft.definition(memories: draft.memories, wrong: wrong))
  }

  /// A machine as it is drawn, and what its device remembers.
  private struct Draft {
    var generator: SeededGenerator
    let states: Int
    let stimuli: Int
    let statuses: Int
    let memories: Int
    /// Where each stimulus leads: -1 where it is not allowed.
    var targets: [[Int]] = []
    /// What happens by itself in each state, after how many seconds, and where that leads; -1 where nothing does.
    var happenings: [(seconds: Int, target: Int)] = []
    /// What is remembered after a step, for each thing that was.
    var rules: [Cell: [Int]] = [:]

    init(number: Int) {
      generator = SeededGenerator(seed: UInt64(number), for: "wrong machine")
      states = 4 + generator.below(9)
      stimuli = 3 + generator.below(6)
      statuses = max(3, states - generator.below(states / 2 + 1))
      memories = [1, 2, 4, 6][generator.below(4)]
      for state in 0..<states {
        targets.append(
          (0..<stimuli).map { stimulus in
            if generator.below(5) == 0 { return state }
            // Each is allowed somewhere.
            return state != stimulus % states && generator.below(4) == 0 ? -1 : generator.below(states)
          })
        let isBusy = number % 4 == 3 && generator.below(3) == 0
        happenings.append(isBusy ? (1 + generator.below(3), generator.below(states)) : (0, -1))
      }
      drawRules()
    }

    private mutating func drawRules() {
      let (states, stimuli) = (states, stimuli)
      func cell(_ generator: inout SeededGenerator) -> Cell {
        Cell(state: generator.below(states), event: generator.below(stimuli))
      }
      guard generator.below(2) == 0 else {
        for _ in 0..<states * stimuli / 3 {
          let memories = memories
          rules[cell(&generator)] = (0..<memories).map { _ in generator.below(memories) }
        }
        return
      }
      if generator.below(2) == 0 { rules[cell(&generator)] = [Int](repeating: 0, count: memories) }
      rules[cell(&generator)] = (0..<memories).map { min($0 + 1, memories - 1) }
    }

    private func next(_ place: Place, _ event: Int) -> Place {
      let memory = rules[Cell(state: place.state, event: event)]?[place.memory] ?? place.memory
      return Place(state: targets[place.state][event], memory: memory)
    }

    /// Where the device is wrong, and where that leads: to a state that looks otherwise, or nowhere.
    mutating func drawWrong() -> (place: Place, event: Int, target: Int) {
      let reached = StateSpace.reached(from: [Place(state: 0)]) { place in
        var next = (0..<stimuli).filter { targets[place.state][$0] >= 0 }.map { self.next(place, $0) }
        let target = happenings[place.state].target
        if target >= 0 { next.append(Place(state: target, memory: place.memory)) }
        return next
      }.sorted()
      let deepest = reached.map(\.memory).max() ?? 0
      let deep = reached.filter { $0.memory == deepest }
      let place = deep[generator.below(deep.count)]
      let event = generator.below(stimuli)
      let right = targets[place.state][event]
      if right >= 0, generator.below(4) == 0 { return (place, event, -1) }
      let seen = (right >= 0 ? right : place.state) % statuses
      let others = (0..<states).filter { $0 % statuses != seen }
      return (place, event, others[generator.below(others.count)])
    }

    func definition(
      memories: Int, wrong: (place: Place, event: Int, target: Int)?
    ) -> MachineDefinition {
      func name(_ place: Place) -> String { "s\(place.state).\(place.memory)" }
      var machine = MachineDefinition(name: "drawn")
      for state in 0..<states {
        for memory in 0..<memories {
          let place = Place(state: state, memory: memory)
          machine.states.append(State(name(place), status: "t\(state % statuses)"))
          for event in 0..<stimuli {
            var next = next(place, event)
            if memories == 1 { next.memory = 0 }
            if let wrong, wrong.place == place, wrong.event == event { next.state = wrong.target }
            guard next.state >= 0 else { continue }
            machine.transitions.append(
              Transition(
                .event("e\(event)"), from: .states([name(place)]),
                to: next == place ? .stay : .states([name(next)])))
          }
          let happening = happenings[state]
          guard happening.target >= 0, happening.target != state else { continue }
          let earliest = Interval.seconds(Int64(happening.seconds))
          machine.transitions.append(
            Transition(
              .event("done"), from: .states([name(place)]),
              to: .states([name(Place(state: happening.target, memory: memory))]),
              window: Window(earliest: earliest, latest: earliest + .seconds(1))))
        }
      }
      let happens = machine.transitions.contains { $0.trigger == .event("done") }
      machine.events = (0..<stimuli).map { Event("e\($0)") } + (happens ? [Event("done", .spontaneous)] : [])
      machine.starts = [Start("s0.0")]
      return machine
    }
  }
}
