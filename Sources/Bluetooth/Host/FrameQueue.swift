/// The frames of one link that wait for room in the controller, and how far the first of them has gone.
///
/// A frame that fits a buffer of the controller leaves as it came, without a copy; a longer one leaves in
/// fragments (Core 5.4, Vol 3 Part A §7.2.1).
struct FrameQueue: Sendable {
  private var frames: [[UInt8]] = []
  private var head = 0
  /// How many bytes of the first frame were sent.
  private var sent = 0

  /// How many frames wait, one of which part has gone included.
  var count: Int { frames.count - head }

  var isEmpty: Bool { head == frames.count }

  mutating func append(_ frame: [UInt8]) {
    frames.append(frame)
  }

  mutating func removeAll() {
    frames.removeAll()
    head = 0
    sent = 0
  }

  /// Takes the next fragment, or `nil` when nothing waits.
  mutating func next(upTo length: Int, on handle: ConnectionHandle) -> ACLPacket? {
    guard head < frames.count else { return nil }
    let left = frames[head].count - sent
    let boundary = sent == 0 ? ACLPacket.Boundary.first : .continuing
    guard left > length else {
      let data = sent == 0 ? frames[head] : Array(frames[head][sent...])
      removeFirst()
      return ACLPacket(handle: handle, boundary: boundary, data: data)
    }
    defer { sent += length }
    return ACLPacket(handle: handle, boundary: boundary, data: Array(frames[head][sent..<sent + length]))
  }

  private mutating func removeFirst() {
    frames[head] = []
    head += 1
    sent = 0
    if head == frames.count {
      frames.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= frames.count {
      frames.removeFirst(head)
      head = 0
    }
  }
}
