/// How sure it is that a divergence is the device's, after it was tried again from a reset.
///
/// A sequential probability ratio test (Wald, 1945): a defect shows in most runs of its test, a chance event in few.
/// Each run that shows it makes the defect nine times as likely, each run that does not makes chance so. A run that
/// something else disturbed, such as a link that was lost by itself, says nothing and is not counted.
public struct Confirmation: Equatable, Sendable {
  /// What came of the runs.
  public enum Verdict: String, Sendable {
    /// It is the device's doing.
    case confirmed
    /// It shows in some runs and not in others.
    case flaky
    /// It did not show again.
    case notReproduced = "not reproduced"
    /// It was not retried, because of a stop request.
    case untried = "not tried again"
  }

  /// The number of runs that reproduced it.
  public private(set) var shown = 0
  /// How many runs were counted.
  public private(set) var runs = 0
  /// The number of disturbed runs, which proved nothing.
  public private(set) var disturbed = 0

  /// How often a defect shows in its test, at least.
  public static let sensitivity = 0.9
  /// How often chance looks like the defect, at most: so a run against weighs as much as one for it.
  public static let falseAlarms = 1 - sensitivity
  /// How much likelier one must be than the other before it is believed.
  public static let threshold = 99.0

  /// Nothing is known yet.
  public init() {}

  /// Counts a run.
  public mutating func count(isShown: Bool) {
    runs += 1
    if isShown { shown += 1 }
  }

  /// Counts a run that says nothing.
  public mutating func countDisturbed() { disturbed += 1 }

  /// How much likelier a defect is than chance.
  public var likelihoodRatio: Double {
    // Runs for and against are weighed against each other first: no error of rounding is left where they are even.
    let factor = Self.sensitivity / Self.falseAlarms
    let balance = 2 * shown - runs
    var ratio = 1.0
    for _ in 0..<abs(balance) { ratio *= factor }
    return balance < 0 ? 1 / ratio : ratio
  }

  /// Whether more runs would not change the verdict.
  public var isDecided: Bool {
    likelihoodRatio >= Self.threshold || likelihoodRatio <= 1 / Self.threshold
  }

  /// The verdict as it stands.
  public var verdict: Verdict {
    if runs == 0 { return .untried }
    if shown == 0 { return .notReproduced }
    return likelihoodRatio >= Self.threshold ? .confirmed : .flaky
  }
}

extension Confirmation: CustomStringConvertible {
  /// `reproduced 3 of 3`.
  public var description: String {
    let aside = disturbed == 0 ? "" : ", \(disturbed) disturbed"
    switch verdict {
    case .untried: return verdict.rawValue + aside
    case .confirmed: return "reproduced \(shown) of \(runs)\(aside)"
    case .flaky: return "flaky, reproduced \(shown) of \(runs)\(aside)"
    case .notReproduced: return "not reproduced, \(shown) of \(runs)\(aside)"
    }
  }

  /// How much likelier a defect is than chance, in words: `likelihood ratio 729`.
  public var weight: String {
    let ratio = likelihoodRatio
    return "likelihood ratio "
      + (ratio >= 1 ? "\(Int(ratio.rounded()))" : "1/\(Int((1 / ratio).rounded()))")
  }
}
