import Basics
import Bluetooth
import Sesame

extension VectorCase {
  func segmentation() throws {
    guard id.hasPrefix("seg.rx") else {
      let kind: MessageKind = try text("kind") == "plaintext" ? .plaintext : .ciphertext
      let message = SegmentedMessage(kind, try bytes("message"))
      let frames = Segmenter().frames(of: message)
      try check("frames", frames: frames)
      if expects("headers") { try check("headers", .list(frames.map { .integer(Int($0[0])) })) }
      for policy in Reassembler.Policy.allCases where policy != .libsesame3bt || !message.bytes.isEmpty {
        let outcomes = outcomes(frames, policy)
        try require(outcomes.last == .message(message), "\(policy) receives \(outcomes)")
        try require(outcomes.dropLast().allSatisfy { $0 == .incomplete }, "\(policy) receives \(outcomes)")
      }
      return
    }
    let frames = try frames("frames")
    let messages = outcomes(frames, .ios).compactMap { outcome -> SegmentedMessage? in
      guard case .message(let message) = outcome else { return nil }
      return message
    }
    try check(
      "ios_receiver_messages",
      .list(
        messages.map { .object(["type": .integer(Int($0.kind.rawValue)), "payload": .text($0.bytes.hex)]) }))
    try otherReceivers(frames, messages.last)
  }

  private func outcomes(_ frames: [[UInt8]], _ policy: Reassembler.Policy) -> [Reassembler.Outcome] {
    var receiver = Reassembler(policy: policy)
    return frames.map { receiver.receive($0) }
  }

  /// What the vectors say in words of the other programs.
  private func otherReceivers(_ frames: [[UInt8]], _ message: SegmentedMessage?) throws {
    if expects("ios_os2") {
      let message = try present(message)
      try check("ios_os2", message.kind.reading(in: .os2) == nil ? "type is unknown, message ignored" : "")
      let isPlain = message.kind.reading(in: .os3) == .plaintext
      try check("ios_os3", isPlain ? "not ciphertext, so parsed as plaintext" : "")
    }
    if expects("android") {
      let words =
        switch outcomes(frames, .android).last {
        case .failed(.unknownKind): "no enum value: NoSuchElementException"
        case .incomplete: "negative type: waits for more"
        case let outcome: "\(outcome, default: "nothing")"
        }
      try check("android", words)
    }
    if expects("libsesame3bt_core") {
      let words =
        switch outcomes(frames, .libsesame3bt).last {
        case .ignored(.unknownKind): "kind 3: dropped as unexpected"
        case .incomplete: "kind 0: waits for more"
        case .message(let message) where message.kind == .plaintext: "kind 1: plaintext message"
        case let outcome: "\(outcome, default: "nothing")"
        }
      try check("libsesame3bt_core", words)
    }
  }

  func decode() throws {
    let parts = id.split(separator: ".")
    switch parts[1] {
    case "mechstatus" where parts[0] == "os2": try sesame3Status()
    case "mechstatus": try sesame5Status()
    case "bike2bot2": try bike2Status()
    case "bot" where parts[2] == "mechstatus": try bot1Status()
    case "bot": try bot1Setting()
    case "mechsetting" where parts[0] == "os2": try sesame3Setting()
    case "mechsetting": try sesame5Setting()
    case "history" where parts[0] == "os2": try os2History()
    case "history": try os3History()
    case "pubkeysesame": try sesameKeys()
    default: throw VectorFault(description: "\(id) is not known")
    }
  }

