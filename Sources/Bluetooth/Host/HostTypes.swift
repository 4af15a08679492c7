public import Basics

/// The identifier of a host's link, which is never reused, unlike connection handles.
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

/// An event of a host.
public enum HostEvent: Hashable, Sendable {
  /// The controller was reset and set up: all other requests are possible from now on.
  case ready(ControllerDescription)
  /// The controller violated HCI, or does not respond. No request is possible until the host is started
  /// again.
  case failed(HostFailure)
  /// An advertisement was received while scanning.
  case advertisement(AdvertisingReport)
  /// Scanning was started or stopped on request, or the request was refused.
  case scanning(Bool, status: HCIErrorCode)
  /// Advertising was started or stopped on request, or the request was refused. A connection also stops it.
  case advertising(Bool, status: HCIErrorCode)
  /// A link was established.
  case connected(LinkID, ConnectionComplete)
  /// There is no link: refused, timed out or cancelled.
  case connectionFailed(HCIErrorCode)
  /// A link ended. The number is that of the packets, sent or waiting, that the other end's link layer had
  /// not acknowledged: only these may not have arrived.
  case disconnected(LinkID, reason: HCIErrorCode, unacknowledged: Int)
  /// The link's timing changed, or a request to change it was refused.
  case timing(LinkID, status: HCIErrorCode, ConnectionTiming)
  /// The maximum packet lengths of the link changed.
  case dataLength(LinkID, DataLength)
  /// A GATT event on a link.
  case gatt(LinkID, GATTEvent)
  /// There is room again for notifications and write commands, after some were refused.
  case readyToSend(LinkID)
  /// The other end of a link violated its protocol or, without a link, the controller showed a harmless
  /// anomaly, as described by the text.
  case protocolViolation(LinkID?, String)
}

/// The properties of a controller, as reported at its setup.
public struct ControllerDescription: Hashable, Sendable {
  /// Its public address.
  public var publicAddress: BluetoothAddress
  /// The random static address assigned by the host, which both roles use.
  public var randomAddress: BluetoothAddress
  /// The versions and the manufacturer.
  public var hciVersion: VersionInformation
  /// The features of LE as bits (Core 5.4, Vol 6 Part B §4.6).
  public var leFeatures: UInt64
  /// The maximum length of a fragment to it.
  public var aclLength: Int
  /// The number of fragments that it can buffer.
  public var aclCount: Int
}

/// Why a host cannot continue with its controller.
public enum HostFailure: Error, Hashable, Sendable {
  /// A command had no response in time.
  case noAnswer(opcode: UInt16)
  /// An indispensable command was refused.
  case refused(opcode: UInt16, HCIErrorCode)
  /// The controller reported a hardware error.
  case hardwareError(UInt8)
  /// A packet did not decode.
  case undecodable(String, DecodeError)
  /// The controller violated HCI, as described by the text.
  case broken(String)
}

extension HostFailure: CustomStringConvertible {
  /// The failure in one clause.
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

/// The settings of a host.
public struct HostSettings: Hashable, Sendable {
  /// The random static address of the device.
  public var address: BluetoothAddress
  /// The ATT MTU that this end offers and requests; at least 23.
  public var mtu: UInt16
  /// The time limit of a command's response.
  public var commandTimeout: Interval
  /// The maximum number of frames that wait for the controller on one link before notifications are refused.
  public var queueLimit: Int
  /// The device name in the GAP service, which every server has.
  public var name: String
  /// Whether a write with response waits for ``BluetoothHost/answerWrite(_:on:at:)``.
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
