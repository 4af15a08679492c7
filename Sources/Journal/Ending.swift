import Basics
public import System

extension Record {
  /// How a case ended, all its attempts together, as it counts: the worst first.
  ///
  /// Exit statuses, last lines and every report read this and nothing else of a case. What follows from an ending stands in
  /// the tables below. The numbers are those of tables in memory, and stand on no disk.
  public enum Ending: UInt8, Hashable, Sendable, CaseIterable {
    /// Model and device diverged, and no later attempt agreed.
    case diverged
    /// They agreed only at a later attempt, and that is to count as failed.
    case failedAsFlaky
    /// They agreed, the scenario expects more, and no later attempt met that.
    case unmet
    /// The lab failed, which says nothing of the device.
    case labFault
    /// A safety limit stopped it, and with it the run.
    case limited
    /// It was begun and not brought to its end.
    case incomplete
    /// Model and device agreed only at a later attempt.
    case flaky
    /// It was not run.
    case skipped
    /// It failed and is in quarantine: that is known, and counts as skipped.
    case excused
    /// Model and device agreed at the first attempt.
    case agreed

    /// What formats of other programs have for a case.
    public enum Element: Hashable, Sendable, CaseIterable {
      /// Model and device agreed.
      case passed
      /// Something is wrong with the device.
      case failed
      /// Nothing is known of the device, and something is wrong.
      case error
      /// Not run, or known.
      case skipped
    }

    /// How people are shown an ending.
    public struct Presentation: Sendable {
      /// The class by which styles and filters of a page know it.
      public var key: String
      /// Its word in a page.
      public var label: String
      /// Its sign in a page, for those who see no colour.
      public var badge: String
      /// Its sign on a terminal.
      public var sign: String
      /// Its words on a terminal.
      public var words: String
      /// Its colour on a terminal.
      public var style: Painter.Style
    }
  }
}

// MARK: - What follows from an ending

extension Record.Ending {
  private typealias Row = (
    name: String, word: Record.Verdict.Word, element: Element, status: CommandStatus
  )

  private var row: Row {
    switch self {
    case .diverged: ("divergence", .divergence, .failed, .divergence)
    case .failedAsFlaky: ("failed-as-flaky", .divergence, .failed, .divergence)
    case .unmet: ("expectation", .unmet, .failed, .divergence)
    case .labFault: ("lab-fault", .labFault, .error, .labFault)
    case .limited: ("limited", .incomplete, .error, .safetyLimit)
    case .incomplete: ("incomplete", .incomplete, .error, .incomplete)
    case .flaky: ("flaky", .agree, .passed, .agree)
    case .skipped: ("skipped", .skipped, .skipped, .nothingSelected)
    case .excused: ("excused", .skipped, .skipped, .nothingSelected)
    case .agreed: ("agree", .agree, .passed, .agree)
    }
  }

  /// What stands for it in a file.
  public var name: String { row.name }

  /// What happened, in the word of a verdict; what is in quarantine was not judged.
  public var word: Record.Verdict.Word { row.word }

  /// What formats have for it.
  public var element: Element { row.element }

  /// What a command ends with for such a case, where no other case and nothing else weighs more.
  public var status: CommandStatus { row.status }

  /// The ending that people are shown in its place: reports have a section for each of these.
  public var shown: Record.Ending {
    switch self {
    case .failedAsFlaky: .diverged
    case .limited: .incomplete
    case .excused: .skipped
    case .diverged, .unmet, .labFault, .incomplete, .flaky, .skipped, .agreed: self
    }
  }

  /// Those that people are shown, the worst first.
  public static let allShown = allCases.filter { $0.shown == $0 }

  /// How people are shown it.
  public var presentation: Presentation {
    switch self {
    case .diverged, .failedAsFlaky: Presentation("diverged", "diverged", "✘", "✘", "diverged", .bad)
    case .unmet: Presentation("unmet", "not as expected", "≠", "≠", "not as expected", .warning)
    case .labFault: Presentation("lab", "lab fault", "⚠", "⚡", "trouble in the lab", .warning)
    case .limited, .incomplete: Presentation("incomplete", "incomplete", "◌", "…", "incomplete", .warning)
    case .flaky: Presentation("flaky", "flaky", "≈", "~", "flaky", .warning)
    case .skipped: Presentation("skipped", "skipped", "–", "-", "skipped", .faint)
    case .excused: Presentation("skipped", "skipped", "–", "·", "skipped", .faint)
    case .agreed: Presentation("agreed", "agreed", "✔", "✔", "agreed", .good)
    }
  }

  /// Whether it agreed only when it was tried again.
  public var isFlaky: Bool { self == .flaky || self == .failedAsFlaky }

  /// Whether a report has to show why: something is wrong, with the device or with the lab.
  public var isRed: Bool { element == .failed || element == .error }

  /// Whether model and device were compared to the end.
  public var isVerdict: Bool { word == .agree || element == .failed }
}

