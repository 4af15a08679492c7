public import SesameDevice
public import Conformance
public import Sesame
public import Basics

/// A device at a place of a lab: as soon as the place is ours no longer, every use of it is trouble of the lab.
///
/// What the device does to come to rest is not its user's, and goes on below.
public struct ReservedDevice<Device: DeviceUnderTest>: DeviceUnderTest {
  /// How long a look at the device lasts before the place is looked at again.
  private static var look: Interval { .seconds(1) }

  private var device: Device
  private let reservation: Reservation

  /// Puts a device at a place that is reserved.
  public init(_ device: Device, _ reservation: Reservation) {
    self.device = device
    self.reservation = reservation
  }

  private func check() throws(LabFault) {
    if let fault = reservation.fault { throw fault }
  }

  public var abilities: Abilities { device.abilities }
  public var now: Instant { device.now }
  public mutating func adopt(_ vocabulary: Vocabulary) { device.adopt(vocabulary) }
  public func readyTime(for stimulus: Stimulus) -> Instant? { device.readyTime(for: stimulus) }
  public func readyTime(for fault: Fault) -> Instant? { device.readyTime(for: fault) }
  public func reaches(_ stimulus: Stimulus) -> Bool { device.reaches(stimulus) }
  public mutating func takeRemarks() -> [String] { device.takeRemarks() }
  public mutating func takePreparations() -> [Preparation] { device.takePreparations() }
  public var answerDue: Instant? { device.answerDue }

  public func explanation(ofSilence isSilent: Bool) -> Explanation? {
    device.explanation(ofSilence: isSilent)
  }

  public mutating func reset(to start: StartCondition) throws(LabFault) {
    try check()
    try device.reset(to: start)
  }

  public mutating func perform(_ stimulus: Stimulus) throws(LabFault) {
    try check()
    try device.perform(stimulus)
  }

  public mutating func bring(about fault: Fault) throws(LabFault) {
    try check()
    try device.bring(about: fault)
  }

  public mutating func observe(until limit: Instant) throws(LabFault) -> Observation? {
    while true {
      try check()
      let next = min(limit, device.now + Self.look)
      if let observation = try device.observe(until: next) { return observation }
      if next >= limit { return nil }
    }
  }

  public mutating func restart() throws(LabFault) {
    try check()
    try device.restart()
  }
}

extension ReservedDevice: RecordedDevice where Device: RecordedDevice {
  /// Notes what goes over the link of the device.
  public mutating func record(to recorder: LinkRecorder?) { device.record(to: recorder) }
}
