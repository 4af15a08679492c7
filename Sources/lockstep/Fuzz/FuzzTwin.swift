import Conformance
import Harness
import Simulation

/// Asks a device whether it does what its twin did.
struct TwinCheck {
  /// The most runs that a device is asked for.
  private static let mostRuns = 3

  let target: FuzzTarget
  let settings: FuzzSettings

  /// Runs the test of a finding on the twin and on the device, and compares what they show.
  func ask<Twin: DeviceUnderTest, Device: DeviceUnderTest>(
    _ finding: Finding, _ twinTarget: FuzzTarget, twin: Twin, device: Device
  ) -> TwinVerdict {
    var unlimited = settings
    unlimited.actuations = nil
    var first = TestRunner(twinTarget, twin, unlimited, recorder: TraceList())
    var second = TestRunner(target, device, settings, recorder: TraceList())
    guard let test = finding.translated(to: second.alphabet) else {
      return .notAsked("it cannot be given every event of the test")
    }
    var confirmation = Confirmation()
    do throws(LabFault) {
      let expected = try first.shown(in: finding.test)
      while !confirmation.isDecided, confirmation.runs < Self.mostRuns {
        let seen = try second.shown(in: test)
        guard seen.signature == finding.signature else {
          return difference(expected.steps, seen.steps)
        }
        confirmation.count(isShown: true)
      }
      return .confirmed(confirmation)
    } catch {
      return .notAsked(error.description)
    }
  }

  /// The first step at which the two showed different things.
  private func difference(_ twin: [[String]], _ device: [[String]]) -> TwinVerdict {
    func words(_ shown: [String]?) -> String {
      guard let shown, !shown.isEmpty else { return "nothing" }
      return shown.joined(separator: ", ")
    }
    for step in 0..<max(twin.count, device.count) {
      let (first, second) = (step < twin.count ? twin[step] : nil, step < device.count ? device[step] : nil)
      if first != second { return .differs(step: step, twin: words(first), device: words(second)) }
    }
    return .differs(step: twin.count, twin: "a divergence", device: "none")
  }
}

extension Finding {
  /// The same test in the choices of another device; `nil` where that cannot do all of it.
  fileprivate func translated(to alphabet: Alphabet) -> TestCase? {
    var translated = TestCase(start: test.start)
    for (choice, item) in zip(test.choices, actions) {
      // An edge is the model's, and each device comes to its own.
      if let action = alphabet.action(of: choice), case .edge = action {
        translated.choices.append(choice)
        continue
      }
      guard let choice = alphabet.choice(of: item.action, isForbidden: item.isForbidden) else { return nil }
      translated.choices.append(choice)
    }
    return translated
  }
}

extension TestRunner where Recorder == TraceList {
  /// What a device shows at each step of a test, beside values that are read, and how it fails.
  fileprivate mutating func shown(
    in test: TestCase
  ) throws(LabFault) -> (steps: [[String]], signature: String?) {
    var steps: [[String]] = []
    func look(_ recorder: inout TraceList, _ names: Vocabulary) {
      steps.append(
        recorder.entries.compactMap { entry in
          guard case .observation(let observation) = entry.event else { return nil }
          if case .reading = observation { return nil }
          return names.text(of: observation)
        })
      recorder = TraceList()
    }
    lockstep.recorder = TraceList()
    var divergence = try begin(test.start)
    look(&lockstep.recorder, lockstep.vocabulary)
    for choice in test.choices where divergence == nil {
      divergence = try make(choice).divergence
      look(&lockstep.recorder, lockstep.vocabulary)
    }
    if divergence == nil { divergence = try lockstep.settle() }
    look(&lockstep.recorder, lockstep.vocabulary)
    return (steps, divergence?.signature)
  }
}
