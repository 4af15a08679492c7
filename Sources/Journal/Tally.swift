/// How many cases came to which end.
public struct Tally: Hashable, Sendable {
  /// All cases.
  public var cases = 0
  /// Those that agree.
  public var agree = 0
  /// Those that diverge.
  public var divergences = 0
  /// Those that agreed only when they were tried again; among those that agree.
  public var flaky = 0
  /// Whether a case that is flaky counts as one that diverges.
  public var failsFlaky = false
  /// Those without a judgement.
  public var labFaults = 0
  /// Those that were not tried.
  public var skipped = 0
  /// Those that diverged and are in quarantine; among those that are skipped.
  public var excused = 0
  /// Those that were not brought to an end.
  public var incomplete = 0
  /// Whether a safety limit stopped the run.
  public var isLimited = false
  /// Whether there was trouble in the lab outside of any case.
  public var isInTrouble = false

  /// Counts nothing.
  public init() {}

  /// Counts one more.
  ///
  /// - Parameters:
  ///   - isFlaky: whether it agreed only when it was tried again.
  ///   - isExcused: whether it failed in quarantine: it is known, and counts as skipped.
  ///   - isLimited: whether a safety limit stopped it.
  public mutating func count(
    _ word: Record.Verdict.Word, isFlaky: Bool = false, isExcused: Bool = false, isLimited: Bool = false
  ) {
    cases += 1
    if isFlaky { flaky += 1 }
    if isLimited { self.isLimited = true }
    if isExcused {
      skipped += 1
      excused += 1
      return
    }
    switch word {
    case .agree: agree += 1
    case .divergence: divergences += 1
    case .labFault: labFaults += 1
    case .skipped: skipped += 1
    case .incomplete: incomplete += 1
    }
  }

  /// Counts a verdict.
  public mutating func count(_ verdict: Record.Verdict) {
    count(
      verdict.word, isFlaky: verdict.isFlaky, isExcused: verdict.isExcused, isLimited: verdict.limit != nil)
  }

  /// Adds what another process counted.
  public mutating func add(_ other: Tally) {
    cases += other.cases
    agree += other.agree
    divergences += other.divergences
    flaky += other.flaky
    labFaults += other.labFaults
    skipped += other.skipped
    excused += other.excused
    incomplete += other.incomplete
    isLimited = isLimited || other.isLimited
    isInTrouble = isInTrouble || other.isInTrouble
  }

  /// What the command ends with: a divergence outranks all else, and being stopped outranks trouble in the lab.
  public var exitStatus: CommandStatus {
    if divergences > 0 || failsFlaky && flaky > 0 { return .divergence }
    if isLimited { return .safetyLimit }
    if incomplete > 0 { return .incomplete }
    if labFaults > 0 || isInTrouble { return .labFault }
    return agree + excused > 0 ? .agree : .nothingSelected
  }
}

/// What the command ends with.
public enum CommandStatus: Int32, Sendable {
  /// All agree.
  case agree = 0
  /// Model and device diverged.
  case divergence = 1
  /// The command or a scenario was not understood.
  case usage = 2
  /// Trouble in the lab.
  case labFault = 3
  /// No case was selected, or all were skipped.
  case nothingSelected = 4
  /// The run was stopped before its end.
  case incomplete = 5
  /// A safety limit stopped the run.
  case safetyLimit = 6
  /// A fault of our own.
  case internalFault = 70

  /// What a command ends with whose reports or journal could not be written: trouble of the place where it runs, unless
  /// what it came to weighs more.
  public var withoutReports: CommandStatus {
    switch self {
    case .agree, .nothingSelected, .labFault: .labFault
    case .divergence, .usage, .incomplete, .safetyLimit, .internalFault: self
    }
  }
}
