public import Bluetooth
public import LockFiles

/// Decodes the packets of a capture as far as one family of locks can.
protocol FamilyReader {
  /// Decodes the next record.
  ///
  /// - Returns: The entries that are now complete, in the order of the records.
  mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry]

  /// Returns the remaining entries at the end of the capture.
  mutating func finish() -> [CaptureEntry]
}

/// Decodes the packets of a capture, from HCI to the commands of any built-in family of locks.
///
/// Each packet is decoded by the first family that recognises more layers than the Bluetooth decoder. A secret that
/// one family hides is always hidden.
public struct CaptureReader {
  private var readers: [any FamilyReader]
  private var plain = CaptureDecoder()
  /// The entries that wait for those of other readers: from each reader, and from the Bluetooth decoder.
  private var waiting: [[CaptureEntry]]
  private var waitingPlain: [CaptureEntry] = []

  init(_ readers: [any FamilyReader]) {
    self.readers = readers
    waiting = readers.map { _ in [] }
  }

  /// Creates a reader that decodes without a key.
  public init() { self.init(builtInFamilies.map { $0.reader() }) }

  /// Returns a reader that uses the key in a lock file; `nil` if the file has no key.
  ///
  /// - Throws: If the lock is not of a built-in family.
  public static func reading(with file: LockFile) throws(LockFileError) -> CaptureReader? {
    guard let family = builtInFamilies.first(where: { $0.includes(file.lock) }) else {
      let known = builtInFamilies.map { $0.lock.distinction.use }.joined(separator: " or ")
      throw LockFileError(
        "\(file.path): this is the lock of a driver: only what \(known) says can be decoded")
    }
    return family.reader(of: file).map { CaptureReader([$0]) }
  }

  /// What a key decrypts in a capture, for each built-in family.
  public static var help: String { builtInFamilies.map(\.captureHelp).joined(separator: "\n\n") }
}

extension CaptureReader {
  /// Decodes the next record.
  ///
  /// - Returns: The entries that are now complete.
  public mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry] {
    if readers.count == 1 { return readers[0].decode(record) }
    for index in readers.indices { waiting[index] += readers[index].decode(record) }
    waitingPlain += plain.decode(record).entries
    return takeComplete()
  }

  /// Returns the remaining entries at the end of the capture.
  public mutating func finish() -> [CaptureEntry] {
    if readers.count == 1 { return readers[0].finish() }
    for index in readers.indices { waiting[index] += readers[index].finish() }
    return takeComplete()
  }

  private mutating func takeComplete() -> [CaptureEntry] {
    let count = waiting.map(\.count).min() ?? waitingPlain.count
    defer {
      for index in waiting.indices { waiting[index].removeFirst(count) }
      waitingPlain.removeFirst(count)
    }
    return (0..<count).map { number in
      let plain = waitingPlain[number]
      let read = waiting.map { $0[number] }
      var entry = read.first { $0.layers != plain.layers } ?? plain
      entry.secrets = read.flatMap(\.secrets)
      return entry
    }
  }
}
