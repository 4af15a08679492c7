import Basics

/// The frames of one link that wait for free buffers in the controller; the first may be partly sent.
///
/// A frame that fits a buffer of the controller is sent without a copy; a longer one is sent in fragments
/// (Core 5.4, Vol 3 Part A §7.2.1).
struct FragmentQueue: Sendable {
  private var frames = FIFO<[UInt8]>()
  /// The number of bytes of the first frame that were sent.
  private var sent = 0

  /// The number of frames, including a partly sent one.
  var count: Int { frames.count }

  var isEmpty: Bool { frames.isEmpty }

  mutating func append(_ frame: [UInt8]) {
    frames.append(frame)
  }

  mutating func removeAll() {
    frames.removeAll()
    sent = 0
  }

  /// Removes and returns the next fragment; `nil` if there is none.
  mutating func next(upTo length: Int, on handle: ConnectionHandle) -> ACLPacket? {
    guard let frame = frames.first else { return nil }
    let left = frame.count - sent
    let boundary = sent == 0 ? ACLPacket.Boundary.first : .continuing
    guard left > length else {
      let data = sent == 0 ? frame : Array(frame[sent...])
      frames.removeFirst()
      sent = 0
      return ACLPacket(handle: handle, boundary: boundary, data: data)
    }
    defer { sent += length }
    return ACLPacket(handle: handle, boundary: boundary, data: Array(frame[sent..<sent + length]))
  }
}
