import Basics
public import Bluetooth

/// The tag that a command adds to the lock's history: who or what operated the lock.
///
/// OS2 has text only, in a field of 22 bytes. OS3 firmware reads the same text without padding and, since
/// 2025, a type with a UUID; types are below 256 and sent most significant byte first, so that an older
/// reader sees an empty text.
public enum HistoryTag: Hashable, Sendable {
  /// No tag; an empty field if the format requires one.
  case absent
  /// The bytes of a text, usually UTF-8, and the channel of the command.
  case text([UInt8], Origin = .ble)
  /// A type, a UUID, and trailing bytes (in some records voltages in mV, little-endian).
  case typed(TagType, UUID128, rest: [UInt8] = [])

  /// The channel by which a command reached the lock, encoded in the tag's length: plus 30 for each step.
  public enum Origin: UInt8, CaseIterable, Hashable, Sendable {
    /// Directly from an app.
    case ble
    /// Through WiFi Module 2.
    case wifiModule2
    /// From the vendor's cloud.
    case web
  }

  /// The most bytes of text in an OS2 tag.
  public static let os2Capacity = 21
  /// The most bytes of text in an OS3 tag.
  public static let os3Capacity = 29

  /// A text, truncated to the capacity of a generation's tag, between bytes and not characters, like the
  /// apps.
  public static func text(_ text: String, for generation: Generation) -> HistoryTag {
    .text([UInt8](text.utf8.prefix(generation == .os2 ? os2Capacity : os3Capacity)))
  }

  /// The channel of the command, if the tag reveals it.
  public var origin: Origin {
    guard case .text(_, let origin) = self else { return .ble }
    return origin
  }
}

extension HistoryTag {
  /// Reads the remaining bytes as the tag of a command or a record.
  ///
  /// Zero bytes after a text are padding; any others are an error, as is a length beyond the bytes or beyond
  /// the capacity of the generation's tag.
  public init(decoding reader: inout ByteReader, for generation: Generation) throws(DecodeError) {
    let start = reader.offset
    guard !reader.isAtEnd else {
      self = .absent
      return
    }
    let length = try reader.u8()
    if generation == .os3, length == 0, reader.remaining >= 17 {
      self = .typed(
        TagType(rawValue: try reader.u8()), try UUID128(decoding: &reader), rest: reader.rest())
      return
    }
    let count = Int(length % 30)
    guard let origin = Origin(rawValue: length / 30), generation == .os3 || count <= Self.os2Capacity else {
      throw .value(Int(length), of: "tag length", at: start)
    }
    let text = try reader.bytes(count)
    while let next = reader.peek() {
      guard next == 0 else { throw .trailing(at: reader.offset, count: reader.remaining) }
      try reader.skip(1)
    }
    self = generation == .os2 && length == 0 ? .absent : .text(text, origin)
  }

  /// Appends the tag of a command: 22 bytes in OS2, as many as needed in OS3.
  ///
  /// Excess bytes are cut off. OS2 has no types: a typed tag becomes a text of its bytes.
  public func encode(into bytes: inout [UInt8], for generation: Generation) {
    switch generation {
    case .os2:
      let start = bytes.count
      encodeText(into: &bytes, capacity: Self.os2Capacity)
      bytes.append(contentsOf: repeatElement(0, count: start + 1 + Self.os2Capacity - bytes.count))
    case .os3:
      if case .typed = self {
        bytes.append(contentsOf: content)
      } else if self != .absent {
        encodeText(into: &bytes, capacity: Self.os3Capacity)
      }
    }
  }

  /// Appends the tag as text with a length, without padding: the form of OS2 history records.
  func encodeText(into bytes: inout [UInt8], capacity: Int) {
    let text = content.prefix(capacity)
    bytes.append(UInt8(text.count) + origin.rawValue * 30)
    bytes.append(contentsOf: text)
  }

  private var content: [UInt8] {
    switch self {
    case .absent: return []
    case .text(let text, _): return text
    case .typed(let type, let uuid, let rest):
      var bytes: [UInt8] = []
      bytes.append(0)
      bytes.append(type.rawValue)
      bytes.append(uuid)
      return bytes + rest
    }
  }
}

extension HistoryTag {
  /// The text without quotation marks, or the type and its UUID; empty if there is no tag.
  public var plainText: String {
    switch self {
    case .absent: ""
    case .text(let bytes, _): String(decoding: bytes, as: UTF8.self)
    case .typed: description
    }
  }
}

extension HistoryTag: CustomStringConvertible {
  /// The text, or the type and its UUID.
  public var description: String {
    switch self {
    case .absent: return "no tag"
    case .text(let bytes, let origin):
      let text = String(decoding: bytes, as: UTF8.self)
      return "“\(text)”" + (origin == .ble ? "" : " through \(origin)")
    case .typed(let type, let uuid, let rest):
      return "\(type) \(uuid)" + (rest.isEmpty ? "" : " " + rest.hex)
    }
  }
}

extension HistoryTag.Origin: CustomStringConvertible {
  /// The channel as text.
  public var description: String {
    switch self {
    case .ble: "Bluetooth"
    case .wifiModule2: "WiFi Module 2"
    case .web: "the web"
    }
  }
}

/// The meaning of the UUID in a typed history tag.
public struct TagType: RawRepresentable, Hashable, Sendable {
  /// The number, which is sent as two bytes of which the first is 0.
  public var rawValue: UInt8

  /// Makes a type from its number.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }
}

extension TagType: CustomStringConvertible {
  /// The type's name, or its number.
  public var description: String {
    rawValue < Self.names.count ? Self.names[Int(rawValue)] : "tag type \(rawValue)"
  }

  private static let names = [
    "NFC card", "fingerprint", "passcode", "face", "palm", "Touch Pro", "Touch", "Open Sensor", "Face Pro",
    "Face", "Remote", "Remote Nano", "Biz user", "Web API", "Android over Bluetooth", "iOS over Bluetooth",
    "Android over WiFi", "iOS over WiFi",
  ]
}
