public import Basics

/// When a case was driven, and how long that took by the clock of whoever waits for it: not the time of the device, which
/// an emulated one counts by itself.
public struct CaseTime: Hashable, Sendable {
  /// When it began.
  public var start: WallTime
  /// What it took.
  public var taken: Interval

  /// Tells when a case was driven.
  public init(start: WallTime, taken: Interval) {
    (self.start, self.taken) = (start, taken)
  }

  /// The file of a run that has them. They are no part of the journal, which two runs of one seed have alike.
  public static let file = "times.jsonl"

  /// A line of that file.
  public struct Line: Hashable, Sendable {
    /// The line of the journal with which the try of the case starts, from 1.
    public var line = 0
    var start = ""
    var taken: Interval?

    /// Tells of the try that starts with a line of the journal.
    public init(_ time: CaseTime, line: Int) {
      (self.line, start, taken) = (line, time.start.description, time.taken)
    }

    private init() {}

    /// When that was; `nil` where the line says no time.
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
