public import Bluetooth
public import Basics

/// One of the controllers of a ``Radio``, by a number from 0.
public struct ControllerID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The number.
  public var rawValue: Int

  /// Makes an identifier from its number.
  @inlinable
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }

  @inlinable
  public static func < (left: ControllerID, right: ControllerID) -> Bool { left.rawValue < right.rawValue }
}

/// When the air is worse for a while, for everybody: the channel of two states of Gilbert and Elliott, in continuous time.
public struct LossBursts: Hashable, Sendable {
  /// The probability that a packet is not heard while a burst lasts, from 0 to 1.
  public var packetLoss: Double
  /// How long a burst lasts, and how long it is from the end of one to the beginning of the next, on average.
  public var length: Interval
  public var gap: Interval

  /// Makes bursts.
  public init(packetLoss: Double, length: Interval, gap: Interval) {
    precondition((0...1).contains(packetLoss), "a probability is from 0 to 1")
    precondition(length > .zero && gap > .zero, "a burst, and the time to the next, lasts a while")
    self.packetLoss = packetLoss
    self.length = length
    self.gap = gap
  }
}

/// What the air between the controllers is like.
public struct RadioSettings: Hashable, Sendable {
  /// The probability that a packet is not heard, from 0 to 1. Each packet and each receiver is drawn by
  /// itself.
  public var packetLoss: Double
  /// When more is lost than that; `nil` for never.
  public var bursts: LossBursts?
  /// By how much a signal is weaker where it is heard than where it is sent, in dB.
  public var pathLoss: Int
  /// By how much the strength of a packet differs from that at most, in dB.
  public var fading: Int

  /// Makes settings: air that loses nothing, and a signal of about −60 dBm.
  public init(packetLoss: Double = 0, bursts: LossBursts? = nil, pathLoss: Int = 60, fading: Int = 3) {
    precondition((0...1).contains(packetLoss), "a probability is from 0 to 1")
    precondition(fading >= 0, "a signal differs by 0 dB or more")
    self.packetLoss = packetLoss
    self.bursts = bursts
    self.pathLoss = pathLoss
    self.fading = fading
  }
}

/// What a controller has and can do.
public struct ControllerSettings: Hashable, Sendable {
  /// Its public address; `nil` for one that follows from its number.
  public var publicAddress: BluetoothAddress?
  /// What it says of its version and maker, for HCI and for the link layer.
  public var version: VersionInformation
  /// How many bytes a fragment of data may have, at least 27. Longer ones are not given to the host either.
  public var aclLength: Int
  /// How many fragments it holds for sending, of all links together.
  public var aclCount: Int
  /// How many commands it takes before it has answered any.
  public var commandCredits: UInt8
  /// How long it takes over each command.
  public var commandTime: Interval
  /// How many links it can have.
  public var linkLimit: Int
  /// How many devices its filter accept list holds.
  public var acceptListSize: Int
  /// The features of LE as bits (Core 5.4, Vol 6 Part B §4.6); only those in ``implementedFeatures``.
  public var features: UInt64
  /// The greatest payload of a packet on the air, from 27 to 251.
  public var maximumOctets: UInt16
  /// With what power it sends, in dBm.
  public var transmitPower: Int8
  /// What it does otherwise than it should.
  public var quirks: ControllerQuirks

  /// The features that a controller can have: the connection parameters request procedure, extended reject
  /// indication, the peripheral-initiated features exchange and the data packet length extension.
  public static let implementedFeatures: UInt64 = 0b10_1110

  /// Makes settings of a controller of a usual kind.
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

/// A rule of HCI that a host broke.
public struct HostProtocolViolation: Hashable, Sendable {
  /// When.
  public var time: Instant
  /// Of which controller it is the host.
  public var controller: ControllerID
  /// One sentence on what it did.
  public var sentence: String
}
