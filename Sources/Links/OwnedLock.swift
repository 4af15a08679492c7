public import Conformance

/// Properties of every real lock.
public enum RealAir {
  /// The conditions of the model that always hold: frames and links get lost.
  public static let conditions = ["loss"]
}

/// A lock whose client knows more than the lock shows: whether it holds the owner's key, and the lock's
/// configuration.
public protocol OwnedLock: DeviceUnderTest {
  /// The arguments of the configuring stimulus that match the current configuration; `nil` unless the lock reports
  /// it in an open session, or if it was never configured.
  var configuration: [Argument]? { get }

  /// Whether the client holds the owner's key.
  var isRegistered: Bool { get }

  /// Restores the key that was set aside last if the client holds none: the lock may still know it.
  ///
  /// - Returns: whether there was such a key.
  mutating func recallKey() throws(LabFault) -> Bool

  /// Sets the restored key aside again, because the lock has no owner.
  mutating func dropRecalledKey() throws(LabFault)
}

extension AirDevice: OwnedLock where Client: OwnedLock {
  public var configuration: [Argument]? { wrapped.configuration }
  public var isRegistered: Bool { wrapped.isRegistered }
  public func recallKey() throws(LabFault) -> Bool { try wrapped.recallKey() }
  public func dropRecalledKey() throws(LabFault) { try wrapped.dropRecalledKey() }
}
