public import Bluetooth
public import Basics

/// Identifies a controller of a ``Radio``, by a number from 0.
public struct ControllerID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number.
  public var rawValue: Int

  /// Creates an identifier from its number.
  @inlinable
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  @inlinable
  public static func < (left: ControllerID, right: ControllerID) -> Bool { left.rawValue < right.rawValue }
}

/// Periods of higher packet loss for all devices: the two-state Gilbert–Elliott channel, in continuous time.
public struct LossBursts: Hashable, Sendable {
  /// The probability that a packet is lost during a burst, from 0 to 1.
  public var packetLoss: Double
  /// The average duration of a burst, and the average time from the end of one to the start of the next.
  public var length: Interval
  public var gap: Interval

  /// Creates bursts.
  public init(packetLoss: Double, length: Interval, gap: Interval) {
    precondition((0...1).contains(packetLoss), "a probability is from 0 to 1")
    precondition(length > .zero && gap > .zero, "a burst, and the time to the next, lasts a while")
    self.packetLoss = packetLoss
    self.length = length
    self.gap = gap
  }
}

/// The properties of the air between the controllers.
public struct RadioSettings: Hashable, Sendable {
  /// The probability that a packet is lost, from 0 to 1. The loss is drawn independently for each packet and
  /// receiver.
  public var packetLoss: Double
  /// The periods of higher loss; `nil` for none.
  public var bursts: LossBursts?
  /// The path loss between any two controllers, in dB.
  public var pathLoss: Int
  /// The maximum deviation of a packet's strength from its average, in dB.
  public var fading: Int

  /// Creates settings; by default nothing is lost, and the RSSI is about −60 dBm.
  public init(packetLoss: Double = 0, bursts: LossBursts? = nil, pathLoss: Int = 60, fading: Int = 3) {
    precondition((0...1).contains(packetLoss), "a probability is from 0 to 1")
    precondition(fading >= 0, "a signal differs by 0 dB or more")
    self.packetLoss = packetLoss
    self.bursts = bursts
    self.pathLoss = pathLoss
    self.fading = fading
  }
}

/// The capabilities of a controller.
public struct ControllerSettings: Hashable, Sendable {
  /// The public address; `nil` to derive it from the controller's number.
  public var publicAddress: BluetoothAddress?
  /// The version and manufacturer that it reports, at HCI and in the link layer.
  public var version: VersionInformation
  /// The maximum length of a data fragment in bytes, at least 27, in both directions.
  public var aclLength: Int
  /// The number of fragments that it can buffer for sending, on all links together.
  public var aclCount: Int
  /// The number of commands that it accepts before it has answered any.
  public var commandCredits: UInt8
  /// The processing time of each command.
  public var commandTime: Interval
  /// The maximum number of links.
  public var linkLimit: Int
  /// The capacity of the filter accept list.
  public var acceptListSize: Int
  /// The LE features as bits (Core 5.4, Vol 6 Part B §4.6); only those in ``implementedFeatures``.
  public var features: UInt64
  /// The maximum payload of a packet on the air, from 27 to 251 bytes.
  public var maximumOctets: UInt16
  /// The transmit power, in dBm.
  public var transmitPower: Int8
  /// The deviations from the specification.
  public var quirks: ControllerQuirks

  /// The features that a controller can have: the connection parameters request procedure, extended reject
  /// indication, the peripheral-initiated features exchange and the data packet length extension.
  public static let implementedFeatures: UInt64 = 0b10_1110

  /// Creates the settings of a typical controller.
  public init(
    publicAddress: BluetoothAddress? = nil,
    version: VersionInformation = VersionInformation(version: 0x0D, company: 0xFFFF, subversion: 1),
    aclLength: Int = 251, aclCount: Int = 8, commandCredits: UInt8 = 1, commandTime: Interval = .zero,
    linkLimit: Int = 8, acceptListSize: Int = 8, features: UInt64 = implementedFeatures,
    maximumOctets: UInt16 = 251, transmitPower: Int8 = 0, quirks: ControllerQuirks = []
  ) {
    precondition((27...0xFFFF).contains(aclLength), "a fragment has 27 to 65535 bytes")
    precondition((1...0xFF).contains(aclCount), "a controller holds 1 to 255 fragments")
    precondition(commandCredits >= 1, "a controller takes at least one command")
    precondition(commandTime >= .zero, "a command takes no less than no time")
    precondition((1...0x0E00).contains(linkLimit), "a controller has from 1 to 3584 links")
    precondition((1...0xFF).contains(acceptListSize), "a filter accept list holds 1 to 255 devices")
    precondition(features & ~Self.implementedFeatures == 0, "a controller has only what is implemented")
    precondition((27...251).contains(maximumOctets), "a packet has a payload of 27 to 251 bytes at most")
    self.publicAddress = publicAddress
    self.version = version
    self.aclLength = aclLength
    self.aclCount = aclCount
    self.commandCredits = commandCredits
    self.commandTime = commandTime
    self.linkLimit = linkLimit
    self.acceptListSize = acceptListSize
    self.features = features
    self.maximumOctets = maximumOctets
    self.transmitPower = transmitPower
    self.quirks = quirks
  }
}

/// A violation of an HCI rule by a host.
public struct HostProtocolViolation: Hashable, Sendable {
  /// The time of the violation.
  public var time: Instant
  /// The controller of the host.
  public var controller: ControllerID
  /// A sentence that describes the violation.
  public var sentence: String
}
