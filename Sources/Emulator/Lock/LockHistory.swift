import Sesame

/// The history of an emulated lock: the latest records, oldest first, up to its capacity.
///
/// A full history drops its oldest record for a new one. Record numbers continue whatever is deleted.
struct LockHistory: Equatable, Sendable {
  /// One record, with the fields of both generations.
  struct Record: Equatable, Sendable {
    var id: UInt32
    var type: HistoryType
    /// Unix milliseconds by the lock's own clock.
    var milliseconds: UInt64
    /// The reading of the bolt at that time.
    var reading: BoltReading
    var tag: HistoryTag
  }

  /// The maximum number of records.
  let capacity: Int
  private var records: [Record] = []
  /// The index of the oldest record, once the storage is a full ring.
  private var start = 0
  private(set) var count = 0
  private var lastID: UInt32 = 0

  /// Makes an empty history.
  init(capacity: Int) {
    precondition(capacity > 0, "a history holds at least one record")
    self.capacity = capacity
  }

  /// Whether there are no records.
  var isEmpty: Bool { count == 0 }

  /// The oldest record.
  var oldest: Record? { count == 0 ? nil : records[start] }

  /// Adds a record under the next number.
  mutating func append(
    _ type: HistoryType, milliseconds: UInt64, reading: BoltReading, tag: HistoryTag = .absent
  ) {
    lastID &+= 1
    let record = Record(id: lastID, type: type, milliseconds: milliseconds, reading: reading, tag: tag)
    if count == capacity {
      records[start] = record
      start = (start + 1) % capacity
    } else if records.count < capacity {
      // Until the storage is full, its end is the place of the next record.
      records.append(record)
      count += 1
    } else {
      records[(start + count) % capacity] = record
      count += 1
    }
  }

  /// Exchanges what the last two records contain, except their numbers, if both are of the same second: a defect.
  mutating func exchangeLast() {
    guard count >= 2 else { return }
    let (one, other) = ((start + count - 2) % records.count, (start + count - 1) % records.count)
    guard records[one].milliseconds / 1000 == records[other].milliseconds / 1000 else { return }
    records.swapAt(one, other)
    let number = records[one].id
    records[one].id = records[other].id
    records[other].id = number
  }

  /// Numbers the next record 1: a defect.
  mutating func restartNumbers() { lastID = 0 }

  /// Deletes the oldest record.
  mutating func removeOldest() {
    guard count > 0 else { return }
    start = (start + 1) % capacity
    count -= 1
    if count == 0 {
      records.removeAll(keepingCapacity: true)
      start = 0
    }
  }

  /// Deletes the record with a number; false if there is none.
  mutating func remove(id: UInt32) -> Bool {
    guard let index = (0..<count).first(where: { records[(start + $0) % records.count].id == id }) else {
      return false
    }
    for later in stride(from: index, to: 0, by: -1) {
      records[(start + later) % records.count] = records[(start + later - 1) % records.count]
    }
    removeOldest()
    return true
  }

  /// Deletes all records; numbers continue.
  mutating func removeAll() {
    records.removeAll(keepingCapacity: true)
    start = 0
    count = 0
  }
}
