public import Bluetooth
public import Conformance

/// What holds of every lock on real air.
public enum RealAir {
  /// The conditions of the model that always hold: frames and links get lost.
  public static let conditions = ["loss"]
}

/// A lock of which more is known than it shows: whether its owner's key is kept here, and how it is configured.
public protocol OwnedLock: DeviceUnderTest {
  /// What a stimulus that configures it would be given to set it as it is; `nil` where the lock does not say so in a session
  /// that is open, or was never configured.
  var configuration: [Argument]? { get }

  /// Whether the key of its owner is kept here.
  var isRegistered: Bool { get }

  /// Takes the key back that was put aside last, where none is kept now: the lock may not have forgotten it.
  ///
  /// - Returns: whether there was one.
  mutating func recallKey() throws(LabFault) -> Bool

  /// Puts the key aside that was taken back, since the lock has no owner.
  mutating func dropRecalledKey() throws(LabFault)
}

extension AirDevice: OwnedLock where Client: OwnedLock {
  public var configuration: [Argument]? { wrapped.configuration }
  public var isRegistered: Bool { wrapped.isRegistered }
  public func recallKey() throws(LabFault) -> Bool { try wrapped.recallKey() }
  public func dropRecalledKey() throws(LabFault) { try wrapped.dropRecalledKey() }
}

/// What notes down what goes over a link: its packets and, as its family knows it, what is needed to read them.
public protocol LinkNotes: AnyObject {
  /// The packets.
  var packets: PacketRecorder { get }
}

/// A device whose link can be noted down.
public protocol RecordedDevice {
  /// Notes what goes over the link from now on, from the beginning of each test; `nil` ends it.
  mutating func record(to recorder: (any LinkNotes)?)
}

extension AirDevice: RecordedDevice where Client: RecordedDevice {
  public func record(to recorder: (any LinkNotes)?) { wrapped.record(to: recorder) }
}
