public import Bluetooth
public import LockFiles

/// Says what the packets of a capture mean, as far as one family of locks knows it.
protocol FamilyReader {
  /// Decodes the next record.
  ///
  /// - Returns: the entries that are complete by now, in the order of the records.
  mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry]

  /// What was not shown yet.
  mutating func finish() -> [CaptureEntry]
}

/// Says what the packets of a capture mean, from HCI to the commands of a lock of any family that is built in.
///
/// Of each packet the first family is heard that says more of it than Bluetooth alone does. What one of them hides is hidden.
public struct CaptureReader {
  private var readers: [any FamilyReader]
  private var plain = CaptureDecoder()
  /// What was decoded and waits for other readers: by each of them, and by Bluetooth alone.
  private var waiting: [[CaptureEntry]]
  private var waitingPlain: [CaptureEntry] = []

  init(_ readers: [any FamilyReader]) {
    self.readers = readers
    waiting = readers.map { _ in [] }
  }

  /// Reads what can be read without a key.
  public init() { self.init(builtInFamilies.map { $0.reader() }) }

  /// Reads what the key in a lock file opens; `nil` where there is none in it.
  ///
  /// - Throws: that nothing is known of such locks.
  public static func reading(with file: LockFile) throws(LockFileError) -> CaptureReader? {
    guard let family = builtInFamilies.first(where: { $0.includes(file.lock) }) else {
      let known = builtInFamilies.map { $0.lock.distinction.use }.joined(separator: " or ")
      throw LockFileError(
        "\(file.path): this is the lock of a driver: only what \(known) says can be decoded")
    }
    return family.reader(of: file).map { CaptureReader([$0]) }
  }

  /// What of the built-in families' locks a key opens in a capture.
  public static var help: String { builtInFamilies.map(\.captureHelp).joined(separator: "\n\n") }
}

extension CaptureReader {
  /// Decodes the next record.
  ///
  /// - Returns: the entries that are complete by now.
  public mutating func decode(_ record: BTSnoop.Record) -> [CaptureEntry] {
    if readers.count == 1 { return readers[0].decode(record) }
    for index in readers.indices { waiting[index] += readers[index].decode(record) }
    waitingPlain += plain.decode(record).entries
    return takeComplete()
  }

  /// What was not shown yet.
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