  private func sesame3Status() throws {
    let raw = try Sesame3Status(decoding: bytes("raw"))
    let status = try MechStatus(decoding: bytes("raw"), model: .sesame4)
    try require(status == .sesame3(raw) && status.encoded == bytes("raw"), "it does not encode back")
    try check("battery_adc", raw.battery)
    try check("voltage_scaled", status.batteryVolts)
    try check("percent_new_table", present(status.batteryPercent()))
    try check("percent_old_table", present(status.batteryPercent(by: .old)))
    try check("target", raw.target)
    try check("idle", status.isIdle)
    try check("position", raw.position)
    try check("position_degrees", status.positionDegrees)
    try check("ret_code", raw.returnCode.rawValue)
    try check("flags", raw.flags.rawValue)
    try check("clutch_failed", raw.flags.contains(.clutchFailed))
    try check("in_lock_range", status.isInLockRange)
    try check("in_unlock_range", status.isInUnlockRange)
    try check("battery_critical", status.isBatteryLow)
    try check("ios_status", status.stateShownByIOS.description)
  }

  private func sesame5Status() throws {
    let raw = try Sesame5Status(decoding: bytes("raw"))
    let status = try MechStatus(decoding: bytes("raw"), model: .sesame5)
    try require(status == .sesame5(raw) && status.encoded == bytes("raw"), "it does not encode back")
    try check("battery_mv_single_cell", raw.battery)
    try check("voltage_scaled", status.batteryVolts)
    try check("percent_new_table", present(status.batteryPercent()))
    try check("target", raw.target)
    try check("idle", status.isIdle)
    try check("position_degrees", status.positionDegrees)
    try check("flags", raw.flags.rawValue)
    try check("clutch_failed", raw.flags.contains(.clutchFailed))
    try check("in_lock_range", status.isInLockRange)
    try check("in_unlock_range", status.isInUnlockRange)
    try check("critical", status.isCritical)
    try check("stopped", raw.flags.contains(.stopped))
    try check("battery_low", status.isBatteryLow)
    try check("clockwise", raw.flags.contains(.clockwise))
    try check("ios_status", status.stateShownByIOS.description)
  }

  private func bike2Status() throws {
    for model in [ProductModel.bike2, .bot2] {
      let status = try MechStatus(decoding: bytes("raw"), model: model)
      try require(status.encoded == bytes("raw"), "it does not encode back")
      try check("battery_mv", present(status.battery))
      try check("in_lock_range", status.isInLockRange)
      try check("stopped", status.isIdle)
    }
  }

  private func bot1Status() throws {
    let raw = try Bot1Status(decoding: bytes("raw"))
    let status = try MechStatus(decoding: bytes("raw"), model: .bot1)
    try require(status == .bot1(raw) && status.encoded == bytes("raw"), "it does not encode back")
    try check("battery_adc", raw.battery)
    try check("voltage_one_cell_3v6_scale", Double(raw.battery) * 3.6 / 1023)
    try check("motor_status", raw.motor)
    try check("ret_code", raw.returnCode.rawValue)
    try check("flags", raw.flags.rawValue)
    try check("in_lock_range", status.isInLockRange)
    try check("in_unlock_range", status.isInUnlockRange)
    try check("not_stopped_bit", !status.isIdle)
  }

  private func bot1Setting() throws {
    let setting = try Bot1Setting(decoding: bytes("raw"))
    try require(setting.encoded == bytes("raw"), "it does not encode back")
    try check("user_pref_dir", setting.direction)
    try check("lock", setting.lockTime)
    try check("unlock", setting.unlockTime)
    try check("click_lock", setting.clickLockTime)
    try check("click_hold", setting.clickHoldTime)
    try check("click_unlock", setting.clickUnlockTime)
    try check("button_mode", setting.buttonMode)
  }

  private func sesame3Setting() throws {
    let raw = try Sesame3Setting(decoding: bytes("raw"))
    let setting = try MechSetting(decoding: bytes("raw"), model: .sesame3)
    try require(setting == .sesame3(raw) && setting.encoded == bytes("raw"), "it does not encode back")
    try check("lock", raw.lock)
    try check("unlock", raw.unlock)
    try check("lock_min", raw.lockRange.min)
    try check("lock_max", raw.lockRange.max)
    try check("unlock_min", raw.unlockRange.min)
    try check("unlock_max", raw.unlockRange.max)
    try check("configured_ios", setting.isConfigured(by: .ios))
    try check("configured_pysesameos2", setting.isConfigured(by: .pysesame))
  }

