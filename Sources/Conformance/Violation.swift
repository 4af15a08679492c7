/// A protocol rule that a device was seen to break.
///
/// It stays structured data from the client to the last report: no component parses a sentence to learn what
/// happened.
public struct Violation: Hashable, Sendable {
  /// The packet that broke the rule, or was left unanswered.
  public struct Packet: Hashable, Sendable {
    /// The sender of a packet.
    public enum Sender: String, Hashable, Sendable {
      case device
      case tester
    }

    /// Its bytes: the frame if that is wrong, otherwise the message, decrypted if it is authentic.
    public var bytes: [UInt8]
    /// The sender.
    public var sender: Sender

    /// Makes a packet.
    public init(_ bytes: [UInt8], from sender: Sender = .device) {
      self.bytes = bytes
      self.sender = sender
    }
  }

  /// The rule's stable name in kebab-case: `not-authentic`, `no-answer`.
  public var name: String
  /// The part of the protocol concerned, such as the command without a response; `nil` if that adds nothing.
  public var subject: String?
  /// What was seen, as text.
  public var detail: String
  /// The packet, if there is one. A packet that would reveal a key is omitted.
  public var packet: Packet?
  /// Why devices of this kind are excused: the violation is then a diagnostic and no divergence.
  public var quirk: String?

  /// Makes a violation.
  public init(
    _ name: String, of subject: String? = nil, _ detail: String, packet: Packet? = nil, quirk: String? = nil
  ) {
    self.name = name
    self.subject = subject
    self.detail = detail
    self.packet = packet
    self.quirk = quirk
  }
}

extension Violation: CustomStringConvertible {
  /// The rule and what was seen: `clear-text: lock in clear`.
  public var description: String { "\(name): \(detail)" }
}

extension Violation.Packet: CustomStringConvertible {
  /// The most bytes in a description; data contains all of them.
  private static let maximum = 48

  /// The bytes, shortened if there are many: `3 bytes of the device, 075200`.
  public var description: String {
    let text = hexadecimal(bytes.prefix(Self.maximum)) + (bytes.count > Self.maximum ? "…" : "")
    let count = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    return "\(count) of the \(sender.rawValue)" + (bytes.isEmpty ? "" : ", \(text)")
  }
}

extension Violation.Packet {
  /// All bytes in hexadecimal, for data.
  public var hex: String { hexadecimal(bytes[...]) }
}

private func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String {
  var digits: [UInt8] = []
  digits.reserveCapacity(2 * bytes.count)
  for byte in bytes {
    for digit in [byte >> 4, byte & 15] {
      digits.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
  return String(decoding: digits, as: UTF8.self)
}

/// Why a device shows what it shows, or shows nothing, if its layers know the reason.
///
/// A status says *that* the client lost its lock; the explanation says that the lock ended the link, or that nothing
/// was heard of it. It is no judgement: the model decides whether the device was right.
public struct Explanation: Hashable, Sendable {
  /// The cause's stable name in kebab-case: `link-lost`.
  public var name: String
  /// What was seen, as text.
  public var detail: String
  /// Whether the device caused it, rather than the transport.
  public var isOfDevice: Bool

  /// Makes an explanation.
  public init(_ name: String, _ detail: String, isOfDevice: Bool = false) {
    self.name = name
    self.detail = detail
    self.isOfDevice = isOfDevice
  }
}

extension Explanation: CustomStringConvertible {
  public var description: String { "\(name): \(detail)" }
}
