/// The result of a run: the number of cases with each result, and the problems of the run itself.
///
/// ``exitStatus`` says how the run ended. What a command ends with, its last line and every report follow from it.
public struct Tally: Hashable, Sendable {
  /// All cases; in a merged report also those for which others stand.
  public var cases = 0
  /// How many ended in each way.
  private var counts = [Int](repeating: 0, count: Record.Ending.allCases.count)
  /// The observations that those which agree rest on, as far as they were counted.
  public var observations = 0
  /// How much must have been judged.
  public var minimum = MinimumVerdicts()
  /// Whether there was trouble in the lab outside of any case.
  public var isInTrouble = false
  /// What else the run came to, beside its cases and such trouble: how other runs ended that are merged with it, what a night
  /// did not run, that a journal stops early.
  public var causes: Set<CommandStatus> = []

  /// Counts nothing.
  public init() {}

  /// How many ended in a way.
  public subscript(ending: Record.Ending) -> Int {
    get { counts[Int(ending.rawValue)] }
    set { counts[Int(ending.rawValue)] = newValue }
  }

  /// How many of the cases that count formats have an element for.
  public func count(as element: Record.Ending.Element) -> Int {
    Record.Ending.allCases.reduce(0) { $0 + ($1.element == element ? self[$1] : 0) }
  }

  /// How many there are of what people are shown as an ending.
  public subscript(shown ending: Record.Ending) -> Int {
    Record.Ending.allCases.reduce(0) { $0 + ($1.shown == ending ? self[$1] : 0) }
  }

  /// How many ended with a word.
  private func count(of word: Record.Verdict.Word) -> Int {
    Record.Ending.allCases.reduce(0) { $0 + ($1.word == word ? self[$1] : 0) }
  }

  /// Those that agree, whether or not at the first attempt.
  public var agree: Int { count(of: .agree) }
  /// Those that fail: they diverge, or are not as the scenario expects.
  public var failures: Int { divergences + unmet }
  /// Those that diverge.
  public var divergences: Int { count(of: .divergence) }
  /// Those in which model and device agree, and the scenario expects more.
  public var unmet: Int { count(of: .unmet) }
  /// Those that agreed only when they were tried again; among those that agree.
  public var flaky: Int { self[.flaky] + self[.failedAsFlaky] }
  /// Those without a judgement.
  public var labFaults: Int { count(of: .labFault) }
  /// Those that were not tried, or are in quarantine.
  public var skipped: Int { count(of: .skipped) }
  /// Those that failed and are in quarantine; among those that are skipped.
  public var excused: Int { self[.excused] }
  /// Those that were not brought to an end.
  public var incomplete: Int { count(of: .incomplete) }
  /// Those that came to an end that counts.
  public var ended: Int { counts.reduce(0, +) }

  /// Counts one more.
  public mutating func count(_ ending: Record.Ending) {
    cases += 1
    self[ending] += 1
  }

  /// Removes one that another replaces.
  mutating func uncount(_ ending: Record.Ending) {
    cases -= 1
    self[ending] -= 1
  }

  /// What to say of cases that agreed only when they were tried again; `nil` where there is none.
  public var flakiness: String? {
    let failed = self[.failedAsFlaky]
    guard flaky > 0 else { return nil }
    let all = "\(flaky) agreed only when tried again"
    guard failed > 0 else { return all }
    let which =
      failed == flaky ? "which counts" : failed == 1 ? "1 of which counts" : "\(failed) of which count"
    return "\(all), \(which) as failed (--flaky-result fail)"
  }

  /// How many cases came to a verdict.
  public var verdicts: Int { Record.Ending.allCases.reduce(0) { $0 + ($1.isVerdict ? self[$1] : 0) } }

  /// Why agreement is less than was asked for; `nil` where it is not, or nothing agrees.
  public var shortfall: String? {
    guard agree > 0 else { return nil }
    if verdicts < minimum.cases {
      let cases = verdicts == 1 ? "1 case" : "\(verdicts) cases"
      return "\(cases) came to a verdict, and at least \(minimum.cases) are asked for (--min-cases)"
    }
    guard minimum.failsSkipped, self[.skipped] > 0 else { return nil }
    let cases = self[.skipped] == 1 ? "1 case was" : "\(self[.skipped]) cases were"
    return "\(cases) skipped, and none is to be (--fail-on-skipped)"
  }

  /// Why less came to a verdict than was asked for, where nothing weighs more than that.
  public var tooLittle: String? { worst == .agree ? shortfall : nil }

  /// Why there is no verdict on anything, where cases came to their end all the same; `nil` where there is one.
  public var whyNoVerdict: String? {
    guard agree + failures == 0, skipped > 0 else { return nil }
    if excused == 0 { return "every case was skipped" }
    let others = skipped - excused
    return "all that failed is in quarantine, \(excused) of \(cases) cases"
      + (others > 0 ? ", and the others were skipped" : "")
  }

  /// How the run ended: what the command ends with.
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

/// What the command ends with.
public enum CommandStatus: Int32, Sendable, CaseIterable {
  /// All agree.
  case agree = 0
  /// Model and device diverged.
  case divergence = 1
  /// The command or a scenario was not understood.
  case usage = 2
  /// Trouble in the lab.
  case labFault = 3
  /// No case was selected, or none came to a verdict: all were skipped, or what failed is in quarantine.
  case nothingSelected = 4
  /// The run was stopped before its end, or fewer cases came to a verdict than were asked for.
  case incomplete = 5
  /// A safety limit stopped the run.
  case safetyLimit = 6
  /// A fault of our own.
  case internalFault = 70

  /// What weighs most of several.
  ///
  /// A fault of our own (70) puts all else in doubt; a divergence (1) outranks whatever kept a run from looking further:
  /// a wrong command (2), a safety limit (6), an early end (5), trouble in the lab (3). What agrees makes up for what
  /// selected nothing (4), as does nothing at all.
  public static func gravest(of all: Set<CommandStatus>) -> CommandStatus {
    let order: [CommandStatus] = [
      .internalFault, .divergence, .usage, .safetyLimit, .incomplete, .labFault, .agree,
    ]
    return order.first(where: all.contains) ?? .nothingSelected
  }

  /// What the command ends with where this machine did not let it do or write down all of it: a disk that is full is
  /// trouble of the lab, unless something weighs more.
  public var withTrouble: CommandStatus { .gravest(of: [self, .labFault]) }
}
