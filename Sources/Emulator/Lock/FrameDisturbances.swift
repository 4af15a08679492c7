import Basics

/// A fault of the next frames.
struct Tampering: Equatable, Sendable {
  /// The direction of a frame.
  enum Direction: Equatable, Sendable {
    case write
    case notification
  }

  /// The kind of fault.
  enum Kind: Equatable, Sendable {
    case drop
    /// The lowest bit of the last byte is inverted.
    case corrupt
    case duplicate
    case delay(Interval)
    /// The link is lost when the last of the frames has arrived.
    case loseLink
  }

  var kind: Kind
  /// The direction of the frames; `nil` for both.
  var direction: Direction?
  /// The number of frames that remain to be disturbed.
  var remaining: Int
}

/// A frame after its fault.
struct Tampered: Equatable, Sendable {
  var frame: [UInt8]
  var copies = 1
  var delay = Interval.zero
  /// Whether the link is lost when the frame arrives.
  var losesLink = false
}

/// The faults of the frames between a lock and its client, whatever carries them.
struct FrameDisturbances: Sendable {
  private var tampering: [Tampering] = []

  /// Whether a frame was tampered with, or a link cut with it, since the last query.
  private var hasTampered = false

  /// Whether there is no fault.
  var isEmpty: Bool { tampering.isEmpty }

  /// Adds a fault.
  mutating func add(_ tampering: Tampering) { self.tampering.append(tampering) }

  /// Cancels a kind of fault.
  mutating func cancel(_ kind: Tampering.Kind) { tampering.removeAll { $0.kind == kind } }

  /// Cancels all faults.
  mutating func cancel() {
    tampering = []
    hasTampered = false
  }

  /// Records that frames were tampered with in another way.
  mutating func recordTampering() { hasTampered = true }

  /// Removes and returns whether a frame was tampered with.
  mutating func takeTampering() -> Bool {
    defer { hasTampered = false }
    return hasTampered
  }

  /// Applies the faults to a frame; the first fault of each kind counts.
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
    if tampered != Tampered(frame: frame) { hasTampered = true }
    return tampered
  }
}
