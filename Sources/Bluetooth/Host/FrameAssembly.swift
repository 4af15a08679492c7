/// Makes L2CAP frames of the fragments that arrive on one link (Core 5.4, Vol 3 Part A §7.2.2).
///
///                first, too short for its frame
///       idle ─────────────────────────────────────▶ open ──┐ continuing, frame still too short
///        ▲                                           │  ▲──┘
///        └───────────────────────────────────────────┘
///            continuing: the frame is whole, or too long
///
/// The length of a frame is in its first two bytes, which may be in different fragments; a first fragment may
/// even be empty (Vol 2 Part B §6.6.2).
struct FrameAssembly: Sendable {
  /// The result of a fragment.
  enum Outcome: Hashable, Sendable {
    /// The frame is incomplete.
    case partial
    /// The complete frame, including its header.
    case whole([UInt8])
    /// The fragment is dropped with its frame, for this reason.
    case dropped(String)
  }

  /// The bytes of the incomplete frame; `nil` between frames.
  private var open: [UInt8]?

  /// Drops the incomplete frame if another one begins; returns a description of it.
  mutating func breakOff(before packet: borrowing ACLPacket) -> String? {
    guard let bytes = open, packet.boundary != .continuing, packet.boundary != .complete else { return nil }
    open = nil
    return "a frame broken off after \(bytes.count) bytes by another"
  }

  /// Appends a fragment, after dropping the frame that it may interrupt.
  mutating func take(_ packet: borrowing ACLPacket) -> Outcome {
    switch packet.boundary {
    // A controller sends `firstFlushable`; some send the value for hosts, which can mean nothing else.
    case .firstFlushable, .first: begin(packet.data)
    case .continuing: resume(packet.data)
    case .complete: .dropped("a fragment with the boundary of a frame that is flushed together")
    }
  }

  private mutating func begin(_ data: [UInt8]) -> Outcome {
    switch Self.missing(data) {
    case .some(0): return .whole(data)
    case .some(..<0): return .dropped("a fragment of \(data.count) bytes, longer than its frame")
    default:
      open = data
      return .partial
    }
  }

  private mutating func resume(_ data: [UInt8]) -> Outcome {
    guard var bytes = open.take() else { return .dropped("a later fragment without a first") }
    bytes += data
    switch Self.missing(bytes) {
    case .some(0): return .whole(bytes)
    case .some(..<0): return .dropped("fragments of \(bytes.count) bytes, longer than their frame")
    default:
      open = bytes
      return .partial
    }
  }

  /// The number of bytes that a frame still lacks, negative if it has too many; `nil` while its length is
  /// unknown.
  private static func missing(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 2 else { return nil }
    return 4 + (Int(bytes[0]) | Int(bytes[1]) << 8) - bytes.count
  }
}
