/// The codes of the events (Core 5.4, Vol 4 Part E §7.7).
public enum HCIEventCode {
  public static let disconnectionComplete: UInt8 = 0x05
  public static let encryptionChange: UInt8 = 0x08
  public static let readRemoteVersionInformationComplete: UInt8 = 0x0C
  public static let commandComplete: UInt8 = 0x0E
  public static let commandStatus: UInt8 = 0x0F
  public static let hardwareError: UInt8 = 0x10
  public static let numberOfCompletedPackets: UInt8 = 0x13
  public static let dataBufferOverflow: UInt8 = 0x1A
  /// The parameters begin with one of ``LESubeventCode``.
  public static let leMeta: UInt8 = 0x3E
}

/// The codes of the LE events (Core 5.4, Vol 4 Part E §7.7.65).
public enum LESubeventCode {
  public static let connectionComplete: UInt8 = 0x01
  public static let advertisingReport: UInt8 = 0x02
  public static let connectionUpdateComplete: UInt8 = 0x03
  public static let readRemoteFeaturesComplete: UInt8 = 0x04
  public static let longTermKeyRequest: UInt8 = 0x05
  public static let remoteConnectionParameterRequest: UInt8 = 0x06
  public static let dataLengthChange: UInt8 = 0x07
  public static let enhancedConnectionComplete: UInt8 = 0x0A
  public static let extendedAdvertisingReport: UInt8 = 0x0D
}

extension HCIEvent {
  /// The event as a packet. A connection is always reported with LE Connection Complete.
  public var packet: HCIPacket {
    var parameters: [UInt8] = []
    switch self {
    case .disconnectionComplete(let status, let handle, let reason):
      parameters.append(status.rawValue)
      parameters.append(handle)
      parameters.append(reason.rawValue)
      return .event(code: HCIEventCode.disconnectionComplete, parameters: parameters)

    case .encryptionChange(let status, let handle, let isEnabled):
      parameters.append(status.rawValue)
      parameters.append(handle)
      parameters.append(isEnabled)
      return .event(code: HCIEventCode.encryptionChange, parameters: parameters)

    case .readRemoteVersionInformationComplete(let status, let handle, let version):
      parameters.append(status.rawValue)
      parameters.append(handle)
      parameters.append(version)
      return .event(code: HCIEventCode.readRemoteVersionInformationComplete, parameters: parameters)

    case .commandComplete(let credits, let opcode, let returnParameters):
      parameters.reserveCapacity(3 + returnParameters.count)
      parameters.append(credits)
      parameters.append(littleEndian: opcode)
      parameters.append(contentsOf: returnParameters)
      return .event(code: HCIEventCode.commandComplete, parameters: parameters)

    case .commandStatus(let status, let credits, let opcode):
      parameters.append(status.rawValue)
      parameters.append(credits)
      parameters.append(littleEndian: opcode)
      return .event(code: HCIEventCode.commandStatus, parameters: parameters)

    case .hardwareError(let code):
      return .event(code: HCIEventCode.hardwareError, parameters: [code])

    case .numberOfCompletedPackets(let links):
      parameters.reserveCapacity(1 + 4 * links.count)
      parameters.append(count: links.count)
      for link in links {
        parameters.append(link.handle)
        parameters.append(littleEndian: link.count)
      }
      return .event(code: HCIEventCode.numberOfCompletedPackets, parameters: parameters)

    case .dataBufferOverflow(let linkType):
      return .event(code: HCIEventCode.dataBufferOverflow, parameters: [linkType])

    case .leConnectionComplete, .leAdvertisingReport, .leConnectionUpdateComplete,
      .leReadRemoteFeaturesComplete, .leLongTermKeyRequest, .leRemoteConnectionParameterRequest,
      .leDataLengthChange, .leExtendedAdvertisingReport, .otherLE:
      encodeLE(into: &parameters)
      return .event(code: HCIEventCode.leMeta, parameters: parameters)

    case .other(let code, let parameters):
      return .event(code: code, parameters: parameters)
    }
  }

