public import Automata
public import Basics

/// The first moment at which model and device disagree.
public struct Divergence: Equatable, Sendable {
  /// The kinds of disagreement.
  public enum Kind: Equatable, Sendable {
    /// The device showed something that no possible state allows.
    case unexpected(String)
    /// The device showed a reading that was due, with another value.
    case wrongReading(WrongReading)
    /// The device showed nothing, although every possible state required something by now.
    case overdue
    /// The device refused what the model allows.
    case refusedLegal(String)
    /// The device broke a rule that holds in every state.
    case invariant(String)
    /// The device violated its protocol.
    case violation(Violation)
    /// The device stopped answering, and again after two restarts.
    case stoppedAnswering(String)
    /// The device showed another option of a choice than the one it had shown before.
    case contradiction(Contradiction)
  }

  /// A device that made a permanent choice and then showed another option of it.
  public struct Contradiction: Equatable, Sendable {
    /// The choice, with the options shown before.
    public var held: DeviceChoice
    /// The options shown now.
    public var shown: [String]
    /// Where the device showed the earlier ones, if known.
    public var evidence: String?

    /// Makes a contradiction.
    public init(of held: DeviceChoice, shown: [String], evidence: String? = nil) {
      (self.held, self.shown, self.evidence) = (held, shown, evidence)
    }
  }

  /// One observation that a possible state would have allowed.
  public struct Allowance: Equatable, Sendable {
    /// The state of the model.
    public var state: String
    /// The cause: an event's name, or `after 3 s`; empty if the state simply lasts.
    public var cause: String
    /// The observation; the state's own status if it lasts.
    public var shows: String
    /// The observations that would have followed at once, in order, in the same transition.
    public var following: [String]
    /// Whether it was required by a deadline rather than only allowed.
    public var isDue: Bool
    /// Whether its deadline has passed, or it had to come before anything else: only this was correct.
    public var isRequired: Bool

    /// Makes an allowance.
    public init(
      state: String, cause: String, shows: String, following: [String] = [], isDue: Bool = false,
      isRequired: Bool = false
    ) {
      self.state = state
      self.cause = cause
      self.shows = shows
      self.following = following
      self.isDue = isDue
      self.isRequired = isRequired
    }
  }

  /// The kind of disagreement.
  public var kind: Kind { contents.kind }
  /// The time since the test began.
  public var time: Instant { contents.time }
  /// The number of the test's step, from 1; 0 before the first.
  public var step: Int {
    get { contents.step }
    set { contents.step = newValue }
  }
  /// Whether it occurred in a preparation session; the time is then that of the session.
  public internal(set) var isInPreparation: Bool {
    get { contents.isInPreparation }
    set { contents.isInPreparation = newValue }
  }
  /// Whether the lab is at fault: a program that emulates the device, or connects us to it, stopped answering.
  public var isOfLab: Bool {
    get { contents.isOfLab }
    set { contents.isOfLab = newValue }
  }
  /// The fault with which the device stopped answering, for that kind.
  public var fault: LabFault? {
    get { contents.fault }
    set { contents.fault = newValue }
  }
  /// The tester's last stimulus.
  public var lastStimulus: String? { contents.lastStimulus }
  /// The last status shown.
  public var lastStatus: String? { contents.lastStatus }
  /// What the model allowed at that moment.
  public var allowed: [Allowance] { contents.allowed }
  /// Why the device showed this, or nothing, if known.
  public var explanation: Explanation? { contents.explanation }
  /// The injected action to which the device may have reacted.
  public var injection: Injection? { contents.injection }

  private struct Contents: Equatable, Sendable {
    var kind: Kind
    var time: Instant
    var step: Int
    var lastStimulus: String?
    var lastStatus: String?
    var allowed: [Allowance]
    var explanation: Explanation?
    var injection: Injection?
    var isInPreparation = false
    var isOfLab = false
    var fault: LabFault?
  }

  /// One word, so that returning "no divergence" costs no more.
  private indirect enum Box: Equatable, Sendable {
    case contents(Contents)
  }

  private var box: Box

