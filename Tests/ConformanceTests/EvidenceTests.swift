import Automata
import Conformance
import Basics
import TestSupport
import Testing

@Suite("What the tester's own end saw")
struct EvidenceTests {
  /// A call that is taken within five seconds, over a line that may be lost or tampered with, to a phone with an alarm.
  private func machine() throws -> Machine {
    var machine = MachineDefinition(name: "phone", summary: "")
    machine.events = [
      Event("dial"), Event("set"), Event("taken", .spontaneous), Event("rings", .spontaneous),
      Event("lost", .spontaneous), Event("tampered", .spontaneous),
    ]
    machine.conditions = [
      Condition("loss"),
      Condition("tampering", faults: ["drop"], events: ["tampered"], until: ["idle"]),
      Condition("absent", faults: ["away"], moments: ["blink"], delay: .seconds(1)),
      Condition("alarm", stimuli: ["set"], unsure: ["tampering"], reading: "alarm", delay: .seconds(1)),
    ]
    machine.states = [State("idle"), State("calling"), State("talking"), State("ringing")]
    machine.add(
      table: """
        | action/status                               | idle    | calling | talking |
        |:-------------------------------------------:|:-------:|:-------:|:-------:|
        | dial                                        | calling |         |         |
        | set                                         |         |         | =       |
        | taken unless tampering or absent within 5 s |         | talking |         |
        | taken                                       |         | talking |         |
        | rings given alarm within alarm to alarm + 1 s |         |         | ringing |
        | lost given loss or tampering or absent      |         | idle    | idle    |
        """)
    machine.starts = [Start("idle")]
    return try Machine(machine)
  }

  private func tracker(holding conditions: [String] = [], isReporting: Bool = true) throws -> Tracker {
    Tracker(
      Specification(
        try machine(), holding: conditions, reporting: isReporting ? ["lost", "tampered"] : []))
  }

  private static let idle = 0
  private static let calling = 1
  private static let talking = 2
  private static let ringing = 3
  private static let lost = Observation.event(SeenEvent(4, "0x08"))
  private static let tampered = Observation.event(SeenEvent(5))

  private func at(_ seconds: Double) -> Instant { .zero + .milliseconds(Int64(seconds * 1000)) }

  /// Dials, and shows it.
  private func call(_ tracker: inout Tracker, at seconds: Double = 0) {
    tracker.perform(Stimulus(0), at: at(seconds))
    expect(tracker.observe(.status(Self.calling), at: at(seconds)), true)
  }

  @Test("a line that was not seen to be lost was not lost, and one that was, only where lines can be")
  func report() throws {
    var silent = try tracker(holding: ["loss"])
    call(&silent)
    expect(silent.observe(.status(Self.idle), at: at(1)), false)

    var told = try tracker(holding: ["loss"])
    call(&told)
    expect(told.observe(Self.lost, at: at(1)), true)
    expect(told.losses, 1)
    expect(told.observe(.status(Self.idle), at: at(1)), true)

    var fair = try tracker()
    call(&fair)
    expect(fair.observe(Self.lost, at: at(1)), false)
  }

  @Test("a device that does not report is allowed what one that does would have to say")
  func withTrouble() throws {
    var tracker = try tracker(holding: ["loss"], isReporting: false)
    call(&tracker)
    expect(tracker.observe(.status(Self.idle), at: at(1)), true)
    expect(tracker.losses, 1)
  }

  @Test("while the line lives every deadline holds, though lines can be lost")
  func deadline() throws {
    var tracker = try tracker(holding: ["loss"])
    call(&tracker)
    expect(tracker.deadline, at(5))
    expect(tracker.settle(at: at(5)), false)
  }

  @Test("tampering excuses what is on the line, until the line is over, and no longer")
  func tampering() throws {
    var tracker = try tracker()
    call(&tracker)
    expect(tracker.observe(Self.tampered, at: at(1)), true)
    expect(tracker.deadline, nil)
    expect(tracker.settle(at: at(60)), true)
    expect(tracker.observe(Self.lost, at: at(61)), true)
    expect(tracker.observe(.status(Self.idle), at: at(61)), true)
    expect(tracker.losses, 0)
    call(&tracker, at: 62)
    expect(tracker.deadline, at(67))
  }

