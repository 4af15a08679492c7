/// Says which bytes of fragments are not shown, one direction of a link, whether or not a frame ever becomes whole.
///
/// A capture may begin in the middle of a frame, lose fragments, and keep only the beginning of a packet. So each
/// fragment is judged when it comes, by what is known of its frame then: the channel, and on the channels of the
/// security manager the code of the command. What belongs to a frame whose beginning is unknown is not shown.
struct FrameSecrecy: Sendable {
  private enum Frame {
    /// No first fragment was seen.
    case unknown
    /// What there is of the frame's length, channel and code; how many bytes of it have passed.
    case begun(head: [UInt8], passed: Int)
  }

  private var frame = Frame.unknown

  /// Where the code of a command is in its frame; only what follows it can be a key.
  private static let codeOffset = L2CAPFrame.headerSize

  /// Forgets the frame that is under way: fragments may be missing.
  mutating func lose() { frame = .unknown }

  /// Processes the captured bytes of a fragment, and its full length.
  ///
  /// - Returns: which of the bytes must be hidden.
  mutating func take(_ kept: ArraySlice<UInt8>, of length: Int, isFirst: Bool) -> Range<Int>? {
    if isFirst { frame = .begun(head: [], passed: 0) }
    guard case .begun(var head, let passed) = frame else { return kept.isEmpty ? nil : kept.indices }
    // Behind what a capture left out the head stays as it is.
    if head.count == passed { head += kept.prefix(Self.codeOffset + 1 - head.count) }
    let end = passed + max(length, kept.count)
    frame = isWhole(head, at: end) ? .unknown : .begun(head: head, passed: end)
    guard !isHarmless(head) else { return nil }
    let start = kept.startIndex + max(0, Self.codeOffset + 1 - passed)
    return start < kept.endIndex ? start..<kept.endIndex : nil
  }

  private func isWhole(_ head: [UInt8], at end: Int) -> Bool {
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
