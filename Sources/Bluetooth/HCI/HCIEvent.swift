/// An event of the controller (Core 5.4, Vol 4 Part E §7.7).
///
/// Those that an LE host handles are cases of their own; the rest is ``other(code:parameters:)`` or
/// ``otherLE(subevent:parameters:)``.
public enum HCIEvent: Hashable, Sendable {
  case disconnectionComplete(status: HCIErrorCode, ConnectionHandle, reason: HCIErrorCode)
  case encryptionChange(status: HCIErrorCode, ConnectionHandle, isEnabled: Bool)
  case readRemoteVersionInformationComplete(status: HCIErrorCode, ConnectionHandle, VersionInformation)
  /// The return parameters begin with a status; the requester decodes them.
  case commandComplete(credits: UInt8, opcode: UInt16, returnParameters: [UInt8])
  case commandStatus(status: HCIErrorCode, credits: UInt8, opcode: UInt16)
  case hardwareError(code: UInt8)
  case numberOfCompletedPackets([CompletedPackets])
  case dataBufferOverflow(linkType: UInt8)
  // LE meta events, §7.7.65
  case leConnectionComplete(ConnectionComplete)
  case leAdvertisingReport([AdvertisingReport])
  case leConnectionUpdateComplete(status: HCIErrorCode, ConnectionHandle, ConnectionTiming)
  case leReadRemoteFeaturesComplete(status: HCIErrorCode, ConnectionHandle, features: UInt64)
  case leLongTermKeyRequest(ConnectionHandle, random: UInt64, diversifier: UInt16)
  case leRemoteConnectionParameterRequest(ConnectionHandle, ConnectionParameters)
  case leDataLengthChange(ConnectionHandle, DataLength)
  /// Legacy and extended reports decode to the same values.
  case leExtendedAdvertisingReport([AdvertisingReport])
  case otherLE(subevent: UInt8, parameters: [UInt8])
  case other(code: UInt8, parameters: [UInt8])
}

/// The number of packets of a link that a controller has sent, and thus of free buffers.
public struct CompletedPackets: Hashable, Sendable {
  /// The link.
  public var handle: ConnectionHandle
  /// The number of packets.
  public var count: UInt16

  /// Makes a count.
  @inlinable
  public init(_ handle: ConnectionHandle, _ count: UInt16) {
    self.handle = handle
    self.count = count
  }
}

/// The version of the specification that a controller implements, and its manufacturer.
public struct VersionInformation: Hashable, Sendable {
  /// The version: 0x0C is 5.3, 0x0D is 5.4.
  public var version: UInt8
  /// The company identifier of its maker.
  public var company: UInt16
  /// The maker's own number.
  public var subversion: UInt16

  /// Makes version information.
  public init(version: UInt8, company: UInt16, subversion: UInt16) {
    self.version = version
    self.company = company
    self.subversion = subversion
  }
}

/// The timing of a link as it is (Core 5.4, Vol 4 Part E §7.7.65.1).
public struct ConnectionTiming: Hashable, Sendable {
  /// The time between connection events, in units of 1.25 ms.
  public var interval: UInt16
  /// The number of connection events that the peripheral may skip.
  public var latency: UInt16
  /// The link is lost after this time without a packet, in units of 10 ms.
  public var supervisionTimeout: UInt16

  /// Makes a timing.
  public init(interval: UInt16, latency: UInt16, supervisionTimeout: UInt16) {
    self.interval = interval
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
  }
}

/// An established link, or a failed attempt (Core 5.4, Vol 4 Part E §7.7.65.1, and the enhanced event of
/// §7.7.65.10).
public struct ConnectionComplete: Hashable, Sendable {
  /// Success, or why there is no link; the other fields are then undefined.
  public var status: HCIErrorCode
  /// The link.
  public var handle: ConnectionHandle
  /// This end's role.
  public var role: LinkRole
  /// The other end.
  public var peer: PeerAddress
  /// The timing.
  public var timing: ConnectionTiming
  /// The accuracy of the central's clock, 0 (500 ppm) to 7 (20 ppm).
  public var clockAccuracy: UInt8

  /// Makes the event's contents.
  public init(
    status: HCIErrorCode, handle: ConnectionHandle, role: LinkRole, peer: PeerAddress,
    timing: ConnectionTiming, clockAccuracy: UInt8 = 0
  ) {
    self.status = status
    self.handle = handle
    self.role = role
    self.peer = peer
    self.timing = timing
    self.clockAccuracy = clockAccuracy
  }
}

/// The role of a device on a link.
public enum LinkRole: UInt8, Hashable, Sendable {
  case central = 0
  case peripheral = 1
}

/// The maximum packet lengths and times of a link (Core 5.4, Vol 4 Part E §7.7.65.7).
public struct DataLength: Hashable, Sendable {
  /// Bytes of payload, from 27 to 251.
  public var transmitOctets: UInt16
  /// Microseconds.
  public var transmitTime: UInt16
  /// Bytes of payload, from 27 to 251.
  public var receiveOctets: UInt16
  /// Microseconds.
  public var receiveTime: UInt16

  /// Makes a data length; by default that of a new link.
  public init(
    transmitOctets: UInt16 = 27, transmitTime: UInt16 = 328, receiveOctets: UInt16 = 27,
    receiveTime: UInt16 = 328
  ) {
    self.transmitOctets = transmitOctets
    self.transmitTime = transmitTime
    self.receiveOctets = receiveOctets
    self.receiveTime = receiveTime
  }
}

/// A received advertisement or scan response (Core 5.4, Vol 4 Part E §7.7.65.2 and §7.7.65.13).
public struct AdvertisingReport: Hashable, Sendable {
  /// The kind of advertisement.
  public enum Kind: Hashable, Sendable {
    /// ADV_IND.
    case connectable
    /// ADV_DIRECT_IND.
    case directed
    /// ADV_SCAN_IND.
    case scannable
    /// ADV_NONCONN_IND.
    case nonconnectable
    /// SCAN_RSP.
    case scanResponse
    /// An advertisement of the extended kind, with the event type's bits, of which nine are reserved.
    case extended(UInt16)
  }

  /// The kind of advertisement.
  public var kind: Kind
  /// The address of the advertiser.
  public var address: PeerAddress
  /// The bytes: AD structures, if the sender follows the specification.
  public var data: [UInt8]
  /// The signal strength in dBm; `nil` if the controller does not know it (127).
  public var rssi: Int8?

  /// Makes a report.
  public init(_ kind: Kind, from address: PeerAddress, _ data: [UInt8], rssi: Int8?) {
    self.kind = kind
    self.address = address
    self.data = data
    self.rssi = rssi
  }
}