  @Test("what a device was brought to for a moment it may do in that moment, and that is counted")
  func provocation() throws {
    var machine = MachineDefinition(name: "line", summary: "")
    machine.events = [
      Event("dial"), Event("hungUp", .spontaneous), Event("insulted", .spontaneous),
    ]
    machine.conditions = [Condition("insult", moments: ["insulted"], delay: .seconds(1))]
    machine.states = [State("idle"), State("talking")]
    machine.add(
      table: """
        | action/status       | idle    | talking |
        |:-------------------:|:-------:|:-------:|
        | dial                | talking |         |
        | hungUp given insult |         | idle    |
        """)
    machine.starts = [Start("idle")]
    let specification = Specification(try Machine(machine), reporting: ["hungUp", "insulted"])
    for (second, isAllowed) in [(1.0, true), (2.9, true), (3.2, false)] {
      var tracker = Tracker(specification)
      tracker.perform(Stimulus(0), at: .zero)
      expect(tracker.observe(.status(1), at: .zero), true)
      expect(tracker.observe(.event(SeenEvent(2)), at: at(1)), true)
      expect(tracker.permittedDeviation, nil)
      expect(tracker.observe(.event(SeenEvent(1)), at: at(second)), isAllowed)
      expect(tracker.permittedDeviation, isAllowed ? 0 : nil)
      guard isAllowed else { continue }
      // It is over once the device shows more than what it came to.
      expect(tracker.observe(.status(0), at: at(second)), true)
      expect(tracker.permittedDeviation, 0)
      tracker.perform(Stimulus(0), at: at(5))
      expect(tracker.observe(.status(1), at: at(5)), true)
      expect(tracker.permittedDeviation, nil)
    }
    var polite = Tracker(specification)
    polite.perform(Stimulus(0), at: .zero)
    expect(polite.observe(.status(1), at: .zero), true)
    expect(polite.observe(.event(SeenEvent(1)), at: at(1)), false)
  }

  @Test(
    "a fault that has hit nothing yet excuses nothing where hits are reported, and everything where they are not"
  )
  func pending() throws {
    for (isReporting, deadline) in [(true, at(5) as Instant?), (false, nil)] {
      var tracker = try tracker(isReporting: isReporting)
      tracker.apply(Fault("drop"), at: .zero)
      call(&tracker)
      expect(tracker.deadline, deadline)
    }
  }

  @Test("a fault that is given a duration is over after it, and time counts from then")
  func duration() throws {
    var tracker = try tracker()
    call(&tracker)
    tracker.apply(Fault("away", .duration(.seconds(3))), at: at(1))
    expect(tracker.deadline, nil)
    expect(tracker.settle(at: at(3.9)), true)
    expect(tracker.settle(at: at(4)), true)
    // It is felt for a second more.
    expect(tracker.deadline, at(10))
    expect(tracker.settle(at: at(10)), false)
  }

  @Test("what is over in a moment is felt for its delay, and no longer")
  func moment() throws {
    // It lasts for as long as it is felt, and what it led to may be felt for as long again.
    for (seconds, isAllowed) in [(1.5, true), (2.9, true), (3.1, false)] {
      var tracker = try tracker()
      call(&tracker)
      tracker.apply(Fault("blink"), at: at(1))
      expect(tracker.observe(Self.lost, at: at(seconds)), isAllowed)
    }
  }

  @Test("tampering that is told of when the line is over is about what was on it, and about no other line")
  func late() throws {
    var tracker = try tracker()
    expect(tracker.observe(Self.tampered, at: at(1)), true)
    call(&tracker, at: 2)
    expect(tracker.deadline, at(7))
  }

  @Test("what a link holds up does not concern what the tester's own end does")
  func ownEnd() throws {
    var machine = MachineDefinition(name: "door", summary: "")
    machine.events = [Event("knock"), Event("opened", .spontaneous)]
    machine.conditions = [Condition("stranger", faults: ["mask"], countsFromEntry: true)]
    machine.states = [State("outside"), State("asking"), State("inside")]
    machine.add(
      table: """
        | action/status          | outside | asking |
        |:----------------------:|:-------:|:------:|
        | knock                  | asking  |        |
        | opened unless stranger |         | inside |
        """)
    machine.starts = [Start("outside")]
    for (seconds, isAllowed) in [(1.0, false), (2.0, true)] {
      var tracker = Tracker(Specification(try Machine(machine)), slack: .seconds(4))
      tracker.apply(Fault("mask", .flag(seconds == 1)), at: at(1))
      tracker.perform(Stimulus(0), at: at(1.5))
      expect(tracker.observe(.status(1), at: at(1.5)), true)
      if seconds == 2 { tracker.apply(Fault("mask"), at: at(2)) }
      expect(tracker.observe(.status(2), at: at(2.5)), isAllowed)
    }
  }

  @Test("what was set and may be lost with the line is open until it is read, on a line that nothing crosses")
  func reading() throws {
    for (reading, deadline) in [(0, nil), (7, at(19) as Instant?)] {
      var tracker = try tracker(holding: ["loss"])
      func talk(_ tracker: inout Tracker, at seconds: Double) {
        call(&tracker, at: seconds)
        expect(tracker.observe(.status(Self.talking), at: at(seconds + 1)), true)
      }
      talk(&tracker, at: 0)
      tracker.perform(Stimulus(1, [Argument("value", .integer(7))]), at: at(2))
      expect(tracker.observe(Self.lost, at: at(2.1)), true)
      expect(tracker.observe(.status(Self.idle), at: at(2.1)), true)
      talk(&tracker, at: 10)
      // It may have arrived, or not.
      expect(tracker.deadline, nil)
      var (early, ringing) = (tracker, tracker)
      expect(early.observe(.status(Self.ringing), at: at(12)), false)
      expect(ringing.observe(.status(Self.ringing), at: at(18)), true)
      expect(tracker.observe(.reading(Reading("alarm", .integer(reading))), at: at(11)), true)
      expect(tracker.deadline, deadline)
    }
  }
}
