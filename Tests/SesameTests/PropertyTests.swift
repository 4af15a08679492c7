import Bluetooth
import Sesame
import Basics
import TestSupport
import Testing

/// A decoder under random bytes: it reads them, and encodes what it read.
struct Codec: Sendable, CustomTestStringConvertible {
  var name: String
  var recode: @Sendable ([UInt8]) throws -> [UInt8]

  var testDescription: String { name }

  init<Value: BinaryCodable & SendableMetatype>(_: Value.Type) {
    name = "\(Value.self)"
    recode = { try Value(decoding: $0).encoded }
  }

  init(_ name: String, _ recode: @escaping @Sendable ([UInt8]) throws -> [UInt8]) {
    self.name = name
    self.recode = recode
  }

  static let all: [Codec] =
    [
      Codec(Sesame3Status.self), Codec(Sesame5Status.self), Codec(Bot1Status.self), Codec(Bike2Status.self),
      Codec(FaceStatus.self), Codec(Sesame3Setting.self), Codec(Sesame5Setting.self), Codec(Bot1Setting.self),
      Codec(OS2HistoryRecord.self), Codec(OS3HistoryRecord.self), Codec(SesameKeyEntry.self),
      Codec(Identity.self), Codec(Token.self), Codec(Proof.self), Codec(PublicKey.self),
      Codec("TouchStatus") { try TouchStatus(decoding: $0).encoded },
      Codec("RegistrationReply") { try RegistrationReply(decoding: $0).encoded },
      Codec("SesameKeyEntry.list") { try SesameKeyEntry.list(decoding: $0).flatMap(\.encoded) },
      Codec("ShareKey") { try ShareKey(bytes: $0).exposedBytes },
      Codec("Advertisement") {
        let name = "QpGK0YFUSv+9H/DN6IqN4Q"
        let advertisement = try Advertisement(manufacturerData: [0x5A, 0x05] + $0, localName: name)
        return [UInt8](advertisement.manufacturerData.dropFirst(2))
      },
      Codec("Advertisement, raw") {
        try Advertisement(manufacturerData: $0, localName: nil).manufacturerData
      },
      Codec("ShareKey.url") { [UInt8](try ShareKey(url: String(decoding: $0, as: UTF8.self)).url.utf8) },
    ] + Generation.allCases.flatMap(messages) + models.flatMap(layouts)

  /// One product for each layout.
  static let models: [ProductModel] = [.sesame3, .bot1, .sesame5, .bike2, .touch, .face, .remote]

  private static func messages(_ generation: Generation) -> [Codec] {
    [
      Codec("Request, \(generation)") { try Request(decoding: $0, for: generation).encoded },
      Codec("Command, \(generation)") {
        try LockCommand(decoding: $0, for: generation).encoded(for: generation)
      },
      Codec("LockMessage, \(generation)") { try LockMessage(decoding: $0, for: generation).encoded },
      Codec("FirmwareVersion, \(generation)") {
        try FirmwareVersion(decoding: $0, for: generation).encoded(for: generation)
      },
      Codec("HistoryTag, \(generation)") {
        var reader = ByteReader($0.span)
        var bytes: [UInt8] = []
        try HistoryTag(decoding: &reader, for: generation).encode(into: &bytes, for: generation)
        return bytes
      },
    ]
  }

  private static func layouts(_ model: ProductModel) -> [Codec] {
    [
      Codec("MechStatus, \(model)") { try MechStatus(decoding: $0, model: model).encoded },
      Codec("MechSetting, \(model)") { try MechSetting(decoding: $0, model: model).encoded },
    ]
      + (model.generation == .os2
        ? [Codec("LoginPayload, \(model)") { try LoginPayload(decoding: $0, model: model).encoded }] : [])
  }
}

@Suite struct PropertyTests {
  /// Bytes as a fuzzer would try them: random, or with many small values, so that known codes come up.
  static func bytes(_ generator: inout SeededGenerator, below limit: Int) -> [UInt8] {
    let bytes = generator.bytes(generator.below(limit))
    guard generator.below(3) > 0 else { return bytes }
    return bytes.map { generator.below(2) == 0 ? $0 % 20 : $0 }
  }

  @Test("random bytes never trap a decoder, and what it reads it reads again", arguments: Codec.all)
  func garbage(codec: Codec) {
    var generator = SeededGenerator(seed: 30, for: codec.name)
    for _ in 0..<2000 {
      let bytes = Self.bytes(&generator, below: 100)
      guard let once = try? codec.recode(bytes) else { continue }
      guard let twice = try? codec.recode(once), once == twice else {
        Issue.record("\(codec.name): \(bytes.hex) becomes \(once.hex), which is read otherwise")
        return
      }
    }
  }

  @Test("real messages with a fault never trap a decoder", arguments: Codec.all)
  func mutants(codec: Codec) throws {
    var generator = SeededGenerator(seed: 36, for: codec.name)
    var decoded = 0
    for bytes in Self.samples {
      for bytes in [bytes, Self.mutant(of: bytes, &generator), Self.mutant(of: bytes, &generator)] {
        guard let once = try? codec.recode(bytes) else { continue }
        decoded += 1
        expect(try codec.recode(once), once)
      }
    }
    #expect(decoded > 0, "no sample decodes: the test shows nothing")
  }

