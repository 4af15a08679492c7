/// What a link reports.
public enum LinkEvent: Equatable, Sendable {
  /// The lock was heard: its advertising data and scan response, as AD structures one after the other.
  case advertisement([UInt8])
  /// The link layer is up; services are being found.
  case connected
  /// The lock's service was found and its notifications are on.
  case ready
  /// A notification arrived.
  case frame([UInt8])
  /// The tester drops, alters, delays or adds a frame, or is cutting the link; reported before any effect.
  case tampered
  /// The tester's Bluetooth sends what makes no sense: the lock may end the link at it.
  case provoked
  /// A frame that a third party sends in the lock's name: it is no violation by the lock, whose own frame is still to
  /// come.
  case spoofed([UInt8])
  /// A message of the lock's goes back to it: what it says next may be an answer to that.
  case reflected
  /// The connection, or the attempt at one, is over; the reason is the Core Specification's error code
  /// (Vol 1 Part F), such as 0x13 for a peer that ended it and 0x08 for a supervision time-out.
  ///
  /// With it goes how many packets of the client's the lock's link layer has never acknowledged (Number Of Completed
  /// Packets, Vol 4 Part E §7.7.19); `nil` where that cannot be known.
  case disconnected(reason: UInt8, unacknowledged: Int? = nil)
}
