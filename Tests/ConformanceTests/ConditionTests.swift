import Automata
import Conformance
import Basics
import TestSupport
import Testing

@Suite("Conditions as they are tracked")
struct ConditionTests {
  /// A clock that rings after its set time, over a link that may lose what it is told, and that cold or rust stops.
  private func tracker() throws -> Tracker {
    var machine = MachineDefinition(name: "clock", summary: "")
    machine.events = [Event("set"), Event("shake"), Event("ring", .spontaneous)]
    machine.conditions = [
      Condition("loss", faults: ["drop"], until: ["loud"]),
      Condition("alarm", stimuli: ["set"], unsure: ["loss"]),
      Condition("stiff", faults: ["cold", "rust"]),
    ]
    machine.states = [State("silent"), State("loud")]
    machine.add(
      table: """
        | action/status                       | silent |
        |:-----------------------------------:|:------:|
        | set                                 | =      |
        | ring given alarm within alarm to alarm + 1 s | loud |
        | shake unless stiff                  | loud   |
        """)
    machine.starts = [Start("silent")]
    return Tracker(Specification(try Machine(machine)))
  }

  private func set(_ seconds: Int) -> Stimulus { Stimulus(0, [Argument("seconds", .integer(seconds))]) }

  @Test("a condition ends with the last of the faults that hold it")
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
      expect(tracker.observe(.status(1), at: .zero + .seconds(4)), false)
      tracker.start(in: 0)
      tracker.apply(Fault("drop"), at: .zero)
      for value in seconds { tracker.perform(set(value), at: .zero) }
      expect(tracker.observe(.status(1), at: .zero + .seconds(5)), true)
    }
  }

  @Test(
    "both ends of a time move with the value, whatever it was before once it counts",
    arguments: [
      // What is set, when, under loss or not, and the first and the last whole second at which it may ring.
      ([(5, 0)], false, 5...6), ([(60, 0)], false, 60...61), ([(60, 0), (5, 20)], false, 21...26),
      ([(60, 0), (5, 2)], false, 5...8), ([(5, 0), (60, 2)], false, 60...63),
      ([(5, 0), (60, 2)], true, 5...63), ([(60, 0), (5, 2)], true, 5...61),
      ([(0, 0), (60, 2)], true, 60...63),
    ] as [([(Int, Int64)], Bool, ClosedRange<Int64>)])
  func bothEnds(settings: [(seconds: Int, time: Int64)], isLossy: Bool, allowed: ClosedRange<Int64>) throws {
    var rings: [Int64] = []
    for second in 0..<80 as Range<Int64> {
      var tracker = try tracker()
      if isLossy { tracker.apply(Fault("drop"), at: .zero) }
      for (seconds, time) in settings where time < max(second, 1) {
        tracker.perform(set(seconds), at: .zero + .seconds(time))
      }
      let isLast = settings.allSatisfy { $0.time < max(second, 1) }
      if isLast, tracker.observe(.status(1), at: .zero + .seconds(second)) { rings.append(second) }
    }
    expect(rings, Array(allowed))
  }

  @Test(
    "a time that does not count at once leaves the one before, and both count from where the state was entered since",
    arguments: [
      // What is set and when, when it is opened, and the first whole second at which it may close.
      ([(120, 0)], 10, 128), ([(120, 0), (5, 30)], 10, 30), ([(120, 0), (5, 20)], 22, 25),
      ([(5, 0), (120, 20)], 22, 25), ([(5, 0), (120, 20)], 30, 148), ([(5, 0), (120, 20), (60, 21)], 23, 26),
      ([(0, 0), (120, 20)], 22, 140), ([(120, 0), (5, 20)], 27, 30),
    ] as [([(Int, Int64)], Int64, Int64)])
  func former(settings: [(seconds: Int, time: Int64)], opened: Int64, first: Int64) throws {
    var machine = MachineDefinition(name: "door", summary: "")
    machine.events = [Event("set"), Event("open"), Event("close", .spontaneous)]
    machine.conditions = [Condition("alarm", stimuli: ["set"], delay: .seconds(6))]
    machine.states = [State("shut"), State("ajar")]
    machine.add(
      table: """
        | action/status                                       | shut | ajar |
        |:---------------------------------------------------:|:----:|:----:|
        | set                                                 | =    | ajar |
        | open                                                | ajar |      |
        | close given alarm within alarm - 2 s to alarm + 6 s |      | shut |
        """)
    machine.starts = [Start("shut")]
    let specification = Specification(try Machine(machine))
    let closes = (opened...160).first { second in
      var tracker = Tracker(specification)
      let acts = settings.map { (time: $0.time, stimulus: set($0.seconds)) } + [(opened, Stimulus(1))]
      for act in acts.sorted(by: { $0.time < $1.time }) {
        tracker.perform(act.stimulus, at: .zero + .seconds(act.time))
        if act.time == opened { _ = tracker.observe(.status(1), at: .zero + .seconds(act.time)) }
      }
      return acts.allSatisfy { $0.time <= second }
        && tracker.observe(.status(0), at: .zero + .seconds(second))
    }
    expect(closes, first)
  }

  @Test("what is due says from when and by when, and never from before its state was entered")
  func words() throws {
    var machine = MachineDefinition(name: "clock", summary: "")
    machine.events = [Event("set"), Event("ring", .spontaneous)]
    machine.conditions = [Condition("alarm", stimuli: ["set"]), Condition("dry")]
    machine.states = [State("silent"), State("loud")]
    machine.add(
      table: """
        | action/status                                       | silent |
        |:---------------------------------------------------:|:------:|
        | set                                                 | =      |
        | ring given alarm unless dry within alarm - 2 s to alarm + 1 s | loud |
        | ring given alarm within alarm - 2 s to forever      | loud   |
        """)
    machine.starts = [Start("silent")]
    for (seconds, from) in [(60, "ring within 58 s to 61 s"), (1, "ring within 2 s")] {
      var tracker = Tracker(Specification(try Machine(machine)))
      tracker.perform(set(seconds), at: .zero)
      expect(tracker.observe(.status(1), at: .zero + .milliseconds(500)), seconds == 1)
      expect(tracker.allowances().filter { !$0.cause.isEmpty }.map(\.cause), [from])
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

  @Test("a time counts anew when the condition that it depends on changes")
  func counting() throws {
    var tracker = try tracker()
    _ = tracker.settle(at: .zero + .seconds(100))
    tracker.perform(set(5), at: .zero + .seconds(100))
    expect(tracker.deadline, .zero + .seconds(106))
  }

  /// A bolt that runs for as long as it likes, and arrives, or is stopped by a jam, while the lock may be out of sight.
  private func bolt() throws -> Tracker {
    var machine = MachineDefinition(name: "bolt", summary: "")
    machine.events = [Event("push"), Event("arrived", .spontaneous), Event("stalled", .spontaneous)]
    machine.conditions = [
      Condition("away", faults: ["out"], delay: .seconds(6)),
      Condition("jam", faults: ["jam"], unsure: ["away"]),
    ]
    machine.states = [State("open"), State("running"), State("shut"), State("stuck")]
    machine.add(
      table: """
        | action/status      | open    | running |
        |:------------------:|:-------:|:-------:|
        | push               | running |         |
        | arrived unless jam |         | shut    |
        | stalled given jam  |         | stuck   |
        """)
    machine.starts = [Start("running")]
    return Tracker(Specification(try Machine(machine)))
  }

  @Test(
    "what a fault changed is felt shortly after; while it is hidden, what is shown may be from before, until that is over",
    arguments: [
      // What was done and when, in milliseconds; when something is shown; whether the bolt may have arrived, and stuck.
      ("jam 1000", 1050, true, true), ("jam 1000", 2000, false, true),
      ("out 1000, jam 1500", 5000, true, true), ("out 1000, jam 1500", 500_000, true, true),
      ("jam 1000, out 1050", 5000, true, true), ("jam 1000, out 2000", 5000, false, true),
      ("out 1000, jam 2000, out-off 3000", 8900, true, true),
      ("out 1000, jam 2000, out-off 3000", 9200, false, true),
      ("out 1000, out-off 2000, jam 3000", 7900, true, true),
      ("out 1000, out-off 2000, jam 3000", 8200, false, true),
      ("out 1000, jam 2000, out-off 3000, out 8000", 20_000, true, true),
      ("out 1000, jam 2000, out-off 3000, out 20000", 21_000, false, true),
      ("jam 1000, jam-off 2000", 3000, true, false), ("jam 1000, out 2000, jam-off 3000", 9000, true, true),
    ])
  func hidden(_ faults: String, _ shown: Int64, _ mayArrive: Bool, _ mayStick: Bool) throws {
    var tracker = try bolt()
    for fault in faults.split(separator: ", ") {
      let words = fault.split(separator: " ")
      let name = words[0].split(separator: "-")
      tracker.apply(
        Fault(String(name[0]), .flag(name.count == 1)),
        at: .zero + .milliseconds(try #require(Int64(words[1]))))
    }
    for (status, isAllowed) in [(2, mayArrive), (3, mayStick)] {
      var tracker = tracker
      expect(tracker.observe(.status(status), at: .zero + .milliseconds(shown)), isAllowed)
    }
  }
}
