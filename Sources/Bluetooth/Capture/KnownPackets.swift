/// A known command or event: its name, and the bytes that a capture must not show.
///
/// A command or an event that is in no table below may contain secrets: none of its parameters is shown.
struct Known: Sendable, ExpressibleByStringLiteral {
  /// The name in the specification.
  let name: String
  /// The index of the first parameter that must not be shown, nor any after it; `nil` if all may be shown.
  let hiddenFrom: Int?
  /// Whether the return parameters after the status must not be shown.
  let hidesReturn: Bool

  /// Declares a packet that contains a key, or data from which one is derived.
  init(_ name: String, hidingFrom hiddenFrom: Int? = nil, hidesReturn: Bool = false) {
    self.name = name
    self.hiddenFrom = hiddenFrom
    self.hidesReturn = hidesReturn
  }

  /// Declares a packet whose parameters are harmless.
  init(stringLiteral name: String) { self.init(name) }

  /// The declaration of a command.
  static func command(_ opcode: UInt16) -> Known? {
    HCICommand.declaration(of: opcode).map {
      Known($0.name, hidingFrom: $0.hiddenFrom, hidesReturn: $0.hidesReturn)
    } ?? commands[opcode]
  }

  /// The offset of the first byte of a packet, with its H4 octet, that must not be shown; `nil` if all may be
  /// shown.
  ///
  /// Only the header is read, so that the rest of a truncated packet is hidden, too. The data of links are
  /// not examined: see ``FrameSecrecy``.
  static func hiddenStart(of packet: [UInt8]) -> Int? {
    guard let first = packet.first else { return nil }
    switch H4Indicator(rawValue: first) {
    case .command:
      guard packet.count >= 3 else { return nil }
      return start(behind: 4, command(UInt16(packet[1]) | UInt16(packet[2]) << 8))
    case .event where packet.count < 2:
      return nil
    case .event where packet[1] == HCIEventCode.commandComplete:
      guard packet.count >= 6 else { return nil }
      let known = command(UInt16(packet[4]) | UInt16(packet[5]) << 8)
      return known?.hidesReturn == false ? nil : 7
    case .event where packet[1] == HCIEventCode.leMeta:
      guard packet.count >= 4 else { return nil }
      return start(behind: 3, subevents[packet[3]], orAllFrom: 4)
    case .event:
      return start(behind: 3, events[packet[1]])
    case .acl, .synchronous, .isochronous:
      return nil
    case nil:
      return 1
    }
  }

  private static func start(behind header: Int, _ known: Known?, orAllFrom all: Int? = nil) -> Int? {
    guard let known else { return all ?? header }
    return known.hiddenFrom.map { header + $0 }
  }
}

