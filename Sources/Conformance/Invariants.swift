public import Automata
public import Basics

extension TraceRule {
  /// The invariant that checks the rule.
  public var invariant: any Invariant {
    switch self {
    case .noViolation(let excuses): NoViolation(unless: excuses)
    case .neverRises(let reading): NeverRises(reading)
    case .needsStimulus(let reason): NeedsStimulus(reason)
    case .keepsTags(let records): KeepsTags(records)
    }
  }
}

/// The device breaks no rule of its protocol while nothing tampers with the link. A known quirk of its kind is a
/// diagnostic and no violation.
public struct NoViolation: Invariant {
  /// The conditions under which a violation proves nothing.
  public let excuses: [String]

  /// Makes the invariant.
  public init(unless excuses: [String] = []) {
    self.excuses = excuses
  }

  public mutating func reset(isNew: Bool) {}

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    guard case .observation(.violation(let violation)) = event, violation.quirk == nil,
      !excuses.contains(where: view.mayHold)
    else {
      return nil
    }
    return "the device broke a rule: \(violation)"
  }
}

/// Each reading has the form that the machine declares for it. Undeclared readings may have any.
public struct ReadingsAsDeclared: Invariant {
  private let forms: [ValueForm]

  /// Checks readings against their forms.
  public init(_ forms: [ValueForm]) { self.forms = forms }

  public mutating func reset(isNew: Bool) {}

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    guard case .observation(.reading(let reading)) = event,
      let form = forms.first(where: { $0.name == reading.name }), !isFit(reading.value, form.kind)
    else { return nil }
    let value = if case .text(let text) = reading.value { "the text '\(text)'" } else { "\(reading.value)" }
    return "\(reading.name) is \(value), and not \(form.kind.expectation)"
  }

  /// Whether a value fits. A program writes a duration as text or as a number of seconds.
  private func isFit(_ value: Value, _ kind: ValueForm.Kind) -> Bool {
    if case .duration = kind { return value.read(as: kind) != nil }
    return kind.admits(value)
  }
}

/// A reading, such as the battery's, never rises unless the tester sets it.
public struct NeverRises: Invariant {
  /// The name of the reading.
  public let reading: String
  /// The fault by which the tester may set it.
  public let fault: String
  private var last: Double?
  /// The values that the tester has set and no reading has risen to yet, the oldest first.
  private var set: [Double] = []

  /// Makes the invariant for a reading, which a fault of the same name may set.
  public init(_ reading: String, fault: String? = nil) {
    self.reading = reading
    self.fault = fault ?? reading
  }

  public mutating func reset(isNew: Bool) {
    last = nil
    set = []
  }

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    switch event {
    case .fault(let fault) where fault.name == self.fault:
      switch fault.value {
      case .number(let value): set.append(value)
      case .integer(let value): set.append(Double(value))
      default: set.append(.infinity)
      }
      return nil
    case .observation(.reading(let reading)) where reading.name == self.reading:
      guard case .number(let value) = reading.value else { return nil }
      defer { last = value }
      guard let last, value > last else { return nil }
      // A reading may lag behind a setting but never precede it: each setting explains one rise, up to its value.
      if let cause = set.firstIndex(where: { value <= $0 }) {
        set.removeSubrange(...cause)
        return nil
      }
      return "\(reading.name) rose from \(last) to \(value) by itself"
    case .fault, .observation, .stimulus:
      return nil
    }
  }
}

/// A status follows another only after one of several stimuli.
///
/// An unlocked door needs this in every state of the model: an authorised request must precede it.
public struct NeedsStimulus: Invariant {
  /// The status, and the stimuli that it needs.
  public let reason: TraceRule.Reason
  private var isGiven = true
  private var isStanding = false
  private var lastGiven: Instant?

  /// Makes the invariant.
  public init(_ reason: TraceRule.Reason) { self.reason = reason }

  public mutating func reset(isNew: Bool) {
    isGiven = true
    isStanding = false
    lastGiven = nil
  }

  public mutating func check(_ event: TraceEvent, at time: Instant, in view: ModelView) -> String? {
    switch event {
    case .stimulus(let stimulus):
      let name = view.vocabulary.stimuli[stimulus.number]
      if reason.standing.contains(name), let value = stimulus.arguments.first?.value, !value.isNothing {
        isStanding = true
      }
      guard reason.stimuli.contains(name) else { return nil }
      isGiven = true
      lastGiven = time
    case .fault: break
    case .observation(.status(let number)):
      let shown = view.vocabulary.statuses[number]
      if shown == reason.origin {
        // A recent stimulus may be the reason for the next observation.
        let isSlow = reason.slow.contains(where: view.mayHold)
        isGiven = lastGiven.map { isSlow || time <= $0 + reason.lead + view.slack } ?? false
      } else if shown == reason.status {
        if !isGiven, !isStanding {
          let stimuli = reason.stimuli.joined(separator: ", ")
          return "\(reason.status) after \(reason.origin), with none of: \(stimuli)"
        }
      } else if !reason.passing.contains(shown) {
        isGiven = true
      }
    case .observation:
      break
    }
    return nil
  }
}
