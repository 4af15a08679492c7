public import Bluetooth
public import Basics

/// Which way a packet goes between a host and its controller.
public enum HCIDirection: Hashable, Sendable {
  case fromHost
  case toHost
}

/// What becomes of a packet that a hook looked at.
public enum HookVerdict: Hashable, Sendable {
  /// It goes on, as the hook left it.
  case pass
  /// It is lost.
  case drop
  /// It arrives twice.
  case duplicate
  /// It arrives later; those behind it overtake it.
  case delay(Interval)
  /// A command is not carried out, but answered with this error; anything else goes on.
  case refuse(HCIErrorCode)
  /// It is lost, and everything after it, either way, until the power was off.
  case silence
}

/// A fault of a controller, or of the way to it: looks at every packet between a host and its controller, may change
/// it, and decides what becomes of it.
///
/// A hook acts between the controller and its host, before a command is looked at and after an event was made, so
/// that whatever it does the controller itself stays within the rules. It is set with ``Radio/setHook(of:_:)``. To stay
/// deterministic it decides by the packet and its number alone: how many packets went that way before it.
public typealias ControllerHook =
  @Sendable (_ packet: inout HCIPacket, _ direction: HCIDirection, _ number: Int) -> HookVerdict

/// The hook of one controller and how far it has counted.
struct HookState: Sendable {
  private var hook: ControllerHook?
  private var passed: (fromHost: Int, toHost: Int) = (0, 0)
  private var isSilent = false
  /// Whether a packet must be looked at.
  var isActive: Bool { hook != nil || isSilent }

  mutating func set(_ hook: ControllerHook?) { self.hook = hook }

  mutating func powerOff() { isSilent = false }

  /// Lets the hook act on a packet.
  mutating func judge(_ packet: inout HCIPacket, _ direction: HCIDirection) -> HookVerdict {
    guard !isSilent else { return .drop }
    let number = direction == .fromHost ? passed.fromHost : passed.toHost
    let verdict = hook?(&packet, direction, number) ?? .pass
    switch direction {
    case .fromHost: passed.fromHost += 1
    case .toHost: passed.toHost += 1
    }
    if verdict == .silence { isSilent = true }
    return verdict
  }
}