  /// Every byte string that goes into a vector, share keys as bytes and as text, and one entry of a list.
  static let samples: [[UInt8]] =
    Vectors.all.flatMap { vector in
      let values =
        vector.inputs.sorted { $0.key < $1.key }.map(\.value) + [vector.expected["sk_bytes"] ?? .null]
      let texts = values.compactMap { try? $0.text() }
      return texts.compactMap { try? [UInt8](hex: $0) }
        + texts.filter { $0.hasPrefix("5a05") }.compactMap { try? [UInt8](hex: $0.dropFirst(4)) }
    } + [
      [UInt8]("ssm://UI?t=sk&sk=\(IdentityTests.key)&l=2&n=a".utf8), [UInt8](repeating: 1, count: 67),
      [UInt8]("QpGK0YFUSv+9H/DN6IqN4Q\u{2}".utf8),
    ]

  private static func mutant(of bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    switch generator.below(4) {
    case 0: bytes.removeLast(generator.below(bytes.count + 1))
    case 1: bytes += generator.bytes(1 + generator.below(4))
    default:
      guard !bytes.isEmpty else { return bytes }
      for _ in 0...generator.below(3) {
        bytes[generator.below(bytes.count)] = UInt8(truncatingIfNeeded: generator.next())
      }
    }
    return bytes
  }

  @Test("the views of a status or setting never trap, whatever the bytes", arguments: Codec.models)
  func views(model: ProductModel) {
    var generator = SeededGenerator(seed: 31)
    for _ in 0..<500 {
      let bytes = generator.bytes([3, 6, 7, 8, 9, 12][generator.below(6)])
      if let status = try? MechStatus(decoding: bytes, model: model) {
        _ = (status.description, status.isIdle, status.positionDegrees)
        _ = (status.batteryPercent(), status.batteryPercent(by: .old), status.stateShownByIOS)
      }
      if let setting = try? MechSetting(decoding: bytes, model: model) {
        _ = (setting.description, ConfiguredRule.allCases.map { setting.isConfigured(by: $0) })
      }
    }
  }

  @Test("commands drawn at random come back from either generation's form")
  func commands() throws {
    var generator = SeededGenerator(seed: 32)
    for generation in Generation.allCases {
      for _ in 0..<3000 {
        let command = Self.command(&generator, generation)
        let bytes = command.encoded(for: generation)
        let read = Result { () throws(DecodeError) in try LockCommand(decoding: bytes, for: generation) }
        guard read == .success(command) else {
          Issue.record("\(command) becomes \(bytes.hex), read as \(read)")
          return
        }
        _ = command.description
      }
    }
  }

  static func tag(_ generator: inout SeededGenerator, _ generation: Generation) -> HistoryTag {
    let origin = HistoryTag.Origin.allCases[generator.below(3)]
    let capacity = generation == .os2 ? HistoryTag.os2Capacity : HistoryTag.os3Capacity
    switch generator.below(generation == .os2 ? 2 : 3) {
    case 0: return .absent
    case 1: return .text(generator.bytes(1 + generator.below(capacity)), origin)
    default:
      let uuid = UUID128(high: generator.next(), low: generator.next())
      return .typed(
        TagType(rawValue: UInt8(generator.below(256))), uuid, rest: generator.bytes(generator.below(8)))
    }
  }

  private static func command(_ generator: inout SeededGenerator, _ generation: Generation) -> LockCommand {
    let isOS2 = generation == .os2
    let number = UInt32(truncatingIfNeeded: generator.next())
    let small = Int16(truncatingIfNeeded: generator.next())
    let tag = tag(&generator, generation)
    let token = Token(word: number)
    let proof = Proof(word: number)
    guard let key = try? PublicKey(bytes: generator.bytes(64)) else {
      preconditionFailure("64 bytes are a key")
    }
    let signature = generator.bytes(4 + generator.below(13))
    let commands: [LockCommand] = [
      .readIdentity, .lock(tag), .unlock(tag), .toggle(tag), .click(isOS2 ? tag : .absent),
      isOS2 ? .reset : .runScript(UInt8(truncatingIfNeeded: number)),
      .setAutolock(seconds: small, isOS2 ? tag : .absent), .readAutolock,
      .setMechSetting(generator.bytes(isOS2 ? 12 : 4), isOS2 ? tag : .absent), .readMechStatus, .readVersion,
      .readHistory(UInt8(truncatingIfNeeded: number)), .deleteHistory(id: number), .setTime(number),
      isOS2 ? .setSignedTime(generator.bytes(generator.below(20))) : .reset, .calibrateMagnet,
      .setOpenSensorDelay(seconds: UInt16(truncatingIfNeeded: number)),
      .setAdvertisedType(generator.bytes(generator.below(4))), .setTXPower(Int8(truncatingIfNeeded: number)),
      .enableDFU,
      isOS2
        ? .register(.os2(signature: signature, key, serverToken: token))
        : .register(.os3(key, time: generator.below(2) == 0 ? nil : number)),
      isOS2
        ? .login(.os2(keyIndex: UInt16(truncatingIfNeeded: number), key, appToken: token, proof))
        : .login(.os3(proof)),
    ]
    return commands[generator.below(commands.count)]
  }

