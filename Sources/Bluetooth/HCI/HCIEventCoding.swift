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
    switch self {
    case .disconnectionComplete(let status, let handle, let reason):
      .event(HCIEventCode.disconnectionComplete, status, handle, reason)
    case .encryptionChange(let status, let handle, let isEnabled):
      .event(HCIEventCode.encryptionChange, status, handle, isEnabled ? 1 : 0 as UInt8)
    case .readRemoteVersionInformationComplete(let status, let handle, let version):
      .event(HCIEventCode.readRemoteVersionInformationComplete, status, handle, version)
    case .commandComplete(let credits, let opcode, let returnParameters):
      .event(HCIEventCode.commandComplete, credits, opcode, returnParameters)
    case .commandStatus(let status, let credits, let opcode):
      .event(HCIEventCode.commandStatus, status, credits, opcode)
    case .hardwareError(let code): .event(HCIEventCode.hardwareError, code)
    case .numberOfCompletedPackets(let links):
      .event(
        code: HCIEventCode.numberOfCompletedPackets,
        parameters: counted(links) { link, bytes in bytes.append(fields: link.handle, link.count) })
    case .dataBufferOverflow(let linkType): .event(HCIEventCode.dataBufferOverflow, linkType)
    case .leConnectionComplete(let connection):
      .le(
        LESubeventCode.connectionComplete, connection.status, connection.handle, connection.role.rawValue,
        connection.peer, connection.timing, connection.clockAccuracy)
    case .leAdvertisingReport(let reports):
      .event(
        code: HCIEventCode.leMeta,
        parameters: counted(reports, of: LESubeventCode.advertisingReport) { $0.encodeLegacy(into: &$1) })
    case .leConnectionUpdateComplete(let status, let handle, let timing):
      .le(LESubeventCode.connectionUpdateComplete, status, handle, timing)
    case .leReadRemoteFeaturesComplete(let status, let handle, let features):
      .le(LESubeventCode.readRemoteFeaturesComplete, status, handle, features)
    case .leLongTermKeyRequest(let handle, let random, let diversifier):
      .le(LESubeventCode.longTermKeyRequest, handle, random, diversifier)
    case .leRemoteConnectionParameterRequest(let handle, let parameters):
      .le(LESubeventCode.remoteConnectionParameterRequest, handle, parameters.withoutEventLengths)
    case .leDataLengthChange(let handle, let length): .le(LESubeventCode.dataLengthChange, handle, length)
    case .leExtendedAdvertisingReport(let reports):
      .event(
        code: HCIEventCode.leMeta,
        parameters: counted(reports, of: LESubeventCode.extendedAdvertisingReport) {
          $0.encodeExtended(into: &$1)
        })
    case .otherLE(let subevent, let parameters): .le(subevent, parameters)
    case .other(let code, let parameters): .event(code: code, parameters: parameters)
    }
  }
}

extension HCIPacket {
  fileprivate static func event<each Field: BinaryCodable>(
    _ code: UInt8, _ fields: repeat each Field
  ) -> HCIPacket {
    var parameters: [UInt8] = []
    parameters.reserveCapacity(20)
    parameters.append(fields: repeat each fields)
    return .event(code: code, parameters: parameters)
  }

  fileprivate static func le<each Field: BinaryCodable>(
    _ subevent: UInt8, _ fields: repeat each Field
  ) -> HCIPacket {
    .event(HCIEventCode.leMeta, subevent, repeat each fields)
  }
}

/// An event with a list: the number of an LE event if it is one, the number of entries, and each entry.
private func counted<Entry>(
  _ entries: [Entry], of subevent: UInt8? = nil, _ append: (Entry, inout [UInt8]) -> Void
) -> [UInt8] {
  precondition(entries.count <= 255, "an event holds no more than 255 bytes")
  var bytes: [UInt8] = []
  bytes.reserveCapacity(2 + 44 * entries.count)
  if let subevent { bytes.append(subevent) }
  bytes.append(UInt8(entries.count))
  for entry in entries { append(entry, &bytes) }
  return bytes
}

extension HCIEvent {
  /// Decodes an event from its code and its parameters. Reserved fields are ignored.
  public init(code: UInt8, parameters: [UInt8]) throws(DecodeError) {
    var reserved = Reserved()
    try self.init(code: code, parameters: parameters, ignoring: &reserved)
  }

  /// Decodes an event from its code and its parameters, and records ignored fields.
  public init(code: UInt8, parameters: [UInt8], ignoring reserved: inout Reserved) throws(DecodeError) {
    var reader = ByteReader(parameters.span)
    self = try Self.decode(code, &reader)
    reader.ignoreRest()
    reserved.formUnion(reader.reserved)
  }

  private static func decode(_ code: UInt8, _ reader: inout ByteReader) throws(DecodeError) -> HCIEvent {
    switch code {
    case HCIEventCode.disconnectionComplete:
      .disconnectionComplete(status: try reader.value(), try reader.value(), reason: try reader.value())
    case HCIEventCode.encryptionChange:
      .encryptionChange(
        status: try reader.value(), try reader.value(), isEnabled: try reader.isSet(upTo: 2))
    case HCIEventCode.readRemoteVersionInformationComplete:
      .readRemoteVersionInformationComplete(
        status: try reader.value(), try reader.value(), try reader.value())
    case HCIEventCode.commandComplete:
      .commandComplete(credits: try reader.u8(), opcode: try reader.u16(), returnParameters: reader.rest())
    case HCIEventCode.commandStatus:
      .commandStatus(status: try reader.value(), credits: try reader.u8(), opcode: try reader.u16())
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
      .leConnectionUpdateComplete(status: try reader.value(), try reader.value(), try reader.value())
    case LESubeventCode.readRemoteFeaturesComplete:
      .leReadRemoteFeaturesComplete(
        status: try reader.value(), try reader.value(), features: try reader.u64())
    case LESubeventCode.longTermKeyRequest:
      .leLongTermKeyRequest(try reader.value(), random: try reader.u64(), diversifier: try reader.u16())
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
    for _ in 0..<(try reader.u8()) {
      guard let report = try AdvertisingReport.legacy(&reader) else { continue }
      reports.append(report)
    }
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
  /// Reads either of the two events (Core 5.4, Vol 4 Part E §7.7.65.1, §7.7.65.10), which differ in two resolvable
  /// addresses that are not used here.
  ///
  /// The fields of a failed attempt are not checked, since controllers leave arbitrary values in them.
  fileprivate init(_ reader: inout ByteReader, isEnhanced: Bool) throws(DecodeError) {
    status = try reader.value()
    if status == .success {
      let start = reader.offset
      handle = try reader.value()
      guard handle <= .greatest else {
        throw .value(Int(handle.rawValue), of: "connection handle", at: start)
      }
      role = try reader.choice("role")
      peer = try reader.value()
    } else {
      handle = ConnectionHandle(rawValue: try reader.u16() & ConnectionHandle.mask)
      role = LinkRole(rawValue: try reader.u8()) ?? .central
      let kind = PeerAddress.Kind(rawValue: try reader.u8()) ?? .publicDevice
      peer = PeerAddress(kind, try reader.value())
    }
    if isEnhanced { try reader.skip(12) }
    timing = try reader.value()
    clockAccuracy = try reader.u8()
  }
}
