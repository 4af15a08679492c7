import Harness
import Automata
import Conformance
import Models
import Basics
import TestSupport
import Testing

@testable import Emulator

/// Looks for a shortest way to make model and lock disagree: breadth-first, through all that a tester can do.
struct ReferenceSearch {
  /// A way to a disagreement.
  struct Way {
    var start: StartCondition
    var actions: [TestAction]
  }

  private struct Place: Hashable {
    var state: Int
    var lock: ReferenceLock.Fingerprint
  }

  private struct Step {
    var state: Int
    var lock: ReferenceLock
    var previous: Int
    var depth: Int
    var act: TestAction
  }

  private let machine: Machine
  private let vocabulary: Vocabulary
  private let waits: [Interval]
  private var starts: [StartCondition] = []
  private var steps: [Step] = []
  private var seen = Set<Place>()

  init(_ bug: ReferenceLock.Bug?) throws {
    machine = try Machine(.sesameTable)
    vocabulary = Vocabulary(machine: machine)
    let alphabet = Alphabet(Specification(machine), ReferenceLock().abilities)
    waits = alphabet.acts[alphabet.wait].variants.compactMap {
      if case .wait(let interval) = $0 { interval } else { nil }
    }
    for start in machine.definition.starts {
      var lock = ReferenceLock(bug: bug)
      lock.adopt(vocabulary)
      let condition = StartCondition(start.conditions.map { Argument($0.name, .flag($0.value)) })
      try lock.reset(to: condition)
      starts.append(condition)
      add(try #require(machine.state(named: start.state)), lock, after: -1, .settle)
    }
  }

  private mutating func add(_ state: Int, _ lock: ReferenceLock, after previous: Int, _ act: TestAction) {
    guard seen.insert(Place(state: state, lock: lock.fingerprint)).inserted else { return }
    let depth = previous < 0 ? 0 : steps[previous].depth + 1
    steps.append(Step(state: state, lock: lock, previous: previous, depth: depth, act: act))
  }

  /// What is done on a shortest way; `nil` when there is none of up to a length.
  mutating func run(upTo length: Int) throws -> Way? {
    var number = 0
    while number < steps.count, steps[number].depth < length {
      let step = steps[number]
      for event in vocabulary.stimuli.indices {
        var lock = step.lock
        let stimulus = TestAction.stimulus(Stimulus(event))
        try lock.perform(Stimulus(event))
        let targets = machine.edges(from: step.state, on: event).map(\.target)
        switch try lock.observe(until: lock.now) {
        case nil where targets.isEmpty: add(step.state, lock, after: number, stimulus)
        case .status(let status):
          let target = targets.first {
            machine.definition.states[$0].status == vocabulary.statuses[status]
          }
          guard let target else { return way(to: number, stimulus) }
          add(target, lock, after: number, stimulus)
        default: return way(to: number, stimulus)
        }
      }
      for wait in waits {
        var lock = step.lock
        expect(try lock.observe(until: lock.now + wait), nil)
        add(step.state, lock, after: number, .wait(wait))
      }
      number += 1
    }
    return nil
  }

  private func way(to number: Int, _ last: TestAction) -> Way {
    var actions = [last]
    var number = number
    while steps[number].previous >= 0 {
      actions.append(steps[number].act)
      number = steps[number].previous
    }
    return Way(start: starts[number], actions: actions.reversed())
  }
}

extension ReferenceLock {
  /// All that what it does next depends on, for searches through all that a lock without losses can do.
  struct Fingerprint: Hashable {
    var status: Status
    var isRegistered: Bool
    var isConfigured: Bool
    var random: UInt32
    var wasReset = false
    var aborts = 0
    var abortsAtLogin = 0
    var last: [Event?] = []
    var memory = ReferenceMemory()
    var silence = Interval.zero
  }

  var fingerprint: Fingerprint {
    var print = Fingerprint(
      status: status, isRegistered: isRegistered, isConfigured: isConfigured, random: random)
    switch bug {
    case .deafUnlock:
      print.wasReset = wasReset
      print.last = [last.0, last.1]
    case .jamAfterAbortedLogins:
      print.aborts = min(aborts, 4)
      print.abortsAtLogin = min(abortsAtLogin, 4)
      print.last = [last.0, last.1, last.2]
    case .bouncingLock, .dozingUnlock:
      print.memory = memory
      print.memory.since = .zero
      // What lies longer ago than a bug waits for is all the same.
      print.silence = min(now - memory.since, bug == .dozingUnlock ? .seconds(600) : .milliseconds(1_001))
    default: print.memory = memory
    }
    return print
  }
}
