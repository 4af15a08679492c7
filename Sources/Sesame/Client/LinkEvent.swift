/// An event of a link.
public enum LinkEvent: Equatable, Sendable {
  /// An advertisement was received: its data and scan response, as a sequence of AD structures.
  case advertisement([UInt8])
  /// The link is up; services are being discovered.
  case connected
  /// The lock's service was found and its notifications are on.
  case ready
  /// A notification arrived.
  case frame([UInt8])
  /// The tester drops, alters, delays or adds a frame, or cuts the link; reported before any effect.
  case tampered
  /// The tester's Bluetooth sends malformed packets: the lock may end the link.
  case provoked
  /// A frame that a third party sends in the lock's name. It is no violation by the lock, whose own frame is
  /// still to come.
  case spoofed([UInt8])
  /// A message of the lock is sent back to it: its next message may be an answer to that.
  case reflected
  /// The connection, or the attempt at one, is over. The reason is an error code of the Core Specification
  /// (Vol 1 Part F), such as 0x13 for a peer that ended it and 0x08 for a supervision timeout.
  ///
  /// `unacknowledged` is the number of the client's packets that the lock's link layer has not acknowledged
  /// (Number Of Completed Packets, Vol 4 Part E §7.7.19); `nil` if it is unknown.
  case disconnected(reason: UInt8, unacknowledged: Int? = nil)
}
