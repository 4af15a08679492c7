import Basics

// What a line of text says of commands and events: the name of the specification, and what matters of the parameters.

extension HCIOpcode {
  /// The command's name in the specification, or its number.
  public static func name(_ opcode: UInt16) -> String {
    names.first { $0.opcode == opcode }?.name ?? "0x" + hexText(opcode)
  }

  // swift-format-ignore
  private static let names: [(opcode: UInt16, name: String)] = [
    (none, "no command"), (disconnect, "Disconnect"), (0x040B, "Link Key Request Reply"),
    (readRemoteVersionInformation, "Read Remote Version Information"), (setEventMask, "Set Event Mask"),
    (reset, "Reset"), (0x0C13, "Write Local Name"), (0x0C14, "Read Local Name"),
    (setEventMaskPage2, "Set Event Mask Page 2"), (0x0C6D, "Write LE Host Support"),
    (readLocalVersionInformation, "Read Local Version Information"),
    (readLocalSupportedCommands, "Read Local Supported Commands"),
    (readLocalSupportedFeatures, "Read Local Supported Features"), (readBufferSize, "Read Buffer Size"),
    (readBDADDR, "Read BD_ADDR"), (readRSSI, "Read RSSI"), (leSetEventMask, "LE Set Event Mask"),
    (leReadBufferSize, "LE Read Buffer Size"),
    (leReadLocalSupportedFeatures, "LE Read Local Supported Features"),
    (leSetRandomAddress, "LE Set Random Address"),
    (leSetAdvertisingParameters, "LE Set Advertising Parameters"),
    (leReadAdvertisingTxPower, "LE Read Advertising Physical Channel Tx Power"),
    (leSetAdvertisingData, "LE Set Advertising Data"), (leSetScanResponseData, "LE Set Scan Response Data"),
    (leSetAdvertisingEnable, "LE Set Advertising Enable"), (leSetScanParameters, "LE Set Scan Parameters"),
    (leSetScanEnable, "LE Set Scan Enable"), (leCreateConnection, "LE Create Connection"),
    (leCreateConnectionCancel, "LE Create Connection Cancel"),
    (leReadFilterAcceptListSize, "LE Read Filter Accept List Size"),
    (leClearFilterAcceptList, "LE Clear Filter Accept List"),
    (leAddToFilterAcceptList, "LE Add Device To Filter Accept List"),
    (leRemoveFromFilterAcceptList, "LE Remove Device From Filter Accept List"),
    (leConnectionUpdate, "LE Connection Update"), (leReadChannelMap, "LE Read Channel Map"),
    (leReadRemoteFeatures, "LE Read Remote Features"), (leEncrypt, "LE Encrypt"), (leRand, "LE Rand"),
    (0x2019, "LE Enable Encryption"), (0x201A, "LE Long Term Key Request Reply"),
    (leLongTermKeyRequestNegativeReply, "LE Long Term Key Request Negative Reply"),
    (leReadSupportedStates, "LE Read Supported States"),
    (leRemoteConnectionParameterRequestReply, "LE Remote Connection Parameter Request Reply"),
    (leRemoteConnectionParameterRequestNegativeReply,
      "LE Remote Connection Parameter Request Negative Reply"),
    (leSetDataLength, "LE Set Data Length"),
    (leReadSuggestedDefaultDataLength, "LE Read Suggested Default Data Length"),
    (leWriteSuggestedDefaultDataLength, "LE Write Suggested Default Data Length"),
    (0x2027, "LE Add Device To Resolving List"), (0x2029, "LE Clear Resolving List"),
    (0x202D, "LE Set Address Resolution Enable"), (leReadMaximumDataLength, "LE Read Maximum Data Length"),
    (leReadPHY, "LE Read PHY"), (leSetDefaultPHY, "LE Set Default PHY"),
    (0x2041, "LE Set Extended Scan Parameters"), (0x2042, "LE Set Extended Scan Enable"),
    (0x2043, "LE Extended Create Connection"),
  ]
}

extension HCICommand: CustomStringConvertible {
  /// The command's name and its parameters in words. A key is not told.
  public var description: String {
    let details = details
    return HCIOpcode.name(opcode) + (details.isEmpty ? "" : ", " + details)
  }