extension Record.Ending.Presentation {
  fileprivate init(
    _ key: String, _ label: String, _ badge: String, _ sign: String, _ words: String, _ style: Painter.Style
  ) {
    self.init(key: key, label: label, badge: badge, sign: sign, words: words, style: style)
  }
}

extension Record.Ending {
  /// How one attempt ended.
  public init(_ word: Record.Verdict.Word, isExcused: Bool = false, isLimited: Bool = false) {
    self =
      switch word {
      case _ where isExcused: .excused
      case .agree: .agreed
      case .divergence: .diverged
      case .unmet: .unmet
      case .labFault: .labFault
      case .skipped: .skipped
      case .incomplete: isLimited ? .limited : .incomplete
      }
  }

  /// The ending that a name in a file stands for.
  public init?(name: String) {
    guard let ending = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = ending
  }

  /// The ending of a case that is only known by its word, and by whether it agreed at a later attempt than the first.
  package init(_ word: Record.Verdict.Word, isFlaky: Bool) {
    self = isFlaky ? (word == .agree ? .flaky : .failedAsFlaky) : Self(word)
  }

  /// What stands for a status that nothing else explains.
  public init(_ status: CommandStatus?) {
    self = status == .divergence ? .diverged : status == .labFault ? .labFault : .incomplete
  }
}

extension Record.Verdict {
  /// How the attempt ended, whatever others of its case came to.
  public var attemptEnding: Record.Ending {
    Record.Ending(word, isExcused: isExcused, isLimited: limit != nil)
  }

  /// What it counts as where it is the last word on its case.
  ///
  /// - Parameter failsFlaky: whether a case that agreed only at a later attempt counts as failed.
  public func ending(failsFlaky: Bool = false) -> Record.Ending {
    guard word == .agree, isFlaky else { return attemptEnding }
    return failsFlaky ? .failedAsFlaky : .flaky
  }
}

/// What the attempts at a case come to together, in their order.
///
/// A divergence stands unless a later attempt agrees, as does an expectation that was not met; a later failure of the lab
/// does not change that. The divergence weighs more than the expectation. A case is incomplete while an attempt is open, or
/// is to be followed by another one.
public struct CaseAttempts: Hashable, Sendable {
  /// How the last attempt failed that came to a verdict.
  private var failure: Record.Ending?
  /// Whether an attempt before the last one failed.
  private(set) var hasFailedBefore = false
  private var last = Record.Ending.incomplete

  /// The first attempt begins.
  public init() {}

  /// Another attempt begins.
  public mutating func beginAgain() {
    hasFailedBefore = hasFailedBefore || last.isRed
    last = .incomplete
  }

  /// The attempt ends.
  ///
  /// - Parameter isTriedAgain: whether another one follows.
  public mutating func end(_ ending: Record.Ending, isTriedAgain: Bool = false) {
    if ending == .diverged || ending == .unmet && failure == nil { failure = ending }
    last = ending == .agreed ? ending : failure ?? ending
    if isTriedAgain, ending.isRed {
      // There is no judgement before the next attempt has ended.
      hasFailedBefore = true
      last = .incomplete
    }
  }

  /// What the case counts as so far.
  ///
  /// - Parameter failsFlaky: whether a case that agreed only at a later attempt counts as failed.
  public func ending(failsFlaky: Bool) -> Record.Ending {
    guard last == .agreed, hasFailedBefore else { return last }
    return failsFlaky ? .failedAsFlaky : .flaky
  }
}

extension Record.Finding {
  /// Decides which of several cases stands for a finding that was found several times: one that diverged before one without
  /// a verdict, then the one with fewer events, then the first.
  public struct Evidence: Hashable, Sendable {
    /// Whether it is a divergence.
    public let isShown: Bool
    private let shortest: Int

    /// Says what a case has to show.
    public init(_ ending: Record.Ending, shortest: Int) {
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
  private var findings: [String: (evidence: Record.Finding.Evidence, ending: Record.Ending)] = [:]

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
  public mutating func count(_ ending: Record.Ending) { tally.count(ending) }

  /// Counts the case that shows a finding; of several that show the same one counts.
  public mutating func count(_ ending: Record.Ending, showing finding: Record.Finding) {
    let evidence = Record.Finding.Evidence(ending, shortest: finding.shortest)
    if let known = findings[finding.signature] {
      guard evidence.supersedes(known.evidence) else { return }
      tally.uncount(known.ending)
    }
    findings[finding.signature] = (evidence, ending)
    tally.count(ending)
  }

  /// Knows a finding of which the case is counted already.
  package mutating func know(_ finding: Record.Finding, _ ending: Record.Ending) {
    findings[finding.signature] = (.init(ending, shortest: finding.shortest), ending)
  }

  /// Notes whether there was trouble in the lab beside the cases.
  public mutating func note(isInTrouble: Bool) { tally.isInTrouble = isInTrouble }

  /// Notes what befell the run beside its cases.
  public mutating func note(_ cause: CommandStatus) { tally.causes.insert(cause) }
}
