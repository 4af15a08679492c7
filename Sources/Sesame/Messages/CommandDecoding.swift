public import Bluetooth

extension LockCommand {
  /// Interprets a request.
  ///
  /// A combination of operation and item that no document has is ``LockCommand/other(_:)``. A known one whose
  /// data do not decode throws, with an offset from the start of the request: a lock answers it with *invalid
  /// format*.
  public init(_ request: Request) throws(DecodeError) {
    var reader = ByteReader(request.data.span)
    do throws(DecodeError) {
      let command =
        if let operation = request.operation {
          try LockCommand.os2(operation, request.item, &reader)
        } else {
          try LockCommand.os3(request.item, &reader)
        }
      guard let command else {
        self = .other(request)
        return
      }
      try reader.end()
      self = command
    } catch {
      throw error.shifted(by: request.operation == nil ? 1 : 2)
    }
  }

  private static func os2(
    _ operation: OpCode, _ item: ItemCode, _ reader: inout ByteReader
  ) throws(DecodeError) -> LockCommand? {
    switch (operation, item) {
    case (.read, .identity): return .readIdentity
    case (.create, .registration): return .register(try RegisterCommand(os2: &reader))
    case (.sync, .login): return .login(try LoginCommand(os2: &reader))
    case (.async, .lock): return .lock(try HistoryTag(decoding: &reader, for: .os2))
    case (.async, .unlock): return .unlock(try HistoryTag(decoding: &reader, for: .os2))
    case (.async, .toggle): return .toggle(try HistoryTag(decoding: &reader, for: .os2))
    case (.async, .click): return .click(try HistoryTag(decoding: &reader, for: .os2))
    case (.update, .autolock):
      return .setAutolock(seconds: try reader.i16(), try HistoryTag(decoding: &reader, for: .os2))
    case (.read, .autolock): return .readAutolock
    case (.update, .mechSetting):
      return .setMechSetting(try reader.bytes(12), try HistoryTag(decoding: &reader, for: .os2))
    case (.read, .mechStatus): return .readMechStatus
    case (.read, .version): return .readVersion
    case (.read, .history): return .readHistory(try reader.u8())
    case (.delete, .historyDelete): return .deleteHistory(id: try reader.u32())
    case (.update, .timeWithoutSignature): return .setTime(try reader.u32())
    case (.update, .time): return .setSignedTime(reader.rest())
    case (.update, .magnet): return .calibrateMagnet
    case (.update, .openSensorDelay): return .setOpenSensorDelay(seconds: try reader.u16())
    case (.update, .advertisedType): return .setAdvertisedType(reader.rest())
    case (.update, .txPower): return .setTXPower(try reader.i8())
    case (.update, .enableDFU): return try enableDFU(&reader)
    case (.delete, .registration): return .reset
    default: return nil
    }
  }

  private static func os3(_ item: ItemCode, _ reader: inout ByteReader) throws(DecodeError) -> LockCommand? {
    switch item {
    case .identity: return .readIdentity
    case .registration: return .register(try RegisterCommand(os3: &reader))
    case .login: return .login(.os3(try Proof(decoding: &reader)))
    case .lock: return .lock(try HistoryTag(decoding: &reader, for: .os3))
    case .unlock: return .unlock(try HistoryTag(decoding: &reader, for: .os3))
    case .toggle: return .toggle(try HistoryTag(decoding: &reader, for: .os3))
    case .click: return reader.isAtEnd ? .click(.absent) : .runScript(try reader.u8())
    case .autolock: return reader.isAtEnd ? .readAutolock : .setAutolock(seconds: try reader.i16())
    case .mechSetting: return .setMechSetting(try reader.bytes(4))
    case .mechStatus: return .readMechStatus
    case .version: return .readVersion
    case .history: return .readHistory(try reader.u8())
    case .historyDelete: return .deleteHistory(id: try reader.u32())
    case .time: return .setTime(try reader.u32())
    case .magnet: return .calibrateMagnet
    case .openSensorDelay: return .setOpenSensorDelay(seconds: try reader.u16())
    case .advertisedType: return .setAdvertisedType(reader.rest())
    case .txPower: return .setTXPower(try reader.i8())
    case .enableDFU: return try enableDFU(&reader)
    case .reset: return .reset
    default: return nil
    }
  }

  private static func enableDFU(_ reader: inout ByteReader) throws(DecodeError) -> LockCommand {
    let offset = reader.offset
    let argument = try reader.u8()
    guard argument == 1 else { throw .value(Int(argument), of: "DFU argument", at: offset) }
    return .enableDFU
  }
}

extension RegisterCommand {
  /// The bytes before the last 68 are the signature: one SDK sends all of it, not only four bytes.
  fileprivate init(os2 reader: inout ByteReader) throws(DecodeError) {
    try reader.require(4 + 68)
    self = .os2(
      signature: try reader.bytes(reader.remaining - 68), try PublicKey(decoding: &reader),
      serverToken: try Token(decoding: &reader))
  }

  fileprivate init(os3 reader: inout ByteReader) throws(DecodeError) {
    let publicKey = try PublicKey(decoding: &reader)
    self = .os3(publicKey, time: reader.isAtEnd ? nil : try reader.u32())
  }
}

extension LoginCommand {
  fileprivate init(os2 reader: inout ByteReader) throws(DecodeError) {
    try reader.require(74)
    self = .os2(
      keyIndex: try reader.u16(), try PublicKey(decoding: &reader), appToken: try Token(decoding: &reader),
      try Proof(decoding: &reader))
  }
}
