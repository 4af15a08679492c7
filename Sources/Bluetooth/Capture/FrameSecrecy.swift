/// Determines the secret bytes of fragments in one direction of a link, even if their frames never become
/// complete.
///
/// A capture may begin in the middle of a frame, lose fragments, and contain only the beginning of a packet.
/// So each fragment is judged when it comes, by what is known of its frame: the channel, and for the channels
/// of the security manager the code of the command. Bytes of a frame with an unknown beginning are not shown.
struct FrameSecrecy: Sendable {
  private enum Frame {
    /// No first fragment was seen.
    case unknown
    /// The known part of the frame's length, channel and code, and the number of its bytes so far.
    case begun(head: [UInt8], passed: Int)
  }

  private var frame = Frame.unknown

  /// The offset of a command's code in its frame; only later bytes can be a key.
  private static let codeOffset = L2CAPFrame.headerSize

  /// Discards the current frame: fragments may be missing.
  mutating func lose() { frame = .unknown }

  /// Processes the captured bytes of a fragment, and its full length.
  ///
  /// - Returns: the bytes that must be hidden.
  mutating func take(_ kept: ArraySlice<UInt8>, of length: Int, isFirst: Bool) -> Range<Int>? {
    if isFirst { frame = .begun(head: [], passed: 0) }
    guard case .begun(var head, let passed) = frame else { return kept.isEmpty ? nil : kept.indices }
    // After bytes that the capture omitted, the head stays the same.
    if head.count == passed { head += kept.prefix(Self.codeOffset + 1 - head.count) }
    let end = passed + max(length, kept.count)
    frame = isComplete(head, at: end) ? .unknown : .begun(head: head, passed: end)
    guard !isHarmless(head) else { return nil }
    let start = kept.startIndex + max(0, Self.codeOffset + 1 - passed)
    return start < kept.endIndex ? start..<kept.endIndex : nil
  }

  private func isComplete(_ head: [UInt8], at end: Int) -> Bool {
    head.count >= 2 && end >= L2CAPFrame.headerSize + (Int(head[0]) | Int(head[1]) << 8)
  }

  private func isHarmless(_ head: [UInt8]) -> Bool {
    guard head.count >= 4 else { return false }
    switch L2CAPChannel(rawValue: UInt16(head[2]) | UInt16(head[3]) << 8) {
    case .security, .securityBREDR: return head.count > Self.codeOffset && SecurityPacket.isHarmless(head[4])
    case .att, .signalling, nil: return true
    }
  }
}
