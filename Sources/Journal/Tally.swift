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
  /// The observations that those which agree rest on, as far as they were counted.
  public var observations = 0
  /// Whether a case that is skipped, and is in no quarantine, makes the whole incomplete.
  public var failsSkipped = false
  /// How many cases must at least come to a verdict, for the whole not to be incomplete.
  public var minimumVerdicts = 0
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
    if verdict.word == .agree { observations += verdict.observations ?? 0 }
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
    observations += other.observations
    isLimited = isLimited || other.isLimited
    isInTrouble = isInTrouble || other.isInTrouble
  }

  /// What to say of cases that agreed only when they were tried again; `nil` where there is none.
  public var flakiness: String? {
    guard flaky > 0 else { return nil }
    return "\(flaky) agreed only when tried again"
      + (failsFlaky ? ", which counts as failed (--flaky-result fail)" : "")
  }

  /// Why agreement is less than was asked for; `nil` where it is not, or nothing agrees.
  public var shortfall: String? {
    guard agree > 0 else { return nil }
    let verdicts = agree + divergences
    if verdicts < minimumVerdicts {
      let cases = verdicts == 1 ? "1 case" : "\(verdicts) cases"
      return "\(cases) came to a verdict, and at least \(minimumVerdicts) are asked for (--min-cases)"
    }
    let passedOver = skipped - excused
    guard failsSkipped, passedOver > 0 else { return nil }
    let cases = passedOver == 1 ? "1 case was" : "\(passedOver) cases were"
    return "\(cases) skipped, and none is to be (--fail-on-skipped)"
  }

  /// Why there is no verdict on anything, where cases came to their end all the same; `nil` where there is one.
  public var whyNothing: String? {
    guard agree + divergences == 0, skipped > 0 else { return nil }
    if excused == 0 { return "every case was skipped" }
    let others = skipped - excused
    return "all that failed is in quarantine, \(excused) of \(cases) cases"
      + (others > 0 ? ", and the others were skipped" : "")
  }

  /// What the command ends with: a divergence outranks all else, and being stopped outranks trouble in the lab. Without
  /// one case that agrees nothing was shown, also where all that failed is in quarantine.
  public var exitStatus: CommandStatus {
    if divergences > 0 || failsFlaky && flaky > 0 { return .divergence }
    if isLimited { return .safetyLimit }
    if incomplete > 0 { return .incomplete }
    if labFaults > 0 || isInTrouble { return .labFault }
    if agree == 0 { return .nothingSelected }
    return shortfall == nil ? .agree : .incomplete
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
  /// No case was selected, or none came to a verdict: all were skipped, or what failed is in quarantine.
  case nothingSelected = 4
  /// The run was stopped before its end, or fewer cases came to a verdict than were asked for.
  case incomplete = 5
  /// A safety limit stopped the run.
  case safetyLimit = 6
  /// A fault of our own.
  case internalFault = 70

  /// What the command ends with where this machine did not let it do or write down all of it: a disk that is full is
  /// trouble of the lab, unless there is something worse to tell.
  public var withTrouble: CommandStatus {
    switch self {
    case .agree, .nothingSelected: .labFault
    case .divergence, .usage, .labFault, .incomplete, .safetyLimit, .internalFault: self
    }
  }
}
