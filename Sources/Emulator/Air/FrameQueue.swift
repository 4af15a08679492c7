import Basics

/// What waits at one end of a link, in its order: for its time, for room, or for the other end to come back.
struct FrameQueue<Item: Sendable>: Sendable {
  private var items: [(item: Item, due: Instant)] = []
  private var taken = 0
  /// Until when what was put in last takes.
  private var busy = Instant.zero

  var isEmpty: Bool { taken == items.count }

  /// When the first is due, or `nil` when there is none.
  var nextTime: Instant? { isEmpty ? nil : items[taken].due }

  /// Puts something in behind what is there; it is due now, or later by a delay, but never before that.
  mutating func append(_ item: Item, at now: Instant, delay: Interval = .zero) {
    busy = max(now, busy) + delay
    items.append((item, busy))
  }

  /// The first, if it is due.
  func first(at now: Instant) -> Item? {
    guard !isEmpty, items[taken].due <= now else { return nil }
    return items[taken].item
  }

  mutating func removeFirst() {
    taken += 1
    guard isEmpty else { return }
    items.removeAll(keepingCapacity: true)
    taken = 0
  }

  mutating func removeAll() {
    items.removeAll(keepingCapacity: true)
    taken = 0
    busy = .zero
  }
}
