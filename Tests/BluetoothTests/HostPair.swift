import Bluetooth
import Basics

/// Two hosts whose controllers are as simple as can be: what one sends, the other receives at once, fragment for
/// fragment, and the buffer is free again.
struct HostPair {
  var central: BluetoothHost
  var peripheral: BluetoothHost
  var now = Instant.zero
  /// What each reported and nobody looked at yet.
  var centralEvents: [HostEvent] = []
  var peripheralEvents: [HostEvent] = []

  /// A pair with a link between them.
  init(aclLength: Int = 251, aclCount: Int = 8) {
    central = HostFixture.connected(.central, aclLength: aclLength, aclCount: aclCount)
    peripheral = HostFixture.connected(.peripheral, aclLength: aclLength, aclCount: aclCount)
  }

  /// Carries out what the central wants, and everything that follows from it.
  mutating func carryOut(central actions: [HostAction]) {
    for action in actions {
      switch action {
      case .report(let event): centralEvents.append(event)
      case .transmit(let packet):
        guard case .acl(let fragment) = packet else { continue }
        carryOut(peripheral: peripheral.receive(Self.arriving(fragment), at: now))
        carryOut(central: central.receive(Self.completed(fragment), at: now))
      }
    }
  }

  /// Carries out what the peripheral wants, and everything that follows from it.
  mutating func carryOut(peripheral actions: [HostAction]) {
    for action in actions {
      switch action {
      case .report(let event): peripheralEvents.append(event)
      case .transmit(let packet):
        guard case .acl(let fragment) = packet else { continue }
        carryOut(central: central.receive(Self.arriving(fragment), at: now))
        carryOut(peripheral: peripheral.receive(Self.completed(fragment), at: now))
      }
    }
  }

  /// Runs a procedure of the central's client to its end.
  mutating func run(_ procedure: GATTProcedure) -> Result<GATTResult, GATTFailure>? {
    let (id, actions) = central.start(procedure, on: HostFixture.link, at: now)
    carryOut(central: actions)
    for event in centralEvents {
      if case .gatt(HostFixture.link, .finished(id, let result)) = event { return result }
    }
    return nil
  }

  private static func arriving(_ fragment: ACLPacket) -> HCIPacket {
    var fragment = fragment
    if fragment.boundary == .first { fragment.boundary = .firstFlushable }
    return .acl(fragment)
  }

  private static func completed(_ fragment: ACLPacket) -> HCIPacket {
    .event(
      code: HCIEventCode.numberOfCompletedPackets,
      parameters: [
        1, UInt8(truncatingIfNeeded: fragment.handle.rawValue),
        UInt8(truncatingIfNeeded: fragment.handle.rawValue >> 8), 1, 0,
      ])
  }
}