  private func encodeLE(into bytes: inout [UInt8]) {
    switch self {
    case .leConnectionComplete(let connection):
      bytes.append(LESubeventCode.connectionComplete)
      connection.encode(into: &bytes)

    case .leAdvertisingReport(let reports):
      bytes.append(LESubeventCode.advertisingReport)
      bytes.append(count: reports.count)
      for report in reports { report.encodeLegacy(into: &bytes) }

    case .leConnectionUpdateComplete(let status, let handle, let timing):
      bytes.append(LESubeventCode.connectionUpdateComplete)
      bytes.append(status.rawValue)
      bytes.append(handle)
      bytes.append(timing)

    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      bytes.append(LESubeventCode.readRemoteFeaturesComplete)
      bytes.append(status.rawValue)
      bytes.append(handle)
      bytes.append(littleEndian: features)

    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      bytes.append(LESubeventCode.longTermKeyRequest)
      bytes.append(handle)
      bytes.append(littleEndian: random)
      bytes.append(littleEndian: diversifier)

    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      bytes.append(LESubeventCode.remoteConnectionParameterRequest)
      bytes.append(handle)
      parameters.encodeWithoutEventLengths(into: &bytes)

    case .leDataLengthChange(let handle, let length):
      bytes.append(LESubeventCode.dataLengthChange)
      bytes.append(handle)
      bytes.append(length)

    case .leExtendedAdvertisingReport(let reports):
      bytes.append(LESubeventCode.extendedAdvertisingReport)
      bytes.append(count: reports.count)
      for report in reports { report.encodeExtended(into: &bytes) }

    case .otherLE(let subevent, let parameters):
      bytes.append(subevent)
      bytes.append(contentsOf: parameters)

    case .disconnectionComplete, .encryptionChange, .readRemoteVersionInformationComplete, .commandComplete,
      .commandStatus, .hardwareError, .numberOfCompletedPackets, .dataBufferOverflow, .other:
      preconditionFailure("not an LE event")
    }
  }
}

extension HCIEvent {
  /// Reads an event from its code and its parameters, which must end where the event's layout ends.
  public init(code: UInt8, parameters: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(parameters.span)
    self = try Self.decode(code, &reader)
    try reader.end()
  }

  private static func decode(_ code: UInt8, _ reader: inout ByteReader) throws(DecodeError) -> HCIEvent {
    switch code {
    case HCIEventCode.disconnectionComplete:
      .disconnectionComplete(
        status: try reader.errorCode(), try reader.value(), reason: try reader.errorCode())
    case HCIEventCode.encryptionChange:
      .encryptionChange(
        status: try reader.errorCode(), try reader.value(),
        isEnabled: try reader.flag("encryption"))
    case HCIEventCode.readRemoteVersionInformationComplete:
      .readRemoteVersionInformationComplete(
        status: try reader.errorCode(), try reader.value(), try reader.value())
    case HCIEventCode.commandComplete:
      .commandComplete(
        credits: try reader.u8(), opcode: try reader.u16(), returnParameters: reader.rest())
    case HCIEventCode.commandStatus:
      .commandStatus(status: try reader.errorCode(), credits: try reader.u8(), opcode: try reader.u16())
    case HCIEventCode.hardwareError: .hardwareError(code: try reader.u8())
    case HCIEventCode.numberOfCompletedPackets: .numberOfCompletedPackets(try completedPackets(&reader))
    case HCIEventCode.dataBufferOverflow: .dataBufferOverflow(linkType: try reader.u8())
    case HCIEventCode.leMeta: try decodeLE(try reader.u8(), &reader)
    default: .other(code: code, parameters: reader.rest())
    }
  }

