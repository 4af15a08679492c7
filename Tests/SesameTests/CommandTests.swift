import Basics
import Bluetooth
import Sesame
import TestSupport
import Testing

@Suite struct CommandTests {
  /// A command, and its bytes in OS2 and OS3.
  // swift-format-ignore
  static let table: [(command: LockCommand, os2: String, os3: String)] = [
    (.readIdentity, "020f", "0f"),
    (.lock(.absent), "0652" + zeros(22), "52"),
    (.unlock(.text([0x41])), "0653" + "0141" + zeros(20), "530141"),
    (.toggle(.absent), "0658" + zeros(22), "58"),
    (.click(.absent), "0659" + zeros(22), "59"),
    (.setAutolock(seconds: -1), "030bffff" + zeros(22), "0bffff"),
    (.readAutolock, "020b", "0b"),
    (.readMechStatus, "0251", "51"),
    (.readVersion, "0205", "05"),
    (.readHistory(1), "020401", "0401"),
    (.deleteHistory(id: 7), "041207000000", "1207000000"),
    (.setTime(0x01020304), "031004030201", "0804030201"),
    (.calibrateMagnet, "0311", "11"),
    (.setOpenSensorDelay(seconds: 10), "035c0a00", "5c0a00"),
    (.setAdvertisedType([5]), "03cd05", "cd05"),
    (.setTXPower(-4), "03cefc", "cefc"),
    (.enableDFU, "030701", "0701"),
    (.reset, "0401", "68"),
  ]

  static func zeros(_ count: Int) -> String { String(repeating: "00", count: count) }

  @Test("a command has one form in each generation and comes back from it", arguments: table)
  func forms(command: LockCommand, os2: String, os3: String) throws {
    for (generation, text) in [(Generation.os2, os2), (.os3, os3)] {
      expect(command.encoded(for: generation).hex, text)
      expect(try LockCommand(decoding: [UInt8](hex: text), for: generation), command)
    }
  }

  @Test(
    "a request that nothing defines is kept as it is",
    arguments: [
      ("0152", Generation.os2), ("06fe01", .os2), ("fe", .os3), ("00", .os3), ("1e1f20", .os3),
    ])
  func unknown(text: String, generation: Generation) throws {
    let bytes = try [UInt8](hex: text)
    let request = try Request(decoding: bytes, for: generation)
    expect(try LockCommand(decoding: bytes, for: generation), .other(request))
    expect(LockCommand.other(request).encoded(for: generation), bytes)
  }

