import Automata
import Basics
import Conformance
import TestSupport
import Testing

/// A keypad that shuts out who guesses: the wrong code is forgotten ten seconds after the first, or after the last.
private let keypad: Specification? = {
  var machine = MachineDefinition(name: "keypad", summary: "")
  machine.events = [Event("wrong"), Event("right")]
  machine.choices = [DeviceChoice("timer", ["first", "last"]), DeviceChoice("lamp", ["red", "dark"])]
  machine.states = ["locked", "warned", "warned (twice)", "open", "red"].map { State($0) }
  // swift-format-ignore
  machine.add(table: """
    | action/status     | locked | warned           | warned (twice) | open |
    |:-----------------:|:------:|:----------------:|:--------------:|:----:|
    | wrong             | warned |                  |                |      |
    | wrong option first |       | > warned (twice) |                |      |
    | wrong option last |        | warned (twice)   |                |      |
    | after 10 s        |        | locked           | locked         |      |
    | right             | open   |                  |                |      |
    | right option red  |        |                  |                | red  |
    | right option dark |        |                  |                | =    |
    """)
  machine.starts = [Start("locked")]
  return (try? Machine(machine)).map { Specification($0) }
}()

@Suite("A choice that a device makes once, as it is tracked")
struct DeviceChoiceTests {
  /// A trace, and what it shows: the options that are left of each choice, or that nothing explains it.
  ///
  /// A step is a stimulus (`wrong`), a status that is shown (`~locked`), or silence up to a time (`+9`).
  static let traces: [(steps: String, shows: String)] = [
    ("", ""),
    ("wrong ~warned", ""),
    ("wrong ~warned +4 wrong", ""),
    ("wrong ~warned +4 wrong +9", ""),
    ("wrong ~warned +4 wrong +10 ~locked", "timer: first"),
    ("wrong ~warned +4 wrong +12", "timer: last"),
    ("wrong ~warned +4 wrong +14 ~locked", "timer: last"),
    ("wrong ~warned +4 wrong +13", "timer: last"),
    ("wrong ~warned +4 wrong +14", "nothing explains it"),
    ("wrong ~warned +4 wrong +12 ~locked", "nothing explains it"),
    // Without a second wrong code both are alike.
    ("wrong ~warned +10 ~locked", ""),
    ("wrong ~warned +12", "nothing explains it"),
    // What was shown holds to the end of the test.
    ("wrong ~warned +4 wrong +10 ~locked +20 wrong ~warned +24 wrong +30 ~locked", "timer: first"),
    ("wrong ~warned +4 wrong +10 ~locked +20 wrong ~warned +24 wrong +34 ~locked", "nothing explains it"),
    ("wrong ~warned +4 wrong +14 ~locked +20 wrong ~warned +24 wrong +30 ~locked", "nothing explains it"),
    // Two choices are two matters.
    ("right ~open right ~red", "lamp: red"),
    ("right ~open right +1", "lamp: dark"),
    ("wrong ~warned +4 wrong +14 ~locked right ~open right ~red", "timer: last, lamp: red"),
  ]

  @Test("a trace leaves the options that explain it", arguments: traces)
  func trace(steps: String, shows: String) throws {
    expect(shown(try follow(steps)), shows)
  }

  /// What the model holds possible after a trace; `nil` where nothing is.
  private func follow(_ steps: String) throws -> Tracker? {
    let specification = try #require(keypad)
    let vocabulary = specification.vocabulary
    var tracker = Tracker(specification)
    var now = Instant.zero
    for step in steps.split(separator: " ") {
      let isLeft: Bool
      switch step.first {
      case "+":
        now = .zero + .seconds(Int64(step.dropFirst()) ?? 0)
        isLeft = true
      case "~":
        isLeft = tracker.observe(.status(vocabulary.status(String(step.dropFirst())) ?? -1), at: now)
      default: isLeft = tracker.perform(Stimulus(vocabulary.stimulus(String(step)) ?? -1), at: now)
      }
      guard isLeft else { return nil }
      // Up to the moment itself something may still come.
      if step.hasPrefix("+"), steps.hasSuffix(step), !tracker.settle(at: now) { return nil }
      if step.hasPrefix("~"), !tracker.settle(at: now) { return nil }
    }
    return tracker
  }

