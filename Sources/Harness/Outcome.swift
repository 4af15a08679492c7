import Automata
public import Conformance
import Documents
public import Basics

/// What came of a case.
public struct Outcome: Sendable {
  /// The judgement.
  public enum Verdict: Equatable, Sendable {
    /// Model and device did the same.
    case agree
    /// They did not.
    case divergence(Divergence)
    /// There was trouble in the lab, and so no judgement.
    case labFault(LabFault)
    /// The case was not tried, and why.
    case skipped(String)
    /// The run was stopped before the case came to its end.
    case incomplete(String)
    /// A safety limit stopped the case, and with it the run.
    case limited(String)
  }

  /// The judgement.
  public var verdict: Verdict
  /// The last step that was begun.
  public var mark: StepMark
  /// The device's time at the end.
  public var time: Instant
  /// The line to paste that replays the case, where it failed.
  public var replay: String?
  /// Whether another try follows, and this is not the last word on the case.
  public var isTriedAgain = false
  /// Files that belong to the case, where it failed.
  public var attachments: [Attachment] = []
  /// Whether it diverged, and that is no news.
  public private(set) var isExcused = false

  /// Makes an outcome.
  public init(_ verdict: Verdict, _ mark: StepMark = .start, at time: Instant = .zero) {
    self.verdict = verdict
    self.mark = mark
    self.time = time
  }

  /// Takes a divergence for what is known already: it is reported as skipped, with what happened, and tried once.
  ///
  /// - Parameter reason: why it is no news, and until when.
  public mutating func excuse(_ reason: String) {
    guard case .divergence = verdict else { return }
    verdict = .skipped("in quarantine \(reason); it diverged: \(verdict.message ?? "")")
    isExcused = true
  }
}

/// A file that a report of a case leads to.
public struct Attachment: Equatable, Sendable {
  /// What it is: `capture`, `packets` or `scenario`.
  public var kind: String
  /// Where it is, relative to the folder of the run.
  public var path: String

  /// Names a file.
  public init(_ kind: String, _ path: String) {
    self.kind = kind
    self.path = path
  }

  /// The file as the journal names it.
  var json: JSON { ["kind": .text(kind), "path": .text(path)] }
}

extension Outcome.Verdict {
  /// The word of the journal.
  public var word: String {
    switch self {
    case .agree: "agree"
    case .divergence: "divergence"
    case .labFault: "lab-fault"
    case .skipped: "skipped"
    case .incomplete, .limited: "incomplete"
    }
  }

  /// Whether it may be otherwise another time.
  var mayBeTriedAgain: Bool {
    switch self {
    case .divergence, .labFault: true
    case .agree, .skipped, .incomplete, .limited: false
    }
  }

  /// What happened, in one line; nothing where all agreed.
  public var message: String? {
    switch self {
    case .agree: nil
    case .divergence(let divergence): divergence.summary
    case .labFault(let fault): fault.description
    case .skipped(let reason), .incomplete(let reason): reason
    case .limited(let reason): "\(LabFault.Symptom.safetyLimit.rawValue): \(reason)"
    }
  }
}

extension Outcome {
  /// The most allowances that are shown.
  private static let mostAllowances = 8

  /// Model and device side by side, a line each; only where they diverged.
  public var details: [String] {
    guard case .divergence(let divergence) = verdict else { return [] }
    var lines: [String] = []
    if let stimulus = divergence.lastStimulus { lines.append("after   \(stimulus)") }
    switch divergence.kind {
    case .violation(let violation):
      if let packet = violation.packet { lines.append("packet  \(packet)") }
    case .unexpected, .overdue, .refusedLegal, .unmet, .invariant:
      for (index, allowance) in divergence.allowed.prefix(Self.mostAllowances).enumerated() {
        lines.append((index == 0 ? "model   " : "        ") + Self.text(of: allowance))
      }
      let more = divergence.allowed.count - Self.mostAllowances
      if more > 0 { lines.append("        and \(more) more") }
    case .stoppedAnswering: break
    }
    lines.append("device  \(divergence.seen)")
    return lines
  }

  /// A state, what happens in it and what is shown then: `logining ──timeout──▶ noSignal`.
  private static func text(of allowance: Divergence.Allowance) -> String {
    if allowance.cause.isEmpty {
      let isOwn = State.status(of: allowance.state) == allowance.shows
      return allowance.state + (isOwn ? "" : " ──▶ \(allowance.shows)")
    }
    return "\(allowance.state) ──\(allowance.cause)──▶ \(allowance.shows)"
  }
}

/// How many cases came to which end.
public struct Tally: Equatable, Sendable {
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
  /// - Parameter isFlaky: whether it agreed only when it was tried again.
  public mutating func count(_ verdict: Outcome.Verdict, isFlaky: Bool = false) {
    if isFlaky { flaky += 1 }
    cases += 1
    switch verdict {
    case .agree: agree += 1
    case .divergence: divergences += 1
    case .labFault: labFaults += 1
    case .skipped: skipped += 1
    case .incomplete: incomplete += 1
    case .limited:
      incomplete += 1
      isLimited = true
    }
  }

  /// Counts one more that diverged in quarantine: it is reported, and is no news.
  public mutating func countExcused() {
    cases += 1
    skipped += 1
    excused += 1
  }

  /// Counts one more that diverged.
  public mutating func countDivergence() {
    cases += 1
    divergences += 1
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
}
