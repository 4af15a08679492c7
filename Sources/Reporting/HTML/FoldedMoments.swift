import Basics
import Journal

/// The moments of a case in a page, with repetitions folded into one line and a count.
struct FoldedMoments {
  /// A moment, or several equal ones.
  struct Line {
    /// The number of the moment in the case.
    var number: Int
    /// The moment; the first one of several.
    var moment: Moment
    /// How often it happened in a row.
    var times = 1
    /// How often this line and the ones before it, with their total number, repeated.
    var round: (lines: Int, times: Int)?

    /// The number of moments in the line.
    var count: Int { times + (round.map { ($0.times - 1) * $0.lines } ?? 0) }
  }

  /// The first and the last moments of the case, if those between were not kept.
  let head: [Line]
  let tail: [Line]

  /// All lines.
  var lines: [Line] { head + tail }

  /// The minimum number of equal moments that are folded, and the longest cycle.
  private static let (leastTimes, longestCycle) = (5, 3)

  init(_ moments: Moments) {
    let numbered = moments.numbered[...]
    head = Self.folded(numbered.prefix(moments.head.count))
    tail = Self.folded(numbered.dropFirst(moments.head.count))
  }

  private static func folded(_ moments: ArraySlice<(number: Int, moment: Moment)>) -> [Line] {
    let all = moments.map { Line(number: $0.number, moment: $0.moment) }
    var (lines, next) = ([Line](), 0)
    for repetition in all.map({ Likeness($0.moment) }).repetitions(of: longestCycle) {
      defer { next += repetition.count }
      guard repetition.times >= leastTimes else {
        lines += all[next..<next + repetition.count]
        continue
      }
      lines += all[next..<next + repetition.elements.count]
      if repetition.elements.count == 1 {
        lines[lines.count - 1].times = repetition.times
      } else {
        lines[lines.count - 1].round = (repetition.elements.count, repetition.times)
      }
    }
    return lines
  }
}

/// The part of moments that must be equal to fold them: all but their times and step numbers.
private struct Likeness: Equatable {
  let kind: Record.Event.Kind
  let line: Int?
  let words: String
  let possible: [String]
  let changes: [VariableChange]
  let status: String?

  init(_ moment: Moment) {
    (kind, line, words) = (moment.kind, moment.line, moment.words)
    (possible, changes, status) = (moment.possible, moment.changes, moment.status)
  }
}