  private func shown(_ tracker: Tracker?) -> String {
    guard let tracker else { return "nothing explains it" }
    return tracker.specification.machine.shown(in: tracker.options)
      .map { "\($0.name): \($0.options.joined(separator: " or "))" }.joined(separator: ", ")
  }

  @Test("silence decides by when a device with one of the options would have shown something")
  func deadline() throws {
    let tracker = try #require(try follow("wrong ~warned +4 wrong"))
    expect(tracker.deadline, .zero + .seconds(10))
  }

  @Test("a machine does what it has chosen in every test, and its model takes each choice")
  func machineDevice() throws {
    let specification = try #require(keypad)
    let machine = specification.machine
    expect(machine.variants.count, 4)
    for variant in machine.variants {
      var device = MachineDevice(specification)
      device.options = variant
      var lockstep = Lockstep(specification, device, recorder: NoRecorder())
      for _ in 0..<3 {
        expect(try lockstep.begin(StartCondition()), nil)
        for name in ["wrong", "wait", "wrong", "wait", "right", "right"] {
          let action =
            specification.vocabulary.stimulus(name).map { TestAction.stimulus(Stimulus($0)) }
            ?? .wait(.seconds(4))
          expect(try lockstep.carryOut(name == "wait" ? .wait(.seconds(4)) : action).divergence, nil)
          if name == "wrong" { expect(try lockstep.pass(until: lockstep.now), nil) }
        }
        expect(try lockstep.carryOut(.wait(.seconds(20))).divergence, nil)
        // Held to what it has, it agrees, and held to something else it does not.
        lockstep.held = variant
        expect(try lockstep.conclude(), nil)
        lockstep.held = machine.allOptions & ~variant
        let shown = machine.shown(in: lockstep.tracker.options)
        let first = try #require(shown.first)
        let other = machine.shown(in: lockstep.held).first { $0.name == first.name }
        expect(
          try lockstep.conclude()?.kind,
          .contradiction(.init(of: try #require(other), shown: first.options)))
        lockstep.held = machine.allOptions
      }
    }
  }

  @Test("a test ends where it shows another option than the device is held to", arguments: ["red", "dark"])
  func end(lamp: String) throws {
    let specification = try #require(keypad)
    let machine = specification.machine
    var device = MachineDevice(specification)
    device.options = try #require(machine.variants.first { machine.options(heldTo: [lamp]) & $0 == $0 })
    var lockstep = Lockstep(specification, device, recorder: NoRecorder())
    lockstep.held = machine.allOptions & ~device.options
    let right = TestAction.stimulus(Stimulus(specification.vocabulary.stimulus("right") ?? -1))
    expect(try lockstep.begin(StartCondition()), nil)
    expect(try lockstep.carryOut(right).divergence, nil)
    let other = DeviceChoice("lamp", [lamp == "red" ? "dark" : "red"])
    expect(
      try lockstep.carryOut(right).divergence?.kind
        ?? lockstep.carryOut(.wait(.milliseconds(1))).divergence?.kind,
      .contradiction(.init(of: other, shown: [lamp])))
  }

  @Test("what a device is held to narrows, and is never lost")
  func narrowing() throws {
    let machine = try #require(keypad).machine
    let all = machine.allOptions
    let last = machine.options(heldTo: ["last"])
    expect(machine.shown(in: last), [DeviceChoice("timer", ["last"])])
    expect(machine.narrowed(all, by: last), last)
    expect(machine.narrowed(last, by: all), last)
    expect(
      machine.narrowed(last, by: machine.options(heldTo: ["first", "red"])),
      machine.options(heldTo: ["last", "red"]))
  }
}
