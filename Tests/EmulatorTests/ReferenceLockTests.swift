import Automata
import Conformance
import Emulator
import Foundation
import Models
import Basics
import TestSupport
import Testing

/// A check trace of the open benchmark: the events, and the status after each.
private struct GoldenTrace: Decodable, Sendable, CustomTestStringConvertible {
  var name: String
  var bug: Int
  var events: [String]
  var statuses: [String]
  var firstMismatch: Int

  var testDescription: String { "\(name), bug \(bug)" }

  enum CodingKeys: String, CodingKey {
    case name, bug, events, statuses
    case firstMismatch = "first_mismatch"
  }

  static let all: [GoldenTrace] = {
    let url = Bundle.module.url(forResource: "golden", withExtension: "json", subdirectory: "Golden")
    let data = url.flatMap { try? Data(contentsOf: $0) } ?? Data()
    return (try? JSONDecoder().decode([GoldenTrace].self, from: data)) ?? []
  }()

  var device: ReferenceLock { ReferenceLock(bug: [nil, .deafUnlock, .jamAfterAbortedLogins][bug]) }
}

@Suite("The reference lock")
struct ReferenceLockTests {
  @Test("all 66 check traces are there")
  func count() {
    expect(GoldenTrace.all.count, 66)
  }

  @Test("it shows the status of each check trace after each event", arguments: GoldenTrace.all)
  private func statuses(trace: GoldenTrace) throws {
    let vocabulary = Vocabulary(machine: try Machine(.sesameTable))
    var lock = trace.device
    lock.adopt(vocabulary)
    try lock.reset(to: StartCondition())
    var shown = "noSignal"
    let statuses = try trace.events.map { event in
      try lock.perform(Stimulus(#require(vocabulary.stimulus(event))))
      while let observation = try lock.observe(until: lock.now) { shown = vocabulary.text(of: observation) }
      return shown
    }
    expect(statuses, trace.statuses)
  }

  @Test("model and lock part where the check trace says, and nowhere else", arguments: GoldenTrace.all)
  private func mismatch(trace: GoldenTrace) throws {
    let specification = Specification(try Machine(.sesameTable))
    var lockstep = Lockstep(specification, trace.device, recorder: NoRecorder())
    _ = try lockstep.reset()
    let first = try trace.events.firstIndex { event in
      try lockstep.perform(Stimulus(#require(specification.vocabulary.stimulus(event)))) != nil
    }
    expect(first ?? -1, trace.firstMismatch)
  }

  @Test(
    "what the tables leave empty is ignored", arguments: ReferenceLock.Bug.allCases.map(Optional.some) + [nil]
  )
  func ignored(bug: ReferenceLock.Bug?) throws {
    let specification = Specification(try Machine(.sesameTable))
    var lockstep = Lockstep(specification, ReferenceLock(bug: bug), recorder: NoRecorder())
    _ = try lockstep.reset()
    for stimulus in 0..<specification.vocabulary.stimuli.count
    where lockstep.legalStimuli & (1 << UInt64(stimulus)) == 0 {
      expect(try lockstep.perform(Stimulus(stimulus)), nil)
      expect(lockstep.status, nil)
    }
  }
}
