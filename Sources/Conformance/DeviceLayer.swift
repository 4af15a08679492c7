public import Basics

/// A device that wraps no other device; it gets defaults for the optional requirements.
public protocol StandaloneDevice: DeviceUnderTest {
  /// `Never`, so that no device can also be a ``DeviceLayer``.
  associatedtype Wrapped = Never where Wrapped == Never
}

extension StandaloneDevice {
  /// At once: a device in memory does not wear out.
  @inlinable
  public func readyTime(for stimulus: Stimulus) -> Instant? { nil }

  /// At once: a device in memory does not wear out.
  @inlinable
  public func readyTime(for fault: Fault) -> Instant? { nil }

  /// None: most devices know no more than they show.
  public func explanation(ofSilence isSilent: Bool) -> Explanation? { nil }

  /// None: most devices receive only what their users send.
  public var injected: [InjectedAction] { [] }

  /// True: most devices have no client in front that refuses stimuli.
  @inlinable
  public func reaches(_ stimulus: Stimulus) -> Bool { true }

  /// None: most devices respond at once.
  @inlinable
  public var answerDue: Instant? { nil }

  /// Zero: most devices have neither a radio link nor a motor.
  @inlinable
  public var pace: DevicePace { DevicePace() }

  /// None: most devices need no preparation session.
  public mutating func takePreparations() -> [Preparation] { [] }

  /// None: most devices have no lab around them.
  public mutating func takeDiagnostics() -> [String] { [] }
}

/// A device that wraps another one, and forwards everything that it does not change. Callers use the outermost layer
/// only.
///
/// It is a class, so that all holders of a layer share it.
public protocol DeviceLayer: AnyObject, DeviceUnderTest {
  /// The type of the wrapped device.
  associatedtype Wrapped: DeviceUnderTest
  /// The wrapped device.
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
