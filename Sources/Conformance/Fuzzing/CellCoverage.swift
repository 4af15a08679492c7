import Basics
public import Automata

/// The coverage of a machine's table. Momentary states are not part of it.
///
/// Only certain visits count: a stimulus that is given while several states are possible visits no cell. The
/// coverages of several tests, runs, or machines of one name can be added.
public struct CellCoverage: Sendable {
  /// A count of items, and how many of them were visited.
  public struct Share: Equatable, Sendable {
    /// The number of visited items.
    public var visited = 0
    /// The number of items.
    public var count = 0
  }

  /// The figures of a machine, or of one of its regions.
  public struct Figures: Equatable, Sendable {
    /// The name of the region; empty for the whole machine.
    public var region = ""
    /// The states in which the device was.
    public var states = Share()
    /// The cells in which a stimulus is allowed.
    public var legal = Share()
    /// The cells in which a stimulus is refused.
    public var empty = Share()
    /// The legal cells with the states to which they lead: a cell that may lead to three states counts three times.
    public var transitions = Share()
    /// Pairs of legal cells visited one after the other, regardless of refusals and spontaneous events in between. A
    /// machine with too many legal cells has none.
    public var pairs = Share()
  }

  /// A cell of the table.
  public struct Cell: Equatable, Sendable {
    /// The number of the state.
    public var state: Int
    /// The number of the event.
    public var event: Int
    /// Whether the stimulus is allowed, under some conditions.
    public var isLegal: Bool
  }

  let table: CellTable
  /// How often each cell was tried: `visits[state * events + event]`.
  public private(set) var visits: [UInt64]
  private var isSeen: [Bool]
  private var isOutcome: [Bool]
  private var pairs: [UInt64]
  /// The number of the last legal cell; -1 if it is not known.
  private var last = -1
  /// The number of the last legal cell while it is not known where it led; otherwise -1.
  private var open = -1

  // Copies of what every event needs from the table.
  private let legalNumber: [Int32]
  private let isOpen: [Bool]
  private let eventCount: Int
  private let pairWidth: Int

  init(_ table: CellTable) {
    self.table = table
    legalNumber = table.legalNumber
    isOpen = table.isOpen
    eventCount = table.machine.eventCount
    pairWidth = table.countsPairs ? table.legalCells.count : 0
    visits = [UInt64](repeating: 0, count: table.legalNumber.count)
    isSeen = [Bool](repeating: false, count: table.machine.stateCount)
    isOutcome = [Bool](repeating: false, count: table.outcomes.count)
    pairs = [UInt64](repeating: 0, count: (pairWidth * pairWidth + 63) / 64)
  }

  /// Makes an empty coverage of a machine.
  public init(_ machine: Machine) {
    self.init(CellTable(machine))
  }

  /// The machine.
  public var machine: Machine { table.machine }

  /// Adds a coverage of the same machine.
  public mutating func add(_ other: CellCoverage) {
    precondition(visits.count == other.visits.count && pairs.count == other.pairs.count, "of another machine")
    for index in visits.indices { visits[index] &+= other.visits[index] }
    for index in isSeen.indices where other.isSeen[index] { isSeen[index] = true }
    for index in isOutcome.indices where other.isOutcome[index] { isOutcome[index] = true }
    for index in pairs.indices { pairs[index] |= other.pairs[index] }
  }
}

extension CellCoverage {
  /// What was visited, as hexadecimal digits of four bits each: the cells, the states, the outcomes of cells, and the
  /// pairs. Another process can add them to its coverage of the same machine.
  public var digits: [String] {
    let words = pairs.map { $0.hex(digits: 16) }
    return [hexDigits(visits.map { $0 > 0 }), hexDigits(isSeen), hexDigits(isOutcome), words.joined()]
  }

  /// Adds ``digits`` of another coverage, with one visit for each visited cell. Returns `false` if they belong to
  /// another machine.
  public mutating func add(digits: [String]) -> Bool {
    guard digits.count == 4, let cells = bits(digits[0], visits.count),
      let seen = bits(digits[1], isSeen.count),
      let outcomes = bits(digits[2], isOutcome.count), let pairBits = bits(digits[3], 64 * pairs.count)
    else { return false }
    for index in visits.indices where cells[index] { visits[index] &+= 1 }
    for index in isSeen.indices where seen[index] { isSeen[index] = true }
    for index in isOutcome.indices where outcomes[index] { isOutcome[index] = true }
    for index in pairBits.indices where pairBits[index] {
      pairs[index / 64] |= 1 << UInt64(63 - index % 64)
    }
    return true
  }

