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

  /// A door that closes by itself, a set time after it was opened.
  private func door(delay: Interval, fromEntry: Bool = true) throws -> Specification {
    var machine = MachineDefinition(name: "door", summary: "")
    machine.events = [Event("set"), Event("open"), Event("shut"), Event("close", .spontaneous)]
    machine.conditions = [
      Condition("loss", faults: ["drop"]),
      Condition("alarm", stimuli: ["set"], unsure: ["loss"], countsFromEntry: fromEntry, delay: delay),
    ]
    machine.states = [State("closed"), State("ajar")]
    machine.add(
      table: """
        | action/status                                    | closed | ajar   |
        |:------------------------------------------------:|:------:|:------:|
        | set                                              | =      | =      |
        | open                                             | ajar   |        |
        | shut                                             |        | closed |
        | close given alarm within alarm + 500 ms to alarm + 1 s |  | closed |
        """)
    machine.starts = [Start("closed")]
    return Specification(try Machine(machine))
  }

  /// A door after what was done to it, such as `set 10 @0, open @0, drop @3`, at whole seconds.
  private func door(_ specification: Specification, after acts: String) throws -> Tracker {
    var tracker = Tracker(specification)
    for act in acts.split(separator: ", ") {
      let words = act.split { " @".contains($0) }
      let time = Instant.zero + .seconds(try #require(words.last.flatMap { Int64($0) }))
      switch words[0] {
      case "set": tracker.perform(set(try #require(Int(words[1]))), at: time)
      case "open", "shut":
        let (event, status) = words[0] == "open" ? (1, 1) : (2, 0)
        tracker.perform(Stimulus(event), at: time)
        expect(tracker.observe(.status(status), at: time), true)
      default: tracker.apply(Fault(String(words[0])), at: time)
      }
      expect(tracker.settle(at: time), true)
    }
    return tracker
  }

  /// The half seconds after what was done at which an open door may close, as the first and the last one.
  private func closings(_ tracker: Tracker, after acts: String) -> String {
    let done = acts.split { !$0.isNumber }.last.flatMap { Int64($0) } ?? 0
    let times = (2 * done + 1...160).map { Instant.zero + .milliseconds(500 * $0) }.filter { time in
      var tracker = tracker
      return tracker.observe(.status(0), at: time)
    }
    guard let first = times.first, let last = times.last else { return "never" }
    return "\(first.secondsText) to \(last.secondsText)"
  }

  @Test(
    "what counts from the entry counts as it was set then, at both ends, whatever it is set to since",
    arguments: [
      // What is done, the delay, when the door may close, and when it must have.
      ("set 10 @0, open @0", 0, "10.500 to 11.000", 11), ("set 10 @0, open @2", 0, "12.500 to 13.000", 13),
      // Set to less, to more, to nothing, and to something where it was nothing.
      ("set 10 @0, open @0, set 5 @3", 0, "10.500 to 11.000", 11),
      ("set 5 @0, open @0, set 10 @3", 0, "5.500 to 6.000", 6),
      ("set 10 @0, open @0, set 0 @3", 0, "10.500 to 11.000", 11), ("open @0, set 5 @3", 0, "never", nil),
      // Twice, at one moment, and in the next state.
      ("set 10 @0, open @0, set 5 @3, set 20 @4", 0, "10.500 to 11.000", 11),
      ("set 10 @0, open @0, set 0 @3, set 10 @4, set 0 @5", 0, "10.500 to 11.000", 11),
      ("set 10 @0, set 5 @0, open @0", 0, "5.500 to 6.000", 6),
      ("set 10 @0, open @0, set 5 @0", 0, "10.500 to 11.000", 11),
      ("set 10 @0, open @0, set 5 @3, shut @4, open @4", 0, "9.500 to 10.000", 10),
      ("open @0, set 5 @3, shut @3, open @3", 0, "8.500 to 9.000", 9),
      (
        "set 10 @0, open @0, set 5 @1, set 6 @2, set 7 @3, set 8 @4, set 9 @5, set 1 @6, set 2 @7, set 3 @8, set 4 @9",
        0, "10.500 to 11.000", 11
      ),
      // Within the delay of a change the one before may count as well, and go on to.
      ("set 10 @0, set 5 @20, open @22", 6, "27.500 to 33.000", 33),
      ("set 10 @0, set 5 @20, set 20 @21, open @22", 6, "27.500 to 43.000", 43),
      ("set 10 @0, set 5 @20, open @22, set 60 @24", 6, "27.500 to 33.000", 33),
      ("set 10 @0, set 5 @20, open @27", 6, "32.500 to 33.000", 33),
      ("set 10 @0, open @3", 6, "13.500 to 14.000", nil),
      ("set 10 @0, set 0 @20, open @22", 6, "32.500 to 33.000", nil),
      ("set 10 @0, open @10, set 5 @11", 6, "20.500 to 21.000", 21), ("open @0, set 5 @3", 6, "never", nil),
      ("set 10 @0, open @0, set 5 @3", nil, "10.500 to 11.000", nil),
      ("set 10 @0, open @0, set 0 @3", nil, "10.500 to 11.000", nil),
      // What may not have arrived may be what it was before.
      ("set 10 @0, drop @1, set 5 @2, open @3", 0, "8.500 to 14.000", 14),
      ("drop @0, set 5 @1, open @2", 0, "7.500 to 8.000", nil),
      ("set 10 @0, open @1, drop @2, set 0 @3", 0, "11.500 to 12.000", 12),
      ("set 10 @0, open @1, drop @2, set 5 @3, set 20 @4", 0, "11.500 to 12.000", 12),
      ("set 10 @0, set 5 @20, drop @21, open @40", 6, "45.500 to 51.000", nil),
    ] as [(String, Int64?, String, Int64?)])
  func atEntry(acts: String, delay: Int64?, closings: String, due: Int64?) throws {
    let tracker = try door(door(delay: delay.map { .seconds($0) } ?? .forever), after: acts)
    expect(self.closings(tracker, after: acts), closings)
    expect(tracker.deadline, due.map { .zero + .seconds($0) })
  }

  @Test("what counted when a door was opened is found at its first wrong moment")
  func atEntrySilent() throws {
    var tracker = try door(door(delay: .zero), after: "set 10 @0, open @0, set 0 @3")
    expect(tracker.settle(at: .zero + .milliseconds(10_999)), true)
    expect(tracker.settle(at: .zero + .seconds(11)), false)
  }

  @Test(
    "the window that is said is the one that is applied, counted from the entry",
    arguments: [
      ("set 10 @0, open @0", false, 0, "close within 10.5 s to 11 s"),
      ("set 10 @0, open @2, set 5 @5", false, 0, "close within 5.5 s to 9 s"),
      ("set 5 @0, open @2, set 10 @5", false, 0, "close within 10.5 s to 14 s"),
      ("open @0, set 5 @3", false, 0, "close within 5.5 s to 9 s"),
      ("set 10 @0, set 5 @20, open @22", false, 6, "close within 5.5 s to 6 s"),
      ("set 10 @0, open @2, set 5 @5", true, 0, "close within 10.5 s to 11 s"),
      ("set 10 @0, open @2, set 0 @5", true, 0, "close within 10.5 s to 11 s"),
      ("set 10 @0, set 5 @20, open @22", true, 6, "close within 5.5 s to 11 s"),
    ] as [(String, Bool, Int64, String)])
  func applied(acts: String, fromEntry: Bool, delay: Int64, said: String) throws {
    var tracker = try door(door(delay: .seconds(delay), fromEntry: fromEntry), after: acts)
    let closings = closings(tracker, after: acts)
    expect(tracker.observe(.status(0), at: .zero + .seconds(60)), false)
    expect(tracker.allowances().map(\.cause), [said])
    let ends = closings.split(separator: " ")
    let entry =
      acts.split(separator: ", ").first { $0.hasPrefix("open") }.flatMap { Int64($0.dropFirst(6)) } ?? 0
    let window = said.split(separator: " ")
    let first = try #require(Interval(text: window[2...3].joined(separator: " ")))
    let last = try #require(Interval(text: window[5...6].joined(separator: " ")))
    expect(String(ends[0]), (.zero + .seconds(entry) + first).secondsText)
    expect(String(ends[2]), (.zero + .seconds(entry) + last).secondsText)
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
