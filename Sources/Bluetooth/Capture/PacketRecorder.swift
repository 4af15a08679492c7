public import Basics

/// Records the recent traffic of a link in memory, as the records of a capture.
///
/// Recording is cheap: packets are stored as they are, and converted to records on demand. If they do not all fit,
/// the beginning and the end are kept, and the first record after the gap states how many packets are missing.
///
/// A link in memory, which has no controller, is recorded as its controller would report it: frames become values of
/// two attributes, in commands and notifications.
public final class PacketRecorder {
  /// Returns the time of ``zero`` in the format of captures; without it, that time is ``virtualEpoch``.
  public var clock: (() -> UInt64)?
  /// The time of the transport or link from which records count.
  public private(set) var zero = Instant.zero
  /// The time of ``zero`` in the format of captures.
  public private(set) var epoch = PacketRecorder.virtualEpoch

  /// Whether recording is suspended.
  public var isPaused = false

  private let limit: Int
  private var head = Segment()
  /// The newest packets, and those before them.
  private var recent = Segment()
  private var older = Segment()
  private var forgotten = 0
  /// The explanations of values on the link, in order.
  public private(set) var meanings: [Meaning] = []

  /// Makes a recorder with a memory limit in bytes, which is approximate.
  public init(limit: Int = 4 << 20) {
    self.limit = limit
  }

  /// The beginning of virtual time in the format of captures: the 14th of November 2023, 22:13:20 UTC.
  public static let virtualEpoch = BTSnoop.unixEpoch + 1_700_000_000_000_000

  /// Discards everything; from now on records count from a time.
  public func startOver(at zero: Instant) {
    self.zero = zero
    epoch = clock?() ?? Self.virtualEpoch
    head.clear()
    recent.clear()
    older.clear()
    forgotten = 0
    meanings.removeAll(keepingCapacity: true)
  }

  /// The explanation of a value on the link by a decoder of its protocol.
  public struct Meaning: Hashable, Sendable {
    /// The value.
    public var value: [UInt8]
    /// Whether it was received.
    public var isReceived: Bool
    /// The explanation, in one line.
    public var text: String
  }

  /// The maximum number of explanations that are kept, those of the latest values.
  private static let maximumMeanings = 4096

  /// Records the explanation of a received or sent value.
  public func note(meaning text: String, of value: [UInt8], isReceived: Bool) {
    if isPaused { return }
    if meanings.count >= Self.maximumMeanings { meanings.removeFirst(Self.maximumMeanings / 2) }
    meanings.append(Meaning(value: value, isReceived: isReceived, text: text))
  }

  /// Records a packet.
  public func note(_ packet: HCIPacket, isReceived: Bool, at time: Instant) {
    append(Note(time: time, isReceived: isReceived, content: .packet(packet)))
  }

  /// Records a frame of a link in memory.
  public func note(frame: [UInt8], isReceived: Bool, at time: Instant) {
    append(Note(time: time, isReceived: isReceived, content: .frame(frame)))
  }

  /// Whether nothing was recorded.
  public var isEmpty: Bool { head.notes.isEmpty }

  /// The records, in the order of recording.
  public var records: [BTSnoop.Record] {
    var records = head.notes.map { $0.record(since: zero, epoch, drops: 0) }
    records += (older.notes + recent.notes).map {
      $0.record(since: zero, epoch, drops: UInt32(clamping: forgotten))
    }
    return records
  }

  private func append(_ note: Note) {
    if isPaused { return }
    if recent.notes.isEmpty, older.notes.isEmpty, head.size < limit / 2 { return head.append(note) }
    recent.append(note)
    guard recent.size >= limit / 4 else { return }
    forgotten += older.notes.count
    swap(&older, &recent)
    recent.clear()
  }
}

extension PacketRecorder {
  /// The handle of a link in memory.
  public static let memoryLink = ConnectionHandle(rawValue: 0x0040)
  /// The attribute that the client of a link in memory writes to.
  public static let memoryWrite = AttributeHandle(rawValue: 0x000D)
  /// The attribute that the lock of a link in memory notifies.
  public static let memoryNotify = AttributeHandle(rawValue: 0x000F)
}

extension PacketRecorder {
  /// A sequence of recorded packets.
  private struct Segment {
    var notes: [Note] = []
    var size = 0

    mutating func append(_ note: Note) {
      notes.append(note)
      size += note.size
    }

    mutating func clear() {
      notes.removeAll(keepingCapacity: true)
      size = 0
    }
  }

  private struct Note {
    enum Content {
      case packet(HCIPacket)
      case frame([UInt8])
    }

    var time: Instant
    var isReceived: Bool
    var content: Content

    /// The approximate memory size.
    var size: Int {
      let bytes =
        switch content {
        case .packet(.command(_, let bytes)), .packet(.event(_, let bytes)), .packet(.synchronous(let bytes)),
          .packet(.isochronous(let bytes)), .frame(let bytes):
          bytes.count
        case .packet(.acl(let packet)): packet.data.count
        }
      return 80 + bytes
    }

    func record(since zero: Instant, _ epoch: UInt64, drops: UInt32) -> BTSnoop.Record {
      let microseconds = (time - zero).nanoseconds / 1000
      return BTSnoop.Record(
        time: UInt64(clamping: Int64(clamping: epoch) &+ microseconds), isReceived: isReceived,
        packet: packet.h4, drops: drops)
    }

    private var packet: HCIPacket {
      switch content {
      case .packet(let packet): return packet
      case .frame(let frame):
        // An attribute is shorter than what a fuzzer may send as a frame.
        let value = [UInt8](frame.prefix(0xFFF0))
        let packet: ATTPacket =
          isReceived ? .notification(memoryNotify, value) : .writeCommand(memoryWrite, value)
        return .acl(
          ACLPacket(
            handle: memoryLink, boundary: isReceived ? .firstFlushable : .first,
            data: L2CAPFrame(.att, packet.encoded).encoded))
      }
    }
  }
}
