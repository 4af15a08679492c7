public import Basics

extension Record {
  /// A machine that is the model of cases in the run, with the data that a drawing of the coverage needs.
  public struct Machine: Hashable, Sendable {
    /// The name by which cases and coverage refer to it.
    public var name: String
    /// Its hash.
    public var hash: String
    /// Its states.
    public var states: [String] = []
    /// The region of each state, by name; empty if there is only one region.
    public var regions: [String] = []
    /// Its stimuli.
    public var stimuli: [String] = []
    /// The cells in which the stimulus is allowed, in the order of the bits in the first text of ``Coverage/visited``.
    public var cells: [Cell] = []
    /// The spontaneous events: for each the state, the name of the event, and the next states.
    public var spontaneous: [Spontaneous] = []

    /// Creates a machine with its name.
    public init(_ name: String, hash: String = "") { (self.name, self.hash) = (name, hash) }

    /// A legal cell of the table.
    public struct Cell: Hashable, Sendable {
      /// The index of the state.
      public var state: Int
      /// The index of the stimulus.
      public var stimulus: Int
      /// The indices of the possible next states.
      public var next: [Int]

      /// Creates a cell.
      public init(state: Int, stimulus: Int, next: [Int]) {
        (self.state, self.stimulus, self.next) = (state, stimulus, next)
      }
    }

    /// An event that the tester does not cause.
    public struct Spontaneous: Hashable, Sendable {
      /// The index of the state.
      public var state: Int
      /// The name of the event.
      public var event: String
      /// The indices of the possible next states.
      public var next: [Int]

      /// Creates a spontaneous event.
      public init(state: Int, event: String, next: [Int]) {
        (self.state, self.event, self.next) = (state, event, next)
      }
    }
  }

  /// How much of a machine the run visited.
  public struct Coverage: Hashable, Sendable {
    /// The name of the machine.
    public var machine: String
    /// The figures of the whole machine.
    public var total = Figures()
    /// The visited legal cells, the visited cells that refuse, and the visited transitions of legal cells, as
    /// hexadecimal digits of four bits each. Without them, two coverages cannot be added exactly.
    public var visited: [String] = []
    /// The figures of each region, if there are several.
    public var regions: [Region] = []

    /// Creates the coverage of the named machine.
    public init(_ machine: String) { self.machine = machine }

    /// How many of a number of elements were visited.
    public struct Share: Hashable, Sendable {
      /// The number of visited elements.
      public var visited: Int
      /// The number of all elements.
      public var count: Int

      /// Creates a share.
      public init(_ visited: Int, of count: Int) { (self.visited, self.count) = (visited, count) }

      /// `31/177`
      public var text: String { "\(visited)/\(count)" }
    }

    /// The visited shares of a machine, or of one of its regions.
    public struct Figures: Hashable, Sendable {
      /// The legal cells.
      public var legal: Share?
      /// The cells that refuse.
      public var empty: Share?
      /// The states.
      public var states: Share?
      /// The transitions of the legal cells.
      public var transitions: Share?
      /// The pairs of consecutive transitions.
      public var pairs: Share?

      /// Creates figures without any data.
      public init() {}

      /// The visited shares for people: `23 of 26 transitions covered, 61 of 70 forbidden requests tried`.
      public var words: String {
        let allowed =
          transitions.map { ($0, "transitions covered") } ?? legal.map { ($0, "allowed requests tried") }
        let parts = [allowed, empty.map { ($0, "forbidden requests tried") }].compactMap(\.self)
        return parts.map { "\($0.visited) of \($0.count) \($1)" }.joined(separator: ", ")
      }
    }

    /// A region of a machine.
    public struct Region: Hashable, Sendable {
      /// Its name.
      public var name: String
      /// Its figures.
      public var figures: Figures

      /// Creates the coverage of a region.
      public init(_ name: String, _ figures: Figures) { (self.name, self.figures) = (name, figures) }
    }
  }
}

extension Record.Machine: Recorded {
  public static let blank = Record.Machine("")
  public static let noun = "a machine"
  public static let fields: [Field<Self>] = [
    .needed("name", \.name, .text), .usual("hash", \.hash, .text), .usual("states", \.states, .list(.text)),
    .list("regions", \.regions, .text), .usual("stimuli", \.stimuli, .list(.text)),
    .usual("cells", \.cells, .list(.cell)), .usual("spontaneous", \.spontaneous, .list(.spontaneous)),
  ]

  /// Reads a machine; ignores rows with an index outside its tables.
  public init(_ json: JSON) throws(RecordError) {
    self = .blank
    try Self.fields.read(json, into: &self, Self.noun)
    let (states, stimuli) = (states.indices, stimuli.indices)
    cells.removeAll { cell in
      !states.contains(cell.state) || !stimuli.contains(cell.stimulus)
        || !cell.next.allSatisfy(states.contains)
    }
    spontaneous.removeAll { !states.contains($0.state) || !$0.next.allSatisfy(states.contains) }
  }
}

extension Notation<Record.Machine.Cell> {
  /// `[from, by, [to…]]`
  fileprivate static var cell: Notation {
    Notation(
      shape: Shape.row(Shape.count, Shape.count, Shape.counts),
      write: { [.integer($0.state), .integer($0.stimulus), .list($0.next.map(JSON.integer))] },
      read: { json in
        guard let parts = json.elements, parts.count == 3, let state = parts[0].int,
          let stimulus = parts[1].int,
          let next = parts[2].ints
        else { return nil }
        return Value(state: state, stimulus: stimulus, next: next)
      })
  }
}

