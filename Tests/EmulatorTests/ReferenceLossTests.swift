import Automata
import Conformance
import Emulator
import Models
import Basics
import TestSupport
import Testing

/// What came of walking at random.
private struct Walk {
  var events = 0
  var divergence: Divergence?
  /// How often the tracker noticed a loss, and how often there was one.
  var noticed = 0
  var losses = 0
}

@Suite("The reference lock over a link that is lost at times")
struct ReferenceLossTests {
  private static func specification(_ definition: MachineDefinition) throws -> Specification {
    Specification(try Machine(definition), showsEffects: false, holding: ["loss"])
  }

  /// Walks through tests of fifty events, allowed ones and one in ten forbidden, up to the first divergence.
  private static func walk(
    _ lock: ReferenceLock, _ definition: MachineDefinition = .sesameTableWithLosses, events: Int
  ) throws -> Walk {
    var lockstep = Lockstep(try specification(definition), lock, recorder: NoRecorder())
    var generator = SeededGenerator(seed: 1)
    var walk = Walk()
    let starts = [StartCondition(), StartCondition([Argument("registered", .flag(false))])]
    let lost = lockstep.vocabulary.status("noSignal")
    let disconnect = lockstep.vocabulary.stimulus("disconnect")
    while walk.events < events {
      _ = try lockstep.reset(to: starts[generator.below(2)])
      var last = lost
      for _ in 0..<50 {
        let explorationState = lockstep.explorationState
        let isForbidden = generator.below(10) == 0
        var choices = isForbidden ? explorationState.forbidden : explorationState.legal
        for _ in 0..<generator.below(choices.nonzeroBitCount) { choices &= choices - 1 }
        let stimulus = choices.trailingZeroBitCount
        walk.events += 1
        walk.divergence = try lockstep.perform(Stimulus(stimulus))
        if walk.divergence != nil { return walk }
        let isEnd = stimulus == disconnect && !isForbidden
        if let status = lockstep.status {
          if status == lost, last != lost, !isEnd { walk.losses += 1 }
          last = status
        }
      }
      walk.noticed += lockstep.tracker.losses
    }
    return walk
  }

  @Test("a healthy lock is never blamed, and every loss is noticed as one", arguments: [0, 0.01, 0.05, 1])
  func healthy(loss: Double) throws {
    let walk = try Self.walk(ReferenceLock(loss: loss, seed: 7), events: 100_000)
    expect(walk.divergence, nil)
    expect(walk.noticed, walk.losses)
    let share = Double(walk.losses) / Double(walk.events)
    #expect(share >= loss * 0.3 && share <= loss, "\(share) of the events cost the link")
  }

  @Test("every bug is still seen where the link holds", arguments: ReferenceLock.Bug.allCases)
  func bugs(bug: ReferenceLock.Bug) throws {
    var search = try ReferenceSearch(bug)
    let way = try #require(try search.run(upTo: bug.shortest))
    var lockstep = Lockstep(
      try Self.specification(.sesameTableWithLosses), ReferenceLock(bug: bug, loss: 0.05, seed: 1),
      recorder: NoRecorder())
    for _ in 0..<100 {
      _ = try lockstep.reset(to: way.start)
      var divergence: Divergence?
      for action in way.actions where divergence == nil && lockstep.tracker.losses == 0 {
        divergence = try lockstep.carryOut(action).divergence
      }
      expect(divergence == nil, lockstep.tracker.losses > 0)
      if divergence != nil { return }
    }
    Issue.record("the link never held")
  }

  @Test("a model that is wrong in one row is noticed")
  func wrongRows() throws {
    let table = MachineDefinition.sesameTable
    for (number, row) in table.transitions.enumerated() {
      var wrong = MachineDefinition.sesameTableWithLosses
      expect(wrong.transitions[number], row)
      let target = row.trigger == .event("closeTo") ? "connecting" : "receivedBle"
      wrong.transitions[number].to = .states(["\(target) (registered)"])
      let walk = try Self.walk(ReferenceLock(loss: 0.05, seed: 1), wrong, events: 100_000)
      #expect(walk.divergence != nil, "\(row) may be wrong")
    }
  }

  @Test("one seed loses the same links, and a reset does not begin anew")
  func seeds() throws {
    var traces: [[TraceList.Entry]] = []
    for seed: UInt64 in [1, 1, 2] {
      var lockstep = Lockstep(
        try Self.specification(.sesameTableWithLosses), ReferenceLock(loss: 0.2, seed: seed),
        recorder: TraceList())
      for _ in 0..<50 {
        _ = try lockstep.reset()
        for stimulus in 0..<4 { expect(try lockstep.perform(Stimulus(stimulus)), nil) }
      }
      traces.append(lockstep.recorder.entries)
    }
    expect(traces[0], traces[1])
    #expect(traces[0] != traces[2])
  }

  @Test("a chance is served as the condition of the model, and none is not")
  func conditions() {
    expect(ReferenceLock(loss: 0.01).abilities.conditions, ["loss"])
    expect(ReferenceLock().abilities.conditions, [])
  }
}
