import Basics

/// How a case ended, all its tries together, as it counts.
///
/// Exit statuses, last lines and every report read this and nothing else of a case: which of them is red follows from
/// ``status``, and what JUnit and its like call it from ``element``.
public enum CaseEnding: UInt8, Hashable, Sendable, CaseIterable {
  /// Model and device agreed at the first try.
  case agreed
  /// They agreed only at a later try.
  case flaky
  /// The same, where that is to count as failed.
  case failedAsFlaky
  /// Model and device diverged, and no later try agreed.
  case diverged
  /// They agreed, the scenario expects more, and no later try met that.
  case unmet
  /// The lab failed, which says nothing of the device.
  case labFault
  /// It was begun and not brought to its end.
  case incomplete
  /// A safety limit stopped it, and with it the run.
  case limited
  /// It was not tried.
  case skipped
  /// It failed and is in quarantine: that is known, and counts as skipped.
  case excused

  /// What formats have for a case.
  public enum Element: Hashable, Sendable, CaseIterable {
    /// Model and device agreed.
    case passed
    /// Something is wrong with the device.
    case failed
    /// Nothing is known of the device, and something is wrong.
    case error
    /// Not tried, or known.
    case skipped
  }

  /// What formats have for it.
  public var element: Element {
    switch self {
    case .agreed, .flaky: .passed
    case .failedAsFlaky, .diverged, .unmet: .failed
    case .labFault, .incomplete, .limited: .error
    case .skipped, .excused: .skipped
    }
  }

  /// What a command ends with for such a case, where no other case and nothing else weighs more.
  public var status: CommandStatus {
    switch self {
    case .agreed, .flaky: .agree
    case .failedAsFlaky, .diverged, .unmet: .divergence
    case .labFault: .labFault
    case .incomplete: .incomplete
    case .limited: .safetyLimit
    case .skipped, .excused: .nothingSelected
    }
  }

  /// What happened, in the word of a verdict; what is in quarantine was not judged.
  public var word: Record.Verdict.Word {
    switch self {
    case .agreed, .flaky: .agree
    case .failedAsFlaky, .diverged: .divergence
    case .unmet: .unmet
    case .labFault: .labFault
    case .incomplete, .limited: .incomplete
    case .skipped, .excused: .skipped
    }
  }

  /// Whether it agreed only when it was tried again.
  public var isFlaky: Bool { self == .flaky || self == .failedAsFlaky }

  /// Whether a report has to show why: something is wrong, with the device or with the lab.
  public var isRed: Bool { element == .failed || element == .error }

  /// Whether model and device were compared to the end.
  public var isVerdict: Bool {
    switch self {
    case .agreed, .flaky, .failedAsFlaky, .diverged, .unmet: true
    case .labFault, .incomplete, .limited, .skipped, .excused: false
    }
  }
}

extension Record.Verdict {
  /// How the try ended, whatever others of its case came to.
  public var tryEnding: CaseEnding { CaseEnding(word, isExcused: isExcused, isLimited: limit != nil) }

  /// What it counts as where it is the last word on its case.
  ///
  /// - Parameter failsFlaky: whether a case that agreed only at a later try counts as failed.
  public func ending(failsFlaky: Bool = false) -> CaseEnding {
    if word == .agree, isFlaky { return failsFlaky ? .failedAsFlaky : .flaky }
    return tryEnding
  }
}

extension CaseEnding {
  /// How one try ended.
  package init(_ word: Record.Verdict.Word, isExcused: Bool, isLimited: Bool) {
    self =
      if isExcused {
        .excused
      } else {
        switch word {
        case .agree: .agreed
        case .divergence: .diverged
        case .unmet: .unmet
        case .labFault: .labFault
        case .skipped: .skipped
        case .incomplete: isLimited ? .limited : .incomplete
        }
      }
  }
}

/// What the tries of a case come to together, one behind the other.
///
/// A divergence stands unless a later try agrees, as does an expectation that was not met: that the lab failed then takes
/// nothing back. Of the two the divergence weighs more. A case of which a try is open, or is to be followed by another one, was
/// not brought to its end.
public struct CaseTries: Hashable, Sendable {
  /// How the last try failed that came to a verdict.
  private var failure: CaseEnding?
  /// Whether a try before the last one failed.
  private(set) var hasFailedBefore = false
  private var last = CaseEnding.incomplete

