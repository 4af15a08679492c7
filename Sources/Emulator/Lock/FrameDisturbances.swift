import Basics

/// Something that is to happen to the next frames.
struct Tampering: Equatable, Sendable {
  /// Which way a frame goes.
  enum Direction: Equatable, Sendable {
    case write
    case notification
  }

  /// What happens to it.
  enum Kind: Equatable, Sendable {
    case drop
    /// The lowest bit of the last byte is inverted.
    case corrupt
    case duplicate
    case delay(Interval)
    /// When the last of the frames has arrived, the link is lost.
    case loseLink
  }

  var kind: Kind
  /// Which way the frames go, or `nil` for either.
  var direction: Direction?
  /// How many frames are still meant.
  var remaining: Int
}

/// A frame and what became of it.
struct Tampered: Equatable, Sendable {
  var frame: [UInt8]
  var copies = 1
  var delay = Interval.zero
  /// Whether the link is lost with its arrival.
  var losesLink = false
}

/// What is to happen to the frames between a lock and its client, whatever carries them.
struct FrameDisturbances: Sendable {
  private var tampering: [Tampering] = []

  /// Whether a frame was tampered with, or a link is cut with it, since that was last asked.
  private var hasStruck = false

  /// Whether frames are let be.
  var isEmpty: Bool { tampering.isEmpty }

  /// Sets frames aside for a disturbance.
  mutating func add(_ tampering: Tampering) { self.tampering.append(tampering) }

  /// Calls a kind of disturbance off.
  mutating func callOff(_ kind: Tampering.Kind) { tampering.removeAll { $0.kind == kind } }

  /// Calls every disturbance off.
  mutating func callOff() {
    tampering = []
    hasStruck = false
  }

  /// Notes that frames were tampered with in another way.
  mutating func noteStrike() { hasStruck = true }

  /// Whether a frame was tampered with since this was last asked.
  mutating func takeStrike() -> Bool {
    defer { hasStruck = false }
    return hasStruck
  }

  /// Does to a frame what is meant for it; the first disturbance of each kind counts.
  mutating func tamper(with frame: [UInt8], _ direction: Tampering.Direction) -> Tampered {
    var tampered = Tampered(frame: frame)
    guard !tampering.isEmpty else { return tampered }
    var done: [Tampering.Kind] = []
    for index in tampering.indices {
      let item = tampering[index]
      guard item.direction == nil || item.direction == direction, !done.contains(item.kind) else { continue }
      done.append(item.kind)
      tampering[index].remaining -= 1
      switch item.kind {
      case .drop: tampered.copies = 0
      case .corrupt: if let last = tampered.frame.indices.last { tampered.frame[last] ^= 1 }
      case .duplicate: tampered.copies = min(tampered.copies * 2, 2)
      case .delay(let interval): tampered.delay = tampered.delay + interval
      case .loseLink: tampered.losesLink = tampering[index].remaining == 0
      }
    }
    tampering.removeAll { $0.remaining <= 0 }
    if tampered != Tampered(frame: frame) { hasStruck = true }
    return tampered
  }
}
