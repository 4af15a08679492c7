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
