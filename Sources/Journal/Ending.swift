import Basics
public import System

extension Record {
  /// The result of a case after all its attempts, the gravest first.
  ///
  /// Exit statuses, summary lines and all reports use only this to judge a case. The tables below define the
  /// consequences of each ending. The raw values are for tables in memory, and are never written to a file.
  public enum Ending: UInt8, Hashable, Sendable, CaseIterable {
    /// Model and device diverged, and no later attempt agreed.
    case diverged
    /// They agreed only at a later attempt, and flaky cases count as failed.
    case failedAsFlaky
    /// They agreed, but the scenario expects more, and no later attempt met the expectation.
    case unmet
    /// A lab fault, which says nothing about the device.
    case labFault
    /// A safety limit stopped the case, and with it the run.
    case limited
    /// The case was started but not completed.
    case incomplete
    /// Model and device agreed only at a later attempt.
    case flaky
    /// The case was not run.
    case skipped
    /// The case failed but is in quarantine: the failure is known, and counts as skipped.
    case excused
    /// Model and device agreed at the first attempt.
    case agreed

    /// The kind of element that other report formats have for a case.
    public enum Element: Hashable, Sendable, CaseIterable {
      /// Model and device agreed.
      case passed
      /// Something is wrong with the device.
      case failed
      /// Something is wrong, and nothing is known about the device.
      case error
      /// Not run, or a known failure.
      case skipped
    }

    /// How reports show an ending to people.
    public struct Presentation: Sendable {
      /// The class by which the styles and filters of a page identify it.
      public var key: String
      /// The label on a page.
      public var label: String
      /// The symbol on a page, for readers who do not see the colour.
      public var badge: String
      /// The symbol on a terminal.
      public var sign: String
      /// The words on a terminal.
      public var words: String
      /// The colour on a terminal.
      public var style: Painter.Style
    }
  }
}

// MARK: - Consequences of an ending

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

  /// The name in a file.
  public var name: String { row.name }

  /// The verdict that describes the result; a case in quarantine counts as skipped.
  public var word: Record.Verdict.Word { row.word }

  /// The element in other report formats.
  public var element: Element { row.element }

  /// The exit status for such a case, if no other result outweighs it.
  public var status: CommandStatus { row.status }

  /// The ending under which reports show this one: they have a section for each of these.
  public var shown: Record.Ending {
    switch self {
    case .failedAsFlaky: .diverged
    case .limited: .incomplete
    case .excused: .skipped
    case .diverged, .unmet, .labFault, .incomplete, .flaky, .skipped, .agreed: self
    }
  }

  /// The endings that reports show, the gravest first.
  public static let allShown = allCases.filter { $0.shown == $0 }

  /// How reports show this ending to people.
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

  /// Whether the case agreed only at a later attempt.
  public var isFlaky: Bool { self == .flaky || self == .failedAsFlaky }

  /// Whether a report must show the reason: something is wrong with the device or with the lab.
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
  /// Creates the ending of one attempt.
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

  /// Creates the ending with the given name in a file.
  public init?(name: String) {
    guard let ending = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = ending
  }

  /// Creates the ending of a case from its verdict alone, and from whether it agreed only at a later attempt.
  package init(_ word: Record.Verdict.Word, isFlaky: Bool) {
    self = isFlaky ? (word == .agree ? .flaky : .failedAsFlaky) : Self(word)
  }

  /// Creates the ending for an exit status that no case explains.
  public init(_ status: CommandStatus?) {
    self = status == .divergence ? .diverged : status == .labFault ? .labFault : .incomplete
  }
}

extension Record.Verdict {
  /// How the attempt ended, regardless of the other attempts at its case.
  public var attemptEnding: Record.Ending {
    Record.Ending(word, isExcused: isExcused, isLimited: limit != nil)
  }

  /// Returns the ending of the case if this is its last verdict.
  ///
  /// - Parameter failsFlaky: Whether a case that agreed only at a later attempt counts as failed.
  public func ending(failsFlaky: Bool = false) -> Record.Ending {
    guard word == .agree, isFlaky else { return attemptEnding }
    return failsFlaky ? .failedAsFlaky : .flaky
  }
}

