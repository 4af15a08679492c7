import Automata
import Basics
import Conformance
import Models

extension Figure {
  /// The speed of models that hold data.
  static var data: [Figure] {
    let method =
      "The model follows generated tests of the machine on a device of it, recorded before: 200,000 stimuli with what they "
      + "show; the best of 5 runs, one core. Machine: "
    return [
      Figure(
        name: "data.code", unit: "events/s", better: .higher,
        method: method + "a code that can be changed, three tries with a lock-out, relock.",
        measure: { codeLock.flatMap { eventsPerSecond($0) } }),
      Figure(
        name: "data.keypad", unit: "events/s", better: .higher,
        method: method + "the keypad, with maps of two entries and a log of ten records.",
        measure: { eventsPerSecond(.keypad) }),
    ]
  }

  /// A lock with a code, and no lists.
  private static var codeLock: MachineDefinition? {
    let text = """
      machine: code-lock
      states: [locked, unlocked, lockedOut]
      variables:
        pin: { form: text, first: "'1234'" }
        tries: { form: { integer: [0, 3] }, first: 0 }
      events:
        - enter: { arguments: { code: text } }
        - change: { arguments: { old: text, new: text } }
        - lock
      starts: [{ state: locked }]
      transitions:
        - { event: enter, from: locked, when: code == pin, to: unlocked, set: { tries: 0 } }
        - { event: enter, from: locked, when: tries < 2, to: "=", then: buzz, set: { tries: tries + 1 } }
        - { event: enter, from: locked, to: lockedOut, set: { tries: 0 } }
        - { event: lock, from: unlocked, to: locked }
        - { from: unlocked, to: locked, after: 7 s }
        - { from: lockedOut, to: locked, after: 60 s }
        - { event: change, from: unlocked, when: old == pin && new.size() >= 4, to: "=", then: done, set: { pin: new } }
        - { event: change, from: unlocked, to: "=", then: denied }
      """
    return try? MachineDefinition(yaml: Array(text.utf8), name: "code-lock.yaml")
  }

  /// Records the events of all tests.
  private struct Recording: TraceRecorder {
    /// The events of each test.
    var tests: [[(time: Instant, event: TraceEvent)]] = []

    mutating func begin() { tests.append([]) }

    mutating func record(_ event: TraceEvent, at time: Instant) {
      guard !tests.isEmpty else { return }
      tests[tests.count - 1].append((time, event))
    }
  }

  private static func eventsPerSecond(_ definition: MachineDefinition) -> Double? {
    guard let machine = try? Machine(definition) else { return nil }
    let specification = Specification(machine)
    let device = MachineDevice(machine)
    let alphabet = Alphabet(specification, device.abilities)
    var settings = Explorer.Settings()
    settings.isSimulated = true
    var explorer = Explorer(alphabet, starts: 1, settings: settings, seed: 1)
    var engine = TestEngine(
      specification, alphabet, starts: [StartCondition()], device, recorder: Recording())
    do {
      if try engine.perform(all: &explorer, maximum: 200_000) != nil { return nil }
    } catch {
      return nil
    }
    let tests = engine.lockstep.recorder.tests
    var tracker = Tracker(specification)
    var rates: [Double] = []
    for _ in 0..<5 {
      var (count, agrees) = (0, true)
      let time = seconds {
        for test in tests where agrees { agrees = follow(test, &tracker, &count) }
      }
      guard agrees else { return nil }
      rates.append(Double(count) / time)
    }
    return rates.max()
  }

  /// Follows a recorded test; returns `false` if the model does not allow it.
  @inline(never)
  private static func follow(
    _ entries: [(time: Instant, event: TraceEvent)], _ tracker: inout Tracker, _ count: inout Int
  ) -> Bool {
    tracker.start(in: 0)
    for index in entries.indices {
      switch entries[index].event {
      case .stimulus(let stimulus):
        count += 1
        // What was seen before is over.
        guard tracker.settle(at: entries[index].time) else { return false }
        tracker.perform(stimulus, at: entries[index].time)
      case .observation(let observation):
        guard tracker.observe(observation, at: entries[index].time) else { return false }
      case .fault: break
      }
    }
    return true
  }
}
