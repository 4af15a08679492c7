/// The result of a run: the number of cases with each result, and the problems of the run itself.
///
/// ``exitStatus`` is how the run ended; the exit status of the command, its last line and all reports are derived from
/// it.
public struct Tally: Hashable, Sendable {
  /// The number of all cases; if read from journals, this includes replaced cases.
  public var cases = 0
  /// The number of cases with each ending.
  private var counts = [Int](repeating: 0, count: Record.Ending.allCases.count)
  /// The number of observations on which the agreements rest, as far as they were counted.
  public var observations = 0
  /// The required minimum of verdicts.
  public var minimum = MinimumVerdicts()
  /// Whether there was a lab fault outside the cases.
  public var isInTrouble = false
  /// Other results of the run in addition to its cases and such lab faults: the ends of merged runs, the cases that a
  /// night did not run, or an incomplete journal.
  public var causes: Set<CommandStatus> = []

  /// Creates an empty tally.
  public init() {}

  /// The number of cases with an ending.
  public subscript(ending: Record.Ending) -> Int {
    get { counts[Int(ending.rawValue)] }
    set { counts[Int(ending.rawValue)] = newValue }
  }

  /// Returns the number of cases for which other report formats have this element.
  public func count(as element: Record.Ending.Element) -> Int {
    Record.Ending.allCases.reduce(0) { $0 + ($1.element == element ? self[$1] : 0) }
  }

  /// The number of cases that reports show under an ending.
  public subscript(shown ending: Record.Ending) -> Int {
    Record.Ending.allCases.reduce(0) { $0 + ($1.shown == ending ? self[$1] : 0) }
  }

  /// Returns the number of cases whose ending has this word.
  private func count(of word: Record.Verdict.Word) -> Int {
    Record.Ending.allCases.reduce(0) { $0 + ($1.word == word ? self[$1] : 0) }
  }

  /// The number of cases that agree, at any attempt.
  public var agree: Int { count(of: .agree) }
  /// The number of cases that failed: they diverged, or did not meet the expectation.
  public var failures: Int { divergences + unmet }
  /// The number of cases that diverged.
  public var divergences: Int { count(of: .divergence) }
  /// The number of cases in which model and device agree, but the scenario expects more.
  public var unmet: Int { count(of: .unmet) }
  /// The number of cases that agreed only at a later attempt, whether they count as agreed or as failed.
  public var flaky: Int { self[.flaky] + self[.failedAsFlaky] }
  /// The number of cases with a lab fault.
  public var labFaults: Int { count(of: .labFault) }
  /// The number of cases that were not run, or that failed in quarantine.
  public var skipped: Int { count(of: .skipped) }
  /// The number of cases that failed in quarantine; they also count as skipped.
  public var excused: Int { self[.excused] }
  /// The number of incomplete cases.
  public var incomplete: Int { count(of: .incomplete) }
  /// The number of cases with an ending, without replaced cases.
  public var ended: Int { counts.reduce(0, +) }

  /// Counts one more case.
  public mutating func count(_ ending: Record.Ending) {
    cases += 1
    self[ending] += 1
  }

  /// Removes a case that another replaces.
  mutating func uncount(_ ending: Record.Ending) {
    cases -= 1
    self[ending] -= 1
  }

  /// A sentence about the cases that agreed only at a later attempt; `nil` if there are none.
  public var flakiness: String? {
    let failed = self[.failedAsFlaky]
    guard flaky > 0 else { return nil }
    let all = "\(flaky) agreed only when tried again"
    guard failed > 0 else { return all }
    let which =
      failed == flaky ? "which counts" : failed == 1 ? "1 of which counts" : "\(failed) of which count"
    return "\(all), \(which) as failed (--flaky-result fail)"
  }

  /// The number of cases with a verdict.
  public var verdicts: Int { Record.Ending.allCases.reduce(0) { $0 + ($1.isVerdict ? self[$1] : 0) } }

  /// Why there are fewer verdicts than required; `nil` if there are enough, or if no case agrees.
  public var shortfall: String? {
    guard agree > 0 else { return nil }
    if verdicts < minimum.cases {
      let cases = verdicts == 1 ? "1 case" : "\(verdicts) cases"
      return "\(cases) had a verdict; at least \(minimum.cases) are required (--min-cases)"
    }
    guard minimum.failsSkipped, self[.skipped] > 0 else { return nil }
    let cases = self[.skipped] == 1 ? "1 case was" : "\(self[.skipped]) cases were"
    return "\(cases) skipped; none may be (--fail-on-skipped)"
  }

  /// Why there are fewer verdicts than required, if there is no graver result.
  public var tooLittle: String? { worst == .agree ? shortfall : nil }

  /// Why there are no verdicts although cases have ended; `nil` if there are verdicts.
  public var whyNoVerdict: String? {
    guard agree + failures == 0, skipped > 0 else { return nil }
    if excused == 0 { return "every case was skipped" }
    let others = skipped - excused
    return "all that failed is in quarantine, \(excused) of \(cases) cases"
      + (others > 0 ? ", and the others were skipped" : "")
  }

  /// How the run ended, which is the exit status of the command.
  public var exitStatus: CommandStatus { tooLittle == nil ? worst : .incomplete }

  /// The gravest result of the run, regardless of the requested minimum.
  private var worst: CommandStatus { .gravest(of: all) }

  /// The results of the cases, and of the run itself.
  private var all: Set<CommandStatus> {
    var all = causes
    for ending in Record.Ending.allCases where self[ending] > 0 { all.insert(ending.status) }
    if isInTrouble { all.insert(.labFault) }
    return all
  }

  /// Whether a case, or the run itself, had this result.
  public func includes(_ status: CommandStatus) -> Bool { all.contains(status) }
}

/// The exit status of the command.
public enum CommandStatus: Int32, Sendable, CaseIterable {
  /// All agree.
  case agree = 0
  /// Model and device diverged.
  case divergence = 1
  /// The command or a scenario is invalid.
  case usage = 2
  /// A lab fault.
  case labFault = 3
  /// No case was selected, or none came to a verdict: all were skipped, or what failed is in quarantine.
  case nothingSelected = 4
  /// The run was stopped before its end, or fewer cases came to a verdict than were required.
  case incomplete = 5
  /// A safety limit stopped the run.
  case safetyLimit = 6
  /// An internal error of Lockstep.
  case internalFault = 70

  /// Returns the gravest of several statuses.
  ///
  /// An internal error (70) makes all other results doubtful. A divergence (1) outranks everything that prevented
  /// further results: a usage error (2), a safety limit (6), an early end (5), a lab fault (3). Agreement (0) outranks
  /// an empty selection (4), which is also the result of an empty set.
  public static func gravest(of all: Set<CommandStatus>) -> CommandStatus {
    let order: [CommandStatus] = [
      .internalFault, .divergence, .usage, .safetyLimit, .incomplete, .labFault, .agree,
    ]
    return order.first(where: all.contains) ?? .nothingSelected
  }

  /// The exit status if this machine could not do or write everything: a full disk is a lab fault, unless the status
  /// is graver.
  public var withTrouble: CommandStatus { .gravest(of: [self, .labFault]) }
}
