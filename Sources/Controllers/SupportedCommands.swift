import Bluetooth

/// The features of LE that a controller can have, as bits (Core 5.4, Vol 6 Part B §4.6).
enum Feature {
  static let parameterRequest: UInt64 = 1 << 1
  static let dataLength: UInt64 = 1 << 5
}

/// A command that the controllers know: how it is answered, and where it stands among the supported commands
/// (Core 5.4, Vol 4 Part E §6.27).
struct SupportedCommand {
  /// What a command is answered with.
  enum Answer {
    /// Command Complete.
    case complete
    /// Command Complete, whose return parameters name the link behind the status, also after an error (§4.5).
    case completeOfLink
    /// Command Status.
    case status
  }

  var opcode: UInt16
  var answer: Answer
  var octet: Int
  var bit: Int
  /// The feature without which a controller does not know it.
  var feature: UInt64 = 0

  init(_ opcode: UInt16, _ answer: Answer, _ octet: Int, _ bit: Int, feature: UInt64 = 0) {
    self.opcode = opcode
    self.answer = answer
    self.octet = octet
    self.bit = bit
    self.feature = feature
  }

  /// The command of an opcode, if a controller with such features knows it.
  static func find(_ opcode: UInt16, features: UInt64) -> SupportedCommand? {
    all.first { $0.opcode == opcode && $0.feature & ~features == 0 }
  }

  // swift-format-ignore
  static let all: [SupportedCommand] = [
    .init(HCIOpcode.disconnect, .status, 0, 5),
    .init(HCIOpcode.readRemoteVersionInformation, .status, 2, 7),
    .init(HCIOpcode.setEventMask, .complete, 5, 6),
    .init(HCIOpcode.reset, .complete, 5, 7),
    .init(HCIOpcode.readLocalVersionInformation, .complete, 14, 3),
    // Itself it has no bit: a host could not ask.
    .init(HCIOpcode.readLocalSupportedCommands, .complete, 14, 3),
    .init(HCIOpcode.readLocalSupportedFeatures, .complete, 14, 5),
    .init(HCIOpcode.readBufferSize, .complete, 14, 7),
    .init(HCIOpcode.readBDADDR, .complete, 15, 1),
    .init(HCIOpcode.readRSSI, .completeOfLink, 15, 5),
    .init(HCIOpcode.setEventMaskPage2, .complete, 22, 2),
    .init(HCIOpcode.leSetEventMask, .complete, 25, 0),
    .init(HCIOpcode.leReadBufferSize, .complete, 25, 1),
    .init(HCIOpcode.leReadLocalSupportedFeatures, .complete, 25, 2),
    .init(HCIOpcode.leSetRandomAddress, .complete, 25, 4),
    .init(HCIOpcode.leSetAdvertisingParameters, .complete, 25, 5),
    .init(HCIOpcode.leReadAdvertisingTxPower, .complete, 25, 6),
    .init(HCIOpcode.leSetAdvertisingData, .complete, 25, 7),
    .init(HCIOpcode.leSetScanResponseData, .complete, 26, 0),
    .init(HCIOpcode.leSetAdvertisingEnable, .complete, 26, 1),
    .init(HCIOpcode.leSetScanParameters, .complete, 26, 2),
    .init(HCIOpcode.leSetScanEnable, .complete, 26, 3),
    .init(HCIOpcode.leCreateConnection, .status, 26, 4),
    .init(HCIOpcode.leCreateConnectionCancel, .complete, 26, 5),
    .init(HCIOpcode.leReadFilterAcceptListSize, .complete, 26, 6),
    .init(HCIOpcode.leClearFilterAcceptList, .complete, 26, 7),
    .init(HCIOpcode.leAddToFilterAcceptList, .complete, 27, 0),
    .init(HCIOpcode.leRemoveFromFilterAcceptList, .complete, 27, 1),
    .init(HCIOpcode.leConnectionUpdate, .status, 27, 2),
    .init(HCIOpcode.leReadChannelMap, .completeOfLink, 27, 4),
    .init(HCIOpcode.leReadRemoteFeatures, .status, 27, 5),
    .init(HCIOpcode.leEncrypt, .complete, 27, 6),
    .init(HCIOpcode.leRand, .complete, 27, 7),
    .init(HCIOpcode.leLongTermKeyRequestNegativeReply, .completeOfLink, 28, 2),
    .init(HCIOpcode.leReadSupportedStates, .complete, 28, 3),
    .init(HCIOpcode.leRemoteConnectionParameterRequestReply,
      .completeOfLink, 33, 4, feature: Feature.parameterRequest),
    .init(HCIOpcode.leRemoteConnectionParameterRequestNegativeReply,
      .completeOfLink, 33, 5, feature: Feature.parameterRequest),
    .init(HCIOpcode.leSetDataLength, .completeOfLink, 33, 6, feature: Feature.dataLength),
    .init(HCIOpcode.leReadSuggestedDefaultDataLength, .complete, 33, 7, feature: Feature.dataLength),
    .init(HCIOpcode.leWriteSuggestedDefaultDataLength, .complete, 34, 0, feature: Feature.dataLength),
    .init(HCIOpcode.leReadMaximumDataLength, .complete, 35, 3, feature: Feature.dataLength),
    .init(HCIOpcode.leReadPHY, .completeOfLink, 35, 4),
    .init(HCIOpcode.leSetDefaultPHY, .complete, 35, 5),
  ]
}
