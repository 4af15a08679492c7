/// The opcodes of the commands: six bits of group and ten bits of command (Core 5.4, Vol 4 Part E §5.4.1, §7).
public enum HCIOpcode {
  /// No command: a controller names it only to grant credits.
  public static let none: UInt16 = 0x0000

  // Link control, §7.1
  public static let disconnect: UInt16 = 0x0406
  public static let readRemoteVersionInformation: UInt16 = 0x041D
  // Controller and baseband, §7.3
  public static let setEventMask: UInt16 = 0x0C01
  public static let reset: UInt16 = 0x0C03
  public static let setEventMaskPage2: UInt16 = 0x0C63
  // Informational, §7.4
  public static let readLocalVersionInformation: UInt16 = 0x1001
  public static let readLocalSupportedCommands: UInt16 = 0x1002
  public static let readLocalSupportedFeatures: UInt16 = 0x1003
  public static let readBufferSize: UInt16 = 0x1005
  public static let readBDADDR: UInt16 = 0x1009
  // Status, §7.5
  public static let readRSSI: UInt16 = 0x1405
  // LE controller, §7.8
  public static let leSetEventMask: UInt16 = 0x2001
  public static let leReadBufferSize: UInt16 = 0x2002
  public static let leReadLocalSupportedFeatures: UInt16 = 0x2003
  public static let leSetRandomAddress: UInt16 = 0x2005
  public static let leSetAdvertisingParameters: UInt16 = 0x2006
  public static let leReadAdvertisingTxPower: UInt16 = 0x2007
  public static let leSetAdvertisingData: UInt16 = 0x2008
  public static let leSetScanResponseData: UInt16 = 0x2009
  public static let leSetAdvertisingEnable: UInt16 = 0x200A
  public static let leSetScanParameters: UInt16 = 0x200B
  public static let leSetScanEnable: UInt16 = 0x200C
  public static let leCreateConnection: UInt16 = 0x200D
  public static let leCreateConnectionCancel: UInt16 = 0x200E
  public static let leReadFilterAcceptListSize: UInt16 = 0x200F
  public static let leClearFilterAcceptList: UInt16 = 0x2010
  public static let leAddToFilterAcceptList: UInt16 = 0x2011
  public static let leRemoveFromFilterAcceptList: UInt16 = 0x2012
  public static let leConnectionUpdate: UInt16 = 0x2013
  public static let leReadChannelMap: UInt16 = 0x2015
  public static let leReadRemoteFeatures: UInt16 = 0x2016
  public static let leEncrypt: UInt16 = 0x2017
  public static let leRand: UInt16 = 0x2018
  public static let leLongTermKeyRequestNegativeReply: UInt16 = 0x201B
  public static let leReadSupportedStates: UInt16 = 0x201C
  public static let leRemoteConnectionParameterRequestReply: UInt16 = 0x2020
  public static let leRemoteConnectionParameterRequestNegativeReply: UInt16 = 0x2021
  public static let leSetDataLength: UInt16 = 0x2022
  public static let leReadSuggestedDefaultDataLength: UInt16 = 0x2023
  public static let leWriteSuggestedDefaultDataLength: UInt16 = 0x2024
  public static let leReadMaximumDataLength: UInt16 = 0x202F
  public static let leReadPHY: UInt16 = 0x2030
  public static let leSetDefaultPHY: UInt16 = 0x2031
}
