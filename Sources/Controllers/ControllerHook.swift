public import Bluetooth
public import Basics

/// The direction of a packet between a host and its controller.
public enum HCIDirection: Hashable, Sendable {
  case fromHost
  case toHost
}

/// A hook's decision about a packet.
public enum HookVerdict: Hashable, Sendable {
  /// The packet passes, as the hook left it.
  case pass
  /// The packet is lost.
  case drop
  /// The packet arrives twice.
  case duplicate
  /// The packet arrives late; later packets overtake it.
  case delay(Interval)
  /// A command fails with this error instead of being carried out; any other packet passes.
  case refuse(HCIErrorCode)
  /// The packet is lost, and all later packets in both directions, until the power is switched off.
  case silence
}

/// A fault of a controller or of its transport: a function that inspects every packet between a host and its
/// controller, may change it, and decides whether it passes.
///
/// A hook acts between the controller and its host, before a command is processed and after an event was created,
/// so that the controller itself always follows the specification. Set it with ``Radio/setHook(of:_:)``. To be
/// deterministic, a hook must decide from the packet and its number alone: the number of earlier packets in the
/// same direction.
public typealias ControllerHook =
  @Sendable (_ packet: inout HCIPacket, _ direction: HCIDirection, _ number: Int) -> HookVerdict

/// The hook of one controller, and its packet counters.
struct HookState: Sendable {
  private var hook: ControllerHook?
  private var passed: (fromHost: Int, toHost: Int) = (0, 0)
  private var isSilent = false
  /// Whether packets must be inspected.
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
