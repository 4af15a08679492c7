import Basics

/// What waits at one end of a link, in its order: for its time, for room, or for the other end to come back.
struct FrameQueue<Item: Sendable>: Sendable {
  private var items = FIFO<(item: Item, due: Instant)>()
  /// Until when what was put in last takes.
  private var busy = Instant.zero

  var isEmpty: Bool { items.isEmpty }

  /// When the first is due, or `nil` when there is none.
  var nextTime: Instant? { items.first?.due }

  /// Puts something in behind what is there; it is due now, or later by a delay, but never before that.
  mutating func append(_ item: Item, at now: Instant, delay: Interval = .zero) {
    busy = max(now, busy) + delay
    items.append((item, busy))
  }

  /// The first, if it is due.
  func first(at now: Instant) -> Item? {
    items.first.flatMap { $0.due <= now ? $0.item : nil }
  }

  mutating func removeFirst() { items.removeFirst() }

  mutating func removeAll() {
    items.removeAll()
    busy = .zero
  }
}
