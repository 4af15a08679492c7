public import Basics

/// The address of a device together with its type.
public struct PeerAddress: Hashable, Sendable {
  /// The type of an address (Core 5.4, Vol 4 Part E §7.8.12).
  public enum Kind: UInt8, Hashable, Sendable {
    case publicDevice = 0x00
    case randomDevice = 0x01
    /// Resolved by the controller.
    case publicIdentity = 0x02
    /// Resolved by the controller.
    case randomIdentity = 0x03
  }

  /// The type of the address.
  public var kind: Kind
  /// The address.
  public var address: BluetoothAddress

  /// Makes an address of a kind.
  @inlinable
  public init(_ kind: Kind, _ address: BluetoothAddress) {
    self.kind = kind
    self.address = address
  }
}

extension PeerAddress: CustomStringConvertible {
  /// The address and its kind, as Bumble writes it: `c7:e6:da:90:f5:f9` or, for a public one, with `/P`.
  public var description: String {
    switch kind {
    case .publicDevice, .publicIdentity: "\(address)/P"
    case .randomDevice, .randomIdentity: "\(address)"
    }
  }
}

/// The parameters of advertising (Core 5.4, Vol 4 Part E §7.8.5).
public struct AdvertisingParameters: Hashable, Sendable {
  /// The type of advertisement.
  public enum Kind: UInt8, Hashable, Sendable {
    /// ADV_IND: connectable and scannable, undirected.
    case connectable = 0x00
    /// ADV_DIRECT_IND, high duty cycle: one device may connect.
    case directedHighDuty = 0x01
    /// ADV_SCAN_IND: scannable, undirected.
    case scannable = 0x02
    /// ADV_NONCONN_IND: neither connectable nor scannable.
    case nonconnectable = 0x03
    /// ADV_DIRECT_IND, low duty cycle: one device may connect.
    case directedLowDuty = 0x04
  }

  /// The least interval, in units of 0.625 ms, from 0x0020 to 0x4000.
  public var minimumInterval: UInt16
  /// The greatest interval, in the same units.
  public var maximumInterval: UInt16
  /// The type of advertisement.
  public var kind: Kind
  /// The type of the device's own address: 0 public, 1 random, 2 and 3 resolvable.
  public var ownAddressType: UInt8
  /// The addressee of a directed advertisement.
  public var peer: PeerAddress
  /// The channels 37, 38 and 39 as bits 0, 1 and 2.
  public var channels: UInt8
  /// Whether the filter accept list applies: bit 0 to scan requests, bit 1 to connections.
  public var filterPolicy: UInt8

  /// Makes parameters, with common values by default.
  public init(
    minimumInterval: UInt16 = 0x00A0, maximumInterval: UInt16 = 0x00A0, kind: Kind = .connectable,
    ownAddressType: UInt8 = 1, peer: PeerAddress = PeerAddress(.publicDevice, BluetoothAddress(0)),
    channels: UInt8 = 0b111, filterPolicy: UInt8 = 0
  ) {
    self.minimumInterval = minimumInterval
    self.maximumInterval = maximumInterval
    self.kind = kind
    self.ownAddressType = ownAddressType
    self.peer = peer
    self.channels = channels
    self.filterPolicy = filterPolicy
  }
}

/// The parameters of scanning (Core 5.4, Vol 4 Part E §7.8.10).
public struct ScanParameters: Hashable, Sendable {
  /// Whether to request scan responses.
  public var isActive: Bool
  /// From the beginning of one window to that of the next, in units of 0.625 ms, from 0x0004 to 0x4000.
  public var interval: UInt16
  /// The length of a window, in the same units; at most the interval.
  public var window: UInt16
  /// The type of the device's own address in scan requests.
  public var ownAddressType: UInt8
  /// Whether only devices of the filter accept list are reported.
  public var filterPolicy: UInt8