  private func sesame5Setting() throws {
    let raw = try Sesame5Setting(decoding: bytes("raw"))
    let setting = try MechSetting(decoding: bytes("raw"), model: .sesame5Pro)
    try require(setting == .sesame5(raw) && setting.encoded == bytes("raw"), "it does not encode back")
    try check("lock_degrees", raw.lock)
    try check("unlock_degrees", raw.unlock)
    try check("autolock_seconds", raw.autolock)
  }

  private func os2History() throws {
    let record = try OS2HistoryRecord(decoding: bytes("data"))
    try require(record.encoded == bytes("data"), "it does not encode back")
    try check("record_id", record.id)
    try check("type", record.type.rawValue)
    switch record.content {
    case .command(_, let deviceKey, let tag):
      if expects("unix_ms") { try check("unix_ms", record.milliseconds) }
      if expects("device_key") { try check("device_key", deviceKey) }
      if expects("effective_type") { try check("effective_type", record.effectiveType.rawValue) }
      try check("tag_len", present(tag.text).utf8.count)
      try check("tag", present(tag.text))
    case .driveFailed(let position, let code, let flags):
      try check("stopped_position", position)
      try check("fsm_ret_code", code)
      try check("flags", flags)
    case .other: throw VectorFault(description: "\(id): the content is not understood")
    }
  }

  private func os3History() throws {
    let record = try OS3HistoryRecord(decoding: bytes("data"))
    try require(record.encoded == bytes("data"), "it does not encode back")
    try check("record_id", record.id)
    try check("type", record.type.rawValue)
    try check("unix", record.seconds)
    try check("mech_status", record.status.encoded)
    switch record.tag {
    case .text(let text, _):
      try check("tag_len", text.count)
      try check("tag", present(record.tag.text))
    case .typed(let type, let uuid, _):
      try check("tag_type", type.rawValue)
      try check("tag_uuid", uuid.description)
      try check("voltage_mv", present(record.tag.voltages.first))
    case .absent: throw VectorFault(description: "\(id): there is no tag")
    }
  }

  private func sesameKeys() throws {
    let entries = try SesameKeyEntry.list(decoding: bytes("payload"))
    try require(entries.flatMap(\.encoded) == bytes("payload"), "it does not encode back")
    let listed: [JSON] = entries.map { entry in
      switch entry {
      case .unused: .object(["kind": .text("unused"), "status": .integer(0)])
      case .os3(let uuid, let status):
        .object(["kind": .text("os3"), "uuid": .text(uuid.description), "status": .integer(Int(status))])
      case .os2(let uuid, let status):
        .object([
          "kind": .text("os2"), "name": .text(Advertisement.localName(of: uuid)),
          "uuid": .text(uuid.description),
          "status": .integer(Int(status)),
        ])
      }
    }
    try check("entries", .list(listed))
  }

  func battery() throws {
    if hasInput("mv") {
      let status = MechStatus.sesame5(
        Sesame5Status(battery: UInt16(try integer("mv")), position: 0, flags: []))
      try check("voltage", status.batteryVolts)
      try check("percent", present(status.batteryPercent()))
    } else {
      let status = MechStatus.sesame3(
        Sesame3Status(battery: UInt16(try integer("adc")), position: 0, flags: []))
      try check("voltage", status.batteryVolts)
      try check("percent_new_table", present(status.batteryPercent(by: .current)))
      try check("percent_old_table", present(status.batteryPercent(by: .old)))
    }
  }

  func historyTag() throws {
    let generation: Generation = id.hasPrefix("os2") ? .os2 : .os3
    let tag: HistoryTag =
      hasInput("uuid")
      ? .typed(TagType(rawValue: UInt8(try integer("tag_type"))), try uuid("uuid"))
      : .text(try text("text"), for: generation)
    var bytes: [UInt8] = []
    tag.encode(into: &bytes, for: generation)
    try check("field", bytes)
    var reader = ByteReader(bytes.span)
    try require(HistoryTag(decoding: &reader, for: generation) == tag, "it does not come back")
  }

