public import Automata
public import Conformance
public import Journal
public import Basics

/// The result of a case.
public struct Outcome: Sendable {
  /// The verdict.
  public enum Verdict: Equatable, Sendable {
    /// Model and device agree.
    case agree
    /// Model and device diverge.
    case divergence(Divergence)
    /// Model and device agree, but an expectation of the scenario is not met.
    case unmet(UnmetExpectation)
    /// A lab fault prevents a verdict.
    case labFault(LabFault)
    /// The case was skipped, for this reason.
    case skipped(String)
    /// The run was stopped before the case ended.
    case incomplete(String)
    /// A safety limit stopped the case, and with it the run.
    case limited(String)
  }

  /// The verdict.
  public var verdict: Verdict
  /// The last step that began.
  public var mark: StepMark
  /// The device's time at the end.
  public var time: Instant
  /// The number of observations that were compared with the model, if counted; recorded with the verdict.
  public var observations: Int?
  /// The permanent choices that the case revealed.
  public var shown: [DeviceChoice] = []
  /// Whether it passed by itself, but contradicts a choice shown in an earlier case.
  public var isContradiction = false
  /// The replay command, if the case failed.
  public var replay: String?
  /// Whether another attempt follows, so that this result is not final.
  public var isTriedAgain = false
  /// The steps so far, for the sentence that describes a divergence.
  public var steps = StepSummary()
  /// Files that belong to the case, if it failed.
  public var attachments: [Record.Attachment] = []
  /// Why the case is in quarantine, and until when: its failure is known, reported as skipped, and not
  /// retried.
  public var quarantine: String?
  /// Whether it passed only on a retry.
  public var isFlaky = false
  /// Whether it failed before the case began, while a device that keeps its state was prepared.
  public var isBefore = false
  /// The case before, if the failure precedes this case and the case before is known.
  public var earlier: EarlierCase?

  /// Makes an outcome.
  public init(_ verdict: Verdict, _ mark: StepMark = .start, at time: Instant = .zero) {
    self.verdict = verdict
    self.mark = mark
    self.time = time
  }

  /// Whether another attempt may have another result.
  var mayBeTriedAgain: Bool { verdict.word.isFailure && quarantine == nil }
}

/// An earlier case on a device that keeps its state, and its last step.
public struct EarlierCase: Equatable, Sendable {
  /// The case, by its id.
  public var id: String
  /// The last of its stimuli and faults, in their order.
  public var actions: [String]

  /// The maximum number of actions that are kept.
  static let maximumActions = 3
}

extension EarlierCase: CustomStringConvertible {
  /// The case and its last actions, as text.
  public var description: String {
    id + (actions.isEmpty ? ", did nothing" : ", ended with: \(actions.joined(separator: ", "))")
  }
}

extension Outcome {
  /// The result in one line; empty for a pass. If the failure precedes the case, it says so and names the earlier
  /// case's last step.
  public var message: String? {
    guard let message = verdict.message, isBefore else { return verdict.message }
    // A divergence has this in its own description.
    let isInPreparation =
      if case .divergence(let divergence) = verdict { divergence.isInPreparation } else { false }
    return (isInPreparation ? "" : "the fault lies before the case: ") + message
      + (earlier.map { "; the case before, \($0)" } ?? "")
  }
}

extension Outcome.Verdict {
  /// Makes the outcome of a case with a fault.
  ///
  /// - Parameters:
  ///   - mark: the step that the fault interrupted.
  ///   - isStopped: whether a stop request prevents further attempts.
  init(_ fault: LabFault, in mark: StepMark, isStopped: Bool) {
    self =
      switch fault.symptom {
      case .stopped where mark.number == 0: .incomplete("stopped while the device was made ready")
      case .stopped: .incomplete("stopped in step \(mark.number)")
      case .safetyLimit: .limited(fault.detail)
      case .linkLost where isStopped: .incomplete("stopped before it was run again: the link was lost")
      default: .labFault(fault)
      }
  }

  /// The verdict's word in the journal.
  public var word: Record.Verdict.Word {
    switch self {
    case .agree: .agree
    case .divergence: .divergence
    case .unmet: .unmet
    case .labFault: .labFault
    case .skipped: .skipped
    case .incomplete, .limited: .incomplete
    }
  }

  /// The result in one line; `nil` for a pass.
  public var message: String? {
    switch self {
    case .agree: nil
    case .divergence(let divergence): divergence.summary
    case .unmet(let unmet): unmet.summary
    case .labFault(let fault): fault.description
    case .skipped(let reason), .incomplete(let reason): reason
    case .limited(let reason): "\(LabFault.Symptom.safetyLimit.rawValue): \(reason)"
    }
  }
}

extension Outcome {
  /// The maximum number of allowed transitions that are shown.
  private static let maximumAllowances = 8

  /// Model and device side by side, or expected and seen values, one a line.
  public var details: [String] {
    switch verdict {
    case .divergence(let divergence):
      Self.context(divergence.lastStimulus, divergence.injection) + Self.comparison(divergence)
    case .unmet(let unmet): Self.context(unmet.lastStimulus, unmet.injection) + unmet.lines
    case .agree, .labFault, .skipped, .incomplete, .limited: []
    }
  }

  /// The last action.
  private static func context(_ stimulus: String?, _ injection: Divergence.Injection?) -> [String] {
    var lines: [String] = []
    if let stimulus { lines.append("after   \(stimulus)") }
    if let action = injection?.action {
      lines.append("sent    \(action.sent), at \(action.moment): a correct device \(action.reaction) it")
    }
    return lines
  }

  private static func comparison(_ divergence: Divergence) -> [String] {
    var lines: [String] = []
    switch divergence.kind {
    case .violation(let violation):
      if let packet = violation.packet { lines.append("packet  \(packet)") }
    case .contradiction(let contradiction):
      lines.append(
        "model   \(contradiction.held.name): \(contradiction.held.options.joined(separator: " or "))")
    case .wrongReading(let wrong):
      lines.append("model   \(wrong.name) \(wrong.due)" + (wrong.origin.map { ", \($0)" } ?? ""))
    case .unexpected, .overdue, .refusedLegal, .invariant:
      for (index, allowance) in divergence.allowed.prefix(maximumAllowances).enumerated() {
        lines.append((index == 0 ? "model   " : "        ") + text(of: allowance))
      }
      let more = divergence.allowed.count - maximumAllowances
      if more > 0 { lines.append("        and \(more) more") }
    case .stoppedAnswering: break
    }
    lines.append("device  \(divergence.seen)")
    return lines
  }

  /// A transition as text, with its state, event and observation: `logining ──timeout──▶ noSignal`.
  private static func text(of allowance: Divergence.Allowance) -> String {
    let shows = ([allowance.shows] + allowance.following).joined(separator: ", then ")
    if allowance.cause.isEmpty {
      return allowance.state
        + (State.status(of: allowance.state) == shows ? "" : " ──▶ \(shows)")
    }
    return "\(allowance.state) ──\(allowance.cause)──▶ \(shows)"
  }
}
