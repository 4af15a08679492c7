public import Links
public import Conformance
public import Basics

/// A device at a place of a lab: after the place is lost, every use of it is a lab fault.
///
/// Parking is internal to the device and continues below this layer.
public final class ReservedDevice<Device: DeviceUnderTest>: DeviceLayer {
  /// The maximum time between two checks of the place.
  private static var pollInterval: Interval { .seconds(1) }

  public var wrapped: Device
  private let fault: () -> LabFault?

  /// Wraps a device at a reserved place.
  ///
  /// - Parameter fault: why the place was lost; `nil` while it is held.
  public init(_ device: Device, fault: @escaping () -> LabFault?) {
    wrapped = device
    self.fault = fault
  }

  private func check() throws(LabFault) {
    if let fault = fault() { throw fault }
  }

  public func reset(to start: StartCondition) throws(LabFault) {
    try check()
    try wrapped.reset(to: start)
  }

  public func perform(_ stimulus: Stimulus) throws(LabFault) {
    try check()
    try wrapped.perform(stimulus)
  }

  public func bring(about fault: Fault) throws(LabFault) {
    try check()
    try wrapped.bring(about: fault)
  }

  public func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      try check()
      let next = min(limit, wrapped.now + Self.pollInterval)
      if let observation = try wrapped.observe(until: next) { return observation }
      if next >= limit { return nil }
    }
  }

  public func restart() throws(LabFault) {
    try check()
    try wrapped.restart()
  }
}

extension ReservedDevice: RecordedDevice where Device: RecordedDevice {
  /// Records the packets of the wrapped device's link.
  public func record(to notes: LinkNotes?) { wrapped.record(to: notes) }
}