  func advertisement() throws {
    let bytes = try bytes("manufacturer_data_with_company")
    let name = hasInput("local_name") ? try text("local_name") : nil
    if id.hasPrefix("adv.malformed") { return try malformedAdvertisement(bytes) }
    let advertisement = try Advertisement(manufacturerData: bytes, localName: name)
    try require(advertisement.manufacturerData == bytes, "it does not encode back")
    if expects("company") { try check("company", Advertisement.company) }
    try check("model", advertisement.model.rawValue)
    try check("registered", advertisement.isRegistered)
    try check("device_uuid", advertisement.deviceID.description)
    if expects("history_waiting") { try check("history_waiting", advertisement.hasHistory) }
    if expects("connect_count") { try check("connect_count", present(advertisement.connectionCount)) }
    let payload = advertisement.advertisingData.encoded
    if expects("adv_payload") {
      try check("adv_payload", payload)
      try check("adv_length", payload.count)
    }
    if expects("example_adv_payload") {
      try check("example_adv_payload", payload)
      try check("example_scan_response", advertisement.scanResponse.encoded)
    }
    let heard = try Advertisement(
      AdvertisingData(decoding: payload),
      scanResponse: AdvertisingData(decoding: advertisement.scanResponse.encoded))
    try require(heard == advertisement, "it is heard as \(heard)")
  }

  private func malformedAdvertisement(_ bytes: [UInt8]) throws {
    let reasons: [String: DecodeError] = [
      "empty": .truncated(at: 0, missing: 2), "company_only": .truncated(at: 2),
      "four_bytes": .truncated(at: 4), "os3_short_uuid": .truncated(at: 9, missing: 12),
      "unknown_model": .value(254, of: "product model", at: 2),
      "other_company": .value(0x4C, of: "company identifier", at: 0),
      "model_high_byte": .value(1, of: "high byte of a product model", at: 3),
    ]
    let reason = try present(reasons[String(id.dropFirst("adv.malformed.".count))])
    let read = Result { () throws(DecodeError) in try Advertisement(manufacturerData: bytes, localName: nil) }
    try require(read == .failure(reason), "it is read with: \(read)")
  }

  func address() throws {
    let uuid = try uuid("uuid")
    let address = BluetoothAddress.sesame(uuid)
    let code = SecretKey(uuid).cmac([UInt8]("candy".utf8)).exposedBytes
    try check("cmac_first6", [UInt8](code.prefix(6)))
    try check("address_display", address.description)
    try check("address_little_endian_on_air", address.encoded)
    try require(address.isStaticRandom, "it is not a static random address")
  }

  func shareKey() throws {
    let model = try present(ProductModel(rawValue: UInt8(integer("model"))))
    let key = ShareKey(
      model: model, secret: try key("secret"),
      credential: hasInput("token") ? .os3(try token("token")) : .os2(try publicKey("public_xy")),
      keyIndex: 0, deviceID: try uuid("uuid"), level: .manager, name: "Tür & 鍵 100%")
    try check("sk_bytes", key.exposedBytes)
    try check("sk_base64", key.exposedBytes.base64)
    try require(ShareKey(bytes: key.exposedBytes, level: .manager, name: key.name) == key, "bytes")
    try require(ShareKey(url: key.url) == key, "\(key.url) does not come back")
  }

  func cloud() throws {
    let secret = try key("secret")
    let time = UInt32(try integer("unix"))
    var bytes: [UInt8] = []
    bytes.append(littleEndian: time)
    try check("message", [UInt8](bytes.dropFirst()))
    try check("cmac", secret.cmac([UInt8](bytes.dropFirst())).exposedBytes)
    try check("sign", cloudSignature(secret, time: time).encoded)
  }
}
