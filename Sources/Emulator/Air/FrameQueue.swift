import Basics

/// Frames that wait at one end of a link, in order: for their time, for room, or for the return of the other
/// end.
struct FrameQueue<Item: Sendable>: Sendable {
  private var items = FIFO<(item: Item, due: Instant)>()
  /// When the latest item is due.
  private var lastDue = Instant.zero

  var isEmpty: Bool { items.isEmpty }

  /// When the first item is due; `nil` if there is none.
  var nextTime: Instant? { items.first?.due }

  /// Appends an item, which is due after a delay, but not before the earlier items.
  mutating func append(_ item: Item, at now: Instant, delay: Interval = .zero) {
    lastDue = max(now, lastDue) + delay
    items.append((item, lastDue))
  }

  /// The first item, if it is due.
  func first(at now: Instant) -> Item? {
    items.first.flatMap { $0.due <= now ? $0.item : nil }
  }

  mutating func removeFirst() { items.removeFirst() }

  mutating func removeAll() {
    items.removeAll()
    lastDue = .zero
  }
}