  /// Returns the visits that another coverage lacks, as ascending numbers: first the cells, then the states, the
  /// outcomes of cells, and the pairs. With them, a process can report repeatedly only what is new.
  public func marks(beyond other: CellCoverage) -> [Int] {
    precondition(visits.count == other.visits.count && pairs.count == other.pairs.count, "of another machine")
    var marks = visits.indices.filter { visits[$0] > 0 && other.visits[$0] == 0 }
    marks += isSeen.indices.filter { isSeen[$0] && !other.isSeen[$0] }.map { firstState + $0 }
    marks += isOutcome.indices.filter { isOutcome[$0] && !other.isOutcome[$0] }.map { firstOutcome + $0 }
    for index in pairs.indices {
      var new = pairs[index] & ~other.pairs[index]
      while new != 0 {
        marks.append(firstPair + 64 * index + new.trailingZeroBitCount)
        new &= new &- 1
      }
    }
    return marks
  }

  /// Adds ``marks(beyond:)`` of another coverage, with one visit for each cell. Returns `false`, and adds nothing, if
  /// they belong to another machine.
  public mutating func add(marks: [Int]) -> Bool {
    guard marks.allSatisfy({ (0..<firstPair + 64 * pairs.count).contains($0) }) else { return false }
    for mark in marks {
      switch mark {
      case ..<firstState: visits[mark] &+= 1
      case ..<firstOutcome: isSeen[mark - firstState] = true
      case ..<firstPair: isOutcome[mark - firstOutcome] = true
      default: pairs[(mark - firstPair) / 64] |= 1 << UInt64((mark - firstPair) % 64)
      }
    }
    return true
  }

  private var firstState: Int { visits.count }
  private var firstOutcome: Int { firstState + isSeen.count }
  private var firstPair: Int { firstOutcome + isOutcome.count }

  /// The visited legal cells, the visited empty cells, and the states to which the legal cells led, in the same form
  /// as ``digits``. With them, coverages can be merged without the machine.
  ///
  /// The legal cells and their targets are in the order of ``legalCells``. The empty cells include those of momentary
  /// states, which never count as visited.
  public var stimulusDigits: (legal: String, empty: String, outcomes: String) {
    var legal: [Bool] = []
    var empty: [Bool] = []
    var outcomes: [Bool] = []
    for event in 0..<eventCount where machine.isStimulus(event) {
      for state in 0..<machine.stateCount {
        let cell = state * eventCount + event
        guard legalNumber[cell] >= 0 else {
          empty.append(visits[cell] > 0 && !table.isMomentary[state])
          continue
        }
        legal.append(visits[cell] > 0)
        let number = Int(legalNumber[cell])
        // If a cell leads to only one state, every visit leads there.
        outcomes += isOpen[number] ? Array(isOutcome[table.outcomeRange(of: number)]) : [visits[cell] > 0]
      }
    }
    return (hexDigits(legal), hexDigits(empty), hexDigits(outcomes))
  }

  /// The legal cells by stimulus and state, each with the states to which it may lead.
  public var legalCells: [(cell: Cell, next: [Int])] {
    var cells: [(cell: Cell, next: [Int])] = []
    for event in 0..<eventCount where machine.isStimulus(event) {
      for state in 0..<machine.stateCount {
        let number = Int(legalNumber[state * eventCount + event])
        guard number >= 0 else { continue }
        let cell = Cell(state: state, event: event, isLegal: true)
        cells.append((cell, Array(table.outcomes[table.outcomeRange(of: number)])))
      }
    }
    return cells
  }

  /// Returns the name of a state's region; empty if the machine has no regions.
  public func region(of state: Int) -> String { table.regions[table.region[state]] }
}

/// Returns bits as digits of four bits each, the first bit as the most significant.
private func hexDigits(_ bits: [Bool]) -> String {
  stride(from: 0, to: bits.count, by: 4).map { start in
    (start..<start + 4).reduce(0) { $0 << 1 | ($1 < bits.count && bits[$1] ? 1 : 0) }.hex(digits: 1)
  }.joined()
}

/// Returns this many bits from digits; `nil` if the digits hold more or fewer, or are invalid.
private func bits(_ digits: String, _ count: Int) -> [Bool]? {
  guard digits.utf8.count == (count + 3) / 4 else { return nil }
  var bits: [Bool] = []
  for digit in digits.utf8 {
    guard let value = hexValue(digit) else { return nil }
    for bit: UInt8 in [8, 4, 2, 1] { bits.append(value & bit != 0) }
  }
  return Array(bits.prefix(count))
}

