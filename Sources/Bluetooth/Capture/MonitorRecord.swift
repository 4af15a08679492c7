import Basics

/// The records of the Linux monitor channel (datalink 2001), of all controllers of a machine and of the
/// programs that use them.
///
/// The flags of a record are the number of the controller and an opcode, 16 bits each. HCI packets have no H4
/// octet; other records concern the controllers, or the stack above them.
enum MonitorRecord {
  /// The kind of a record, by its opcode.
  private enum Kind {
    case packet(H4Indicator, isReceived: Bool)
    case note(([UInt8]) -> String)
  }

  /// The controller number of a record without a controller.
  static let noController: UInt16 = 0xFFFF

  /// Converts a record of the file.
  static func read(_ record: BTSnoop.Record) -> BTSnoop.Record {
    var read = record
    let controller = UInt16(truncatingIfNeeded: record.flags.rawValue >> 16)
    read.controller = controller == noController ? nil : controller
    switch kind(of: UInt16(truncatingIfNeeded: record.flags.rawValue)) {
    case .packet(let indicator, let isReceived):
      let isControl = indicator == .command || indicator == .event
      read.flags = BTSnoop.Record.Flags(isReceived ? [.received] : []).union(isControl ? [.control] : [])
      read.addIndicator(indicator)
    case .note(let text):
      read.flags = []
      read.note = text(record.packet)
    }
    return read
  }

  private static func kind(of opcode: UInt16) -> Kind {
    switch opcode {
    case 0: .note(newController)
    case 1: .note { _ in endOfController }
    case 2: .packet(.command, isReceived: false)
    case 3: .packet(.event, isReceived: true)
    case 4: .packet(.acl, isReceived: false)
    case 5: .packet(.acl, isReceived: true)
    case 6: .packet(.synchronous, isReceived: false)
    case 7: .packet(.synchronous, isReceived: true)
    case 8: .note { _ in "the controller is opened" }
    case 9: .note { _ in "the controller is closed" }
    case 10: .note(description)
    case 11: .note { "diagnostics of the controller's maker, \(counted($0.count, "byte"))" }
    case 12: .note { "system: " + text($0) }
    case 13: .note(logging)
    case 14: .note { _ in "a program opens the management interface" }
    case 15: .note { _ in "a program closes the management interface" }
    // Some of them contain keys: only their numbers are shown.
    case 16: .note { "management command" + management($0) }
    case 17: .note { "management event" + management($0) }
    case 18: .packet(.isochronous, isReceived: false)
    case 19: .packet(.isochronous, isReceived: true)
    default: .note { "record \(opcode) of the monitor, \(counted($0.count, "byte"))" }
    }
  }

  /// The note of a removed controller, whose links have ended.
  static let endOfController = "the controller is removed"

  /// Kind, bus, address and name.
  private static func newController(_ bytes: [UInt8]) -> String {
    guard bytes.count >= 8 else { return "a new controller" }
    return "a new controller, \(address(bytes[2..<8])), \(text([UInt8](bytes[8...])))"
  }

  /// Address and maker.
  private static func description(_ bytes: [UInt8]) -> String {
    guard bytes.count >= 8 else { return "the controller tells of itself" }
    let company = UInt16(bytes[6]) | UInt16(bytes[7]) << 8
    return "the controller is \(address(bytes[..<6])), of company 0x\(hexText(company))"
  }

  /// Priority, length of the program's name, name, message.
  private static func logging(_ bytes: [UInt8]) -> String {
    guard bytes.count >= 2 else { return "a program notes something" }
    let name = bytes[2...].prefix(Int(bytes[1]))
    return "\(text([UInt8](name))): \(text([UInt8](bytes[name.endIndex...])))"
  }

  /// The number of the program's connection, then that of the command or event.
  private static func management(_ bytes: [UInt8]) -> String {
    guard bytes.count >= 6 else { return "" }
    return " 0x\(hexText(UInt16(bytes[4]) | UInt16(bytes[5]) << 8)), \(counted(bytes.count - 6, "byte"))"
  }

  private static func address(_ bytes: ArraySlice<UInt8>) -> String {
    (try? BluetoothAddress(decoding: [UInt8](bytes))).map { "\($0)" } ?? "?"
  }

  private static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }
}
