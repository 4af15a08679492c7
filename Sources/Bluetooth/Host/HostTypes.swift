public import Basics

/// A link of a host, by a number that is never used again; connection handles are.
public struct LinkID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number, from 1 on.
  public var rawValue: Int

  /// Makes an identifier from its number.
  @inlinable
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  @inlinable
  public static func < (left: LinkID, right: LinkID) -> Bool { left.rawValue < right.rawValue }
}

/// What the caller of a host must do next, in order.
public enum HostAction: Hashable, Sendable {
  /// Hand the packet to the controller.
  case transmit(HCIPacket)
  /// An event for the user of the host.
  case report(HostEvent)
}

/// What a host reports.
public enum HostEvent: Hashable, Sendable {
  /// The controller was reset and set up: everything else is possible from here on.
  case ready(ControllerDescription)
  /// The controller broke HCI, or does not answer. Nothing is possible until the host is started again.
  case failed(HostFailure)
  /// Something was heard while scanning.
  case advertisement(AdvertisingReport)
  /// Scanning has begun or ended as was asked for, or was refused.
  case scanning(Bool, status: HCIErrorCode)
  /// Advertising has begun or ended as was asked for, or was refused. It also ends by itself with a connection.
  case advertising(Bool, status: HCIErrorCode)
  /// A link is up.
  case connected(LinkID, ConnectionComplete)
  /// There is no link: refused, timed out or cancelled.
  case connectionFailed(HCIErrorCode)
  /// A link is over. So many packets of data were given to the controller, or waited for room in it, that the other
  /// end's link layer had not acknowledged: only these may not have arrived.
  case disconnected(LinkID, reason: HCIErrorCode, unacknowledged: Int)
  /// The link's timing changed, or was not changed though asked for.
  case timing(LinkID, status: HCIErrorCode, ConnectionTiming)
  /// The greatest packets of the link changed.
  case dataLength(LinkID, DataLength)
  /// Something of GATT on a link.
  case gatt(LinkID, GATTEvent)
  /// There is room again for notifications and write commands, after some were turned away.
  case readyToSend(LinkID)
  /// The other end of a link broke a rule of its protocol or, without a link, the controller did something odd that
  /// does no harm; the sentence says which.
  case protocolViolation(LinkID?, String)
}

/// What a controller says of itself when it is set up.
public struct ControllerDescription: Hashable, Sendable {
  /// Its public address.
  public var publicAddress: BluetoothAddress
  /// The random static address that the host gave it, and that both roles use.
  public var randomAddress: BluetoothAddress
  /// Versions and maker.
  public var hciVersion: VersionInformation
  /// The features of LE as bits (Core 5.4, Vol 6 Part B §4.6).
  public var leFeatures: UInt64
  /// How long a fragment may be that is sent to it.
  public var aclLength: Int
  /// How many fragments it takes before it has sent any.
  public var aclCount: Int
}

/// Why a host cannot continue with its controller.
public enum HostFailure: Error, Hashable, Sendable {
  /// A command had no answer in time.
  case noAnswer(opcode: UInt16)
  /// A command without which nothing works was refused.
  case refused(opcode: UInt16, HCIErrorCode)
  /// The controller reported a hardware error.
  case hardwareError(UInt8)
  /// A packet did not decode.
  case undecodable(String, DecodeError)
  /// The controller broke HCI; the sentence says how.
  case broken(String)
}

extension HostFailure: CustomStringConvertible {
  /// One clause on what the controller did.
  public var description: String {
    switch self {
    case .noAnswer(let opcode): "the controller does not answer the command 0x\(opcode.hex)"
    case .refused(let opcode, let code): "the controller refuses the command 0x\(opcode.hex): \(code)"
    case .hardwareError(let code): "the controller reports the hardware error 0x\([code].hex)"
    case .undecodable(let what, let error): "the controller sent \(what) that does not decode, \(error)"
    case .broken(let rule): "the controller broke a rule: \(rule)"
    }
  }
}

/// How a host is set up.
public struct HostSettings: Hashable, Sendable {
  /// The random static address of the device.
  public var address: BluetoothAddress
  /// The ATT MTU that this end offers when asked, and asks for when told to; at least 23.
  public var mtu: UInt16
  /// How long a command may take to be answered.
  public var commandTimeout: Interval
  /// How many frames may wait for the controller on one link before notifications are turned away.
  public var queueLimit: Int
  /// The device name in the GAP service, which every server has.
  public var name: String
  /// Whether a write with response is made and answered only once ``BluetoothHost/answerWrite(_:on:at:)`` says so.
  public var holdsWrites = false

  /// Makes settings.
  public init(
    address: BluetoothAddress, mtu: UInt16 = 247, commandTimeout: Interval = .seconds(2),
    queueLimit: Int = 64,
    name: String = "Lockstep"
  ) {
    precondition(address.isStaticRandom, "the address of a host is a static random one")
    precondition(mtu >= 23, "an ATT MTU is at least 23")
    precondition(queueLimit >= 1, "a queue that is always full sends nothing")
    self.address = address
    self.mtu = mtu
    self.commandTimeout = commandTimeout
    self.queueLimit = queueLimit
    self.name = name
  }
}