extension CellCoverage: Equatable {
  /// Returns whether the counts are equal and the machines have one name, regardless of where the test is.
  public static func == (left: CellCoverage, right: CellCoverage) -> Bool {
    left.machine.name == right.machine.name && left.visits == right.visits && left.isSeen == right.isSeen
      && left.isOutcome == right.isOutcome && left.pairs == right.pairs
  }
}

extension CellCoverage {
  /// Counts a stimulus that is given in a state.
  @inline(__always)
  mutating func count(_ event: Int, in state: Int) {
    let cell = state &* eventCount &+ event
    visits[cell] &+= 1
    if open >= 0 { enter(state) }
    let number = Int(legalNumber[cell])
    guard number >= 0 else { return }
    if last >= 0, pairWidth > 0 {
      let bit = last &* pairWidth &+ number
      pairs[bit &>> 6] |= 1 &<< UInt64(truncatingIfNeeded: bit & 63)
    }
    last = number
    if isOpen[number] { open = number }
  }

  /// Records that the device is in a state. The last legal cell led there, if it can.
  mutating func enter(_ state: Int) {
    isSeen[state] = true
    guard open >= 0 else { return }
    for index in table.outcomeStart[open]..<table.outcomeStart[open + 1] where table.outcomes[index] == state
    {
      isOutcome[index] = true
    }
    open = -1
  }

  /// Records a stimulus that is given while several states are possible.
  mutating func lose() {
    last = -1
    open = -1
  }
}

extension CellCoverage {
  /// The figures of the whole machine.
  public var total: Figures {
    var total = Figures()
    for part in regions {
      total.states.add(part.states)
      total.legal.add(part.legal)
      total.empty.add(part.empty)
      total.transitions.add(part.transitions)
      total.pairs.add(part.pairs)
    }
    return total
  }

  /// The figures of each region, in the order of the machine. A machine without regions has a single one with an
  /// empty name.
  public var regions: [Figures] {
    var parts = table.regions.map { Figures(region: $0) }
    for (state, region) in table.region.enumerated() where !table.isMomentary[state] {
      let cells = state * eventCount..<(state + 1) * eventCount
      parts[region].states.count(isSeen[state] || visits[cells].contains { $0 > 0 })
      for cell in cells where machine.isStimulus(cell - cells.lowerBound) {
        let number = Int(legalNumber[cell])
        guard number >= 0 else {
          parts[region].empty.count(visits[cell] > 0)
          continue
        }
        parts[region].legal.count(visits[cell] > 0)
        for outcome in table.outcomeStart[number]..<table.outcomeStart[number + 1] {
          parts[region].transitions.count(isOpen[number] ? isOutcome[outcome] : visits[cell] > 0)
        }
        for second in 0..<pairWidth where isPair(number, second) { parts[region].pairs.visited += 1 }
      }
    }
    for (region, count) in table.possiblePairs().enumerated() { parts[region].pairs.count = count }
    return parts
  }

  private func isPair(_ first: Int, _ second: Int) -> Bool {
    let bit = first * pairWidth + second
    return pairs[bit >> 6] >> UInt64(bit & 63) & 1 == 1
  }

  /// Returns whether a cell was visited.
  public func isVisited(_ cell: Cell) -> Bool { visits[cell.state * eventCount + cell.event] > 0 }

  /// The cells that were not visited, by event and state: the legal ones first.
  public var missing: [Cell] {
    var legal: [Cell] = []
    var empty: [Cell] = []
    for event in 0..<eventCount where machine.isStimulus(event) {
      for state in 0..<machine.stateCount
      where visits[state * eventCount + event] == 0 && !table.isMomentary[state] {
        let isLegal = legalNumber[state * eventCount + event] >= 0
        let cell = Cell(state: state, event: event, isLegal: isLegal)
        if isLegal { legal.append(cell) } else { empty.append(cell) }
      }
    }
    return legal + empty
  }

  /// The states that were not visited, by number.
  public var missingStates: [Int] {
    (0..<machine.stateCount).filter { state in
      !table.isMomentary[state] && !isSeen[state]
        && !visits[state * eventCount..<(state + 1) * eventCount].contains { $0 > 0 }
    }
  }
}

extension CellCoverage.Share {
  /// Counts one more item.
  mutating func count(_ isVisited: Bool) {
    count += 1
    visited += isVisited ? 1 : 0
  }

  mutating func add(_ other: Self) {
    visited += other.visited
    count += other.count
  }
}
