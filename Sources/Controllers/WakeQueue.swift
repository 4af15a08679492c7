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
  private var places: [Int32] = []
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
    places.append(-1)
    return places.count - 1
  }

  /// Sets when to wake a party; `.max` stands for never.
  mutating func set(_ slot: Int, _ time: Int64) {
    let place = Int(places[slot])
    guard time != .max else {
      if place >= 0 { remove(at: place) }
      return
    }
    sequence &+= 1
    let entry = Entry(time: time, sequence: sequence, slot: Int32(truncatingIfNeeded: slot))
    if place < 0 {
      heap.append(entry)
      rise(entry, from: heap.count - 1)
    } else if entry.comes(before: heap[place]) {
      rise(entry, from: place)
    } else {
      sink(entry, from: place)
    }
  }

  /// Removes and returns the party that is due first; there must be one.
  mutating func removeFirst() -> Int {
    let slot = Int(heap[0].slot)
    remove(at: 0)
    return slot
  }

  private mutating func remove(at place: Int) {
    places[Int(heap[place].slot)] = -1
    let last = heap.removeLast()
    guard place < heap.count else { return }
    if place > 0, last.comes(before: heap[(place - 1) / 2]) {
      rise(last, from: place)
    } else {
      sink(last, from: place)
    }
  }

  private mutating func rise(_ entry: Entry, from place: Int) {
    var place = place
    while place > 0 {
      let parent = (place - 1) / 2
      guard entry.comes(before: heap[parent]) else { break }
      put(heap[parent], at: place)
      place = parent
    }
    put(entry, at: place)
  }

  private mutating func sink(_ entry: Entry, from place: Int) {
    var place = place
    while true {
      var child = 2 * place + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, heap[child + 1].comes(before: heap[child]) { child += 1 }
      guard heap[child].comes(before: entry) else { break }
      put(heap[child], at: place)
      place = child
    }
    put(entry, at: place)
  }

  private mutating func put(_ entry: Entry, at place: Int) {
    heap[place] = entry
    places[Int(entry.slot)] = Int32(truncatingIfNeeded: place)
  }
}
