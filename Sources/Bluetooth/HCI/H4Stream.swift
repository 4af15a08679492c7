/// Splits the bytes of a serial line or a socket into packets (H4; Core 5.4, Vol 4 Part A §2).
///
/// H4 cannot resynchronise: after an error the following bytes cannot be interpreted, so the stream throws the same
/// error until ``reset()``, which is meant for a reopened connection. The buffer is bounded by the longest permitted
/// packet plus the bytes appended at once.
public struct H4Stream: Sendable {
  /// The longest data of an ACL or isochronous packet that is believed. Lengths above it come from a stream out
  /// of step, and would make it wait for bytes that never come.
  public let maximumDataLength: Int

  private var buffer: [UInt8] = []
  /// The number of consumed bytes of the buffer.
  private var position = 0
  private var failure: DecodeError?

  /// Makes an empty stream.
  public init(maximumDataLength: Int = 4096) {
    precondition(maximumDataLength > 0, "some length must be allowed")
    self.maximumDataLength = maximumDataLength
  }
}

extension H4Stream {
  /// Appends received bytes; after an error they are dropped.
  public mutating func append(_ bytes: some Collection<UInt8>) {
    guard failure == nil else { return }
    if position == buffer.count {
      buffer.removeAll(keepingCapacity: true)
      position = 0
    } else if position > 0, buffer.count + bytes.count > buffer.capacity {
      buffer.removeFirst(position)
      position = 0
    }
    buffer.append(contentsOf: bytes)
  }

  /// Removes and returns the next packet; `nil` while it is incomplete.
  ///
  /// Errors count their offset from the first byte of the packet.
  public mutating func next() throws(DecodeError) -> HCIPacket? {
    if let failure { throw failure }
    do throws(DecodeError) {
      guard let size = try nextSize() else { return nil }
      var reader = ByteReader(buffer.span.extracting(position..<position + size))
      let packet = try HCIPacket(decoding: &reader)
      position += size
      return packet
    } catch {
      failure = error
      buffer = []
      position = 0
      throw error
    }
  }

  /// The number of bytes of an incomplete packet, once ``next()`` has returned `nil`.
  public var pendingCount: Int { buffer.count - position }

  /// Discards everything, for a reopened connection.
  public mutating func reset() {
    buffer = []
    position = 0
    failure = nil
  }

  /// The size of the next packet with its octet in front, once it is there as a whole.
  private func nextSize() throws(DecodeError) -> Int? {
    let available = buffer.count - position
    guard available > 0 else { return nil }
    guard let indicator = H4Indicator(rawValue: buffer[position]) else {
      throw .value(Int(buffer[position]), of: "H4 packet indicator", at: 0)
    }
    let headerEnd = 1 + indicator.headerSize
    guard available >= headerEnd else { return nil }
    let length = indicator.dataLength(of: buffer.span.extracting(position + 1..<position + headerEnd))
    guard length <= maximumDataLength else { throw .value(length, of: "data length", at: headerEnd - 2) }
    return available >= headerEnd + length ? headerEnd + length : nil
  }
}