  private static func decodeLE(
    _ subevent: UInt8, _ reader: inout ByteReader
  ) throws(DecodeError) -> HCIEvent {
    switch subevent {
    case LESubeventCode.connectionComplete:
      .leConnectionComplete(try ConnectionComplete(&reader, isEnhanced: false))
    case LESubeventCode.enhancedConnectionComplete:
      .leConnectionComplete(try ConnectionComplete(&reader, isEnhanced: true))
    case LESubeventCode.advertisingReport: .leAdvertisingReport(try legacyReports(&reader))
    case LESubeventCode.extendedAdvertisingReport: .leExtendedAdvertisingReport(try extendedReports(&reader))
    case LESubeventCode.connectionUpdateComplete:
      .leConnectionUpdateComplete(
        status: try reader.errorCode(), try reader.value(), try reader.value())
    case LESubeventCode.readRemoteFeaturesComplete:
      .leReadRemoteFeaturesComplete(
        status: try reader.errorCode(), try reader.value(), features: try reader.u64())
    case LESubeventCode.longTermKeyRequest:
      .leLongTermKeyRequest(
        try reader.value(), random: try reader.u64(), diversifier: try reader.u16())
    case LESubeventCode.remoteConnectionParameterRequest:
      .leRemoteConnectionParameterRequest(
        try reader.value(), try ConnectionParameters(withoutEventLengths: &reader))
    case LESubeventCode.dataLengthChange:
      .leDataLengthChange(try reader.value(), try reader.value())
    default: .otherLE(subevent: subevent, parameters: reader.rest())
    }
  }

  /// The arrays of the specification's layout are interleaved, link by link, as all controllers send them.
  private static func completedPackets(
    _ reader: inout ByteReader
  ) throws(DecodeError) -> [CompletedPackets] {
    let count = Int(try reader.u8())
    try reader.require(4 * count)
    var links: [CompletedPackets] = []
    links.reserveCapacity(count)
    for _ in 0..<count { links.append(CompletedPackets(try reader.value(), try reader.u16())) }
    return links
  }

  private static func legacyReports(_ reader: inout ByteReader) throws(DecodeError) -> [AdvertisingReport] {
    var reports: [AdvertisingReport] = []
    for _ in 0..<(try reader.u8()) { reports.append(try AdvertisingReport(legacy: &reader)) }
    return reports
  }

  private static func extendedReports(
    _ reader: inout ByteReader
  ) throws(DecodeError) -> [AdvertisingReport] {
    var reports: [AdvertisingReport] = []
    for _ in 0..<(try reader.u8()) {
      guard let report = try AdvertisingReport.extended(&reader) else { continue }
      reports.append(report)
    }
    return reports
  }
}

extension ConnectionComplete {
  /// Reads either of the two events (Core 5.4, Vol 4 Part E §7.7.65.1, §7.7.65.10), which differ in two
  /// resolvable addresses that nobody here needs.
  ///
  /// Controllers leave what they like in the fields of an attempt that failed: those are not checked.
  fileprivate init(_ reader: inout ByteReader, isEnhanced: Bool) throws(DecodeError) {
    status = try reader.errorCode()
    if status == .success {
      handle = try reader.value()
      role = try reader.choice("role")
      peer = try reader.value()
    } else {
      handle = ConnectionHandle(rawValue: min(try reader.u16(), 0x0EFF))
      role = LinkRole(rawValue: try reader.u8()) ?? .central
      let kind = PeerAddress.Kind(rawValue: try reader.u8()) ?? .publicDevice
      peer = PeerAddress(kind, try reader.value())
    }
    if isEnhanced { try reader.skip(12) }
    timing = try reader.value()
    clockAccuracy = try reader.u8()
  }

  fileprivate func encode(into bytes: inout [UInt8]) {
    bytes.append(status.rawValue)
    bytes.append(handle)
    bytes.append(role.rawValue)
    bytes.append(peer)
    bytes.append(timing)
    bytes.append(clockAccuracy)
  }
}

extension Array<UInt8> {
  fileprivate mutating func append(count: Int) {
    precondition(count <= 255, "an event holds no more than 255 bytes")
    append(UInt8(count))
  }
}