  private var details: String {
    switch self {
    case .disconnect(let link, let reason): "handle \(link), reason \(reason)"
    case .setEventMask(let mask), .setEventMaskPage2(let mask), .leSetEventMask(let mask):
      "0x" + hexText(mask)
    case .leSetRandomAddress(let address): "\(address)"
    case .leSetAdvertisingParameters(let parameters):
      "\(parameters.kind.text), \(times(parameters.minimumInterval, 625)) to "
        + times(parameters.maximumInterval, 625)
    case .leSetAdvertisingData(let data), .leSetScanResponseData(let data): advertisingText(data)
    case .leSetAdvertisingEnable(let isOn): isOn ? "on" : "off"
    case .leSetScanParameters(let parameters):
      "\(parameters.isActive ? "active" : "passive"), window \(times(parameters.window, 625)) of "
        + times(parameters.interval, 625)
    case .leSetScanEnable(let isOn, let filters):
      isOn ? "on" + (filters ? ", without duplicates" : "") : "off"
    case .leCreateConnection(let request):
      request.usesFilterAcceptList ? "to the filter accept list" : "to \(request.peer)"
    case .leAddToFilterAcceptList(let peer), .leRemoveFromFilterAcceptList(let peer): "\(peer)"
    case .leConnectionUpdate(let link, let parameters),
      .leRemoteConnectionParameterRequestReply(let link, let parameters):
      "handle \(link), \(parameters.text)"
    case .leRemoteConnectionParameterRequestNegativeReply(let link, let reason):
      "handle \(link), reason \(reason)"
    case .readRemoteVersionInformation(let link), .readRSSI(let link), .leReadChannelMap(let link),
      .leReadRemoteFeatures(let link), .leLongTermKeyRequestNegativeReply(let link), .leReadPHY(let link):
      "handle \(link)"
    case .leEncrypt: "key withheld"
    case .leSetDataLength(let link, let octets, let time): "handle \(link), \(octets) bytes, \(time) µs"
    case .leWriteSuggestedDefaultDataLength(let octets, let time): "\(octets) bytes, \(time) µs"
    case .leSetDefaultPHY(_, let transmit, let receive): "transmit \(transmit), receive \(receive)"
    case .other(_, let parameters): parameters.isEmpty ? "" : counted(parameters.count, "byte")
    case .reset, .readLocalVersionInformation, .readLocalSupportedCommands, .readLocalSupportedFeatures,
      .readBufferSize, .readBDADDR, .leReadBufferSize, .leReadLocalSupportedFeatures,
      .leReadAdvertisingTxPower, .leCreateConnectionCancel, .leReadFilterAcceptListSize,
      .leClearFilterAcceptList, .leRand, .leReadSupportedStates, .leReadSuggestedDefaultDataLength,
      .leReadMaximumDataLength:
      ""
    }
  }
}

