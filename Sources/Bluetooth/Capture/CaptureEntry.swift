import Basics

/// A packet of a capture with what it means, layer by layer, or something that happened to a link.
public struct CaptureEntry: Hashable, Sendable {
  /// Who sent a packet.
  public enum Sender: String, Hashable, Sendable {
    /// The end of a link that asks for services.
    case client
    /// The end of a link that has them.
    case lock
    /// The host whose capture it is, to its controller.
    case host
    /// The controller, to the host whose capture it is.
    case controller
  }

  /// What one layer makes of a packet.
  public struct Layer: Hashable, Sendable {
    /// The layer's name.
    public var name: String
    /// What it makes of the packet, in one line.
    public var text: String
    /// Whether the packet is not what the layer's specification has.
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

    /// Makes a layer that cannot be read, and says why.
    public init(_ name: String, malformed reason: String) {
      self.name = name
      text = "malformed: \(reason)"
      isMalformed = true
    }
  }

  /// Which record of the capture it is, or comes from; from 0.
  public var number: Int
  /// When, in microseconds, as captures count them.
  public var time: UInt64
  /// Which controller of the machine it is about, where the capture is of several.
  public var controller: UInt16?
  /// Who sent it; `nil` for what happened to a link.
  public var sender: Sender?
  /// The packet with its octet of H4; empty for what happened to a link.
  public var bytes: [UInt8] = []
  /// The places of bytes that are keys, or from which keys follow: not to be shown.
  public var secrets: [Range<Int>] = []
  /// What it means, from the lowest layer.
  public var layers: [Layer] = []
  /// What happened to a link, or what a capture notes in place of a packet; `nil` for a packet.
  public var event: String?

  /// The bytes in hexadecimal, with `**` for each that is not to be shown.
  public var hex: String {
    guard !secrets.isEmpty else { return bytes.hex }
    return bytes.indices.map { index in
      secrets.contains { $0.contains(index) } ? "**" : [bytes[index]].hex
    }.joined()
  }

  /// The bytes, with 0 for each that is not to be shown.
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
  /// Which record; from 0.
  public var number: Int
  /// Where in its packet.
  public var range: Range<Int>
}

/// The value of an attribute on its way, put together from all its fragments.
public struct CapturedValue: Hashable, Sendable {
  /// Which link of the capture; from 1.
  public var link: Int
  /// The lock's address, where the capture has it.
  public var peer: PeerAddress?
  /// Whether it goes to the end that has the attribute.
  public var isWritten: Bool
  /// Which attribute.
  public var handle: AttributeHandle
  /// The attribute's type, where the capture has its discovery: on this link, or on an earlier one to the same address.
  public var type: BluetoothUUID?
  /// The types of all attributes that are known of the device; it may have more.
  public var discovered: [AttributeHandle: BluetoothUUID]
  /// Which controller of the machine has the link, where the capture is of several.
  public var controller: UInt16?
  /// Whether the host of the capture is the client; `nil` where nothing tells.
  public var hostIsClient: Bool?
  /// The value.
  public var bytes: [UInt8]

  /// Where the frame's bytes are, and where in it the value begins.
  var trail: FrameTrail
  var start: Int

  /// Where in the capture some bytes of the value are.
  public func places(of range: Range<Int>) -> [CapturedBytes] {
    trail.places(of: range.lowerBound + start..<range.upperBound + start)
  }
}

/// Where the bytes of a frame are in a capture.
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
