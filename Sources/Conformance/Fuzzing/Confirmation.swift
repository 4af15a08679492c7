/// The evidence that a divergence is caused by the device, from runs of its test after a reset.
///
/// A sequential probability ratio test (Wald, 1945): a defect shows in most runs of its test, a chance event in few.
/// Each run that shows the divergence makes a defect nine times as likely; each run that does not makes chance nine
/// times as likely. A run with another disturbance, such as a link lost by itself, proves nothing and is not counted.
public struct Confirmation: Equatable, Sendable {
  /// The result of the runs.
  public enum Verdict: String, Sendable {
    /// The device causes the divergence.
    case confirmed
    /// Some runs show the divergence, and others do not.
    case flaky
    /// No run shows the divergence again.
    case notReproduced = "not reproduced"
    /// There was no run, because of a stop request.
    case untried = "not tried again"
  }

  /// The number of runs that showed the divergence.
  public private(set) var shown = 0
  /// The number of counted runs.
  public private(set) var runs = 0
  /// The number of disturbed runs, which proved nothing.
  public private(set) var disturbed = 0

  /// The least probability that a run shows a defect.
  public static let sensitivity = 0.9
  /// The greatest probability that a run shows a chance event. A run against the defect weighs as much as a run for
  /// it.
  public static let falseAlarms = 1 - sensitivity
  /// How many times likelier a defect or chance must be to decide the test.
  public static let threshold = 99.0

  /// Makes a confirmation without any runs.
  public init() {}

  /// Counts a run.
  public mutating func count(isShown: Bool) {
    runs += 1
    if isShown { shown += 1 }
  }

  /// Counts a disturbed run, which proves nothing.
  public mutating func countDisturbed() { disturbed += 1 }

  /// How many times likelier a defect is than chance.
  public var likelihoodRatio: Double {
    // Runs for and against cancel each other first, so an even balance has no rounding error.
    let factor = Self.sensitivity / Self.falseAlarms
    let balance = 2 * shown - runs
    var ratio = 1.0
    for _ in 0..<abs(balance) { ratio *= factor }
    return balance < 0 ? 1 / ratio : ratio
  }

  /// Whether the runs so far decide the test.
  public var isDecided: Bool {
    likelihoodRatio >= Self.threshold || likelihoodRatio <= 1 / Self.threshold
  }

  /// The verdict so far.
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

  /// How many times likelier a defect is than chance, as text: `likelihood ratio 729`.
  public var weight: String {
    let ratio = likelihoodRatio
    return "likelihood ratio "
      + (ratio >= 1 ? "\(Int(ratio.rounded()))" : "1/\(Int((1 / ratio).rounded()))")
  }
}