/// The combined result of the attempts at a case, in order.
///
/// A divergence stands unless a later attempt agrees, and so does an unmet expectation; a later lab fault changes
/// neither. A divergence outweighs an unmet expectation. A case is incomplete while an attempt is running, or if
/// another attempt is to follow.
public struct CaseAttempts: Hashable, Sendable {
  /// The gravest failure so far that is a verdict.
  private var failure: Record.Ending?
  /// Whether an attempt before the last one failed.
  private(set) var hasFailedBefore = false
  private var last = Record.Ending.incomplete

  /// Starts the first attempt.
  public init() {}

  /// Starts another attempt.
  public mutating func beginAgain() {
    hasFailedBefore = hasFailedBefore || last.isRed
    last = .incomplete
  }

  /// Ends the attempt.
  ///
  /// - Parameter isTriedAgain: Whether another attempt follows.
  public mutating func end(_ ending: Record.Ending, isTriedAgain: Bool = false) {
    if ending == .diverged || ending == .unmet && failure == nil { failure = ending }
    last = ending == .agreed ? ending : failure ?? ending
    if isTriedAgain, ending.isRed {
      // The case has no verdict until the next attempt has ended.
      hasFailedBefore = true
      last = .incomplete
    }
  }

  /// Returns the current ending of the case.
  ///
  /// - Parameter failsFlaky: Whether a case that agreed only at a later attempt counts as failed.
  public func ending(failsFlaky: Bool) -> Record.Ending {
    guard last == .agreed, hasFailedBefore else { return last }
    return failsFlaky ? .failedAsFlaky : .flaky
  }
}

extension Record.Finding {
  /// Decides which of several cases represents a finding: a divergence rather than a case without a verdict, then the
  /// case with the fewest events, then the first.
  public struct Evidence: Hashable, Sendable {
    /// Whether the case is a divergence.
    public let isShown: Bool
    private let shortest: Int

    /// Creates the evidence that a case provides.
    public init(_ ending: Record.Ending, shortest: Int) {
      (isShown, self.shortest) = (ending == .diverged, shortest)
    }

    /// Returns whether this evidence replaces the given earlier one.
    public func supersedes(_ other: Evidence) -> Bool {
      isShown == other.isShown ? shortest < other.shortest : isShown
    }
  }
}

/// Counts cases as they end, and each finding of a campaign only once.
public struct EndingCount: Sendable {
  /// The current counts.
  public private(set) var tally: Tally
  /// The case that represents each finding, by signature.
  private var findings: [String: (evidence: Record.Finding.Evidence, ending: Record.Ending)] = [:]

  /// The number of findings.
  public struct Found: Hashable, Sendable {
    /// The number of findings for which a case diverged.
    public var confirmed = 0
    /// The number of findings without a verdict.
    public var unconfirmed = 0

    /// Creates a count, which is zero by default.
    public init(confirmed: Int = 0, unconfirmed: Int = 0) {
      (self.confirmed, self.unconfirmed) = (confirmed, unconfirmed)
    }

    /// The count in words: `2 findings, 1 not confirmed`.
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

  /// Continues from the given counts.
  public init(_ tally: Tally = Tally()) { self.tally = tally }

  /// Counts a case.
  public mutating func count(_ ending: Record.Ending) { tally.count(ending) }

  /// Counts the case that shows a finding; of several cases that show the same finding, one counts.
  public mutating func count(_ ending: Record.Ending, showing finding: Record.Finding) {
    let evidence = Record.Finding.Evidence(ending, shortest: finding.shortest)
    if let known = findings[finding.signature] {
      guard evidence.supersedes(known.evidence) else { return }
      tally.uncount(known.ending)
    }
    findings[finding.signature] = (evidence, ending)
    tally.count(ending)
  }

  /// Adds a finding whose case is already counted.
  package mutating func addKnown(_ finding: Record.Finding, _ ending: Record.Ending) {
    findings[finding.signature] = (.init(ending, shortest: finding.shortest), ending)
  }

  /// Records whether there was a lab fault outside the cases.
  public mutating func note(isInTrouble: Bool) { tally.isInTrouble = isInTrouble }

  /// Records a result of the run itself.
  public mutating func note(_ cause: CommandStatus) { tally.causes.insert(cause) }
}
