public import Basics

/// A device that has no other one in it, and no more to say than it implements.
public protocol StandaloneDevice: DeviceUnderTest {
  /// Nothing: so that no device can be this and a ``DeviceLayer``.
  associatedtype Wrapped = Never where Wrapped == Never
}

extension StandaloneDevice {
  /// At once: nothing in memory wears out.
  @inlinable
  public func readyTime(for stimulus: Stimulus) -> Instant? { nil }

  /// At once: nothing in memory wears out.
  @inlinable
  public func readyTime(for fault: Fault) -> Instant? { nil }

  /// None: most devices know no more than they show.
  public func explanation(ofSilence isSilent: Bool) -> Explanation? { nil }

  /// Nothing: most devices are asked for nothing but what their users ask for.
  public var injected: [InjectedAction] { [] }

  /// It does: most devices have nothing before them that would keep it back.
  @inlinable
  public func reaches(_ stimulus: Stimulus) -> Bool { true }

  /// None: most devices say at once what they are asked for.
  @inlinable
  public var answerDue: Instant? { nil }

  /// None: most devices are not reached over the air, and have no motor.
  @inlinable
  public var pace: DevicePace { DevicePace() }

  /// None: most devices are put into their start.
  public mutating func takePreparations() -> [Preparation] { [] }

  /// Nothing: most devices have no lab around them.
  public mutating func takeDiagnostics() -> [String] { [] }
}

/// A device around another one. Whatever it does not change goes through to that; who drives both drives the outer one.
///
/// There is one of it, however often it is handed on.
public protocol DeviceLayer: AnyObject, DeviceUnderTest {
  /// What is in it.
  associatedtype Wrapped: DeviceUnderTest
  /// What is in it.
  var wrapped: Wrapped { get set }
}

extension DeviceLayer {
  public var abilities: Abilities { wrapped.abilities }
  public var now: Instant { wrapped.now }
  public var answerDue: Instant? { wrapped.answerDue }
  public var injected: [InjectedAction] { wrapped.injected }
  public var pace: DevicePace { wrapped.pace }

  public func adopt(_ vocabulary: Vocabulary) { wrapped.adopt(vocabulary) }
  public func reset(to start: StartCondition) throws(LabFault) { try wrapped.reset(to: start) }
  public func readyTime(for stimulus: Stimulus) -> Instant? { wrapped.readyTime(for: stimulus) }
  public func readyTime(for fault: Fault) -> Instant? { wrapped.readyTime(for: fault) }
  public func reaches(_ stimulus: Stimulus) -> Bool { wrapped.reaches(stimulus) }
  public func takePreparations() -> [Preparation] { wrapped.takePreparations() }
  public func perform(_ stimulus: Stimulus) throws(LabFault) { try wrapped.perform(stimulus) }
  public func bring(about fault: Fault) throws(LabFault) { try wrapped.bring(about: fault) }
  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    try wrapped.observe(until: limit)
  }
  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    wrapped.explanation(ofSilence: isSilent)
  }
  public func restart() throws(LabFault) { try wrapped.restart() }
  public func takeDiagnostics() -> [String] { wrapped.takeDiagnostics() }
}
