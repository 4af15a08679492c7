import Basics
import Bluetooth
import Sesame
import TestSupport
import Testing

@Suite struct LayoutTests {
  @Test("what each client shows when a bolt is in neither range depends on the generation")
  func shownStates() {
    let os2 = MechStatus.sesame3(Sesame3Status(battery: 0, position: 0, flags: []))
    let os3 = MechStatus.sesame5(Sesame5Status(battery: 0, position: 0, flags: []))
    expect([os2.boltState, os2.stateShownByIOS], [.moved, .moved])
    expect([os3.boltState, os3.stateShownByIOS], [.moved, .unlocked])
  }

  @Test(
    "a status has the layout of its product, and no other length",
    arguments: [
      (ProductModel.sesame3, 8), (.sesame4, 8), (.bot1, 8), (.bike1, 8), (.sesame5, 7), (.sesame6Pro, 7),
      (.bike2, 3), (.bot2, 7), (.bike3, 7), (.touch, 7), (.touchPro, 9), (.face, 9),
    ])
  func lengths(model: ProductModel, length: Int) throws {
    let bytes = [UInt8](1...UInt8(length))
    expect(try MechStatus(decoding: bytes, model: model).encoded, bytes)
    for other in [2, length - 1, length + 1]
    where other != 3 && !(model.kind == .reader && [7, 9].contains(other)) {
      #expect(throws: DecodeError.self) {
        try MechStatus(decoding: [UInt8](repeating: 0, count: other), model: model)
      }
    }
  }

  @Test("a status of an unknown layout is kept as it is")
  func otherLayouts() throws {
    for model in [ProductModel.openSensor, .remote, .hub3, .wifiModule2] {
      expect(try MechStatus(decoding: [1, 2, 3, 4, 5], model: model), .other([1, 2, 3, 4, 5]))
      expect(try MechSetting(decoding: [1, 2], model: model), .other([1, 2]))
    }
  }

  @Test("the counters of a reader come out of both forms")
  func touch() throws {
    let narrow = try TouchStatus(decoding: [UInt8](hex: "b80b0300050603"))
    let wide = try TouchStatus(decoding: [UInt8](hex: "b80b03000500060003"))
    for status in [narrow, wide] {
      expect([status.cards, status.fingerprints, status.passcodes], [3, 5, 6])
      expect(status.battery, 3000)
      expect(status.flags, 3)
    }
    expect([narrow.isWide, wide.isWide], [false, true])
    #expect(throws: DecodeError.length(8, of: "Touch status")) {
      try TouchStatus(decoding: [0, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test(
    "a setting is configured by three rules that differ",
    arguments: [
      (Int16(-17), Int16(284), true, true, true), (.min, .min, false, false, false),
      (0, 0, true, false, false),
      (.min, 5, false, true, true), (100, 101, true, false, true), (100, 400, true, true, true),
    ])
  func configured(lock: Int16, unlock: Int16, ios: Bool, android: Bool, pysesame: Bool) {
    let setting = MechSetting.sesame3(Sesame3Setting(lock: lock, unlock: unlock))
    expect(setting.isConfigured(by: .ios), ios)
    expect(setting.isConfigured(by: .android), android)
    expect(setting.isConfigured(by: .pysesame), pysesame)
  }

  @Test("an unset setting is unset to every client")
  func unset() {
    for rule in ConfiguredRule.allCases {
      expect(MechSetting.sesame3(.unset).isConfigured(by: rule), false)
      expect(MechSetting.sesame5(.unset).isConfigured(by: rule), false)
    }
    expect(Sesame3Setting.unset.encoded.hex, "008000800000000000000000")
  }

  @Test("apps put ranges of 150 around positions, and the extremes do not trap")
  func ranges() {
    let setting = Sesame3Setting(lock: 100, unlock: 400)
    expect(setting.lockRange, .init(min: -50, max: 250))
    expect(setting.unlockRange, .init(min: 250, max: 550))
    expect(Sesame3Setting(lock: .min, unlock: .max).lockRange.min, 32618)
  }

  @Test(
    "nearer positions have ranges that do not overlap",
    arguments: [(151, 150), (150, 74), (3, 1), (1, 0), (0, 0)])
  func distinctRanges(distance: Int16, reach: Int16) {
    for (lock, unlock) in [(10, 10 + distance), (10 + distance, 10)] as [(Int16, Int16)] {
      let setting = Sesame3Setting.distinct(lock: lock, unlock: unlock)
      expect(setting.lockRange, .init(min: lock - reach, max: lock + reach))
      expect(setting.unlockRange, .init(min: unlock - reach, max: unlock + reach))
    }
  }

  @Test("a login payload of another length is read as iOS reads it")
  func loginPayloads() throws {
    let payload = LoginPayload(
      time: 1, setting: .sesame3(Sesame3Setting(lock: 1, unlock: 2)),
      status: .sesame3(Sesame3Status(battery: 3, position: 4, flags: [])))
    expect(payload.encoded.count, 28)
    for extra in [1, 3, 20] {
      let bytes = payload.encoded + [UInt8](repeating: 0xFF, count: extra)
      expect(try LoginPayload(decoding: bytes, model: .sesame3), payload)
    }
    #expect(throws: DecodeError.truncated(at: 27)) {
      try LoginPayload(decoding: payload.encoded.dropLast(), model: .sesame3)
    }
  }

  @Test("a registration reply of another length is refused")
  func registrationReplies() throws {
    for length in [0, 63, 65, 66, 76, 78] {
      #expect(throws: DecodeError.length(length, of: "registration reply")) {
        try RegistrationReply(decoding: [UInt8](repeating: 0, count: length))
      }
    }
  }

  @Test("a tag is cut between bytes, even within a character")
  func tagCut() {
    var bytes: [UInt8] = []
    HistoryTag.text("日本語日本語日本語", for: .os2).encode(into: &bytes, for: .os2)
    expect(bytes.count, 22)
    expect(bytes[0], 21)
    let long = HistoryTag.text(String(repeating: "a", count: 28) + "é", for: .os3)
    expect(long.text?.unicodeScalars.last, "\u{FFFD}")
  }

  @Test("the way a command came is told in the length of its tag")
  func origins() throws {
    for (origin, length) in [(HistoryTag.Origin.ble, UInt8(1)), (.wifiModule2, 31), (.web, 61)] {
      for generation in Generation.allCases {
        var bytes: [UInt8] = []
        HistoryTag.text([0x41], origin).encode(into: &bytes, for: generation)
        expect(bytes[0], length)
        var reader = ByteReader(bytes.span)
        expect(try HistoryTag(decoding: &reader, for: generation), .text([0x41], origin))
      }
    }
    expect(HistoryType.bleLock.through(.wifiModule2), .wifiLock)
    expect(HistoryType.bleUnlock.through(.web), .webUnlock)
    expect(HistoryType.bleClick.through(.web), .webClick)
    expect(HistoryType.autolock.through(.web), .autolock)
  }

  @Test("a typed tag in OS2 travels as text of its bytes")
  func typedTagInOS2() throws {
    let tag = HistoryTag.typed(TagType(rawValue: 0x0F), UUID128(high: 1, low: 2))
    var bytes: [UInt8] = []
    tag.encode(into: &bytes, for: .os2)
    expect(bytes.hex, "12" + "000f" + "00000000000000010000000000000002" + "000000")
  }

  @Test(
    "a history record that is cut short says where",
    arguments: [
      ("2a0000", DecodeError.truncated(at: 3)),
      ("2a000000010068e5cf8b010000", .truncated(at: 13, missing: 2)),
      ("2a000000010068e5cf8b0100000000000102030405060708090a0b0c0d0e0f0541", .truncated(at: 33, missing: 4)),
      ("2c0000000c0068e5cf8b0100002c01", .truncated(at: 15)),
    ])
  func shortRecords(text: String, error: DecodeError) throws {
    let bytes = try [UInt8](hex: text)
    #expect(throws: error) { try OS2HistoryRecord(decoding: bytes) }
  }

  @Test("records read as words")
  func recordDescriptions() throws {
    let os2 = OS2HistoryRecord(
      id: 1, type: .bleLock, milliseconds: 0,
      content: .command(deviceKey: [UInt8](repeating: 0, count: 16), .text([0x41], .web)))
    expect(os2.description, "#1 lock from the web “A” through the web")
    let failed = OS2HistoryRecord(
      id: 2, type: .driveFailed, milliseconds: 0, content: .driveFailed(position: 300, code: 4, flags: 1))
    expect(failed.description, "#2 drive failed at 300, code 4")
    let os3 = OS3HistoryRecord(
      id: 3, type: .manualLocked, seconds: 0, status: Sesame5Status(battery: 0, position: 0, flags: []))
    expect(os3.description, "#3 locked by hand no tag")
  }

  @Test("what a login, a registration or a list brings reads as words")
  func descriptions() throws {
    let payload = LoginPayload(
      time: 5, setting: .sesame3(.unset),
      status: .sesame3(
        Sesame3Status(battery: 1, position: 2, returnCode: .aborted, flags: [.batteryCritical])))
    expect(
      payload.description,
      "clock 5, firmware 1, not configured, moved, failed, battery low (0100008002000820)")
    let key = try PublicKey(bytes: [UInt8](repeating: 7, count: 64))
    let reply = RegistrationReply(
      status: .sesame5(Sesame5Status(battery: 1, target: 9, position: 2, flags: [.inLockRange])),
      setting: Sesame5Setting(lock: -100, unlock: 100), publicKey: key)
    expect(
      reply.description,
      "locked, moving (01000900020002), lock at -100.0°, unlock at 100.0°, key \(String(repeating: "07", count: 64))"
    )
    expect(SesameKeyEntry.os3(UUID128(high: 0, low: 0), status: 1).description.suffix(8), "status 1")
    expect(FirmwareVersion(buildTime: 3, text: "a").description, "a built at 3")
  }

  @Test("a percentage never leaves its range and never falls as the voltage rises")
  func percentages() {
    for table in [BatteryTable.current, .old, .openSensor] {
      let percents = (0...700).map { table.percent(volts: Double($0) / 100) }
      expect(percents, percents.sorted())
      expect([percents.first, percents.last], [0, 100])
    }
    expect(BatteryTable.openSensor.percent(volts: 5.556), 50)
  }

  @Test("the versions of both generations come back")
  func versions() throws {
    let os2 = FirmwareVersion(buildTime: 5, text: String(repeating: "v", count: 40))
    expect(os2.encoded(for: .os2).count, 36)
    expect(try FirmwareVersion(decoding: os2.encoded(for: .os2), for: .os2).text.count, 32)
    #expect(throws: DecodeError.truncated(at: 4, missing: 32)) {
      try FirmwareVersion(decoding: [1, 2, 3, 4], for: .os2)
    }
    expect(try FirmwareVersion(decoding: [0x33, 0x2E, 0x30], for: .os3), FirmwareVersion(text: "3.0"))
  }
}
