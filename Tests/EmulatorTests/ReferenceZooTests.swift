import Automata
import Conformance
import Models
import Simulation
import TestSupport
import Testing

@testable import Emulator

/// Looks for a shortest way to make model and lock disagree: breadth-first, through all that a tester can do.
private struct Search {
  private struct Place: Hashable {
    var state: Int
    var lock: ReferenceLock.Fingerprint
  }

  private struct Step {
    var state: Int
    var lock: ReferenceLock
    var previous: Int
    var depth: Int
    var act: String
  }

  private let machine: Machine
  private let vocabulary: Vocabulary
  private let waits: [Interval]
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
      try lock.reset(to: StartCondition(start.conditions.map { Argument($0.name, .flag($0.value)) }))
      add(try #require(machine.state(named: start.state)), lock, after: -1, "")
    }
  }

  private mutating func add(_ state: Int, _ lock: ReferenceLock, after previous: Int, _ act: String) {
    guard seen.insert(Place(state: state, lock: lock.fingerprint)).inserted else { return }
    let depth = previous < 0 ? 0 : steps[previous].depth + 1
    steps.append(Step(state: state, lock: lock, previous: previous, depth: depth, act: act))
  }

  /// What is done on a shortest way; `nil` when there is none of up to a length.
  mutating func run(upTo length: Int) throws -> [String]? {
    var number = 0
    while number < steps.count, steps[number].depth < length {
      let step = steps[number]
      for event in vocabulary.stimuli.indices {
        var lock = step.lock
        try lock.perform(Stimulus(event))
        let targets = machine.edges(from: step.state, on: event).map(\.target)
        switch try lock.observe(until: lock.now) {
        case nil where targets.isEmpty: add(step.state, lock, after: number, vocabulary.stimuli[event])
        case .status(let status):
          let target = targets.first {
            machine.definition.states[$0].status == vocabulary.statuses[status]
          }
          guard let target else { return way(to: number) + [vocabulary.stimuli[event]] }
          add(target, lock, after: number, vocabulary.stimuli[event])
        default: return way(to: number) + [vocabulary.stimuli[event]]
        }
      }
      for wait in waits {
        var lock = step.lock
        expect(try lock.observe(until: lock.now + wait), nil)
        add(step.state, lock, after: number, "wait \(wait)")
      }
      number += 1
    }
    return nil
  }

  private func way(to number: Int) -> [String] {
    var way: [String] = []
    var number = number
    while steps[number].previous >= 0 {
      way.append(steps[number].act)
      number = steps[number].previous
    }
    return way.reversed()
  }
}

@Suite("The bugs of the reference lock")
struct ReferenceZooTests {
  static let lengths: [(bug: ReferenceLock.Bug, length: Int)] = [
    (.deafUnlock, 16),
    (.jamAfterAbortedLogins, 28),
    (.stuckAfterTwoMoved, 21),
    (.bouncingLock, 8),
    (.dozingUnlock, 7),
    (.echoOfOldSession, 20),
    (.offendedByReplay, 8),
    (.staleReset, 7),
    (.wornBolt, 21),
    (.evenResets, 23),
    (.newbornLock, 14),
    (.combination, 10),
    (.forgottenPositions, 19),
    (.longSession, 26),
  ]

  @Test("the table has every bug once")
  func table() {
    expect(Self.lengths.map(\.bug), ReferenceLock.Bug.allCases)
  }

  @Test("each has a shortest trace of the length that its documentation says", arguments: lengths)
  func shortest(bug: ReferenceLock.Bug, length: Int) throws {
    var search = try Search(bug)
    expect(try search.run(upTo: length)?.count, length)
  }

  @Test("nothing makes model and a healthy lock disagree, as far as can be looked")
  func healthy() throws {
    var search = try Search(nil)
    expect(try search.run(upTo: 30), nil)
  }
}
