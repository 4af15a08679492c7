import Basics

/// The header byte of a frame: bit 0 marks the first frame of a message, the other bits are its kind, or 0 if the
/// message continues (Sesame protocol, segment layer).
public struct SegmentHeader: RawRepresentable, Hashable, Sendable {
  /// The byte as sent.
  public var rawValue: UInt8

  /// Makes a header from its byte.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Makes a header; without a kind, more frames follow.
  public init(isFirst: Bool, ending kind: MessageKind?) {
    rawValue = (isFirst ? 1 : 0) | (kind?.rawValue ?? 0) << 1
  }

  /// Whether this is the first frame of a message.
  public var isFirst: Bool { rawValue & 1 == 1 }

  /// The other seven bits: 0 if the message continues, else its kind.
  public var field: UInt8 { rawValue >> 1 }
}

/// The kind of a message, from the header of its last frame.
public struct MessageKind: RawRepresentable, Hashable, Sendable {
  /// The header's seven-bit field, never 0.
  public var rawValue: UInt8

  /// Makes a kind from the header's seven-bit field.
  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// In clear.
  public static let plaintext = MessageKind(rawValue: 1)
  /// Encrypted as a whole, with a four-byte tag at the end.
  public static let ciphertext = MessageKind(rawValue: 2)

  /// The kind by which the vendor's iOS client treats this one: it ignores an unknown kind in OS2 and treats
  /// it as plaintext in OS3. `nil` means ignored.
  public func reading(in generation: Generation) -> MessageKind? {
    switch (self, generation) {
    case (.plaintext, _), (.ciphertext, _): self
    case (_, .os2): nil
    case (_, .os3): .plaintext
    }
  }
}

extension MessageKind: CustomStringConvertible {
  /// `plaintext`, `ciphertext`, or the number.
  public var description: String {
    switch self {
    case .plaintext: "plaintext"
    case .ciphertext: "ciphertext"
    default: "kind \(rawValue)"
    }
  }
}

/// A whole message before its division into frames; ciphertext is still encrypted.
public struct SegmentedMessage: Hashable, Sendable {
  /// The kind of the message.
  public var kind: MessageKind
  /// All its bytes.
  public var bytes: [UInt8]

  /// Makes a message.
  public init(_ kind: MessageKind, _ bytes: [UInt8]) {
    self.kind = kind
    self.bytes = bytes
  }
}

extension SegmentedMessage: CustomStringConvertible {
  /// The kind and the bytes in hexadecimal.
  public var description: String { "\(kind) \(bytes.hex)" }
}

/// Divides messages into frames of one header byte and some data, each for one write or notification.
public struct Segmenter: Sendable {
  /// The default size of a frame: the payload with the smallest ATT MTU.
  public static let defaultFrameSize = 20

  /// The most bytes in a frame, header included.
  public var frameSize: Int

  /// Makes a segmenter; locks stay at 20, readers use more after the exchange of a larger MTU.
  public init(frameSize: Int = Segmenter.defaultFrameSize) {
    precondition(frameSize >= 2, "a frame holds a header and at least one byte")
    self.frameSize = frameSize
  }

  /// The frames of a message, in order.
  ///
  /// A message that fills its last frame has no empty one after it; an empty message is one header.
  public func frames(of bytes: [UInt8], _ kind: MessageKind) -> [[UInt8]] {
    let capacity = frameSize - 1
    var frames: [[UInt8]] = []
    frames.reserveCapacity(bytes.count / capacity + 1)
    var start = 0
    repeat {
      let end = min(start + capacity, bytes.count)
      let header = SegmentHeader(isFirst: start == 0, ending: end == bytes.count ? kind : nil)
      var frame: [UInt8] = []
      frame.reserveCapacity(1 + end - start)
      frame.append(header.rawValue)
      frame.append(contentsOf: bytes[start..<end])
      frames.append(frame)
      start = end
    } while start < bytes.count
    return frames
  }

  /// The frames of a message, in order.
  public func frames(of message: SegmentedMessage) -> [[UInt8]] {
    frames(of: message.bytes, message.kind)
  }
}
