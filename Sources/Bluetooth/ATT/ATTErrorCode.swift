import Basics

/// Why a server refuses a request (Core 5.4, Vol 3 Part F §3.4.1.1).
public struct ATTErrorCode: BinaryNumber, Hashable, Sendable {
  /// The assigned number; 0x80 to 0x9F are the application's own.
  public var rawValue: UInt8

  /// Makes a code from its number.
  @inlinable
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let invalidHandle = ATTErrorCode(rawValue: 0x01)
  public static let readNotPermitted = ATTErrorCode(rawValue: 0x02)
  public static let writeNotPermitted = ATTErrorCode(rawValue: 0x03)
  public static let invalidPDU = ATTErrorCode(rawValue: 0x04)
  public static let insufficientAuthentication = ATTErrorCode(rawValue: 0x05)
  public static let requestNotSupported = ATTErrorCode(rawValue: 0x06)
  public static let invalidOffset = ATTErrorCode(rawValue: 0x07)
  public static let insufficientAuthorization = ATTErrorCode(rawValue: 0x08)
  public static let prepareQueueFull = ATTErrorCode(rawValue: 0x09)
  public static let attributeNotFound = ATTErrorCode(rawValue: 0x0A)
  public static let attributeNotLong = ATTErrorCode(rawValue: 0x0B)
  public static let encryptionKeySizeTooShort = ATTErrorCode(rawValue: 0x0C)
  public static let invalidValueLength = ATTErrorCode(rawValue: 0x0D)
  public static let unlikelyError = ATTErrorCode(rawValue: 0x0E)
  public static let insufficientEncryption = ATTErrorCode(rawValue: 0x0F)
  public static let unsupportedGroupType = ATTErrorCode(rawValue: 0x10)
  public static let insufficientResources = ATTErrorCode(rawValue: 0x11)
  /// 0xFD: a client characteristic configuration that the characteristic does not have.
  public static let improperConfiguration = ATTErrorCode(rawValue: 0xFD)
}

extension ATTErrorCode: CustomStringConvertible {
  /// The number and, where it has one, the name: `0x03 (write not permitted)`.
  public var description: String {
    let number = "0x" + [rawValue].hex
    return name.map { "\(number) (\($0))" } ?? number
  }

  private var name: String? {
    switch self {
    case .invalidHandle: "invalid handle"
    case .readNotPermitted: "read not permitted"
    case .writeNotPermitted: "write not permitted"
    case .invalidPDU: "invalid PDU"
    case .insufficientAuthentication: "insufficient authentication"
    case .requestNotSupported: "request not supported"
    case .invalidOffset: "invalid offset"
    case .insufficientAuthorization: "insufficient authorization"
    case .prepareQueueFull: "prepare queue full"
    case .attributeNotFound: "attribute not found"
    case .attributeNotLong: "attribute not long"
    case .encryptionKeySizeTooShort: "encryption key size too short"
    case .invalidValueLength: "invalid attribute value length"
    case .unlikelyError: "unlikely error"
    case .insufficientEncryption: "insufficient encryption"
    case .unsupportedGroupType: "unsupported group type"
    case .insufficientResources: "insufficient resources"
    case Self(rawValue: 0x12): "database out of sync"
    case Self(rawValue: 0x13): "value not allowed"
    case Self(rawValue: 0xFC): "write request rejected"
    case .improperConfiguration: "client characteristic configuration improperly configured"
    case Self(rawValue: 0xFE): "procedure already in progress"
    case Self(rawValue: 0xFF): "out of range"
    case _ where (0x80...0x9F).contains(rawValue): "application error"
    default: nil
    }
  }
}