extension Notation<Record.Machine.Spontaneous> {
  /// `[from, "event", [to…]]`
  fileprivate static var spontaneous: Notation {
    Notation(
      shape: Shape.row(Shape.count, Shape.text, Shape.counts),
      write: { [.integer($0.state), .text($0.event), .list($0.next.map(JSON.integer))] },
      read: { json in
        guard let parts = json.elements, parts.count == 3, let state = parts[0].int,
          let event = parts[1].string,
          let next = parts[2].ints
        else { return nil }
        return Value(state: state, event: event, next: next)
      })
  }
}

extension Notation<Record.Coverage.Share> {
  /// `[visited, count]`
  fileprivate static var share: Notation {
    Notation(
      shape: Shape.row(Shape.count, Shape.count), write: { [.integer($0.visited), .integer($0.count)] },
      read: { json in
        guard let numbers = json.ints, numbers.count == 2 else { return nil }
        return Value(numbers[0], of: numbers[1])
      })
  }
}

extension Record.Coverage: Recorded {
  public static let blank = Record.Coverage("")
  public static let noun = "coverage"
  public static let fields: [Field<Self>] = [
    .needed("machine", \.machine, .text), .usual("legal", \.total.legal, .share),
    .usual("empty", \.total.empty, .share), .usual("states", \.total.states, .share),
    .usual("transitions", \.total.transitions, .share), .usual("pairs", \.total.pairs, .share),
    .list("regions", \.regions, .object()), .usual("visited", \.visited, .digits),
  ]
}

extension Record.Coverage.Region: Recorded {
  public static let blank = Self("", Record.Coverage.Figures())
  public static let noun = "a region"
  public static let fields: [Field<Self>] = [
    .needed("name", \.name, .text), .usual("legal", \.figures.legal, .share),
    .usual("empty", \.figures.empty, .share), .usual("states", \.figures.states, .share),
    .usual("transitions", \.figures.transitions, .share), .usual("pairs", \.figures.pairs, .share),
  ]
}

extension Notation<[String]> {
  /// Three texts of hexadecimal digits.
  fileprivate static var digits: Notation {
    Notation(
      shape: Shape.row(Shape.text, Shape.text, Shape.text), write: { .list($0.map(JSON.text)) },
      read: \.strings)
  }
}

extension Record.Coverage {
  /// Adds the coverage of another run, or of another session of a run, of the same machine.
  ///
  /// The allowed and forbidden requests and the transitions are counted from the visited cells of both. Of all other
  /// figures, and of all figures if one of the two lacks the visited cells, only the larger number is certain.
  public mutating func add(_ other: Record.Coverage) {
    let sums = zip(visited, other.visited).map(union)
    let counts = [total.legal?.count, total.empty?.count, total.transitions?.count]
    let isSame = counts == [other.total.legal, other.total.empty, other.total.transitions].map { $0?.count }
    let isExact =
      isSame && visited.count >= 2 && visited.count == other.visited.count && !sums.contains(nil)
    total.raise(to: other.total)
    for region in other.regions {
      if let index = regions.firstIndex(where: { $0.name == region.name }) {
        regions[index].figures.raise(to: region.figures)
      } else {
        regions.append(region)
      }
    }
    visited = isExact ? sums.compactMap(\.self) : []
    guard isExact else { return }
    total.legal?.visited = count(visited[0])
    total.empty?.visited = count(visited[1])
    if visited.count > 2 { total.transitions?.visited = count(visited[2]) }
  }

  /// Returns whether an allowed request was tried, by its index in ``Record/Machine/cells``; `nil` if the visited cells
  /// are unknown.
  public func isTried(allowed index: Int) -> Bool? {
    guard let digits = visited.first?.utf8, (0..<4 * digits.count).contains(index),
      let digit = hexValue(digits[digits.index(digits.startIndex, offsetBy: index / 4)])
    else { return nil }
    return digit & (8 >> UInt8(index % 4)) != 0
  }
}

extension [Record.Coverage] {
  /// Adds the coverage of a machine by a run, or by a session of a run. There is one coverage for each machine, in the
  /// order of first occurrence.
  public mutating func add(_ coverage: Record.Coverage) {
    if let index = firstIndex(where: { $0.machine == coverage.machine }) {
      self[index].add(coverage)
    } else {
      append(coverage)
    }
  }
}

extension Record.Coverage.Figures {
  /// Takes the larger number of each figure.
  fileprivate mutating func raise(to other: Self) {
    func larger(_ left: Record.Coverage.Share?, _ right: Record.Coverage.Share?) -> Record.Coverage.Share? {
      guard let left, let right else { return left ?? right }
      return Record.Coverage.Share(max(left.visited, right.visited), of: left.count)
    }
    legal = larger(legal, other.legal)
    empty = larger(empty, other.empty)
    states = larger(states, other.states)
    transitions = larger(transitions, other.transitions)
    pairs = larger(pairs, other.pairs)
  }
}

/// Returns the digits of the bitwise union, or `nil` if the texts are not hexadecimal or differ in length.
private func union(_ left: String, _ right: String) -> String? {
  guard left.count == right.count else { return nil }
  var digits: [UInt8] = []
  for (left, right) in zip(left.utf8, right.utf8) {
    guard let left = hexValue(left), let right = hexValue(right) else { return nil }
    digits.append(hexDigit(left | right))
  }
  return String(decoding: digits, as: UTF8.self)
}

/// Returns the number of bits that are set.
private func count(_ digits: String) -> Int {
  digits.utf8.reduce(0) { $0 + (hexValue($1)?.nonzeroBitCount ?? 0) }
}
