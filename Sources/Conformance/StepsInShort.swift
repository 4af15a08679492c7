import Automata
import Basics

/// The steps of a test in a few words: `connect, enterWrong 3 times, wait 5 s`.
///
/// Repeated steps are counted, and so are repeated groups of two or three steps; of many steps only the last are
/// shown. Waits that end when nothing is awaited are omitted, since they only pace a test.
public struct StepsInShort: Equatable, Sendable {
  /// The last steps, and how often each was done in a row.
  private var runs: [Run] = []
  /// How many steps there were before these.
  private var omitted = 0

  fileprivate struct Run: Equatable, Sendable {
    var words: String
    var count = 1
  }

  /// The maximum number of recorded runs, and of groups to show.
  private static let (maximumRuns, maximumGroups) = (1024, 8)
  /// How many steps may be done in turn to be counted together.
  private static let longestCycle = 3

  /// Nothing was done.
  public init() {}

  /// The steps of actions.
  public init(_ actions: [TestAction], _ vocabulary: Vocabulary) {
    for action in actions { add(action, vocabulary) }
  }

  /// Adds what a tester does.
  public mutating func add(_ action: TestAction, _ vocabulary: Vocabulary) {
    switch action {
    case .stimulus(let stimulus):
      let arguments = stimulus.arguments.map { argument in
        argument.name == Argument.only ? " \(argument.value)" : " \(argument.name) \(argument.value)"
      }
      add(vocabulary.stimuli[stimulus.number] + arguments.joined())
    case .fault(let fault): add(fault.words)
    case .wait(let interval): if interval > .zero { add("wait \(interval)") }
    case .settle, .next, .edge: break
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

  /// The steps, behind one another; empty where nothing was done.
  public var text: String {
    let groups = runs.repetitions(of: Self.longestCycle)
    let told = groups.suffix(Self.maximumGroups)
    let left = groups.dropLast(told.count).reduce(omitted) { sum, group in sum + group.steps }
    let words = told.map { $0.words }
    return ((left > 0 ? ["after \(counted(left, "step"))"] : []) + words).joined(separator: ", ")
  }
}

extension Repetition<StepsInShort.Run> {
  /// How many steps they are.
  fileprivate var steps: Int { times * elements.reduce(0) { $0 + $1.count } }

  /// `enterWrong 3 times`; of several `connect then leave, 3 times`.
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
  /// What is brought about: `jam`, `drop next-notification`, and the end of what lasts: `jam ends`.
  fileprivate var words: String {
    if value == .flag(true) { return name }
    return value.isNothing ? "\(name) ends" : "\(name) \(value)"
  }
}

// MARK: - The sentence

extension Divergence {
  /// The divergence in one sentence: the steps in short, what was due, and what the device showed.
  ///
  ///     connect, enterWrong 3 times: shutOut was due, the device still showed locked.
  ///
  /// Names are those of the machine.
  public func sentence(after steps: StepsInShort) -> String {
    let text = steps.text
    let done = text.isEmpty ? "At the start" : text
    let before = isInPreparation ? "While the device was made ready for this: " : ""
    return "\(before)\(done): \(outcome)."
  }

  private var outcome: String {
    switch kind {
    case .unexpected(let seen): unexpected(seen)
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

  /// What was shown that may not be: it may come at another time, or not at all here.
  private func unexpected(_ seen: String) -> String {
    let causes = allowed.filter { $0.shows == seen && !$0.cause.isEmpty }.map(\.cause).unique
    guard causes.isEmpty else {
      return "the device showed \(seen), which is allowed \(causes.alternatives) and not now"
    }
    return "\(wanted), the device showed \(seen)"
  }

  /// What the model expected: what was due by then, else all that could come next, else what was allowed.
  private var wanted: String {
    if allowed.isEmpty { return "nothing was due" }
    // Silence is late for what is over by now; of some it is not known when it is.
    let late = [allowed.filter(\.isRequired), allowed.filter(\.isDue)].first { !$0.isEmpty }
    if kind == .overdue, let late { return "\(late.names) was due" }
    if allowed.allSatisfy(\.isRequired) { return "\(allowed.names) was due" }
    let mayStay = allowed.contains { $0.cause.isEmpty && !$0.isDue }
    return mayStay ? "\(allowed.names) was allowed" : "only \(allowed.names) could come next"
  }

  /// What a device shows that has not shown what was due.
  private var stillShown: String {
    guard let lastStatus, !allowed.contains(where: { $0.isDue && $0.shows == lastStatus }) else {
      return "showed nothing"
    }
    return "still showed \(lastStatus)"
  }
}

extension [Divergence.Allowance] {
  /// What they show, each once.
  fileprivate var names: String { map(\.shows).unique.alternatives }
}

extension [String] {
  /// Each once, in their order.
  fileprivate var unique: [String] {
    var result: [String] = []
    for name in self where !result.contains(name) { result.append(name) }
    return result
  }

  /// `a`, `a or b`, `a, b or c`; of many the first.
  fileprivate var alternatives: String {
    let most = 4
    let told = count > most ? prefix(most - 1) + ["\(count - most + 1) others"] : self[...]
    guard told.count > 1 else { return first ?? "" }
    return told.dropLast().joined(separator: ", ") + " or " + told[told.count - 1]
  }
}

extension String {
  fileprivate var withoutPeriod: String { last == "." ? String(dropLast()) : self }
  fileprivate var firstLine: String { split(whereSeparator: \.isNewline).first.map(String.init) ?? "" }
}
