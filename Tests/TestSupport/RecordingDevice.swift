public import Basics
public import Conformance

/// What a harness asks a device for: every requirement of `DeviceUnderTest`, by name.
public enum DeviceCall: CaseIterable, Sendable {
  case abilities, now, adopt, reset, readyTimeOfStimulus, readyTimeOfFault, reaches, takePreparations,
    perform, bring
  case observe, explanation, injected, answerDue, pace, restart, takeDiagnostics

  /// Asks a device for it, and says what it answers: a value, or what it throws.
  public func answer(of device: inout some DeviceUnderTest) -> String {
    do throws(LabFault) {
      switch self {
      case .abilities: return "\(device.abilities.faults)"
      case .now: return "\(device.now)"
      case .adopt: device.adopt(RecordingDevice.vocabulary)
      case .reset: try device.reset(to: StartCondition())
      case .readyTimeOfStimulus: return "\(device.readyTime(for: Stimulus(1)) as Any)"
      case .readyTimeOfFault: return "\(device.readyTime(for: Fault("fog")) as Any)"
      case .reaches: return "\(device.reaches(Stimulus(1)))"
      case .takePreparations: return "\(device.takePreparations().map(\.unsure))"
      case .perform: try device.perform(Stimulus(1))
      case .bring: try device.bring(about: Fault("fog", .flag(false)))
      case .observe: return "\(try device.observe(until: .zero + .seconds(3)) as Any)"
      case .explanation: return "\(device.explanation(ofSilence: true) as Any)"
      case .injected: return "\(device.injected)"
      case .answerDue: return "\(device.answerDue as Any)"
      case .pace: return "\(device.pace.rest)"
      case .restart: try device.restart()
      case .takeDiagnostics: return "\(device.takeDiagnostics())"
      }
      return "done"
    } catch {
      return "\(error)"
    }
  }
}

/// A device that writes down what it is asked for, and answers what no other one would.
///
/// It opts in to no default, so that a requirement that is new has to be thought of here.
public final class RecordingDevice: DeviceUnderTest {
  public static let vocabulary = Vocabulary(stimuli: ["lock", "whistle"], statuses: ["locked"])

  /// What it was asked for, in order.
  public var calls: [DeviceCall] = []
  /// What all that can fail fails with.
  public var trouble: LabFault?

  public init() {}

  private func note(_ call: DeviceCall) { calls.append(call) }

  private func attempt(_ call: DeviceCall) throws(LabFault) {
    note(call)
    if let trouble { throw trouble }
  }

  public var abilities: Abilities {
    note(.abilities)
    return Abilities(stimuli: nil, faults: ["fog"])
  }
  public var now: Instant {
    note(.now)
    return .zero + .seconds(2)
  }
  public var answerDue: Instant? {
    note(.answerDue)
    return .zero + .seconds(41)
  }
  public var pace: DevicePace {
    note(.pace)
    var pace = DevicePace()
    pace.rest = .seconds(44)
    return pace
  }
  public func adopt(_ vocabulary: Vocabulary) { note(.adopt) }
  public func reset(to start: StartCondition) throws(LabFault) { try attempt(.reset) }
  public func readyTime(for stimulus: Stimulus) -> Instant? {
    note(.readyTimeOfStimulus)
    return .zero + .seconds(42)
  }
  public func readyTime(for fault: Fault) -> Instant? {
    note(.readyTimeOfFault)
    return .zero + .seconds(43)
  }
  public func reaches(_ stimulus: Stimulus) -> Bool {
    note(.reaches)
    return false
  }
  public func takePreparations() -> [Preparation] {
    note(.takePreparations)
    return [Preparation(from: nil, unsure: ["channel conditions"])]
  }
  public func perform(_ stimulus: Stimulus) throws(LabFault) { try attempt(.perform) }
  public func bring(about fault: Fault) throws(LabFault) { try attempt(.bring) }
  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    try attempt(.observe)
    return .unknown("smoke")
  }
  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    note(.explanation)
    return Explanation("asleep", "it snores")
  }
  public var injected: [InjectedAction] {
    note(.injected)
    return [InjectedAction(.other, "a yodel", reaction: "ignores it", at: .zero)]
  }
  public func restart() throws(LabFault) { try attempt(.restart) }
  public func takeDiagnostics() -> [String] {
    note(.takeDiagnostics)
    return ["it is foggy"]
  }
}

/// What is wrong with a layer around a ``RecordingDevice``: every call has to reach the device once, and what the device
/// answers or throws has to come out.
///
/// - Parameter makeLayer: makes the layer, ready for all calls.
public func silentAnswers<Layer: DeviceUnderTest>(
  _ makeLayer: (RecordingDevice) -> Layer
) -> [String] {
  var wrong: [String] = []
  for call in DeviceCall.allCases {
    for trouble in [nil, LabFault(.badAnswer, "it barks")] {
      var bare = RecordingDevice()
      let device = RecordingDevice()
      var layer = makeLayer(device)
      layer.adopt(RecordingDevice.vocabulary)
      device.calls = []
      bare.trouble = trouble
      device.trouble = trouble
      let answer = call.answer(of: &layer)
      let count = device.calls.count { $0 == call }
      let expected = call.answer(of: &bare)
      if count != 1 || answer != expected {
        wrong.append("\(call): \(count) times, \(answer), not \(expected)")
      }
    }
  }
  return wrong
}
