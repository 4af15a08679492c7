import System
import Glibc
public import Bluetooth
public import Basics

/// The options of a transport.
public struct TransportSettings: Sendable {
  /// Turns the power at a USB bus position (`nil` for another controller) off and on again, and describes the
  /// result in a sentence.
  public typealias PowerCycle =
    @Sendable (_ busPath: String?, _ limit: Instant) throws(TransportFault) -> String

  /// The role of this end.
  public enum Role: Hashable, Sendable {
    /// The peer is a controller.
    case host
    /// The peer is a host, and this end emulates the controller.
    case controller
  }

  /// The role of this end. It determines which packets are invalid, and the directions in a capture.
  public var role = Role.host
  /// The path of the btsnoop capture of both directions; `nil` for none.
  public var tap: String?
  /// Whether opening a server waits for its peer. If not, the peer may connect later, and packets sent before are
  /// dropped.
  public var awaitsPeer = true
  /// The timeout for opening, and for a server also the timeout for its peer.
  public var openTimeout = Interval.seconds(5)
  /// How long the peer may accept no data.
  public var sendTimeout = Interval.seconds(2)
  /// How long the rest of a packet may take to arrive.
  public var packetTimeout = Interval.seconds(2)
  /// How long reopening is retried.
  public var reopenTimeout = Interval.seconds(2)
  /// Turns the controller's power off and on again, within a time limit; `nil` if there is no switch.
  public var cyclePower: PowerCycle?
  /// The folder of the lock files that keep two programs from using one controller; `nil` for ``usualLockFolder``.
  public var lockFolder: String?

  /// Creates the default settings.
  public init() {}
}

extension TransportSettings {
  /// A folder for this user only: in `$XDG_RUNTIME_DIR`, or in its usual location if the variable is not set, as in
  /// a nightly job; otherwise `/tmp/lockstep-UID`.
  public static var usualLockFolder: String {
    let runtime = Host.variable("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
    let isUsable = Kernel.access(runtime, W_OK | X_OK) == 0
    return isUsable ? runtime + "/lockstep" : "/tmp/lockstep-\(getuid())"
  }
}
