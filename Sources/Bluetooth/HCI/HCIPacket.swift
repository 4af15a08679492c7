import Basics

/// A packet between a host and its controller (Core 5.4, Vol 4 Part E §5.4).
///
/// Parameters and data stay bytes here; ``HCICommand``, ``HCIEvent`` and ``ACLPacket`` decode them. On a
/// serial line or a socket an octet before the packet shows its kind (H4, Vol 4 Part A §2).
public enum HCIPacket: Hashable, Sendable {
  /// Host to controller: a command.
  case command(opcode: UInt16, parameters: [UInt8])
  /// Both directions: data of a link.
  case acl(ACLPacket)
  /// Either direction: voice data, with its header of 3 bytes. It is never sent here, and ignored when received.
  case synchronous([UInt8])
  /// Controller to host: an event.
  case event(code: UInt8, parameters: [UInt8])
  /// Either direction: isochronous data, with its header of 4 bytes. It is never sent here, and ignored when
  /// received.
  case isochronous([UInt8])
}

/// The number of a link between host and controller: 12 bits (Core 5.4, Vol 4 Part E §5.3.1).
public struct ConnectionHandle: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number; controllers assign those from 0 to 0x0EFF.
  public var rawValue: UInt16

  /// The bits of a handle; the four above them belong to something else, or are reserved.
  static let mask: UInt16 = 0x0FFF
  /// The greatest valid handle of a link.
  static let greatest = ConnectionHandle(rawValue: 0x0EFF)

  /// Makes a handle from its number.
  @inlinable
  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  @inlinable
  public static func < (left: ConnectionHandle, right: ConnectionHandle) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension ConnectionHandle: CustomStringConvertible {
  /// The number in hexadecimal.
  public var description: String {
    "0x" + [UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)].hex
  }
}

/// A fragment of an L2CAP frame to or from the controller (Core 5.4, Vol 4 Part E §5.4.2).
public struct ACLPacket: Hashable, Sendable {
  /// The position of a fragment in its frame, as two bits.
  public enum Boundary: UInt8, Hashable, Sendable {
    /// The first fragment from host to controller; it must not be flushed, as always on LE.
    case first = 0b00
    /// A later fragment.
    case continuing = 0b01
    /// The first fragment, controller to host; on BR/EDR also host to controller, flushable.
    case firstFlushable = 0b10
    /// A whole frame that is flushed together; not for LE.
    case complete = 0b11
  }

  /// The link.
  public var handle: ConnectionHandle
  /// The position of the fragment in its frame.
  public var boundary: Boundary
  /// The broadcast flag; 0 on LE.
  public var broadcast: UInt8
  /// The bytes of the fragment.
  public var data: [UInt8]

  /// Makes a fragment.
  @inlinable
  public init(handle: ConnectionHandle, boundary: Boundary, broadcast: UInt8 = 0, data: [UInt8]) {
    self.handle = handle
    self.boundary = boundary
    self.broadcast = broadcast
    self.data = data
  }
}
