import Basics

/// A growing list of values of one size, without the copies and the unused capacity of an array.
package struct Pages<Element> {
  private var pages: [[Element]] = []
  package private(set) var count = 0

  private static var size: Int { 1 << 14 }

  package subscript(index: Int) -> Element {
    get { pages[index >> 14][index & (Self.size - 1)] }
    set { pages[index >> 14][index & (Self.size - 1)] = newValue }
  }

  package mutating func append(_ element: Element) {
    if count & (Self.size - 1) == 0 {
      var page: [Element] = []
      page.reserveCapacity(Self.size)
      pages.append(page)
    }
    pages[pages.count - 1].append(element)
    count += 1
  }

  package mutating func removeLast() -> Element {
    count -= 1
    let element = pages[pages.count - 1].removeLast()
    if pages[pages.count - 1].isEmpty { pages.removeLast() }
    return element
  }
}

/// The cases of an index: 26 bytes each, and 16 more if their times are known.
package struct CaseTable {
  private struct Row {
    /// The index of the journal in the upper bits, the offset of the case in the lower 44 bits.
    var place: UInt64
    var line: UInt32
    var milliseconds: UInt32
    var copy: UInt32
    /// The suite in the upper bits; below it three flags, and the ending in the lowest four bits.
    var suite: UInt32
  }

  private var rows = Pages<Row>()
  /// The number of attempts of each case with more than one.
  private var attempts: [Int: Int] = [:]
  /// The times of cases that took longer than seven weeks.
  private var longTimes: [Int: Int64] = [:]

  /// The number of observations of each case, and those numbers that exceed 16 bits.
  private var observations = Pages<UInt16>()
  private var manyObservations: [Int: Int] = [:]

  /// The time of each case, if the time of any case is known.
  private var times: Pages<CaseTime>?
  /// The time of each attempt, for cases with more than one.
  private var attemptTimes: [Int: [CaseTime?]] = [:]
  private static let untimed = CaseTime(start: WallTime(nanoseconds: .min), taken: .zero)

  private static let offsetBits: UInt64 = 44
  private static let suiteBits: UInt32 = 8
  /// The ending of a case that other cases replace.
  private static let replaced: UInt32 = 15
  private static let diagnostics: UInt32 = 16
  private static let severalAttempts: UInt32 = 32
  private static let longTime: UInt32 = 64

  package var count: Int { rows.count }

  package func suite(of number: Int) -> Int { Int(rows[number].suite >> Self.suiteBits) }

  package subscript(number: Int) -> JournalIndex.Entry {
    let row = rows[number]
    return JournalIndex.Entry(
      journal: Int32(row.place >> Self.offsetBits), offset: Int(row.place & (1 << Self.offsetBits - 1)),
      line: Int(row.line), copy: Int32(row.copy),
      ending: ending(of: number),
      attempts: row.suite & Self.severalAttempts != 0 ? Int32(clamping: attempts[number] ?? 1) : 1,
      hasDiagnostics: row.suite & Self.diagnostics != 0,
      milliseconds: row.suite & Self.longTime != 0 ? longTimes[number] ?? 0 : Int64(row.milliseconds),
      time: times.flatMap { $0[number] == Self.untimed ? nil : $0[number] },
      attemptTimes: row.suite & Self.severalAttempts != 0 ? attemptTimes[number] ?? [] : [],
      observations: observations(of: number))
  }

  /// Returns the number of observations on which the last attempt at a case rests.
  package func observations(of number: Int) -> Int { manyObservations[number] ?? Int(observations[number]) }

  package mutating func append(_ entry: JournalIndex.Entry, suite: Int) {
    var marks = entry.ending.map { UInt32($0.rawValue) } ?? Self.replaced
    if entry.hasDiagnostics { marks |= Self.diagnostics }
    if entry.attempts > 1 {
      marks |= Self.severalAttempts
      attempts[count] = Int(entry.attempts)
      if entry.attemptTimes.contains(where: { $0 != nil }) { attemptTimes[count] = entry.attemptTimes }
    }
    if entry.milliseconds > Int64(UInt32.max) {
      marks |= Self.longTime
      longTimes[count] = entry.milliseconds
    }
    if entry.observations > Int(UInt16.max) { manyObservations[count] = entry.observations }
    observations.append(UInt16(clamping: entry.observations))
    if entry.time != nil, times == nil {
      var earlier = Pages<CaseTime>()
      for _ in 0..<count { earlier.append(Self.untimed) }
      times = earlier
    }
    times?.append(entry.time ?? Self.untimed)
    rows.append(
      Row(
        place: UInt64(entry.journal) << Self.offsetBits | UInt64(entry.offset),
        line: UInt32(clamping: entry.line), milliseconds: UInt32(clamping: entry.milliseconds),
        copy: UInt32(entry.copy), suite: UInt32(suite) << Self.suiteBits | marks))
  }

  /// Removes the last case, which the caller appends again after another attempt.
  package mutating func removeLast() -> JournalIndex.Entry {
    let entry = self[count - 1]
    attempts[count - 1] = nil
    attemptTimes[count - 1] = nil
    longTimes[count - 1] = nil
    manyObservations[count - 1] = nil
    _ = observations.removeLast()
    _ = times?.removeLast()
    _ = rows.removeLast()
    return entry
  }

  /// Returns how a case ended; `nil` if another case replaces it.
  package func ending(of number: Int) -> Record.Ending? {
    Record.Ending(rawValue: UInt8(rows[number].suite & 15))
  }

  /// Marks a case as replaced by other cases.
  package mutating func replace(_ number: Int) {
    rows[number].suite |= Self.replaced
  }

  package mutating func number(_ number: Int, copy: Int) {
    rows[number].copy = UInt32(clamping: copy)
  }
}

/// A hash table of numbers, which takes little more memory than the numbers.
///
/// The hashes are stored elsewhere; the caller provides a function that finds them.
package struct HashSlots {
  private var slots = [UInt32](repeating: .max, count: 1 << 8)
  private var count = 0

  /// Returns the number with the hash, or `nil` if there is none.
  package func find(_ hash: UInt64, hashOf: (Int) -> UInt64) -> Int? {
    var slot = Int(truncatingIfNeeded: hash ^ hash >> 32) & (slots.count - 1)
    while slots[slot] != .max {
      if hashOf(Int(slots[slot])) == hash { return Int(slots[slot]) }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  /// Adds a number whose hash is not yet in the table.
  package mutating func add(_ number: Int, _ hash: UInt64, hashOf: (Int) -> UInt64) {
    if count * 4 >= slots.count * 3 {
      var larger = HashSlots()
      larger.slots = [UInt32](repeating: .max, count: slots.count * 2)
      for slot in slots where slot != .max { larger.place(slot, hashOf(Int(slot))) }
      slots = larger.slots
    }
    place(UInt32(number), hash)
    count += 1
  }

  private mutating func place(_ number: UInt32, _ hash: UInt64) {
    var slot = Int(truncatingIfNeeded: hash ^ hash >> 32) & (slots.count - 1)
    while slots[slot] != .max { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = number
  }
}
