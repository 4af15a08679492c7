import Basics

/// The suites as they come.
package struct SuiteTable {
  package private(set) var names: [String] = []
  package private(set) var counts: [UInt32] = []
  private var hashes: [UInt64] = []
  private var slots = HashSlots()
  /// The suite of the last case, and the front of its id.
  private var last: (front: [UInt8], number: Int)?

  /// The suite of a case: one folder often has many.
  package mutating func number(of start: JournalHeaderScan.Start, _ scanner: borrowing LineTokens) -> Int {
    let front = scanner.front(of: start.id)
    if let last, scanner.isText(front, last.front) { return last.number }
    let number = number(of: className(id: scanner.text(of: start.id) ?? ""))
    last = front.hasEscapes ? nil : (scanner.bytes(of: front), number)
    return number
  }

  /// The number of a suite, which is a new one unless there is one of the name.
  package mutating func number(of name: String) -> Int {
    var hash = Fingerprint()
    hash.mix(name)
    if let number = slots.find(hash.value, hashOf: { hashes[$0] }) { return number }
    names.append(name)
    counts.append(0)
    hashes.append(hash.value)
    slots.add(names.count - 1, hash.value) { hashes[$0] }
    return names.count - 1
  }

  /// The hash of a suite's name.
  package func hash(_ number: Int) -> UInt64 { hashes[number] }

  package mutating func count(_ number: Int) { counts[number] += 1 }
  package mutating func uncount(_ number: Int) { counts[number] -= 1 }
}

/// In which order reports have suites and cases.
package struct SuiteOrder {
  package var suites: [UInt32] = []
  /// Where the cases of each suite start, and where the last ones end.
  package var starts: [UInt32] = [0]
  package var cases: [UInt32] = []

  package init() {}

  package init(_ table: SuiteTable, _ all: CaseTable) {
    suites = table.names.indices.map { UInt32($0) }
    suites.sort { table.names[Int($0)].utf8.lexicographicallyPrecedes(table.names[Int($1)].utf8) }
    var next = [UInt32](repeating: 0, count: suites.count)
    for suite in suites {
      next[Int(suite)] = starts[starts.count - 1]
      starts.append(starts[starts.count - 1] + table.counts[Int(suite)])
    }
    cases = [UInt32](repeating: 0, count: all.count)
    for number in 0..<all.count {
      let suite = all.suite(of: number)
      cases[Int(next[suite])] = UInt32(number)
      next[suite] += 1
    }
  }
}