// Which parameters are keys, or lead to one, follows from their layouts (Core 5.4, Vol 4 Part E §7).
// swift-format-ignore
extension Known {
  /// The commands that ``HCICommand/all`` does not have (§7.1 to §7.8).
  static let commands: [UInt16: Known] = [
    0x0000: "no command", 0x0401: "Inquiry", 0x0402: "Inquiry Cancel", 0x0403: "Periodic Inquiry Mode",
    0x0404: "Exit Periodic Inquiry Mode", 0x0405: "Create Connection", 0x0407: "Add SCO Connection",
    0x0408: "Create Connection Cancel", 0x0409: "Accept Connection Request",
    0x040A: "Reject Connection Request", 0x040B: Known("Link Key Request Reply", hidingFrom: 6),
    0x040C: "Link Key Request Negative Reply", 0x040D: Known("PIN Code Request Reply", hidingFrom: 6),
    0x040E: "PIN Code Request Negative Reply", 0x040F: "Change Connection Packet Type",
    0x0411: "Authentication Requested", 0x0413: "Set Connection Encryption",
    0x0415: "Change Connection Link Key", 0x0417: "Link Key Selection", 0x0419: "Remote Name Request",
    0x041A: "Remote Name Request Cancel", 0x041B: "Read Remote Supported Features",
    0x041C: "Read Remote Extended Features", 0x041F: "Read Clock Offset", 0x0420: "Read LMP Handle",
    0x0428: "Setup Synchronous Connection", 0x0429: "Accept Synchronous Connection Request",
    0x042A: "Reject Synchronous Connection Request", 0x042B: "IO Capability Request Reply",
    0x042C: "User Confirmation Request Reply", 0x042D: "User Confirmation Request Negative Reply",
    0x042E: Known("User Passkey Request Reply", hidingFrom: 6),
    0x042F: "User Passkey Request Negative Reply",
    0x0430: Known("Remote OOB Data Request Reply", hidingFrom: 6),
    0x0433: "Remote OOB Data Request Negative Reply", 0x0434: "IO Capability Request Negative Reply",
    0x0435: Known("Create Physical Link", hidingFrom: 1),
    0x0436: Known("Accept Physical Link", hidingFrom: 1), 0x0437: "Disconnect Physical Link",
    0x0438: "Create Logical Link", 0x0439: "Accept Logical Link", 0x043A: "Disconnect Logical Link",
    0x043B: "Logical Link Cancel", 0x043C: "Flow Specification Modify",
    0x043D: "Enhanced Setup Synchronous Connection",
    0x043E: "Enhanced Accept Synchronous Connection Request", 0x043F: "Truncated Page",
    0x0440: "Truncated Page Cancel", 0x0441: "Set Connectionless Peripheral Broadcast",
    0x0442: "Set Connectionless Peripheral Broadcast Receive", 0x0443: "Start Synchronization Train",
    0x0444: "Receive Synchronization Train",
    0x0445: Known("Remote OOB Extended Data Request Reply", hidingFrom: 6), 0x0801: "Hold Mode",
    0x0803: "Sniff Mode", 0x0804: "Exit Sniff Mode", 0x0805: "Park State", 0x0806: "Exit Park State",
    0x0807: "QoS Setup", 0x0809: "Role Discovery", 0x080B: "Switch Role",
    0x080C: "Read Link Policy Settings", 0x080D: "Write Link Policy Settings",
    0x080E: "Read Default Link Policy Settings", 0x080F: "Write Default Link Policy Settings",
    0x0810: "Flow Specification", 0x0811: "Sniff Subrating", 0x0C05: "Set Event Filter", 0x0C08: "Flush",
    0x0C09: "Read PIN Type", 0x0C0A: "Write PIN Type", 0x0C0B: "Create New Unit Key",
    0x0C0D: "Read Stored Link Key", 0x0C11: Known("Write Stored Link Key", hidingFrom: 0),
    0x0C12: "Delete Stored Link Key", 0x0C13: "Write Local Name", 0x0C14: "Read Local Name",
    0x0C15: "Read Connection Accept Timeout", 0x0C16: "Write Connection Accept Timeout",
    0x0C17: "Read Page Timeout", 0x0C18: "Write Page Timeout", 0x0C19: "Read Scan Enable",
    0x0C1A: "Write Scan Enable", 0x0C1B: "Read Page Scan Activity", 0x0C1C: "Write Page Scan Activity",
    0x0C1D: "Read Inquiry Scan Activity", 0x0C1E: "Write Inquiry Scan Activity",
    0x0C1F: "Read Authentication Enable", 0x0C20: "Write Authentication Enable",
    0x0C21: "Read Encryption Mode", 0x0C22: "Write Encryption Mode", 0x0C23: "Read Class of Device",
    0x0C24: "Write Class of Device", 0x0C25: "Read Voice Setting", 0x0C26: "Write Voice Setting",
    0x0C27: "Read Automatic Flush Timeout", 0x0C28: "Write Automatic Flush Timeout",
    0x0C29: "Read Num Broadcast Retransmissions", 0x0C2A: "Write Num Broadcast Retransmissions",
    0x0C2B: "Read Hold Mode Activity", 0x0C2C: "Write Hold Mode Activity",
    0x0C2D: "Read Transmit Power Level", 0x0C2E: "Read Sync Flow Control Enable",
    0x0C2F: "Write Sync Flow Control Enable", 0x0C31: "Set Controller To Host Flow Control",
    0x0C33: "Host Buffer Size", 0x0C35: "Host Number of Completed Packets",
    0x0C36: "Read Link Supervision Timeout", 0x0C37: "Write Link Supervision Timeout",
    0x0C38: "Read Number of Supported IAC", 0x0C39: "Read Current IAC LAP",
    0x0C3A: "Write Current IAC LAP", 0x0C3B: "Read Page Scan Period Mode",
    0x0C3C: "Write Page Scan Period Mode", 0x0C3D: "Read Page Scan Mode", 0x0C3E: "Write Page Scan Mode",
    0x0C3F: "Set AFH Host Channel Classification", 0x0C42: "Read Inquiry Scan Type",
    0x0C43: "Write Inquiry Scan Type", 0x0C44: "Read Inquiry Mode", 0x0C45: "Write Inquiry Mode",
    0x0C46: "Read Page Scan Type", 0x0C47: "Write Page Scan Type",
    0x0C48: "Read AFH Channel Assessment Mode", 0x0C49: "Write AFH Channel Assessment Mode",
    0x0C51: "Read Extended Inquiry Response", 0x0C52: "Write Extended Inquiry Response",
    0x0C53: "Refresh Encryption Key", 0x0C55: "Read Simple Pairing Mode",
    0x0C56: "Write Simple Pairing Mode", 0x0C57: Known("Read Local OOB Data", hidesReturn: true),
    0x0C58: "Read Inquiry Response TX Power Level", 0x0C59: "Write Inquiry Transmit Power Level",
    0x0C5A: "Read Default Erroneous Data Reporting", 0x0C5B: "Write Default Erroneous Data Reporting",
    0x0C5F: "Enhanced Flush", 0x0C60: "Send Keypress Notification",
    0x0C61: "Read Logical Link Accept Timeout", 0x0C62: "Write Logical Link Accept Timeout",
    0x0C64: "Read Location Data", 0x0C65: "Write Location Data", 0x0C66: "Read Flow Control Mode",
    0x0C67: "Write Flow Control Mode", 0x0C68: "Read Enhanced Transmit Power Level",
    0x0C69: "Read Best Effort Flush Timeout", 0x0C6A: "Write Best Effort Flush Timeout",
    0x0C6B: "Short Range Mode", 0x0C6C: "Read LE Host Support", 0x0C6D: "Write LE Host Support",
    0x0C6E: "Set MWS Channel Parameters", 0x0C6F: "Set External Frame Configuration",
    0x0C70: "Set MWS Signaling", 0x0C71: "Set MWS Transport Layer",
    0x0C72: "Set MWS Scan Frequency Table", 0x0C73: "Set MWS Pattern Configuration",
    0x0C74: "Set Reserved LT_ADDR", 0x0C75: "Delete Reserved LT_ADDR",
    0x0C76: "Set Connectionless Peripheral Broadcast Data",
    0x0C77: "Read Synchronization Train Parameters", 0x0C78: "Write Synchronization Train Parameters",
    0x0C79: "Read Secure Connections Host Support", 0x0C7A: "Write Secure Connections Host Support",
    0x0C7B: "Read Authenticated Payload Timeout", 0x0C7C: "Write Authenticated Payload Timeout",
    0x0C7D: Known("Read Local OOB Extended Data", hidesReturn: true),
    0x0C7E: "Read Extended Page Timeout", 0x0C7F: "Write Extended Page Timeout",
    0x0C80: "Read Extended Inquiry Length", 0x0C81: "Write Extended Inquiry Length",
    0x1004: "Read Local Extended Features", 0x100A: "Read Data Block Size",
    0x100B: "Read Local Supported Codecs", 0x100C: "Read Local Simple Pairing Options",
    0x1401: "Read Failed Contact Counter", 0x1402: "Reset Failed Contact Counter",
    0x1403: "Read Link Quality", 0x1406: "Read AFH Channel Map", 0x1407: "Read Clock",
    0x1408: "Read Encryption Key Size", 0x140C: "Get MWS Transport Layer Configuration",
    0x140D: "Set Triggered Clock Capture", 0x1801: "Read Loopback Mode", 0x1802: "Write Loopback Mode",
    0x1803: "Enable Device Under Test Mode", 0x1804: "Write Simple Pairing Debug Mode",
    0x1807: "Enable AMP Receiver Reports", 0x1808: "AMP Test End", 0x1809: "AMP Test",
    0x180A: "Write Secure Connections Test Mode", 0x2014: "LE Set Host Channel Classification",
    0x2019: Known("LE Enable Encryption", hidingFrom: 12),
    0x201A: Known("LE Long Term Key Request Reply", hidingFrom: 2), 0x201D: "LE Receiver Test",
    0x201E: "LE Transmitter Test", 0x201F: "LE Test End", 0x2025: "LE Read Local P-256 Public Key",
    0x2026: "LE Generate DHKey", 0x2027: Known("LE Add Device To Resolving List", hidingFrom: 7),
    0x2028: "LE Remove Device From Resolving List", 0x2029: "LE Clear Resolving List",
    0x202A: "LE Read Resolving List Size", 0x202B: "LE Read Peer Resolvable Address",
    0x202C: "LE Read Local Resolvable Address", 0x202D: "LE Set Address Resolution Enable",
    0x202E: "LE Set Resolvable Private Address Timeout", 0x2032: "LE Set PHY",
    0x2033: "LE Receiver Test [v2]", 0x2034: "LE Transmitter Test [v2]",
    0x2035: "LE Set Advertising Set Random Address", 0x2036: "LE Set Extended Advertising Parameters",
    0x2037: "LE Set Extended Advertising Data", 0x2038: "LE Set Extended Scan Response Data",
    0x2039: "LE Set Extended Advertising Enable", 0x203A: "LE Read Maximum Advertising Data Length",
    0x203B: "LE Read Number of Supported Advertising Sets", 0x203C: "LE Remove Advertising Set",
    0x203D: "LE Clear Advertising Sets", 0x203E: "LE Set Periodic Advertising Parameters",
    0x203F: "LE Set Periodic Advertising Data", 0x2040: "LE Set Periodic Advertising Enable",
    0x2041: "LE Set Extended Scan Parameters", 0x2042: "LE Set Extended Scan Enable",
    0x2043: "LE Extended Create Connection", 0x2044: "LE Periodic Advertising Create Sync",
    0x2045: "LE Periodic Advertising Create Sync Cancel",
    0x2046: "LE Periodic Advertising Terminate Sync", 0x2047: "LE Add Device To Periodic Advertiser List",
    0x2048: "LE Remove Device From Periodic Advertiser List", 0x2049: "LE Clear Periodic Advertiser List",
    0x204A: "LE Read Periodic Advertiser List Size", 0x204B: "LE Read Transmit Power",
    0x204C: "LE Read RF Path Compensation", 0x204D: "LE Write RF Path Compensation",
    0x204E: "LE Set Privacy Mode", 0x204F: "LE Receiver Test [v3]", 0x2050: "LE Transmitter Test [v3]",
    0x2051: "LE Set Connectionless CTE Transmit Parameters",
    0x2052: "LE Set Connectionless CTE Transmit Enable",
    0x2053: "LE Set Connectionless IQ Sampling Enable",
    0x2054: "LE Set Connection CTE Receive Parameters",
    0x2055: "LE Set Connection CTE Transmit Parameters", 0x2056: "LE Connection CTE Request Enable",
    0x2057: "LE Connection CTE Response Enable", 0x2058: "LE Read Antenna Information",
    0x2059: "LE Set Periodic Advertising Receive Enable", 0x205A: "LE Periodic Advertising Sync Transfer",
    0x205B: "LE Periodic Advertising Set Info Transfer",
    0x205C: "LE Set Periodic Advertising Sync Transfer Parameters",
    0x205D: "LE Set Default Periodic Advertising Sync Transfer Parameters",
    0x205E: "LE Generate DHKey [v2]", 0x205F: "LE Modify Sleep Clock Accuracy",
    0x2060: "LE Read Buffer Size [v2]", 0x2061: "LE Read ISO TX Sync", 0x2062: "LE Set CIG Parameters",
    0x2063: "LE Set CIG Parameters Test", 0x2064: "LE Create CIS", 0x2065: "LE Remove CIG",
    0x2066: "LE Accept CIS Request", 0x2067: "LE Reject CIS Request",
    0x2068: Known("LE Create BIG", hidingFrom: 15), 0x2069: Known("LE Create BIG Test", hidingFrom: 20),
    0x206A: "LE Terminate BIG", 0x206B: Known("LE BIG Create Sync", hidingFrom: 4),
    0x206C: "LE BIG Terminate Sync", 0x206D: "LE Request Peer SCA", 0x206E: "LE Setup ISO Data Path",
    0x206F: "LE Remove ISO Data Path", 0x2070: "LE ISO Transmit Test", 0x2071: "LE ISO Receive Test",
    0x2072: "LE ISO Read Test Counters", 0x2073: "LE ISO Test End", 0x2074: "LE Set Host Feature",
    0x2075: "LE Read ISO Link Quality", 0x2076: "LE Enhanced Read Transmit Power Level",
    0x2077: "LE Read Remote Transmit Power Level", 0x2078: "LE Set Path Loss Reporting Parameters",
    0x2079: "LE Set Path Loss Reporting Enable", 0x207A: "LE Set Transmit Power Reporting Enable",
    0x207B: "LE Transmitter Test [v4]", 0x207C: "LE Set Data Related Address Changes",
    0x207D: "LE Set Default Subrate", 0x207E: "LE Subrate Request",
  ]

