import Bluetooth

/// One place in the list of locks that a reader or remote knows (item 102): 23 bytes, of which the last is
/// a status.
enum SesameKeyEntry: Hashable, Sendable, BinaryCodable {
  /// A place without a lock.
  case unused
  /// An OS3 lock.
  case os3(UUID128, status: UInt8)
  /// An OS2 lock, which is listed by the base64 of its UUID.
  case os2(UUID128, status: UInt8)

  /// The length in bytes.
  static let length = 23

  /// Reads one entry.
  ///
  /// A status of 0 marks an unused place; else a last name byte of 0 marks a UUID, any other a name.
  init(decoding reader: inout ByteReader) throws(DecodeError) {
    let start = reader.offset
    try reader.require(Self.length)
    let name = try reader.bytes(22)
    let status = try reader.u8()
    if status == 0 {
      self = .unused
    } else if name[21] == 0 {
      self = .os3(try UUID128(bytes: [UInt8](name.prefix(16))), status: status)
    } else {
      do throws(DecodeError) {
        self = .os2(
          try UUID128(bytes: [UInt8](base64: String(decoding: name, as: UTF8.self))), status: status)
      } catch {
        throw error.shifted(by: start)
      }
    }
  }

  /// Appends 23 bytes; an entry with a status of 0 becomes an unused place.
  func encode(into bytes: inout [UInt8]) {
    switch self {
    case .unused:
      bytes += [UInt8](repeating: 0, count: Self.length)
    case .os3(let uuid, let status):
      bytes += uuid.bytes + [0, 0, 0, 0, 0, 0, status]
    case .os2(let uuid, let status):
      bytes += [UInt8](uuid.bytes.base64(padded: false).utf8) + [status]
    }
  }

  /// Reads a whole list.
  static func list(decoding bytes: [UInt8]) throws(DecodeError) -> [SesameKeyEntry] {
    var reader = ByteReader(bytes.span)
    var entries: [SesameKeyEntry] = []
    while !reader.isAtEnd { entries.append(try SesameKeyEntry(decoding: &reader)) }
    return entries
  }
}

extension SesameKeyEntry: CustomStringConvertible {
  /// The lock's UUID and the status.
  var description: String {
    switch self {
    case .unused: "unused"
    case .os3(let uuid, let status): "OS3 \(uuid), status \(status)"
    case .os2(let uuid, let status): "OS2 \(uuid), status \(status)"
    }
  }
}
