public import System
public import Journal
public import Basics

/// The progress of a run, with its results so far.
public struct RunPosition {
  /// A case in progress.
  public struct Current {
    /// Its index among the cases to run.
    var caseIndex: Int
    var file: String
    var begin: Interval
    /// The number of the current step.
    var step = 0
    /// How often it was reported as slow.
    var notices: Int64 = 0
  }

  /// The number of cases; `nil` if that is unknown.
  public var total: Int?
  /// The start, by the monotonic clock.
  public var begin: Interval
  /// The results so far.
  public private(set) var tally = Tally()
  /// The attempts at the case that is being recorded.
  private var attempts = CaseAttempts()
  /// Whether a case that passes only on a retry counts as failed.
  private var failsFlaky = false
  public var done: Int { tally.cases }
  /// The cases in progress, in the order of their starts.
  public private(set) var running: [Current] = []
  /// Whether a stop was requested.
  public var isStopping = false

  /// Makes the position of a run that begins.
  init(total: Int?, begin: Interval) { (self.total, self.begin) = (total, begin) }
}

extension RunPosition {
  /// Receives a record of the journal.
  public mutating func take(_ record: Record) {
    switch record {
    case .run(let run): failsFlaky = run.failsFlaky
    case .verdict(let verdict):
      attempts.end(verdict.attemptEnding, isTriedAgain: verdict.isTriedAgain)
      if verdict.isTriedAgain { return attempts.beginAgain() }
      tally.count(attempts.ending(failsFlaky: failsFlaky))
      attempts = CaseAttempts()
    default: break
    }
  }

  /// Receives a record of a case at the time of its event.
  public mutating func see(_ record: Record, of caseIndex: Int, at now: Interval) {
    let index = running.firstIndex { $0.caseIndex == caseIndex }
    switch record {
    case .begin(let test):
      if let index { running.remove(at: index) }
      running.append(Current(caseIndex: caseIndex, file: test.place, begin: now))
    case .event(let event):
      if let index, let step = event.step { running[index].step = step }
    case .verdict:
      if let index { running.remove(at: index) }
    default: break
    }
  }

  /// The running cases that are slow, again after each further interval of the limit.
  public mutating func notices(at now: Interval, after limit: Interval) -> [String] {
    running.indices.compactMap { index in
      let times = (now - running[index].begin).nanoseconds / limit.nanoseconds
      guard times > running[index].notices else { return nil }
      running[index].notices = times
      let current = running[index]
      let period = Interval(nanoseconds: limit.nanoseconds * times)
      return "SLOW [> \(period)]  \(current.file), at step \(current.step)"
    }
  }

  /// The number of concurrent cases beside the named one.
  private var more: String { running.count > 1 ? "  +\(running.count - 1)" : "" }

  /// The remaining time, extrapolated; `nil` if it is unknown.
  public func left(at now: Interval) -> Interval? {
    guard let total, done > 0, total > done else { return nil }
    return Interval(nanoseconds: (now - begin).nanoseconds / Int64(done) * Int64(total - done))
  }

  /// `12/50`, or `12` if the total is unknown.
  private var share: String { "\(done)" + (total.map { "/\($0)" } ?? "") }

  /// A line for a log.
  public func line(at now: Interval, _ paint: Painter) -> String {
    var parts = ["[\(share)]", clock(now - begin)]
    if done > 0 { parts.append(tally.counts(paint)) }
    if let left = left(at: now) { parts.append("\(clock(left)) left") }
    if let current = running.first {
      parts.append("now \(current.file), step \(current.step), \(clock(now - current.begin))\(more)")
    }
    return parts.joined(separator: "  ")
  }

  /// The answer to a progress request.
  public func answer(at now: Interval) -> String {
    var text = "lockstep: "
    if !running.isEmpty {
      text += "case \(done + 1)" + (total.map { " of \($0)" } ?? "") + ", "
      text += running.map { "\($0.file), at step \($0.step), for \(clock(now - $0.begin))" }
        .joined(separator: "; beside it ")
    } else {
      text += "\(share) cases done, none is being driven"
    }
    let counts = tally.counts(Painter(isOn: false))
    return text
      + "; so far \(counts.isEmpty ? "none has a verdict" : counts); \(clock(now - begin)) since the start"
      + (isStopping ? "; it is stopping" : "")
  }

  /// A line for the bottom of a terminal, not wider than the terminal.
  ///
  /// The most important part is first; excess text is cut off at the end.
  public func bar(at now: Interval, columns: Int, _ paint: Painter) -> String {
    var parts = [share, clock(now - begin)]
    if let left = left(at: now) { parts.append("\(clock(left)) left") }
    if isStopping { parts.append("stopping") }
    let counts = tally.counts(Painter(isOn: false))
    if !counts.isEmpty { parts.append(counts) }
    if let current = running.first {
      parts.append("\(current.file)  step \(current.step)  \(clock(now - current.begin))\(more)")
    }
    let bar = drawing(width: columns >= 100 ? 24 : columns >= 60 ? 12 : 0)
    // The last column stays empty: terminals differ in what they do after it.
    let room = max(columns - 1 - bar.count, 0)
    let text = parts.joined(separator: "  ")
    let fitted = text.count > room ? text.prefix(max(room - 1, 0)) + (room > 0 ? "…" : "") : text[...]
    guard !counts.isEmpty, let range = fitted.firstRange(of: counts) else { return bar + fitted }
    return bar + fitted[..<range.lowerBound] + tally.counts(paint) + fitted[range.upperBound...]
  }

  private func drawing(width: Int) -> String {
    guard let total, total > 0, width > 0 else { return "" }
    let full = min(done * width / total, width)
    return "[" + String(repeating: "=", count: full) + spaces(width - full) + "] "
  }
}
