import Automata
import Basics
import TestSupport
import Testing

@testable import Conformance

@Suite("What a tracker is held against")
struct TrackerCheckTests {
  private typealias Position = TrackerCheck.Position

  private static func lamp(latest: Interval = .forever) -> MachineDefinition {
    MachineDefinition(
      name: "lamp", states: [State("off"), State("on", entry: ["warm"])],
      events: [Event("press"), Event("fail", .spontaneous)],
      transitions: [
        Transition(
          .event("press"), from: .states(["off"]), to: .states(["on", "off"]), before: ["click"]),
        Transition(
          .event("fail"), from: .states(["on"]), to: .states(["off"]), window: Window(latest: latest)),
      ], starts: [Start("off")])
  }

  @Test("the rows alone say where a stimulus leads, what is shown on the way, and what is refused")
  func places() throws {
    var check = try #require(TrackerCheck(Specification(try Machine(Self.lamp()))))
    let (off, on, click, warm) = (0, 1, 2, 3)
    let rest = Position(state: 0, shown: off, pending: [])
    check.start(in: [rest])
    check.perform(0)
    let lighting = Position(state: 1, shown: off, pending: [click, on, warm])
    let clicking = Position(state: 0, shown: off, pending: [click])
    expect(check.possible, [lighting, clicking])
    // Who has something to show takes no stimulus, and the same status may come before an effect.
    check.perform(0)
    check.reveal(off)
    expect(check.possible, [lighting, clicking])
    check.reveal(click)
    expect(check.possible, [Position(state: 1, shown: off, pending: [on, warm]), rest])
    check.reveal(on)
    expect(check.possible, [Position(state: 1, shown: on, pending: [warm])])
    check.refuse()
    expect(check.possible, [Position(state: 1, shown: on, pending: [warm])])
    check.reveal(warm)
    check.settle()
    expect(check.possible, [Position(state: 1, shown: on, pending: [])])
    check.reveal(off)
    expect(check.possible, [rest])
    check.reveal(on)
    expect(check.possible, [])
  }

  @Test("silence leaves only what has nothing to show, and what obeys has not refused")
  func endings() throws {
    var check = try #require(TrackerCheck(Specification(try Machine(Self.lamp()))))
    check.start(in: [Position(state: 0, shown: 0, pending: [])])
    check.perform(0)
    check.settle()
    expect(check.possible, [])
    check.start(in: [Position(state: 0, shown: 0, pending: [])])
    check.perform(0)
    check.refuse()
    expect(check.possible, [])
  }

  @Test("a machine in which time counts is not held against it")
  func timed() throws {
    let specification = Specification(try Machine(Self.lamp(latest: .seconds(1))))
    #expect(TrackerCheck(specification) == nil)
  }
}