  @Test(
    "a request whose data do not decode says where and why",
    arguments: [
      ("", Generation.os2, DecodeError.truncated(at: 0, missing: 2)),
      ("06", .os2, .truncated(at: 1)),
      ("", .os3, .truncated(at: 0)),
      ("0204", .os2, .truncated(at: 2)),
      ("020500", .os2, .trailing(at: 2, count: 1)),
      ("065205416c", .os2, .truncated(at: 5, missing: 3)),
      ("06525a", .os2, .value(90, of: "tag length", at: 2)),
      ("5205416c", .os3, .truncated(at: 4, missing: 3)),
      ("52014142", .os3, .trailing(at: 3, count: 1)),
      ("030b1e", .os2, .truncated(at: 3)),
      ("0350" + "0102", .os2, .truncated(at: 4, missing: 10)),
      ("50010203", .os3, .truncated(at: 4)),
      ("0702", .os3, .value(2, of: "DFU argument", at: 1)),
      ("02aabbcc", .os3, .truncated(at: 4)),
      ("02aabbccddee", .os3, .trailing(at: 5, count: 1)),
      ("0502" + zeros(73), .os2, .truncated(at: 75)),
      ("0101" + zeros(71), .os2, .truncated(at: 73)),
      ("01" + zeros(63), .os3, .truncated(at: 64)),
      ("01" + zeros(66), .os3, .truncated(at: 67, missing: 2)),
      ("01" + zeros(69), .os3, .trailing(at: 69, count: 1)),
    ])
  func malformed(text: String, generation: Generation, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try LockCommand(decoding: bytes, for: generation) }
  }

  @Test("a whole signature before the key is kept, since one SDK sends it whole")
  func longSignature() throws {
    let key = try PublicKey(bytes: [UInt8](repeating: 7, count: 64))
    let signature = [UInt8](repeating: 9, count: 16)
    let command = LockCommand.register(.os2(signature: signature, key, serverToken: Token(word: 1)))
    expect(command.encoded(for: .os2).count, 86)
    expect(try LockCommand(decoding: command.encoded(for: .os2), for: .os2), command)
  }

  @Test("each generation has its own commands")
  func definitions() {
    expect(LockCommand.readAutolock.isDefined(in: .os2), true)
    expect(LockCommand.readAutolock.isDefined(in: .os3), false)
    expect(LockCommand.deleteHistory(id: 1).isDefined(in: .os2), false)
    expect(LockCommand.deleteHistory(id: 1).isDefined(in: .os3), true)
    expect(LockCommand.toggle(.absent).isDefined(in: .os3), false)
    expect(LockCommand.lock(.absent).isDefined(in: .os2), true)
    expect(LockCommand.other(Request(.read, .version)).isDefined(in: .os2), true)
    expect(LockCommand.other(Request(.read, .version)).isDefined(in: .os3), false)
    expect(LockCommand.login(.os3(Proof(word: 0))).isSentInClear, true)
    expect(LockCommand.reset.isSentInClear, false)
  }

  @Test(
    "a message from a lock takes the form of its generation",
    arguments: [
      (LockMessage.response(Response(.async, .lock, .success)), "07520600", Generation.os2),
      (.response(Response(nil, .lock, .busy)), "075207", .os3),
      (.response(Response(.read, .history, .notFound)), "07040205", .os2),
      (.response(Response(nil, ItemCode(rawValue: 0xFE), ResultCode(rawValue: 0x7F), [1])), "07fe7f01", .os3),
      (.publish(.initial(Token(word: 0xD4C3_B2A1))), "080ea1b2c3d4", .os2),
      (.publish(Publish(.mechStatus, [])), "0851", .os3),
    ])
  func lockMessages(message: LockMessage, text: String, generation: Generation) throws {
    expect(message.encoded.hex, text)
    expect(try LockMessage(decoding: [UInt8](hex: text), for: generation), message)
  }

  @Test(
    "a message from a lock that is cut short or no message says so",
    arguments: [
      ("", Generation.os2, DecodeError.truncated(at: 0)),
      ("07", .os3, .truncated(at: 1)),
      ("0752", .os3, .truncated(at: 2)),
      ("075206", .os2, .truncated(at: 3)),
      ("08", .os2, .truncated(at: 1)),
      ("0651", .os2, .value(6, of: "op code of a lock's message", at: 0)),
    ])
  func badLockMessages(text: String, generation: Generation, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try LockMessage(decoding: bytes, for: generation) }
  }

  @Test("an answer repeats what was asked")
  func answers() {
    let os2 = LockCommand.readHistory(1).request(for: .os2)
    expect(Response(to: os2, .notFound).encoded.hex, "07040205")
    let os3 = LockCommand.reset.request(for: .os3)
    expect(Response(to: os3).encoded.hex, "076800")
    expect(Response(nil, .registration, .success, [0, 0, 0, 9]).tellsAlreadyRegistered, true)
    expect(Response(nil, .registration, .success, [0, 0, 0, 8]).tellsAlreadyRegistered, false)
    expect(Response(nil, .login, .invalidAction).tellsAlreadyRegistered, false)
  }

  @Test(
    "commands and messages read as words",
    arguments: [
      (LockCommand.lock(.text([0x41])).description, "lock, “A”"),
      (
        LockCommand.unlock(.typed(TagType(rawValue: 0x0F), UUID128(high: 0, low: 1), rest: [2])).description,
        "unlock, iOS over Bluetooth 00000000-0000-0000-0000-000000000001 02"
      ),
      (LockCommand.setAutolock(seconds: 5).description, "set autolock to 5 s"),
      (LockCommand.other(Request(.sync, .toggle, [1])).description, "sync toggle 01"),
      (
        LockMessage.response(Response(.async, .lock, .busy, [1])).description,
        "response to async lock: busy 01"
      ),
      (LockMessage.publish(Publish(.mechStatus, [1, 2])).description, "publish mech status 0102"),
      (OpCode(rawValue: 99).description, "op 99"),
      (ResultCode.invalidAction.description, "invalid action"),
      (ResultCode(rawValue: 10).description, "result 10"),
    ])
  func descriptions(text: String, wanted: String) {
    expect(text, wanted)
  }

  @Test("every item code has a name of its own, or its number")
  func itemNames() {
    let names = (0...255).map { ItemCode(rawValue: UInt8($0)).description }
    expect(Set(names).count, 256)
    // swift-format-ignore
    let some: [UInt8: String] = [
      0: "none", 14: "initial", 20: "switch point", 21: "item 21", 80: "mech setting", 92: "open-sensor delay",
      93: "script setting", 96: "script names", 104: "reset", 105: "item 105", 107: "card change", 130: "passcode mode set",
      137: "hub Matter code", 142: "passcode move", 161: "face mode set", 179: "run script 9", 185: "passcodes delete",
      202: "battery voltages", 206: "TX power", 255: "item 255",
    ]
    for (code, name) in some.sorted(by: { $0.key < $1.key }) { expect(names[Int(code)], name) }
  }
}