extension HCIEvent: CustomStringConvertible {
  /// The event's name and its parameters in words.
  public var description: String {
    switch self {
    case .disconnectionComplete(let status, let link, let reason):
      "Disconnection Complete, handle \(link), reason \(reason)" + failure(status)
    case .encryptionChange(let status, let link, let isEnabled):
      "Encryption Change, handle \(link), \(isEnabled ? "on" : "off")" + failure(status)
    case .readRemoteVersionInformationComplete(let status, let link, let version):
      "Read Remote Version Information Complete, handle \(link), version \(version.version), company "
        + "0x\(hexText(version.company))" + failure(status)
    case .commandComplete(_, let opcode, let returned):
      "Command Complete, \(HCIOpcode.name(opcode))"
        + (returned.first.map { failure(HCIErrorCode(rawValue: $0)) } ?? "")
    case .commandStatus(let status, _, let opcode):
      "Command Status, \(HCIOpcode.name(opcode))" + failure(status)
    case .hardwareError(let code): "Hardware Error, code \(code)"
    case .numberOfCompletedPackets(let links):
      "Number Of Completed Packets" + links.map { ", handle \($0.handle): \($0.count)" }.joined()
    case .dataBufferOverflow(let type): "Data Buffer Overflow, link type \(type)"
    case .leConnectionComplete(let connection): connection.text
    case .leAdvertisingReport(let reports):
      "LE Advertising Report" + reports.map { ", \($0.text)" }.joined()
    case .leConnectionUpdateComplete(let status, let link, let timing):
      "LE Connection Update Complete, handle \(link), \(timing.text)" + failure(status)
    case .leReadRemoteFeaturesComplete(let status, let link, let features):
      "LE Read Remote Features Complete, handle \(link), 0x\(hexText(features))" + failure(status)
    case .leLongTermKeyRequest(let link, _, _): "LE Long Term Key Request, handle \(link)"
    case .leRemoteConnectionParameterRequest(let link, let parameters):
      "LE Remote Connection Parameter Request, handle \(link), \(parameters.text)"
    case .leDataLengthChange(let link, let length):
      "LE Data Length Change, handle \(link), \(length.transmitOctets) bytes out, "
        + "\(length.receiveOctets) in"
    case .leExtendedAdvertisingReport(let reports):
      "LE Extended Advertising Report" + reports.map { ", \($0.text)" }.joined()
    case .otherLE(let subevent, let parameters):
      "LE event 0x\([subevent].hex), \(counted(parameters.count, "byte"))"
    case .other(let code, let parameters): "event 0x\([code].hex), \(counted(parameters.count, "byte"))"
    }
  }
}

extension ConnectionComplete {
  fileprivate var text: String {
    guard status == .success else { return "LE Connection Complete" + failure(status) }
    let direction = role == .central ? "to" : "from"
    return "LE Connection Complete, handle \(handle), \(direction) \(peer), \(timing.text)"
  }
}

extension AdvertisingReport {
  fileprivate var text: String {
    "\(kind.text) of \(address)" + (rssi.map { " at \($0) dBm" } ?? "") + ", " + advertisingText(data)
  }
}

extension AdvertisingReport.Kind {
  fileprivate var text: String {
    switch self {
    case .connectable: "connectable"
    case .directed: "directed"
    case .scannable: "scannable"
    case .nonconnectable: "not connectable"
    case .scanResponse: "scan response"
    case .extended(let bits): "extended 0x\(hexText(bits))"
    }
  }
}

extension AdvertisingParameters.Kind {
  fileprivate var text: String {
    switch self {
    case .connectable: "connectable"
    case .directedHighDuty: "directed, high duty"
    case .scannable: "scannable"
    case .nonconnectable: "not connectable"
    case .directedLowDuty: "directed, low duty"
    }
  }
}

extension ConnectionParameters {
  var text: String {
    "\(times(minimumInterval, 1250)) to \(times(maximumInterval, 1250)), latency \(latency), "
      + "timeout \(times(supervisionTimeout, 10_000))"
  }
}

extension ConnectionTiming {
  fileprivate var text: String {
    "every \(times(interval, 1250)), latency \(latency), timeout \(times(supervisionTimeout, 10_000))"
  }
}

/// Advertising data as structures, or why they are none.
private func advertisingText(_ bytes: [UInt8]) -> String {
  guard !bytes.isEmpty else { return "no data" }
  do {
    return "\(try AdvertisingData(decoding: bytes))"
  } catch {
    return "\(bytes.hex) (malformed \(error))"
  }
}

private func failure(_ status: HCIErrorCode) -> String { status == .success ? "" : ", failed: \(status)" }

/// So many units of so many microseconds, in milliseconds.
private func times(_ count: UInt16, _ unit: Int) -> String {
  let microseconds = Int(count) * unit
  let decimals = String(microseconds % 1000 + 1000).dropFirst()
  var text = "\(microseconds / 1000).\(decimals)"[...]
  while text.last == "0" { text = text.dropLast() }
  if text.last == "." { text = text.dropLast() }
  return text + " ms"
}

/// A number in all its hexadecimal digits.
func hexText(_ number: some FixedWidthInteger) -> String {
  var bytes: [UInt8] = []
  bytes.append(bigEndian: number)
  return bytes.hex
}

/// `1 byte`, `2 bytes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
