import Automata
import Basics

/// The steps of a test in a few words: `connect, enterWrong 3 times, wait 5 s`.
///
/// Repeated steps are counted, and so are repeated groups of two or three steps; of many steps only the last are
/// shown. Waits that end when nothing is awaited are omitted, since they only pace a test.
public struct StepSummary: Equatable, Sendable {
  /// The latest steps, each with the number of consecutive repetitions.
  private var runs: [Run] = []
  /// The number of steps before these.
  private var omitted = 0

  fileprivate struct Run: Equatable, Sendable {
    var words: String
    var count = 1
  }

  /// The maximum number of recorded runs, and of groups to show.
  private static let (maximumRuns, maximumGroups) = (1024, 8)
  /// The maximum length of a repeated group.
  private static let longestCycle = 3

  /// Makes an empty list of steps.
  public init() {}

  /// Makes the list of the steps of some actions.
  public init(_ actions: [TestAction], _ vocabulary: Vocabulary) {
    for action in actions { add(action, vocabulary) }
  }

  /// Adds an action of the tester.
  public mutating func add(_ action: TestAction, _ vocabulary: Vocabulary) {
    switch action {
    case .stimulus(let stimulus):
      let arguments = stimulus.arguments.map { argument in
        argument.name == Argument.only ? " \(argument.value)" : " \(argument.name) \(argument.value)"
      }
      add(vocabulary.stimuli[stimulus.number] + arguments.joined())
    case .fault(let fault): add(fault.words)
    case .wait(let interval): if interval > .zero { add("wait \(interval)") }
    case .settle, .next, .edge, .drawn: break
    }
  }

  private mutating func add(_ words: String) {
    if runs.last?.words == words {
      runs[runs.count - 1].count += 1
    } else {
      runs.append(Run(words: words))
    }
    guard runs.count > 2 * Self.maximumRuns else { return }
    omitted += runs.prefix(Self.maximumRuns).reduce(0) { $0 + $1.count }
    runs.removeFirst(Self.maximumRuns)
  }

  /// The steps as text, separated by commas; empty if there are none.
  public var text: String {
    let groups = runs.repetitions(of: Self.longestCycle)
    let shown = groups.suffix(Self.maximumGroups)
    let left = groups.dropLast(shown.count).reduce(omitted) { sum, group in sum + group.steps }
    let words = shown.map { $0.words }
    return ((left > 0 ? ["after \(counted(left, "step"))"] : []) + words).joined(separator: ", ")
  }
}

extension Repetition<StepSummary.Run> {
  /// The number of steps in the group.
  fileprivate var steps: Int { times * elements.reduce(0) { $0 + $1.count } }

  /// The group as text: `enterWrong 3 times`, or `connect then leave, 3 times` for several steps.
  fileprivate var words: String {
    let each = elements.map { run in run.words + Self.times(run.count, " ") }
    return each.joined(separator: " then ") + Self.times(times, ", ")
  }

  private static func times(_ count: Int, _ space: String) -> String {
    switch count {
    case 1: ""
    case 2: space + "twice"
    default: space + "\(count) times"
    }
  }
}

extension Fault {
  /// The fault as text: `jam`, `drop next-notification`; the end of a lasting fault: `jam ends`.
  fileprivate var words: String {
    if value == .flag(true) { return name }
    return value.isNothing ? "\(name) ends" : "\(name) \(value)"
  }
}

// MARK: - The sentence

extension Divergence {
  /// Returns the divergence in one sentence: the steps in short, what was due, and what the device showed.
  ///
  ///     connect, enterWrong 3 times: shutOut was due, the device still showed locked.
  ///
  /// Names are those of the machine.
  public func sentence(after steps: StepSummary) -> String {
    let text = steps.text
    let done = text.isEmpty ? "At the start" : text
    let before = isInPreparation ? "While the device was made ready for this: " : ""
    return "\(before)\(done): \(outcome)."
  }

  private var outcome: String {
    switch kind {
    case .unexpected(let seen): unexpected(seen)
    case .wrongReading(let wrong):
      "\(wrong.due.told) was due as \(wrong.name)"
        + (wrong.origin.map { ", \($0)" } ?? "") + ", the device showed \(wrong.shown.told)"
    case .overdue: "\(wanted), the device \(stillShown)"
    case .refusedLegal(let reason):
      "\(lastStimulus ?? "this") was allowed, the device refused it" + (reason.isEmpty ? "" : " (\(reason))")
    case .invariant(let rule): rule.withoutPeriod
    case .violation(let violation):
      "the device broke the rule \(violation.name)" + (violation.subject.map { " of \($0)" } ?? "")
    case .stoppedAnswering(let symptom):
      "\(isOfLab ? "a program of the lab failed" : "the device stopped answering"), \(symptom.firstLine)"
    case .contradiction(let contradiction):
      "\(contradiction.expected) of \(contradiction.held.name) was due, the device showed \(contradiction.seen)"
    }
  }

  /// Describes an unexpected observation, which may be allowed at another time or not at all.
  private func unexpected(_ seen: String) -> String {
    let causes = allowed.filter { $0.shows == seen && !$0.cause.isEmpty }.map(\.cause).unique
    guard causes.isEmpty else {
      return "the device showed \(seen), which is allowed \(causes.alternatives) and not now"
    }
    return "\(wanted), the device showed \(seen)"
  }

  /// What the model expected: what was due or, without that, what could come next or was allowed.
  private var wanted: String {
    if allowed.isEmpty { return "nothing was due" }
    // An overdue observation is one whose deadline has passed or, if no deadline is certain, any that has one.
    let late = [allowed.filter(\.isRequired), allowed.filter(\.isDue)].first { !$0.isEmpty }
    if kind == .overdue, let late { return "\(late.names) was due" }
    if allowed.allSatisfy(\.isRequired) { return "\(allowed.names) was due" }
    let mayStay = allowed.contains { $0.cause.isEmpty && !$0.isDue }
    return mayStay ? "\(allowed.names) was allowed" : "only \(allowed.names) could come next"
  }

  /// What the device showed instead of the overdue observation.
  private var stillShown: String {
    guard let lastStatus, !allowed.contains(where: { $0.isDue && $0.shows == lastStatus }) else {
      return "showed nothing"
    }
    return "still showed \(lastStatus)"
  }
}

extension [Divergence.Allowance] {
  /// The observations, without duplicates.
  fileprivate var names: String { map(\.shows).unique.alternatives }
}

extension [String] {
  /// The elements in order, without duplicates.
  fileprivate var unique: [String] {
    var result: [String] = []
    for name in self where !result.contains(name) { result.append(name) }
    return result
  }

  /// The elements as text: `a`, `a or b`, `a, b or c`; of a long list only the first ones, and the number of the
  /// others.
  fileprivate var alternatives: String {
    let most = 4
    let shown = count > most ? prefix(most - 1) + ["\(count - most + 1) others"] : self[...]
    guard shown.count > 1 else { return first ?? "" }
    return shown.dropLast().joined(separator: ", ") + " or " + shown[shown.count - 1]
  }
}

extension String {
  fileprivate var withoutPeriod: String { last == "." ? String(dropLast()) : self }
  fileprivate var firstLine: String { split(whereSeparator: \.isNewline).first.map(String.init) ?? "" }
}
