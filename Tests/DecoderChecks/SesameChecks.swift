import Harness
import Bluetooth
import Sesame

/// An advertisement as one piece, a scan response as the next; and all the bytes as manufacturer data.
func checkAdvertisements(_ bytes: [UInt8]) throws(DecoderDefect) {
  _ = try checkAdvertisingData(bytes)
  let pieces = bytes.pieces
  if let data = try checkAdvertisingData(pieces.first ?? []) {
    let response = try checkAdvertisingData(pieces.dropFirst().first ?? []) ?? AdvertisingData()
    try checkAdvertisement(try? Advertisement(data, scanResponse: response))
  }
  try checkAdvertisement(try? Advertisement(manufacturerData: bytes, localName: nil))
}

/// The data of an advertisement or of a scan response.
private func checkAdvertisingData(_ bytes: [UInt8]) throws(DecoderDefect) -> AdvertisingData? {
  guard let data = try check(AdvertisingData.self, bytes) else { return nil }
  _ = (data.localName, data.manufacturerData, data.description)
  return data
}

private func checkAdvertisement(_ advertisement: Advertisement?) throws(DecoderDefect) {
  guard let advertisement else { return }
  _ = advertisement.description
  let data = advertisement.advertisingData
  let response = advertisement.scanResponse
  guard (try? Advertisement(data, scanResponse: response)) == advertisement else {
    throw DecoderDefect("\(advertisement) is advertised as \(data), \(response), which is another")
  }
}

/// What the first byte chooses, with the bytes behind it: the generation by its lowest bit, the kind of thing by
/// the others. Where a layout depends on the product, the second byte is the product.
func checkSesame(_ bytes: [UInt8]) throws(DecoderDefect) {
  guard let choice = bytes.first else { return }
  let generation: Generation = choice & 1 == 0 ? .os2 : .os3
  let rest = [UInt8](bytes.dropFirst())
  switch choice >> 1 {
  case 0: try checkFrames(rest.pieces, generation)
  case 1:
    let command = try check("command", rest, encode: { $0.encoded(for: generation) }) {
      bytes throws(DecodeError) in try LockCommand(decoding: bytes, for: generation)
    }
    _ = command?.description
  case 2: try checkMessage(rest, generation)
  case 3: try checkProduct(rest)
  case 4: try checkLayouts(rest, generation)
  default: try checkKeys(rest)
  }
}

/// Frames as each of the known programs joins them, and the messages that come of them.
private func checkFrames(_ frames: [[UInt8]], _ generation: Generation) throws(DecoderDefect) {
  for policy in Reassembler.Policy.allCases {
    var reassembler = Reassembler(policy: policy, limit: 4096)
    for frame in frames {
      let outcome = reassembler.receive(frame)
      _ = outcome.description
      guard case .message(let message) = outcome else { continue }
      if policy == .ios { try checkSegmented(message, generation) }
    }
  }
}

/// A message that came of frames: cut into frames and joined again it is the same.
private func checkSegmented(_ message: SegmentedMessage, _ generation: Generation) throws(DecoderDefect) {
  try checkMessage(message.bytes, generation)
  var reassembler = Reassembler()
  var last: Reassembler.Outcome?
  for frame in Segmenter().frames(of: message) { last = reassembler.receive(frame) }
  guard last == .message(message) else {
    throw DecoderDefect("\(message) is cut and joined as \(last as Any)")
  }
}

private func checkMessage(_ bytes: [UInt8], _ generation: Generation) throws(DecoderDefect) {
  let message = try check("message", bytes, encode: \.encoded) { bytes throws(DecodeError) in
    try LockMessage(decoding: bytes, for: generation)
  }
  let request = try check("request", bytes, encode: \.encoded) { bytes throws(DecodeError) in
    try Request(decoding: bytes, for: generation)
  }
  _ = (message?.description, request?.description)
}

/// What depends on the product, which the first byte names.
private func checkProduct(_ bytes: [UInt8]) throws(DecoderDefect) {
  guard let number = bytes.first, let model = ProductModel(rawValue: number) else { return }
  let rest = [UInt8](bytes.dropFirst())
  let status = try check("status of \(model)", rest, encode: \.encoded) { bytes throws(DecodeError) in
    try MechStatus(decoding: bytes, model: model)
  }
  let setting = try check("setting of \(model)", rest, encode: \.encoded) { bytes throws(DecodeError) in
    try MechSetting(decoding: bytes, model: model)
  }
  let login = try check("login to \(model)", rest, encode: \.encoded) { bytes throws(DecodeError) in
    try LoginPayload(decoding: bytes, model: model)
  }
  _ = (status?.description, status?.batteryVolts, setting?.description, login?.description)
  _ = setting?.isConfigured
}

private func checkLayouts(_ bytes: [UInt8], _ generation: Generation) throws(DecoderDefect) {
  switch generation {
  case .os2:
    let record = try check(OS2HistoryRecord.self, bytes)
    _ = (record?.description, record?.effectiveType.description)
    try check(Identity.self, bytes)
  case .os3:
    let record = try check(OS3HistoryRecord.self, bytes)
    _ = (record?.description, record?.effectiveType.description)
    let reply = try check("registration reply", bytes, encode: \.encoded) { bytes throws(DecodeError) in
      try RegistrationReply(decoding: bytes)
    }
    _ = reply?.description
  }
  if let version = try? FirmwareVersion(decoding: bytes, for: generation) {
    _ = version.description
    // What is not UTF-8 is shown, and cannot be sent again.
    guard !version.text.contains("\u{FFFD}") else { return }
    try check("version", bytes, encode: { $0.encoded(for: generation) }) { bytes throws(DecodeError) in
      try FirmwareVersion(decoding: bytes, for: generation)
    }
  }
}

private func checkKeys(_ bytes: [UInt8]) throws(DecoderDefect) {
  try check("share key", bytes, encode: \.exposedBytes) { bytes throws(DecodeError) in
    try ShareKey(bytes: bytes)
  }
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  try check("share key in text", [UInt8](text.utf8), encode: { [UInt8]($0.url.utf8) }) {
    bytes throws(DecodeError) in try ShareKey(url: String(decoding: bytes, as: UTF8.self))
  }
}
