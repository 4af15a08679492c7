import Basics

/// An error code of the controller: the status of a command, or the reason why a link ended
/// (Core 5.4, Vol 1 Part F).
public struct HCIErrorCode: BinaryNumber, Hashable, Sendable {
  /// The assigned number; 0 stands for success.
  public var rawValue: UInt8

  /// Makes a code from its number.
  @inlinable
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// 0x00.
  public static let success = HCIErrorCode(rawValue: 0x00)
  /// 0x01: the controller has no such command.
  public static let unknownCommand = HCIErrorCode(rawValue: 0x01)
  /// 0x02: there is no connection with this handle.
  public static let unknownConnection = HCIErrorCode(rawValue: 0x02)
  /// 0x03.
  public static let hardwareFailure = HCIErrorCode(rawValue: 0x03)
  /// 0x07.
  public static let memoryCapacityExceeded = HCIErrorCode(rawValue: 0x07)
  /// 0x08: the supervision time-out passed.
  public static let connectionTimeout = HCIErrorCode(rawValue: 0x08)
  /// 0x09.
  public static let connectionLimitExceeded = HCIErrorCode(rawValue: 0x09)
  /// 0x0B.
  public static let connectionAlreadyExists = HCIErrorCode(rawValue: 0x0B)
  /// 0x0C: the controller does not permit the command in its present state.
  public static let commandDisallowed = HCIErrorCode(rawValue: 0x0C)
  /// 0x11.
  public static let unsupportedFeature = HCIErrorCode(rawValue: 0x11)
  /// 0x12: a parameter of the command is out of its range, or the length is wrong.
  public static let invalidParameters = HCIErrorCode(rawValue: 0x12)
  /// 0x13: the other end's user ended the link.
  public static let remoteUserTerminated = HCIErrorCode(rawValue: 0x13)
  /// 0x14: the other end ran out of resources.
  public static let remoteLowResources = HCIErrorCode(rawValue: 0x14)
  /// 0x15: the other end is about to switch itself off.
  public static let remotePowerOff = HCIErrorCode(rawValue: 0x15)
  /// 0x16: this end ended the link.
  public static let localHostTerminated = HCIErrorCode(rawValue: 0x16)
  /// 0x1A: the other end does not have the feature.
  public static let unsupportedRemoteFeature = HCIErrorCode(rawValue: 0x1A)
  /// 0x1F.
  public static let unspecified = HCIErrorCode(rawValue: 0x1F)
  /// 0x22: a link layer procedure had no response for 40 s.
  public static let llResponseTimeout = HCIErrorCode(rawValue: 0x22)
  /// 0x3B: the other end does not accept these connection parameters.
  public static let unacceptableConnectionParameters = HCIErrorCode(rawValue: 0x3B)
  /// 0x3C: advertising ended without a connection.
  public static let advertisingTimeout = HCIErrorCode(rawValue: 0x3C)
  /// 0x3E: the first six connection events passed without a packet, or an attempt to connect timed out.
  public static let failedToEstablish = HCIErrorCode(rawValue: 0x3E)
  /// 0x44: the operation was cancelled by the host.
  public static let cancelledByHost = HCIErrorCode(rawValue: 0x44)
}

extension HCIErrorCode: CustomStringConvertible {
  /// The number and, where it has one, the name: `0x08 (connection timeout)`.
  public var description: String {
    let number = "0x" + [rawValue].hex
    return name.map { "\(number) (\($0))" } ?? number
  }

  private var name: String? {
    switch self {
    case .success: "success"
    case .unknownCommand: "unknown command"
    case .unknownConnection: "unknown connection"
    case .hardwareFailure: "hardware failure"
    case Self(rawValue: 0x05): "authentication failure"
    case .memoryCapacityExceeded: "memory capacity exceeded"
    case .connectionTimeout: "connection timeout"
    case .connectionLimitExceeded: "connection limit exceeded"
    case .connectionAlreadyExists: "connection already exists"
    case .commandDisallowed: "command disallowed"
    case .unsupportedFeature: "unsupported feature or parameter"
    case .invalidParameters: "invalid command parameters"
    case .remoteUserTerminated: "ended by the remote user"
    case .remoteLowResources: "ended by the remote device, low resources"
    case .remotePowerOff: "ended by the remote device, power off"
    case .localHostTerminated: "ended by the local host"
    case Self(rawValue: 0x18): "pairing not allowed"
    case .unsupportedRemoteFeature: "unsupported remote feature"
    case Self(rawValue: 0x1E): "invalid link layer parameters"
    case .unspecified: "unspecified error"
    case Self(rawValue: 0x20): "unsupported link layer parameter"
    case .llResponseTimeout: "link layer response timeout"
    case Self(rawValue: 0x28): "instant passed"
    case Self(rawValue: 0x2A): "different transaction collision"
    case Self(rawValue: 0x3A): "controller busy"
    case .unacceptableConnectionParameters: "unacceptable connection parameters"
    case .advertisingTimeout: "advertising timeout"
    case Self(rawValue: 0x3D): "message integrity failure"
    case .failedToEstablish: "connection failed to be established"
    case Self(rawValue: 0x42): "unknown advertising identifier"
    case .cancelledByHost: "operation cancelled by host"
    default: nil
    }
  }
}
