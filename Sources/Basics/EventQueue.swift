/// A queue of events, ordered by time and, at equal times, by the order in which they were scheduled.
///
/// It is a binary heap: scheduling and taking cost O(log n), and nothing is allocated once the storage has grown.
/// Events at equal times keep their order, so one seed gives one trace.
public struct EventQueue<Event> {
  @usableFromInline
  struct Entry {
    @usableFromInline var time: Instant
    @usableFromInline var sequence: UInt64
    @usableFromInline var event: Event

    @inlinable
    init(time: Instant, sequence: UInt64, event: Event) {
      self.time = time
      self.sequence = sequence
      self.event = event
    }

    @inlinable
    func comes(before other: Entry) -> Bool {
      time != other.time ? time < other.time : sequence < other.sequence
    }
  }

  @usableFromInline var heap: [Entry] = []
  @usableFromInline var sequence: UInt64 = 0

  /// Makes an empty queue.
  @inlinable
  public init() {}

  /// Whether nothing is scheduled.
  @inlinable public var isEmpty: Bool { heap.isEmpty }

  /// The number of scheduled events.
  @inlinable public var count: Int { heap.count }

  /// When the first event is due, or `nil` if there is none.
  @inlinable public var nextTime: Instant? { heap.first?.time }

  /// Schedules an event.
  @inlinable
  public mutating func schedule(_ event: Event, at time: Instant) {
    heap.append(Entry(time: time, sequence: sequence, event: event))
    sequence += 1
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].comes(before: heap[parent]) else { break }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  /// Takes the first event that is due at or before a limit, or returns `nil` if there is none.
  @inlinable
  public mutating func next(until limit: Instant) -> (time: Instant, event: Event)? {
    guard let first = heap.first, first.time <= limit else { return nil }
    let last = heap.removeLast()
    if !heap.isEmpty {
      heap[0] = last
      sink()
    }
    return (first.time, first.event)
  }

  /// Removes every event that meets a condition; the others keep their order.
  @inlinable
  public mutating func removeAll(where condition: (Event) -> Bool) {
    heap.removeAll { condition($0.event) }
    heap.sort { $0.comes(before: $1) }
  }

  @usableFromInline
  mutating func sink() {
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { return }
      let right = left + 1
      let child = right < heap.count && heap[right].comes(before: heap[left]) ? right : left
      guard heap[child].comes(before: heap[parent]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}

extension EventQueue: Sendable where Event: Sendable {}
extension EventQueue.Entry: Sendable where Event: Sendable {}
