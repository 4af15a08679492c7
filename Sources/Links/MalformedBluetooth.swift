public import Bluetooth

/// A malformed input below the frame layer. A correct lock answers it as the Core Specification requires or
/// ignores it, and otherwise behaves as if it had not been sent.
public enum MalformedBluetooth: String, CaseIterable, Sendable {
  /// No bytes.
  case empty
  /// A request with an unknown opcode.
  case unknownRequest = "unknown-request"
  /// A command with an unknown opcode.
  case unknownCommand = "unknown-command"
  /// A write command without a complete handle.
  case cutWrite = "cut-write"
  /// A plaintext command of the lock's protocol, as a write request.
  case writeRequest = "write-request"
  /// The same as a write command, to the notifying characteristic.
  case wrongValue = "wrong-value"
  /// The same as a write request, to a handle without an attribute.
  case wrongHandle = "wrong-handle"
  /// The same as a write command, to the invalid handle 0.
  case handleZero = "handle-0"
  /// A signed write command without a value, with an invalid signature.
  case signedWrite = "signed-write"
  /// A plaintext command in two prepared writes, which are executed.
  case preparedWrite = "prepared-write"
  /// A prepared write that is cancelled.
  case cancelledWrite = "cancelled-write"
  /// A prepared write far beyond the end of the value.
  case writeBeyondEnd = "write-beyond-end"
  /// An execution without prepared writes.
  case executeNothing = "execute-nothing"
  /// A write command longer than the link's MTU.
  case oversized
  /// An MTU below the minimum.
  case mtuZero = "mtu-0"
  /// The maximum MTU.
  case mtuMost = "mtu-ffff"
  /// A read of the notifying characteristic.
  case read
  /// A response without a request.
  case response
  /// A confirmation without an indication.
  case confirmation
  /// A notification from the client.
  case notification
  /// A channel that does not exist.
  case unknownChannel = "unknown-channel"
  /// An unknown L2CAP signalling command.
  case signalling
  /// A pairing request.
  case pairing
}

extension MalformedBluetooth {
  /// Whether the packets contain a plaintext command, which a defective lock may obey.
  public var holdsCommand: Bool {
    switch self {
    case .writeRequest, .wrongValue, .wrongHandle, .handleZero, .preparedWrite, .cancelledWrite,
      .writeBeyondEnd, .oversized, .notification, .unknownChannel:
      true
    case .empty, .unknownRequest, .unknownCommand, .cutWrite, .signedWrite, .executeNothing, .mtuZero,
      .mtuMost,
      .read, .response, .confirmation, .signalling, .pairing:
      false
    }
  }

  /// Returns the L2CAP payloads with their channels.
  ///
  /// - Parameters:
  ///   - write: the characteristic to which frames are written.
  ///   - notify: the characteristic that notifies frames.
  ///   - frame: a frame that a correct lock does not obey.
  public func packets(
    write: AttributeHandle, notify: AttributeHandle, frame: [UInt8]
  ) -> [(channel: UInt16, payload: [UInt8])] {
    func att(_ bytes: [UInt8]) -> (channel: UInt16, payload: [UInt8]) { (0x0004, bytes) }
    func to(_ opcode: UInt8, _ handle: UInt16, _ rest: [UInt8]) -> [UInt8] {
      [opcode, UInt8(truncatingIfNeeded: handle), UInt8(truncatingIfNeeded: handle >> 8)] + rest
    }
    let value = write.rawValue
    let short = Array(frame.prefix(16))
    switch self {
    case .empty: return [att([])]
    case .unknownRequest: return [att([0x3E, 1, 2, 3])]
    case .unknownCommand: return [att([0x7E, 1, 2, 3])]
    case .cutWrite: return [att([0x52, UInt8(truncatingIfNeeded: value)])]
    case .writeRequest: return [att(to(0x12, value, frame))]
    case .wrongValue: return [att(to(0x52, notify.rawValue, frame))]
    case .wrongHandle: return [att(to(0x12, 0xFFFF, frame))]
    case .handleZero: return [att(to(0x52, 0, frame))]
    case .signedWrite: return [att(to(0xD2, value, [UInt8](repeating: 0, count: 12)))]
    case .preparedWrite:
      let half = short.count / 2
      return [
        att(to(0x16, value, [0, 0] + short.prefix(half))),
        att(to(0x16, value, [UInt8(half), 0] + short.dropFirst(half))), att([0x18, 1]),
      ]
    case .cancelledWrite: return [att(to(0x16, value, [0, 0] + short)), att([0x18, 0])]
    case .writeBeyondEnd: return [att(to(0x16, value, [0xFF, 0x7F] + short)), att([0x18, 1])]
    case .executeNothing: return [att([0x18, 1])]
    case .oversized: return [att(to(0x52, value, frame + [UInt8](repeating: 0, count: 80)))]
    case .mtuZero: return [att([0x02, 0, 0])]
    case .mtuMost: return [att([0x02, 0xFF, 0xFF])]
    case .read: return [att(to(0x0A, notify.rawValue, []))]
    case .response: return [att([0x13])]
    case .confirmation: return [att([0x1E])]
    case .notification: return [att(to(0x1B, value, frame))]
    case .unknownChannel: return [(0x0040, frame)]
    case .signalling: return [(0x0005, [0xFE, 1, 0, 0])]
    case .pairing: return [(0x0006, [0x01, 3, 0, 1, 16, 0, 0])]
    }
  }
}
