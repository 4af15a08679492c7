import Basics
import Journal

/// The moments of a case as a page shows them: what happens many times in a row stands there once, with how often.
struct FoldedMoments {
  /// A moment, or several of which each is the same again.
  struct Line {
    /// The number of the moment among all of the case.
    var number: Int
    /// The moment; of several the first one.
    var moment: Moment
    /// How often it happened in a row.
    var times = 1
    /// How often this line and those before it, so many in all, happened in turn.
    var round: (lines: Int, times: Int)?

    /// How many moments it stands for.
    var count: Int { times + (round.map { ($0.times - 1) * $0.lines } ?? 0) }
  }

  /// The first moments of the case, and the last ones, where those between them were not kept.
  let head: [Line]
  let tail: [Line]

  /// All lines.
  var lines: [Line] { head + tail }

  /// Fewer than so many stand there one by one, and so many are looked for in turn.
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

/// What two moments have in common that look the same in a page, but for their times and the numbers of their steps.
private struct Likeness: Equatable {
  let kind: Record.Event.Kind
  let line: Int?
  let words: String
  let possible: [String]
  let status: String?

  init(_ moment: Moment) {
    (kind, line, words) = (moment.kind, moment.line, moment.words)
    (possible, status) = (moment.possible, moment.status)
  }
}