  /// The first try begins.
  public init() {}

  /// Another try begins.
  public mutating func beginAgain() {
    hasFailedBefore = hasFailedBefore || last.isRed
    last = .incomplete
  }

  /// The try ends.
  ///
  /// - Parameter isTriedAgain: whether another one follows.
  public mutating func end(_ ending: CaseEnding, isTriedAgain: Bool = false) {
    if ending == .diverged || ending == .unmet && failure == nil { failure = ending }
    last = ending == .agreed ? ending : failure ?? ending
    if isTriedAgain, ending.isRed {
      // Until the next try has ended there is no judgement.
      hasFailedBefore = true
      last = .incomplete
    }
  }

  /// What the case counts as so far.
  ///
  /// - Parameter failsFlaky: whether a case that agreed only at a later try counts as failed.
  public func ending(failsFlaky: Bool) -> CaseEnding {
    guard last == .agreed, hasFailedBefore else { return last }
    return failsFlaky ? .failedAsFlaky : .flaky
  }
}

extension Record.Finding {
  /// What decides which of several cases stands for a finding that was come upon several times: one that diverged before
  /// one without a verdict, since that takes nothing back; then the one with fewer events; then the first.
  public struct Evidence: Hashable, Sendable {
    /// Whether it is a divergence.
    public let isShown: Bool
    private let shortest: Int

    /// Says what a case has to show.
    public init(_ ending: CaseEnding, shortest: Int) {
      (isShown, self.shortest) = (ending == .diverged, shortest)
    }

    /// Whether it stands in place of what was known before.
    public func supersedes(_ other: Evidence) -> Bool {
      isShown == other.isShown ? shortest < other.shortest : isShown
    }
  }
}

/// Counts cases as they end, each finding of a campaign once.
public struct EndingCount: Sendable {
  /// What was counted.
  public private(set) var tally: Tally
  /// Which case stands for each finding, by its signature.
  private var findings: [String: (evidence: Record.Finding.Evidence, ending: CaseEnding)] = [:]

  /// How many findings there are.
  public struct Found: Hashable, Sendable {
    /// Those that are sure: a case diverged that stands for each.
    public var confirmed = 0
    /// Those that came to no verdict.
    public var unconfirmed = 0

    /// Nothing was found.
    public init(confirmed: Int = 0, unconfirmed: Int = 0) {
      (self.confirmed, self.unconfirmed) = (confirmed, unconfirmed)
    }

    /// In words: `2 findings, 1 not confirmed`.
    public var words: String {
      let sure = confirmed == 0 ? "nothing found" : counted(confirmed, "finding")
      return unconfirmed == 0 ? sure : "\(sure), \(unconfirmed) not confirmed"
    }
  }

  /// How many findings were counted.
  public var found: Found {
    let confirmed = findings.values.count { $0.ending == .diverged }
    return Found(confirmed: confirmed, unconfirmed: findings.count - confirmed)
  }

  /// Counts on from what was counted before.
  public init(_ tally: Tally = Tally()) { self.tally = tally }

  /// Counts a case.
  public mutating func count(_ ending: CaseEnding) { tally.count(ending) }

  /// Counts the case that shows a finding; of several that show the same one counts.
  public mutating func count(_ ending: CaseEnding, showing finding: Record.Finding) {
    let evidence = Record.Finding.Evidence(ending, shortest: finding.shortest)
    if let known = findings[finding.signature] {
      guard evidence.supersedes(known.evidence) else { return }
      tally.uncount(known.ending)
    }
    findings[finding.signature] = (evidence, ending)
    tally.count(ending)
  }

  /// Knows a finding of which the case is counted already.
  package mutating func know(_ finding: Record.Finding, _ ending: CaseEnding) {
    findings[finding.signature] = (.init(ending, shortest: finding.shortest), ending)
  }

  /// Notes whether there was trouble in the lab beside the cases.
  public mutating func note(isInTrouble: Bool) { tally.isInTrouble = isInTrouble }

  /// Notes what befell the run beside its cases.
  public mutating func note(_ cause: CommandStatus) { tally.causes.insert(cause) }
}