  /// The events (§7.7).
  static let events: [UInt8: Known] = [
    0x01: "Inquiry Complete", 0x02: "Inquiry Result", 0x03: "Connection Complete",
    0x04: "Connection Request", 0x05: "Disconnection Complete", 0x06: "Authentication Complete",
    0x07: "Remote Name Request Complete", 0x08: "Encryption Change",
    0x09: "Change Connection Link Key Complete", 0x0A: "Link Key Type Changed",
    0x0B: "Read Remote Supported Features Complete", 0x0C: "Read Remote Version Information Complete",
    0x0D: "QoS Setup Complete", 0x0E: "Command Complete", 0x0F: "Command Status", 0x10: "Hardware Error",
    0x11: "Flush Occurred", 0x12: "Role Change", 0x13: "Number Of Completed Packets", 0x14: "Mode Change",
    0x15: Known("Return Link Keys", hidingFrom: 0), 0x16: "PIN Code Request", 0x17: "Link Key Request",
    0x18: Known("Link Key Notification", hidingFrom: 6), 0x19: Known("Loopback Command", hidingFrom: 0),
    0x1A: "Data Buffer Overflow", 0x1B: "Max Slots Change", 0x1C: "Read Clock Offset Complete",
    0x1D: "Connection Packet Type Changed", 0x1E: "QoS Violation",
    0x20: "Page Scan Repetition Mode Change", 0x21: "Flow Specification Complete",
    0x22: "Inquiry Result with RSSI", 0x23: "Read Remote Extended Features Complete",
    0x2C: "Synchronous Connection Complete", 0x2D: "Synchronous Connection Changed",
    0x2E: "Sniff Subrating", 0x2F: "Extended Inquiry Result", 0x30: "Encryption Key Refresh Complete",
    0x31: "IO Capability Request", 0x32: "IO Capability Response", 0x33: "User Confirmation Request",
    0x34: "User Passkey Request", 0x35: "Remote OOB Data Request", 0x36: "Simple Pairing Complete",
    0x38: "Link Supervision Timeout Changed", 0x39: "Enhanced Flush Complete",
    0x3B: Known("User Passkey Notification", hidingFrom: 6), 0x3C: "Keypress Notification",
    0x3D: "Remote Host Supported Features Notification", 0x48: "Number of Completed Data Blocks",
    0x4E: "Triggered Clock Capture", 0x4F: "Synchronization Train Complete",
    0x50: "Synchronization Train Received", 0x51: "Connectionless Peripheral Broadcast Receive",
    0x52: "Connectionless Peripheral Broadcast Timeout", 0x53: "Truncated Page Complete",
    0x54: "Peripheral Page Response Timeout",
    0x55: "Connectionless Peripheral Broadcast Channel Map Change", 0x56: "Inquiry Response Notification",
    0x57: "Authenticated Payload Timeout Expired", 0x58: "SAM Status Change",
    0x59: "Encryption Change [v2]",
  ]