  private var contents: Contents {
    get {
      switch box {
      case .contents(let contents): contents
      }
    }
    set { box = .contents(newValue) }
  }

  /// Makes a divergence.
  ///
  /// - Parameter injected: the injected actions to which the device may still react, in order of time.
  public init(
    _ kind: Kind, at time: Instant, step: Int = 0, lastStimulus: String? = nil, lastStatus: String? = nil,
    allowed: [Allowance] = [], explanation: Explanation? = nil, injected: [InjectedAction] = []
  ) {
    box = .contents(
      Contents(
        kind: kind, time: time, step: step, lastStimulus: lastStimulus, lastStatus: lastStatus,
        allowed: allowed, explanation: explanation,
        injection: Injection(injected, in: kind, showing: lastStatus)))
  }

  /// One line with the error, the event and, if known, the cause.
  public var summary: String {
    let before =
      isInPreparation
      ? "the fault lies before the test, and was seen while the device was made ready for it: " : ""
    return before + cause + symptom + evidence + (explanation.map { "; \($0)" } ?? "") + circumstance
  }

  /// The device's error, if known: it obeyed an injected action.
  private var cause: String {
    guard let injection, injection.isObeyed else { return "" }
    let action = injection.action
    return "\(action.kind.verdict): \(action.sent), sent at \(action.moment), which a correct device "
      + "\(action.reaction); "
  }

  /// An action injected shortly before, if the observation is no sign that the device obeyed it.
  private var circumstance: String {
    guard let injection, !injection.isObeyed else { return "" }
    return injection.action.circumstance(at: time)
  }

  /// Where the device showed the option that binds it.
  private var evidence: String {
    guard case .contradiction(let contradiction) = kind, let evidence = contradiction.evidence else {
      return ""
    }
    return ", which it showed in \(evidence)"
  }

  private var symptom: String {
    switch kind {
    case .unexpected(let seen): "the device showed \(seen), which the model does not allow"
    case .wrongReading(let wrong):
      "\(wrong.name) is \(wrong.shown.told), and \(wrong.due.told) is due"
        + (wrong.origin.map { ", \($0)" } ?? "")
    case .overdue: "the device showed nothing, although the model required something by this time"
    case .refusedLegal(let reason): "the device refused what the model allows: \(reason)"
    case .invariant(let rule): rule
    case .violation(let violation): "the device broke a rule: \(violation)"
    case .stoppedAnswering(let symptom):
      "\(isOfLab ? LabFault.Symptom.programFailed.rawValue : "stopped answering"): \(symptom), and again in two fresh starts"
    case .contradiction(let contradiction):
      "the device changed its choice of \(contradiction.held.name), which a device makes once: here it showed "
        + "\(contradiction.seen), and it is held to \(contradiction.expected)"
    }
  }

  /// Identifies the finding: the obligation that was broken, regardless of when it was broken and which steps
  /// preceded it.
  ///
  /// An overdue observation is identified by what was due; most other divergences include the last stimulus.
  /// Numbers are omitted, so that two readings or two offsets are one finding.
  public var signature: String {
    // The broken rule is more specific than the last stimulus.
    if case .violation(let violation) = kind {
      return "broke \(violation.name)" + (violation.subject.map { " of \($0)" } ?? "")
    }
    let words: String =
      switch kind {
      // A program can fail in many ways: the last line of its standard error distinguishes them.
      case .stoppedAnswering(let symptom) where isOfLab:
        "\(LabFault.Symptom.programFailed.rawValue): \(symptom.prefix { $0 != ":" }), "
          + (symptom.split(separator: "\n").dropFirst().last ?? "in silence")
      case .stoppedAnswering(let symptom):
        "stopped answering: \(symptom.prefix { $0 != ":" }) after \(lastStimulus ?? "the start")"
      case .overdue where !due.isEmpty: "overdue: \(due.joined(separator: " or "))"
      case .overdue: "nothing shown in \(lastStatus ?? "the beginning") after \(lastStimulus ?? "the start")"
      case .wrongReading(let wrong): "wrong \(wrong.kind)"
      case .invariant, .violation, .contradiction: symptom
      case .unexpected, .refusedLegal: "\(symptom) after \(lastStimulus ?? "the start")"
      }
    return words.filter { !$0.isNumber }
  }

