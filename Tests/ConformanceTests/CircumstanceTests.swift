import Automata
import Conformance
import Simulation
import TestSupport
import Testing

@Suite("Circumstances as they are tracked")
struct CircumstanceTests {
  /// A clock that rings after its set time, over a link that may lose what it is told, and that cold or rust stops.
  private func tracker() throws -> Tracker {
    var machine = MachineDefinition(name: "clock", summary: "")
    machine.events = [Event("set"), Event("shake"), Event("ring", .spontaneous)]
    machine.circumstances = [
      Circumstance("loss", faults: ["drop"], until: ["loud"]),
      Circumstance("alarm", stimuli: ["set"], unsure: ["loss"]),
      Circumstance("stiff", faults: ["cold", "rust"]),
    ]
    machine.states = [State("silent"), State("loud")]
    machine.add(
      table: """
        | action/status                       | silent |
        |:-----------------------------------:|:------:|
        | set                                 | =      |
        | ring given alarm within alarm + 1 s | loud   |
        | shake unless stiff                  | loud   |
        """)
    machine.starts = [Start("silent")]
    return Tracker(Specification(try Machine(machine)))
  }

  private func set(_ seconds: Int) -> Stimulus { Stimulus(0, [Argument("seconds", .integer(seconds))]) }

  @Test("a circumstance ends with the last of the faults that hold it")
  func counted() throws {
    var tracker = try tracker()
    var allowed: [Bool] = []
    for (name, holds) in [("cold", true), ("rust", true), ("cold", false), ("cold", false), ("rust", false)] {
      tracker.apply(Fault(name, .flag(holds)), at: .zero)
      allowed.append(tracker.allows(1))
    }
    expect(allowed, [false, false, false, false, true])
  }

  @Test("what is set for certain holds from then on, and no longer than until it is set again")
  func certain() throws {
    var tracker = try tracker()
    tracker.perform(set(5), at: .zero)
    expect(tracker.deadline, .zero + .seconds(6))
    tracker.perform(set(0), at: .zero + .seconds(1))
    expect(tracker.deadline, nil)
    expect(tracker.observe(.status(1), at: .zero + .seconds(3)), false)
  }

  @Test("what may not have arrived may hold, or not: nothing is due by it, and nothing forbidden")
  func uncertain() throws {
    for seconds in [[5], [5, 0], [0, 5]] {
      var tracker = try tracker()
      tracker.apply(Fault("drop"), at: .zero)
      for (number, value) in seconds.enumerated() {
        tracker.perform(set(value), at: .zero + .seconds(Int64(number)))
      }
      expect(tracker.deadline, nil)
      expect(tracker.settle(at: .zero + .seconds(60)), true)
      expect(tracker.observe(.status(1), at: .zero + .seconds(60)), false)
      tracker.start(in: 0)
      tracker.apply(Fault("drop"), at: .zero)
      for value in seconds { tracker.perform(set(value), at: .zero) }
      expect(tracker.observe(.status(1), at: .zero + .seconds(3)), true)
    }
  }

  @Test("what was set shortly before a link may have been lost, may not have arrived")
  func doubted() throws {
    for (delay, allowsBoth) in [(50, true), (5000, false)] {
      var tracker = try tracker()
      tracker.perform(set(5), at: .zero)
      tracker.perform(set(0), at: .zero + .seconds(1))
      tracker.apply(Fault("drop"), at: .zero + .seconds(1) + .milliseconds(Int64(delay)))
      expect(tracker.deadline, nil)
      var ringing = tracker
      expect(ringing.observe(.status(1), at: .zero + .seconds(20)), false)
      expect(tracker.observe(.status(1), at: .zero + .seconds(6)), allowsBoth)
    }
  }

  @Test("a time counts anew when the circumstance that it depends on changes")
  func counting() throws {
    var tracker = try tracker()
    _ = tracker.settle(at: .zero + .seconds(100))
    tracker.perform(set(5), at: .zero + .seconds(100))
    expect(tracker.deadline, .zero + .seconds(106))
  }
}