  /// The LE events (§7.7.65); the subevent is the first of their parameters.
  static let subevents: [UInt8: Known] = [
    0x01: "LE Connection Complete", 0x02: "LE Advertising Report", 0x03: "LE Connection Update Complete",
    0x04: "LE Read Remote Features Complete", 0x05: "LE Long Term Key Request",
    0x06: "LE Remote Connection Parameter Request", 0x07: "LE Data Length Change",
    0x08: "LE Read Local P-256 Public Key Complete",
    0x09: Known("LE Generate DHKey Complete", hidingFrom: 2), 0x0A: "LE Enhanced Connection Complete",
    0x0B: "LE Directed Advertising Report", 0x0C: "LE PHY Update Complete",
    0x0D: "LE Extended Advertising Report", 0x0E: "LE Periodic Advertising Sync Established",
    0x0F: "LE Periodic Advertising Report", 0x10: "LE Periodic Advertising Sync Lost",
    0x11: "LE Scan Timeout", 0x12: "LE Advertising Set Terminated", 0x13: "LE Scan Request Received",
    0x14: "LE Channel Selection Algorithm", 0x15: "LE Connectionless IQ Report",
    0x16: "LE Connection IQ Report", 0x17: "LE CTE Request Failed",
    0x18: "LE Periodic Advertising Sync Transfer Received", 0x19: "LE CIS Established",
    0x1A: "LE CIS Request", 0x1B: "LE Create BIG Complete", 0x1C: "LE Terminate BIG Complete",
    0x1D: "LE BIG Sync Established", 0x1E: "LE BIG Sync Lost", 0x1F: "LE Request Peer SCA Complete",
    0x20: "LE Path Loss Threshold", 0x21: "LE Transmit Power Reporting",
    0x22: "LE BIGInfo Advertising Report", 0x23: "LE Subrate Change",
  ]
}
