public import Automata
public import Basics

/// The first moment at which model and device disagree.
public struct Divergence: Equatable, Sendable {
  /// What made them disagree.
  public enum Kind: Equatable, Sendable {
    /// The device showed what no possible state allows.
    case unexpected(String)
    /// The device showed nothing, where every possible state demanded something by now.
    case overdue
    /// The device refused what the model allows.
    case refusedLegal(String)
    /// The device broke a rule that holds in every state.
    case invariant(String)
    /// The device broke a rule of its protocol.
    case violation(Violation)
    /// The device stopped answering, again in two fresh starts.
    case stoppedAnswering(String)
    /// The device showed another option of a choice than it is held to.
    case contradiction(Contradiction)
  }

  /// A device that chose otherwise than before, where a device chooses once.
  public struct Contradiction: Equatable, Sendable {
    /// The choice, with the options that it is held to.
    public var held: DeviceChoice
    /// The options that it showed now.
    public var shown: [String]
    /// Where it showed what it is held to, where that is known.
    public var evidence: String?

    /// Makes one.
    public init(of held: DeviceChoice, shown: [String], evidence: String? = nil) {
      (self.held, self.shown, self.evidence) = (held, shown, evidence)
    }
  }

  /// One thing that a possible state would have allowed.
  public struct Allowance: Equatable, Sendable {
    /// The state of the model.
    public var state: String
    /// What would have happened: an event's name, or `after 3 s`; empty where the state simply lasts.
    public var cause: String
    /// What would have been shown; the state's own status where it lasts.
    public var shows: String
    /// What would have been shown right after it, in order, of the same transition.
    public var following: [String]
    /// Whether it is more than allowed: it had to happen by some time.
    public var isDue: Bool
    /// Whether that time is over, or it had to come before anything else: nothing but this was right.
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

  /// What made them disagree.
  public var kind: Kind { contents.kind }
  /// When, since the test began.
  public var time: Instant { contents.time }
  /// The number of the step of the test, from 1; 0 before the first.
  public var step: Int {
    get { contents.step }
    set { contents.step = newValue }
  }
  /// Whether it was before the test, while the device was made ready for it; the time is that of the session then.
  public internal(set) var isInPreparation: Bool {
    get { contents.isInPreparation }
    set { contents.isInPreparation = newValue }
  }
  /// Whether it is not the device's: what stopped answering is a program of the lab that speaks to it, or plays it.
  public var isOfLab: Bool {
    get { contents.isOfLab }
    set { contents.isOfLab = newValue }
  }
  /// What made it stop answering, where that is what it did.
  public var fault: LabFault? {
    get { contents.fault }
    set { contents.fault = newValue }
  }
  /// What the tester last did.
  public var lastStimulus: String? { contents.lastStimulus }
  /// The status last seen.
  public var lastStatus: String? { contents.lastStatus }
  /// What the model allowed at that moment.
  public var allowed: [Allowance] { contents.allowed }
  /// Why the device showed what it did, or nothing, where that is known.
  public var explanation: Explanation? { contents.explanation }
  /// What the tester had sent that no client sends, where the device may still react to it.
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

  /// One word, so that "no divergence" costs no more than that wherever it is returned.
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
  /// - Parameter injected: what the tester has sent that no client sends, and to which the device may still react, the
  ///   latest last.
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

  /// One line that says what is wrong, what happened, and why, where that is known.
  public var summary: String {
    let before =
      isInPreparation
      ? "the fault lies before the test, and was seen while the device was made ready for it: " : ""
    return before + cause + symptom + evidence + (explanation.map { "; \($0)" } ?? "") + circumstance
  }

  /// What the device did wrong, where the tester knows: it obeyed what was injected.
  private var cause: String {
    guard let injection, injection.isObeyed else { return "" }
    let action = injection.action
    return "\(action.kind.verdict): \(action.sent), sent at \(action.moment), which a correct device "
      + "\(action.reaction); "
  }

  /// What was injected shortly before, where what the device showed is no sign that it obeyed.
  private var circumstance: String {
    guard let injection, !injection.isObeyed else { return "" }
    return injection.action.circumstance(at: time)
  }

  /// Where the device showed what it is held to.
  private var evidence: String {
    guard case .contradiction(let contradiction) = kind, let evidence = contradiction.evidence else {
      return ""
    }
    return ", which it showed in \(evidence)"
  }

