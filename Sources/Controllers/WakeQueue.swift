/// The next wake-up time of each of a fixed set of parties, with the earliest first.
///
/// It is a binary heap in which each party has at most one entry, so that changing a time leaves no stale entry.
/// Parties with equal times are woken in the order in which their times were set.
struct WakeQueue: Sendable {
  private struct Entry {
    var time: Int64
    var sequence: UInt64
    var slot: Int32

    func comes(before other: Entry) -> Bool {
      time != other.time ? time < other.time : sequence < other.sequence
    }
  }

  private var heap: [Entry] = []
  /// The heap index of each party's entry, or −1.
  private var positions: [Int32] = []
  private var sequence: UInt64 = 0

  /// When the first party is due, in nanoseconds; `.max` if none is.
  var nextTime: Int64 { heap.isEmpty ? .max : heap[0].time }

  /// The party that is due first; there must be one.
  var first: Int { Int(heap[0].slot) }

  /// When the second party is due, in nanoseconds; `.max` if there is none.
  var secondTime: Int64 {
    switch heap.count {
    case 0, 1: .max
    case 2: heap[1].time
    default: min(heap[1].time, heap[2].time)
    }
  }

  /// Adds a party and returns its number.
  mutating func addSlot() -> Int {
    positions.append(-1)
    return positions.count - 1
  }

  /// Sets when to wake a party; `.max` stands for never.
  mutating func set(_ slot: Int, _ time: Int64) {
    let position = Int(positions[slot])
    guard time != .max else {
      if position >= 0 { remove(at: position) }
      return
    }
    sequence &+= 1
    let entry = Entry(time: time, sequence: sequence, slot: Int32(truncatingIfNeeded: slot))
    if position < 0 {
      heap.append(entry)
      rise(entry, from: heap.count - 1)
    } else if entry.comes(before: heap[position]) {
      rise(entry, from: position)
    } else {
      sink(entry, from: position)
    }
  }

  /// Removes and returns the party that is due first; there must be one.
  mutating func removeFirst() -> Int {
    let slot = Int(heap[0].slot)
    remove(at: 0)
    return slot
  }

  private mutating func remove(at position: Int) {
    positions[Int(heap[position].slot)] = -1
    let last = heap.removeLast()
    guard position < heap.count else { return }
    if position > 0, last.comes(before: heap[(position - 1) / 2]) {
      rise(last, from: position)
    } else {
      sink(last, from: position)
    }
  }

  private mutating func rise(_ entry: Entry, from position: Int) {
    var position = position
    while position > 0 {
      let parent = (position - 1) / 2
      guard entry.comes(before: heap[parent]) else { break }
      put(heap[parent], at: position)
      position = parent
    }
    put(entry, at: position)
  }

  private mutating func sink(_ entry: Entry, from position: Int) {
    var position = position
    while true {
      var child = 2 * position + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].comes(before: heap[child]) { child += 1 }
      guard heap[child].comes(before: entry) else { break }
      put(heap[child], at: position)
      position = child
    }
    put(entry, at: position)
  }

  private mutating func put(_ entry: Entry, at position: Int) {
    heap[position] = entry
    positions[Int(entry.slot)] = Int32(truncatingIfNeeded: position)
  }
}
