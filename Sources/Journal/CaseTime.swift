public import Basics

/// When a case ran, and how long it took by the clock of the host.
///
/// An emulated device has its own time, which is not this one.
public struct CaseTime: Hashable, Sendable {
  /// When the case began.
  public var start: WallTime
  /// How long it took.
  public var taken: Interval

  /// Creates the time of a case.
  public init(start: WallTime, taken: Interval) {
    (self.start, self.taken) = (start, taken)
  }

  /// The file of a run that contains these times. They are not in the journal, which is equal for two runs of one
  /// seed.
  public static let file = "times.jsonl"

  /// A line of that file.
  public struct Line: Hashable, Sendable {
    /// The line of the journal with which the attempt starts, from 1.
    public var line = 0
    var start = ""
    var taken: Interval?

    /// Creates the line for the attempt that starts with the given line of the journal.
    public init(_ time: CaseTime, line: Int) {
      (self.line, start, taken) = (line, time.start.description, time.taken)
    }

    private init() {}

    /// The time of the attempt, or `nil` if the line contains no valid time.
    public var time: CaseTime? {
      guard let taken, taken >= .zero else { return nil }
      return WallTime(text: start).map { CaseTime(start: $0, taken: taken) }
    }
  }
}

extension CaseTime.Line: Recorded {
  public static let blank = CaseTime.Line()
  public static let noun = "the time of a case"
  public static let fields: [Field<Self>] = [
    .needed("line", \.line, .count), .usual("start", \.start, .text(Shape.moment)),
    .usual("seconds", \.taken, .seconds),
  ]
}