  private var symptom: String {
    switch kind {
    case .unexpected(let seen): "the device showed \(seen), which the model does not allow"
    case .overdue: "the device showed nothing, where the model demands something by now"
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

  /// What tells divergences apart: the obligation that was broken, whenever that was and whatever led there.
  ///
  /// For what did not come in time that is what was due; what the tester did last is a part of it only where something
  /// came that nothing allows. Numbers are left out, so that two readings or two offsets make no two findings.
  public var signature: String {
    // Which rule was broken tells more than what the tester did last.
    if case .violation(let violation) = kind {
      return "broke \(violation.name)" + (violation.subject.map { " of \($0)" } ?? "")
    }
    let words: String =
      switch kind {
      // A program has many ways to fail: the last words of its standard error tell them apart.
      case .stoppedAnswering(let symptom) where isOfLab:
        "\(LabFault.Symptom.programFailed.rawValue): \(symptom.prefix { $0 != ":" }), "
          + (symptom.split(separator: "\n").dropFirst().last ?? "in silence")
      case .stoppedAnswering(let symptom):
        "stopped answering: \(symptom.prefix { $0 != ":" }) after \(lastStimulus ?? "the start")"
      case .overdue where !due.isEmpty: "overdue: \(due.joined(separator: " or "))"
      case .overdue: "nothing shown in \(lastStatus ?? "the beginning") after \(lastStimulus ?? "the start")"
      case .invariant, .violation, .contradiction: symptom
      case .unexpected, .refusedLegal: "\(symptom) after \(lastStimulus ?? "the start")"
      }
    return words.filter { !$0.isNumber }
  }

  /// What had to be shown by now, each once, in alphabetical order; with the stimulus where that shows it at once.
  private var due: [String] {
    var names: [String] = []
    for allowance in allowed where allowance.isDue {
      let isAtOnce = allowance.cause.isEmpty && allowance.following.isEmpty
      let name = isAtOnce ? "\(allowance.shows) after \(lastStimulus ?? "the start")" : allowance.shows
      if !names.contains(name) { names.append(name) }
    }
    return names.sorted()
  }

  /// Whether another one shows the same fault, as far as can be told: equal signatures, something in common among what
  /// was due in both, or the same stimulus that changed nothing in both, whatever status that left.
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

  /// Whether another one shows the same of model and device, whatever the tester did last: the same kind of divergence, the
  /// same status before it, and the same that the model allowed.
  public func looksLike(_ other: Divergence) -> Bool {
    (kind, lastStatus, allowed) == (other.kind, other.lastStatus, other.allowed)
      && (isInPreparation, isOfLab) == (other.isInPreparation, other.isOfLab)
  }

  /// What would have been right, in a few words: what the model would have taken.
  public var expected: String {
    switch kind {
    case .invariant(let rule): return "never: \(rule)"
    case .violation(let violation): return "never: \(violation.name)"
    case .stoppedAnswering: return "an answer"
    case .contradiction(let contradiction): return contradiction.expected
    case .unexpected, .overdue, .refusedLegal: break
    }
    var names: [String] = []
    for allowance in allowed where !names.contains(allowance.shows) { names.append(allowance.shows) }
    return names.joined(separator: " or ")
  }

  /// What was seen, for the line of the device beside the model's.
  public var seen: String {
    switch kind {
    case .unexpected(let seen): seen
    case .refusedLegal(let reason): "refused: \(reason)"
    case .violation(let violation): violation.description
    case .overdue, .invariant: lastStatus ?? "nothing"
    case .contradiction(let contradiction): contradiction.seen
    case .stoppedAnswering: isOfLab ? "nothing that says anything of it" : "no answer"
    }
  }
}

extension Divergence.Contradiction {
  /// What it is held to.
  var expected: String { held.options.joined(separator: " or ") }
  /// What it showed.
  var seen: String { shown.joined(separator: " or ") }
}

extension Vocabulary {
  /// What an observation is called in traces and reports.
  public func text(of observation: Observation) -> String {
    switch observation {
    case .status(let number): statuses[number]
    case .effect(let number): effects[number]
    case .unknown(let name):
      // As Unicode compares them, not as they are written.
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
