/// A rule of its protocol that a device was seen to break.
///
/// It is data from the client that sees it to the last report: no part takes a sentence apart to know what happened.
public struct Violation: Hashable, Sendable {
  /// What broke the rule, or what was left unanswered.
  public struct Packet: Hashable, Sendable {
    /// Who sent it.
    public enum Sender: String, Hashable, Sendable {
      case device
      case tester
    }

    /// Its bytes: of a frame where the frame is wrong, otherwise of the message, decrypted where it is authentic.
    public var bytes: [UInt8]
    /// Who sent it.
    public var sender: Sender

    /// Makes a packet.
    public init(_ bytes: [UInt8], from sender: Sender = .device) {
      self.bytes = bytes
      self.sender = sender
    }
  }

  /// The rule, by a name in kebab-case that stays the same for ever: `not-authentic`, `no-answer`.
  public var name: String
  /// What of the protocol it was broken with, such as the command that was not answered; `nil` where that says nothing.
  public var subject: String?
  /// What was seen, for people.
  public var detail: String
  /// The packet, where there is one. One that would tell a key is left out.
  public var packet: Packet?
  /// Why devices of this kind are not blamed for it: it is a diagnostic then, and no divergence.
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
  /// The most bytes that are shown to people; data has all of them.
  private static let maximum = 48

  /// The bytes, of many only the first: `3 bytes of the device, 075200`.
  public var description: String {
    let text = hexadecimal(bytes.prefix(Self.maximum)) + (bytes.count > Self.maximum ? "…" : "")
    let count = bytes.count == 1 ? "1 byte" : "\(bytes.count) bytes"
    return "\(count) of the \(sender.rawValue)" + (bytes.isEmpty ? "" : ", \(text)")
  }
}

extension Violation.Packet {
  /// All bytes in hexadecimal, as data has them.
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

/// Why a device shows what it shows, or shows nothing, where whoever looks at it knows more than that.
///
/// A status says *that* a client has no lock any more; this says that the lock ended the link, or that nothing was
/// heard of it. It is no reproach: the model decides whether it was right.
public struct Explanation: Hashable, Sendable {
  /// The cause, by a name in kebab-case that stays the same: `link-lost`.
  public var name: String
  /// What was seen, for people.
  public var detail: String
  /// Whether it was the device's own doing, and not the way's to it.
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