  /// Makes parameters; by default the device scans continuously and requests scan responses.
  public init(
    isActive: Bool = true, interval: UInt16 = 0x0010, window: UInt16 = 0x0010, ownAddressType: UInt8 = 1,
    filterPolicy: UInt8 = 0
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.ownAddressType = ownAddressType
    self.filterPolicy = filterPolicy
  }
}

/// The timing of a link (Core 5.4, Vol 4 Part E §7.8.12, §7.8.18).
public struct ConnectionParameters: Hashable, Sendable {
  /// The least interval between connection events, in units of 1.25 ms, from 0x0006 to 0x0C80.
  public var minimumInterval: UInt16
  /// The greatest interval, in the same units.
  public var maximumInterval: UInt16
  /// The number of connection events that the peripheral may skip, at most 0x01F3.
  public var latency: UInt16
  /// The link is lost after this time without a packet, in units of 10 ms, from 0x000A to 0x0C80.
  public var supervisionTimeout: UInt16
  /// The least and the greatest length of a connection event, in units of 0.625 ms: a hint.
  public var minimumEventLength: UInt16
  /// See ``minimumEventLength``.
  public var maximumEventLength: UInt16

  /// Makes parameters; by default 7.5 ms, no latency, 2 s.
  public init(
    minimumInterval: UInt16 = 6, maximumInterval: UInt16 = 6, latency: UInt16 = 0,
    supervisionTimeout: UInt16 = 200, minimumEventLength: UInt16 = 0, maximumEventLength: UInt16 = 0
  ) {
    self.minimumInterval = minimumInterval
    self.maximumInterval = maximumInterval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.minimumEventLength = minimumEventLength
    self.maximumEventLength = maximumEventLength
  }

  /// The longest delay of a packet, in either direction, on a link with these parameters that is not lost:
  /// unacknowledged packets are repeated until the supervision time-out (Core 5.4, Vol 6 Part B §4.5.2,
  /// §4.5.9).
  public var longestDelay: Interval { .milliseconds(10 * Int64(supervisionTimeout)) }

  /// Whether the values are in their ranges and consistent: the time-out is longer than twice the time
  /// between two events that the peripheral must attend (§7.8.12).
  public var isValid: Bool {
    (0x0006...0x0C80).contains(minimumInterval) && (minimumInterval...0x0C80).contains(maximumInterval)
      && latency <= 0x01F3 && (0x000A...0x0C80).contains(supervisionTimeout)
      && minimumEventLength <= maximumEventLength
      // 10 ms · timeout > 2 · (1 + latency) · 1.25 ms · interval
      && UInt32(supervisionTimeout) * 4 > (1 + UInt32(latency)) * UInt32(maximumInterval)
  }
}

/// The parameters of an attempt to connect (Core 5.4, Vol 4 Part E §7.8.12).
public struct ConnectionRequest: Hashable, Sendable {
  /// From the beginning of one scan window to that of the next, in units of 0.625 ms.
  public var scanInterval: UInt16
  /// The length of a window, in the same units.
  public var scanWindow: UInt16
  /// Whether to connect to any device of the filter accept list; `peer` is then ignored.
  public var usesFilterAcceptList: Bool
  /// The device to connect to.
  public var peer: PeerAddress
  /// The type of the device's own address: 0 public, 1 random, 2 and 3 resolvable.
  public var ownAddressType: UInt8
  /// The timing of the link.
  public var parameters: ConnectionParameters

  /// Makes a request that scans continuously.
  public init(
    peer: PeerAddress, parameters: ConnectionParameters = ConnectionParameters(),
    scanInterval: UInt16 = 0x0010, scanWindow: UInt16 = 0x0010, usesFilterAcceptList: Bool = false,
    ownAddressType: UInt8 = 1
  ) {
    self.scanInterval = scanInterval
    self.scanWindow = scanWindow
    self.usesFilterAcceptList = usesFilterAcceptList
    self.peer = peer
    self.ownAddressType = ownAddressType
    self.parameters = parameters
  }
}