  /// The observations that were due, without duplicates, in alphabetical order. One that was due at once is listed
  /// with the last stimulus.
  private var due: [String] {
    var names: [String] = []
    for allowance in allowed where allowance.isDue {
      let isAtOnce = allowance.cause.isEmpty && allowance.following.isEmpty
      let name = isAtOnce ? "\(allowance.shows) after \(lastStimulus ?? "the start")" : allowance.shows
      if !names.contains(name) { names.append(name) }
    }
    return names.sorted()
  }

  /// Returns whether another divergence is likely the same fault: an equal signature, a common overdue observation,
  /// or the same stimulus without effect, whatever the status.
  public func isLike(_ other: Divergence) -> Bool {
    if signature == other.signature { return true }
    switch (kind, other.kind) {
    case (.overdue, .overdue):
      return due.contains(where: other.due.contains)
    case (.unexpected(let seen), .unexpected(let seenThere)):
      return seen == lastStatus && seenThere == other.lastStatus && lastStimulus == other.lastStimulus
    default:
      return false
    }
  }

  /// Returns whether another divergence looks the same regardless of the last stimulus: same kind, same previous
  /// status, same allowances.
  public func looksLike(_ other: Divergence) -> Bool {
    (kind, lastStatus, allowed) == (other.kind, other.lastStatus, other.allowed)
      && (isInPreparation, isOfLab) == (other.isInPreparation, other.isOfLab)
  }

  /// The correct behaviour in a few words: what the model would have accepted.
  public var expected: String {
    switch kind {
    case .invariant(let rule): return "never: \(rule)"
    case .violation(let violation): return "never: \(violation.name)"
    case .stoppedAnswering: return "an answer"
    case .contradiction(let contradiction): return contradiction.expected
    case .wrongReading(let wrong): return "\(wrong.name) \(wrong.due)"
    case .unexpected, .overdue, .refusedLegal: break
    }
    var names: [String] = []
    for allowance in allowed where !names.contains(allowance.shows) { names.append(allowance.shows) }
    return names.joined(separator: " or ")
  }

  /// The observation, for the device's line next to the model's.
  public var seen: String {
    switch kind {
    case .unexpected(let seen): seen
    case .wrongReading(let wrong): "\(wrong.name) \(wrong.shown)"
    case .refusedLegal(let reason): "refused: \(reason)"
    case .violation(let violation): violation.description
    case .overdue, .invariant: lastStatus ?? "nothing"
    case .contradiction(let contradiction): contradiction.seen
    case .stoppedAnswering: isOfLab ? "unknown, since a program of the lab failed" : "no answer"
    }
  }
}

extension Divergence.Contradiction {
  /// The options to which the device is bound.
  var expected: String { held.options.joined(separator: " or ") }
  /// The options that the device showed.
  var seen: String { shown.joined(separator: " or ") }
}

extension Vocabulary {
  /// Returns the name of an observation in traces and reports.
  public func text(of observation: Observation) -> String {
    switch observation {
    case .status(let number): statuses[number]
    case .effect(let number): effects[number]
    case .unknown(let name):
      // Compares canonically (Unicode), not by the characters as written.
      (statuses + effects).contains(name)
        ? "'\(name)' (unknown to the model, which writes it with other characters that look alike)"
        : "'\(name)' (unknown to the model)"
    case .refused(let reason): "refused: \(reason)"
    case .reading(let reading): "\(reading.name) \(reading.value)"
    case .event(let seen): stimuli[seen.number] + (seen.detail.isEmpty ? "" : " (\(seen.detail))")
    case .violation(let violation):
      (violation.quirk == nil ? "broke " : "diagnostic, ") + violation.description
        + (violation.packet.map { " (\($0))" } ?? "") + (violation.quirk.map { "; known: \($0)" } ?? "")
    }
  }
}
