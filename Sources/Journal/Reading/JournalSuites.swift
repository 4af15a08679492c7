import Basics

/// The suites in the order in which they first appear.
package struct SuiteTable {
  package private(set) var names: [String] = []
  package private(set) var counts: [UInt32] = []
  private var hashes: [UInt64] = []
  private var slots = HashSlots()
  /// The folder part of the last case's id, and the index of its suite.
  private var last: (front: [UInt8], number: Int)?

  /// Returns the index of a case's suite; consecutive cases often have the same folder.
  package mutating func number(of start: JournalHeaderScan.Start, _ scanner: borrowing LineTokens) -> Int {
    let front = scanner.front(of: start.id)
    if let last, scanner.isText(front, last.front) { return last.number }
    let number = number(of: className(id: scanner.text(of: start.id) ?? ""))
    last = front.hasEscapes ? nil : (scanner.bytes(of: front), number)
    return number
  }

  /// Returns the index of the suite with a name; adds the suite if it is new.
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

  /// Returns the hash of a suite's name.
  package func hash(_ number: Int) -> UInt64 { hashes[number] }

  package mutating func count(_ number: Int) { counts[number] += 1 }
  package mutating func uncount(_ number: Int) { counts[number] -= 1 }
}

/// The order of suites and cases in reports.
package struct SuiteOrder {
  package var suites: [UInt32] = []
  /// The start of each suite's cases, and the end of the last suite's.
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
