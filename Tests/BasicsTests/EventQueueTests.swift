import Basics
import TestSupport
import Testing

@Suite("The event queue")
struct EventQueueTests {
  /// Takes everything that is due, as (nanoseconds, event).
  func drain(_ queue: inout EventQueue<Int>, until limit: Instant = .never) -> [[Int]] {
    var taken: [[Int]] = []
    while let (time, event) = queue.next(until: limit) {
      taken.append([Int(time.nanoseconds), event])
    }
    return taken
  }

  @Test("events come by time and, at one time, in the order they were scheduled")
  func order() {
    var queue = EventQueue<Int>()
    for (event, time) in [(1, 30), (2, 10), (3, 20), (4, 10), (5, 30), (6, 10)] as [(Int, Int64)] {
      queue.schedule(event, at: Instant(nanoseconds: time))
    }
    expect(queue.count, 6)
    expect(queue.nextTime, Instant(nanoseconds: 10))
    expect(drain(&queue), [[10, 2], [10, 4], [10, 6], [20, 3], [30, 1], [30, 5]])
    #expect(queue.isEmpty && queue.nextTime == nil)
  }

  @Test("nothing later than the limit is taken, and what is due at the limit is")
  func limit() {
    var queue = EventQueue<Int>()
    for time in [5, 1, 3] as [Int64] { queue.schedule(Int(time), at: Instant(nanoseconds: time)) }
    expect(drain(&queue, until: Instant(nanoseconds: 3)), [[1, 1], [3, 3]])
    expect(drain(&queue, until: Instant(nanoseconds: 4)), [])
    queue.schedule(9, at: Instant(nanoseconds: 2))
    expect(drain(&queue, until: Instant(nanoseconds: 5)), [[2, 9], [5, 5]])
  }

  @Test("removing events leaves the others in their order")
  func removal() {
    var queue = EventQueue<Int>()
    for event in 0..<40 { queue.schedule(event, at: Instant(nanoseconds: Int64(event * 7 % 5))) }
    queue.removeAll { $0 % 3 != 0 }
    queue.schedule(100, at: Instant(nanoseconds: 2))
    var kept: [[Int]] = []
    for time in 0..<5 {
      for event in 0..<40 where event % 3 == 0 && event * 7 % 5 == time { kept.append([time, event]) }
      if time == 2 { kept.append([2, 100]) }
    }
    expect(drain(&queue), kept)
  }

  @Test("whatever is scheduled, taken and removed in between, the queue agrees with a sorted list")
  func model() {
    var generator = SeededGenerator(seed: 7)
    var queue = EventQueue<Int>()
    var list: [(time: Int64, event: Int)] = []
    for event in 0..<5000 {
      switch generator.below(10) {
      case 0...5:
        let time = Int64(generator.below(50))
        queue.schedule(event, at: Instant(nanoseconds: time))
        // After the last of its time: the list stays sorted by time, then by order of scheduling.
        list.insert((time, event), at: list.firstIndex { $0.time > time } ?? list.count)
      case 6...8:
        let limit = Int64(generator.below(50))
        let due = list.first.flatMap { $0.time <= limit ? $0 : nil }
        if due != nil { list.removeFirst() }
        let taken = queue.next(until: Instant(nanoseconds: limit))
        expect(
          [taken?.time.nanoseconds, taken.map { Int64($0.event) }], [due?.time, due.map { Int64($0.event) }])
      default:
        let remainder = generator.below(8)
        queue.removeAll { $0 % 8 == remainder }
        list.removeAll { $0.event % 8 == remainder }
      }
      expect(queue.count, list.count)
    }
  }
}
