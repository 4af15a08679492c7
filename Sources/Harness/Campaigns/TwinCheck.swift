public import Conformance
public import Basics

/// Compares the behaviour of a device and its reference device in the same test.
public struct TwinCheck<Twin: DeviceUnderTest, Device: DeviceUnderTest> {
  private let targets: (twin: FuzzTarget, device: FuzzTarget)
  /// The maximum number of runs on a device.
  private let maximumRuns = 3
  private var twin: TestEngine<Twin, StepList>
  private var device: TestEngine<Device, StepList>

  public init(
    _ twinTarget: FuzzTarget, _ twin: Twin, _ target: FuzzTarget, _ device: Device, _ settings: FuzzSettings
  ) {
    targets = (twinTarget, target)
    var unlimited = settings
    unlimited.actuations = nil
    self.twin = TestEngine(twinTarget, twin, unlimited, recorder: StepList())
    self.device = TestEngine(target, device, settings, recorder: StepList())
  }

  /// Runs the reference device's finding on the device, up to three times.
  public mutating func confirm(_ finding: Finding) -> TwinVerdict {
    guard
      let test = finding.test.translated(
        finding.actions, from: targets.twin, to: targets.device, device.alphabet)
    else {
      return .notAsked("it cannot be given every event of the test")
    }
    var confirmation = Confirmation()
    do throws(LabFault) {
      let expected = try twin.shown(in: finding.test)
      while !confirmation.isDecided, confirmation.runs < maximumRuns {
        let seen = try device.shown(in: test)
        // A lost link changes what the test does, so the run proves nothing.
        if device.lockstep.wasDisturbed {
          confirmation.countDisturbed()
          guard confirmation.disturbed < maximumRuns else {
            return .notAsked("the air lost the link in \(maximumRuns) runs")
          }
          continue
        }
        guard seen.signature == expected.signature else { return difference(expected.steps, seen.steps) }
        confirmation.count(isShown: true)
      }
      return .confirmed(confirmation)
    } catch {
      return .notAsked(error.description)
    }
  }

  /// Finds where the reference device behaves differently from a device that diverged.
  public mutating func contradict(_ finding: Finding) -> TwinVerdict {
    guard
      let test = finding.test.translated(
        finding.actions, from: targets.device, to: targets.twin, twin.alphabet)
    else {
      return .notAsked("its twin cannot be given every event of the test")
    }
    do throws(LabFault) {
      let expected = try twin.shown(in: test)
      var seen = try device.shown(in: finding.test)
      for _ in 1..<maximumRuns where device.lockstep.wasDisturbed {
        seen = try device.shown(in: finding.test)
      }
      if device.lockstep.wasDisturbed { return .notAsked("the air lost the link in \(maximumRuns) runs") }
      return difference(expected.steps, seen.steps)
    } catch {
      return .notAsked(error.description)
    }
  }

  /// The first step at which the two devices showed different observations.
  private func difference(_ twin: [[String]], _ device: [[String]]) -> TwinVerdict {
    func words(_ shown: [String]?) -> String {
      guard let shown, !shown.isEmpty else { return "nothing" }
      return shown.joined(separator: ", ")
    }
    for step in 0..<max(twin.count, device.count) {
      let (first, second) = (step < twin.count ? twin[step] : nil, step < device.count ? device[step] : nil)
      if first ?? [] != second ?? [] {
        return .differs(step: step, twin: words(first), device: words(second))
      }
    }
    return .differs(step: twin.count, twin: "no divergence", device: "the same, and too late")
  }
}

extension TestCase {
  /// The same test, expressed in the choices of another device; `nil` if that device cannot perform all of it.
  public func translated(
    _ actions: [(action: TestAction, isForbidden: Bool)], from own: FuzzTarget, to other: FuzzTarget,
    _ alphabet: Alphabet
  ) -> TestCase? {
    guard let start = other.startNumbers.firstIndex(of: own.startNumbers[start]) else { return nil }
    var translated = TestCase(start: start)
    for (choice, item) in zip(choices, actions) {
      // The time actions have the same numbers for every device of a machine; an edge belongs to the model.
      let isTime = Int(choice.act) >= alphabet.eventCount && Int(choice.act) <= alphabet.edge
      guard let same = isTime ? choice : alphabet.choice(of: item.action, isForbidden: item.isForbidden)
      else {
        return nil
      }
      translated.choices.append(same)
    }
    return translated
  }

  /// The total of its explicit waits.
  public func wait(in alphabet: Alphabet) -> Interval {
    choices.reduce(.zero) { sum, choice in
      if case .wait(let interval)? = alphabet.action(of: choice) { sum + interval } else { sum }
    }
  }
}

/// Records what a device shows at each step, without readings: at its start, and after each choice.
private struct StepList: TraceRecorder {
  private(set) var steps: [[Observation]] = [[]]

  static var followsSteps: Bool { true }

  mutating func begin() { steps = [[]] }

  mutating func begin(step number: Int, _ action: TestAction, at time: Instant) { steps.append([]) }

  mutating func record(_ event: TraceEvent, at time: Instant) {
    guard case .observation(let observation) = event else { return }
    if case .reading = observation { return }
    steps[steps.count - 1].append(observation)
  }
}

extension TestEngine where Recorder == StepList {
  /// The observations of a device at each step of a test, with its failure.
  fileprivate mutating func shown(
    in test: TestCase
  ) throws(LabFault) -> (steps: [[String]], signature: String?) {
    // Every choice is made, if necessary after a wait: one of the devices may need time where the other does not.
    let (execution, trouble) = attempt(test, .made)
    if let trouble { throw trouble }
    var steps: [[String]] = []
    for (number, shown) in lockstep.recorder.steps.enumerated() {
      let words = shown.map { lockstep.vocabulary.text(of: $0) }
      // Observations during such a wait belong to the step before.
      let isOwn = number == 0 || execution.performed[number - 1] == test.choices[steps.count - 1]
      if isOwn { steps.append(words) } else { steps[steps.count - 1] += words }
    }
    return (steps, execution.divergence?.signature)
  }
}