  @Test("records drawn at random come back")
  func records() throws {
    var generator = SeededGenerator(seed: 33)
    for _ in 0..<2000 {
      let type = HistoryType(rawValue: UInt8(generator.below(26)))
      let os3 = OS3HistoryRecord(
        id: UInt32(truncatingIfNeeded: generator.next()), type: type,
        seconds: UInt32(truncatingIfNeeded: generator.next()),
        status: Sesame5Status(
          battery: 3000, position: Int16(truncatingIfNeeded: generator.next()), flags: []),
        tag: Self.tag(&generator, .os3))
      let content: OS2HistoryRecord.Content =
        if type.hasTag {
          .command(unknown: 7, deviceKey: generator.bytes(16), Self.tag(&generator, .os2))
        } else if type == .driveFailed {
          .driveFailed(position: Int16(truncatingIfNeeded: generator.next()), code: -1, flags: 2)
        } else {
          .other(generator.bytes(generator.below(9)))
        }
      let os2 = OS2HistoryRecord(
        id: Int32(truncatingIfNeeded: generator.next()), type: type, milliseconds: generator.next(),
        content: content)
      guard try OS3HistoryRecord(decoding: os3.encoded) == os3,
        try OS2HistoryRecord(decoding: os2.encoded) == os2
      else {
        Issue.record("\(os2) or \(os3) does not come back")
        return
      }
      _ = (os2.description, os3.description)
    }
  }

  @Test("advertisements of every product come back", arguments: ProductModel.allCases)
  func advertisements(model: ProductModel) throws {
    var generator = SeededGenerator(seed: 34)
    let usesMAC = model == .wifiModule2 || model == .hub3
    for isRegistered in [false, true] {
      var id = UUID128(high: generator.next(), low: generator.next())
      if usesMAC {
        let low: UInt64 = model == .hub3 ? 0x0D00_0000_0000_0000 : 0x0001_0000_0000_0000
        id = UUID128(high: 0x0000_0000_055A_FD81, low: low | id.low >> 16)
      }
      let sent = Advertisement(
        model: model, isRegistered: isRegistered, hasHistory: model.generation == .os3 && !usesMAC,
        deviceID: id,
        connectionCount: model == .wifiModule2 ? 3 : nil)
      let heard = try Advertisement(
        AdvertisingData(decoding: sent.advertisingData.encoded),
        scanResponse: AdvertisingData(decoding: sent.scanResponse.encoded))
      expect(heard, sent)
      #expect(sent.advertisingData.encoded.count <= AdvertisingData.legacyCapacity)
    }
  }

  @Test("two ends of a session understand each other, and a spoilt message costs what the rule says")
  func sessions() throws {
    var generator = SeededGenerator(seed: 35)
    for token in [SessionToken.os2(app: Token(word: 1), lock: Token(word: 2)), .os3(Token(word: 3))] {
      for rule in SessionCipher.FailureRule.allCases {
        let key = try SecretKey(bytes: generator.bytes(16))
        var app = SessionCipher(key: key, token: token, end: .app, onFailure: rule)
        var lock = SessionCipher(key: key, token: token, end: .lock, onFailure: rule)
        for _ in 0..<200 {
          let message = generator.bytes(generator.below(50))
          var sealed = app.encrypt(message)
          expect(try? lock.decrypt(sealed), message)
          expect(try? app.decrypt(lock.encrypt(message)), message)
          sealed[generator.below(sealed.count)] ^= 0x10
          #expect(throws: SessionCipher.Failure.notAuthentic) { try lock.decrypt(sealed) }
          if rule == .advancesCounter {
            // The receiver is ahead now, and stays so: the session is lost until the counters are set.
            #expect(throws: SessionCipher.Failure.notAuthentic) { try lock.decrypt(app.encrypt(message)) }
            lock.receiveCounter = app.sendCounter
          }
        }
      }
    }
  }

  @Test("a message is never taken for one of the other direction in OS2, and is in OS3")
  func reflection() throws {
    let key = SecretKey(UUID128(high: 1, low: 2))
    for (token, reflects) in [
      (SessionToken.os2(app: Token(word: 1), lock: Token(word: 2)), false), (.os3(Token(word: 3)), true),
    ] {
      var app = SessionCipher(key: key, token: token, end: .app)
      let sealed = app.encrypt([1, 2, 3])
      expect((try? app.decrypt(sealed)) != nil, reflects)
    }
  }

  @Test("a copy of a cipher goes on by itself")
  func copies() throws {
    let key = SecretKey(UUID128(high: 1, low: 2))
    var original = SessionCipher(key: key, token: .os3(Token(word: 3)), end: .app)
    _ = original.encrypt([0])
    var copy = original
    expect(copy.encrypt([1, 2]), original.encrypt([1, 2]))
    _ = copy.encrypt([3])
    expect([original.sendCounter, copy.sendCounter], [2, 3])
  }
}
