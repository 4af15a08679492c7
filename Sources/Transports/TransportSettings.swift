import System
import Glibc
public import Bluetooth
public import Basics

/// How a transport is used.
public struct TransportSettings: Sendable {
  /// Turns the power of what is plugged in at a place on a USB bus (`nil` for another controller) off and on again, and says
  /// in a sentence how that went.
  public typealias PowerCycle =
    @Sendable (_ busPath: String?, _ limit: Instant) throws(TransportFault) -> String

  /// Which end we are.
  public enum Role: Hashable, Sendable {
    /// A controller is at the other end.
    case host
    /// A host is at the other end, and we play the controller.
    case controller
  }

  /// Which end we are. It settles which packets are malformed, and the direction that a capture notes.
  public var role = Role.host
  /// Where everything is written down both ways, as btsnoop; `nil` for nowhere.
  public var tap: String?
  /// Whether opening a server waits for its peer. If not, the peer may connect later, and packets sent before are
  /// dropped.
  public var awaitsPeer = true
  /// How long opening may take; a server waits as long for its peer.
  public var openTimeout = Interval.seconds(5)
  /// How long the other end may take nothing of what is sent.
  public var sendTimeout = Interval.seconds(2)
  /// How long the rest of a packet may keep us waiting.
  public var packetTimeout = Interval.seconds(2)
  /// How long reopening may go on trying.
  public var reopenTimeout = Interval.seconds(2)
  /// Turns the controller's power off and on again, within a limit; `nil` where nothing does.
  public var cyclePower: PowerCycle?
  /// Where the files lie that keep two programs from one controller; `nil` for ``usualLockFolder``.
  public var lockFolder: String?

  /// Makes settings as they usually are.
  public init() {}
}

extension TransportSettings {
  /// A folder of this user alone: below `$XDG_RUNTIME_DIR`, or below the same folder where the variable is not set,
  /// as in a nightly job; else `/tmp/lockstep-UID`.
  public static var usualLockFolder: String {
    let runtime = Host.variable("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
    let isUsable = Kernel.access(runtime, W_OK | X_OK) == 0
    return isUsable ? runtime + "/lockstep" : "/tmp/lockstep-\(getuid())"
  }
}
