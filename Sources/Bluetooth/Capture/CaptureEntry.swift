import Basics

/// A packet of a capture, decoded layer by layer, or an event of a link.
public struct CaptureEntry: Hashable, Sendable {
  /// The sender of a packet.
  public enum Sender: String, Hashable, Sendable {
    /// The end of a link that requests services.
    case client
    /// The end of a link that provides services.
    case lock
    /// The host whose capture it is, to its controller.
    case host
    /// The controller, to the host whose capture it is.
    case controller
  }

  /// The interpretation of a packet by one layer.
  public struct Layer: Hashable, Sendable {
    /// The layer's name.
    public var name: String
    /// The interpretation, in one line.
    public var text: String
    /// Whether the packet violates the layer's specification.
    public var isMalformed: Bool

    /// Makes a layer.
    public init(_ name: String, _ text: String) {
      self.name = name
      self.text = text
      isMalformed = false
    }

    /// Makes a layer that cannot be read; the offset of the error counts from the layer's first byte.
    public init(_ name: String, _ error: DecodeError) {
      self.init(name, malformed: "\(error)")
    }

    /// Makes a layer that cannot be decoded, for this reason.
    public init(_ name: String, malformed reason: String) {
      self.name = name
      text = "malformed: \(reason)"
      isMalformed = true
    }
  }

  /// The number of the record of the capture, from 0.
  public var number: Int
  /// The time in microseconds, as in the capture.
  public var time: UInt64
  /// The number of the controller, in a capture of several controllers.
  public var controller: UInt16?
  /// The sender; `nil` for an event of a link.
  public var sender: Sender?
  /// The packet with its H4 octet; empty for an event of a link.
  public var bytes: [UInt8] = []
  /// The ranges of bytes that must not be shown: keys, and data from which keys are derived.
  public var secrets: [Range<Int>] = []
  /// The layers, from the lowest on.
  public var layers: [Layer] = []
  /// The event of a link, or a note of the capture; `nil` for a packet.
  public var event: String?

  /// The bytes in hexadecimal, with `**` for each that must not be shown.
  public var hex: String {
    guard !secrets.isEmpty else { return bytes.hex }
    return bytes.indices.map { index in
      secrets.contains { $0.contains(index) } ? "**" : [bytes[index]].hex
    }.joined()
  }

  /// The bytes, with 0 for each that must not be shown.
  public var shownBytes: [UInt8] {
    var shown = bytes
    for range in secrets {
      for index in range.clamped(to: shown.indices) { shown[index] = 0 }
    }
    return shown
  }
}

/// Some bytes of a record.
public struct CapturedBytes: Hashable, Sendable {
  /// The number of the record, from 0.
  public var number: Int
  /// The range in its packet.
  public var range: Range<Int>
}

/// The value of an attribute in a packet, joined from all its fragments.
public struct CapturedValue: Hashable, Sendable {
  /// The number of the link in the capture, from 1.
  public var link: Int
  /// The lock's address, if the capture has it.
  public var peer: PeerAddress?
  /// Whether it is sent to the end that has the attribute.
  public var isWritten: Bool
  /// The handle of the attribute.
  public var handle: AttributeHandle
  /// The attribute's type, if the capture has its discovery on this link, or on an earlier one to the same
  /// address.
  public var type: BluetoothUUID?
  /// The types of all known attributes of the device, which may have more.
  public var discovered: [AttributeHandle: BluetoothUUID]
  /// The number of the controller with the link, in a capture of several controllers.
  public var controller: UInt16?
  /// Whether the capture's host is the client; `nil` if that is unknown.
  public var hostIsClient: Bool?
  /// The value.
  public var bytes: [UInt8]

  /// The location of the frame's bytes, and the offset of the value in the frame.
  var trail: FrameTrail
  var start: Int

  /// The locations of some bytes of the value in the capture.
  public func places(of range: Range<Int>) -> [CapturedBytes] {
    trail.places(of: range.lowerBound + start..<range.upperBound + start)
  }
}

/// The location of a frame's bytes in a capture.
struct FrameTrail: Hashable, Sendable {
  private var pieces: [CapturedBytes] = []

  /// Appends the bytes of a fragment; a first fragment starts a new frame.
  mutating func append(_ bytes: CapturedBytes, isFirst: Bool) {
    if isFirst { pieces.removeAll(keepingCapacity: true) }
    pieces.append(bytes)
  }

  func places(of range: Range<Int>) -> [CapturedBytes] {
    var places: [CapturedBytes] = []
    var offset = 0
    for piece in pieces {
      let part = range.clamped(to: offset..<offset + piece.range.count)
      if !part.isEmpty {
        let start = piece.range.lowerBound - offset
        places.append(
          CapturedBytes(
            number: piece.number, range: part.lowerBound + start..<part.upperBound + start))
      }
      offset += piece.range.count
    }
    return places
  }
}
