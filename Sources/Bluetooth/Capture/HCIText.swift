import Basics

// The text of events and their parameters, and of commands by number.

extension HCICommand: CustomStringConvertible {
  /// A command's name in the specification, or its number.
  public static func name(of opcode: UInt16) -> String {
    Known.command(opcode)?.name ?? "0x" + hexText(opcode)
  }

  /// The command's name and its parameters. Keys are not shown.
  public var description: String {
    var parts = [Self.name(of: opcode)]
    if let text = try? Self.declaration(of: opcode)?.text(parameters) {
      if let link { parts.append("handle \(link)") }
      parts.append(text)
    } else if !parameters.isEmpty {
      parts.append(counted(parameters.count, "byte"))
    }
    return parts.filter { !$0.isEmpty }.joined(separator: ", ")
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
      "Command Complete, \(HCICommand.name(of: opcode))"
        + (returned.first.map { failure(HCIErrorCode(rawValue: $0)) } ?? "")
    case .commandStatus(let status, _, let opcode):
      "Command Status, \(HCICommand.name(of: opcode))" + failure(status)
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
      "\(Known.subevents[subevent]?.name ?? "LE event 0x" + [subevent].hex), "
        + counted(parameters.count, "byte")
    case .other(let code, let parameters):
      "\(Known.events[code]?.name ?? "0x" + [code].hex), \(counted(parameters.count, "byte"))"
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
  var text: String {
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

/// Advertising data as structures, or why they do not decode.
func advertisingText(_ bytes: [UInt8]) -> String {
  guard !bytes.isEmpty else { return "no data" }
  do {
    return "\(try AdvertisingData(decoding: bytes))"
  } catch {
    return "\(bytes.hex) (malformed \(error))"
  }
}

private func failure(_ status: HCIErrorCode) -> String { status == .success ? "" : ", failed: \(status)" }

/// A number of units of some microseconds, in milliseconds.
func times(_ count: UInt16, _ unit: Int) -> String {
  let microseconds = Int(count) * unit
  let decimals = String(microseconds % 1000 + 1000).dropFirst()
  var text = "\(microseconds / 1000).\(decimals)"[...]
  while text.last == "0" { text = text.dropLast() }
  if text.last == "." { text = text.dropLast() }
  return text + " ms"
}

/// A mask in all its hexadecimal digits.
func maskText(_ mask: UInt64) -> String { "0x" + hexText(mask) }

/// A number in all its hexadecimal digits.
func hexText(_ number: some FixedWidthInteger) -> String {
  var bytes: [UInt8] = []
  bytes.append(bigEndian: number)
  return bytes.hex
}

/// `1 byte`, `2 bytes`.
func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
