import Automata
import CommandLine
import System
import Conformance
import Harness
import Basics

/// Reports the results for the mutants, as text or JSON.
final class MutantsReport {
  /// The maximum number of survivors in the text output.
  private static let maximumSurvivors = 20

  private let machine: MachineLibrary.Entry
  private let analysis: MutationAnalysis
  private let console: Console
  private let paint: Painter
  private let isHuman: Bool
  private let vocabulary: Vocabulary
  private let sample: Int?
  private let seed: UInt64
  private let defectCount: Int
  private var scores = [MutationScore](repeating: MutationScore(), count: Mutant.Kind.allCases.count)
  private var defects = MutationScore()
  private var survivors: [(result: MutationAnalysis.Result, saved: String?)] = []
  private var done = 0

  init(
    _ machine: MachineLibrary.Entry, _ analysis: MutationAnalysis, _ console: Console,
    _ arguments: MutantsArguments, defectCount: Int
  ) {
    self.machine = machine
    self.analysis = analysis
    self.console = console
    paint = console.painter(arguments.run.color)
    isHuman = arguments.run.format == .human
    vocabulary = Vocabulary(machine: machine.machine)
    sample = arguments.sample?.value
    seed = arguments.seed
    self.defectCount = defectCount
  }

  /// Prints what will be tried.
  func begin() {
    let isSampled = analysis.sampleCount < analysis.count
    if isHuman {
      var text = "\(machine.label): \(analysis.count) mutants"
      if isSampled { text += ", of which \(analysis.sampleCount) are tried (seed \(seed), evenly by kind)" }
      console.print(text)
      text = "suite: \(counted(analysis.testNames.count, "test"))"
      if !analysis.omittedTests.isEmpty {
        text += ", and \(analysis.omittedTests.count) left out, which the machine itself does not pass"
      }
      console.print(text + "\n")
    } else {
      console.print([
        "machine": .text(machine.label), "mutants": .integer(analysis.count),
        "tried": .integer(analysis.sampleCount), "seed": .integer(seed),
        "tests": .integer(analysis.testNames.count), "leftOut": .list(analysis.omittedTests.map(JSON.text)),
      ])
    }
  }

  /// Records the result for a mutant.
  func take(_ result: MutationAnalysis.Result, saved: String?) {
    let kind = Mutant.Kind.allCases.firstIndex(of: result.kind) ?? 0
    scores[kind].count(result.fate)
    progress()
    switch result.fate {
    case .survived, .undecided: survivors.append((result, saved))
    case .killed, .equivalent: break
    }
    if !isHuman { console.print(json(result, saved)) }
  }

  /// Records the result for a device with a defect.
  func take(defect: String, of device: DeviceSpec, killers: [String]) {
    if killers.isEmpty { defects.survived += 1 } else { defects.killed += 1 }
    progress()
    if isHuman {
      guard killers.isEmpty else { return }
      clear()
      console.print("\(paint(.bad, "survived")) defect \(defect) of \(device.name)")
    } else {
      console.print([
        "defect": .text(defect), "device": .text(device.description),
        "fate": .text(killers.isEmpty ? "survived" : "killed"), "killers": .list(killers.map(JSON.text)),
      ])
    }
  }

  /// Prints the score and returns it as a percentage.
  func end(took time: Interval) -> Double {
    clear()
    let all = scores.reduce(defects, +)
    var rows = zip(Mutant.Kind.allCases.map(\.rawValue), scores).filter { $0.1.count > 0 }
    if defects.count > 0 { rows.append(("defect", defects)) }
    rows.append(("all", all))
    if isHuman {
      showSurvivors()
      console.print(table(rows))
      console.print(
        "\nscore \(percent(all.percent)) in \(Interval.milliseconds(time.nanoseconds / 1_000_000))")
    } else {
      for (name, score) in rows {
        console.print([
          "score": .text(name), "killed": .integer(score.killed), "survived": .integer(score.survived),
          "equivalent": .integer(score.equivalent), "undecided": .integer(score.undecided),
          "percent": .decimal((score.percent * 100).rounded() / 100),
        ])
      }
    }
    return all.percent
  }

  private func showSurvivors() {
    for (result, saved) in survivors.prefix(Self.maximumSurvivors) {
      console.print("\(paint(.bad, "survived")) \(result.kind.rawValue): \(result.summary)")
      switch result.fate {
      case .survived(let test):
        console.print("         \(test.text(in: vocabulary))")
        if let saved { console.print("         \(saved)") }
      case .undecided(let pairs):
        console.print("         undecided within \(pairs) pairs of model and mutant")
      case .killed, .equivalent: break
      }
    }
    let more = survivors.count - Self.maximumSurvivors
    if more > 0 { console.print("and \(more) more, which --format json lists") }
    if !survivors.isEmpty { console.print("") }
  }

  private func table(_ rows: [(String, MutationScore)]) -> String {
    func cell(_ text: String, _ width: Int = 11) -> String {
      (" " + text).rightAligned(in: width)
    }
    func line(_ name: String, _ cells: [String]) -> String {
      name.leftAligned(in: 16) + cells.map { cell($0) }.joined()
    }
    let heads = ["killed", "survived", "equivalent", "undecided", "of", "score"]
    return
      ([line("", heads)]
      + rows.map { name, score in
        line(
          name,
          [score.killed, score.survived, score.equivalent, score.undecided, score.count].map { String($0) }
            + [percent(score.percent)])
      }).joined(separator: "\n")
  }

  private func percent(_ value: Double) -> String {
    // Rounded down: only a full score is 100.
    let tenths = Int(value * 10)
    return "\(tenths / 10).\(tenths % 10) %"
  }

  private func progress() {
    done += 1
    guard console.status.isTerminal, isHuman, done % 16 == 0 else { return }
    console.status.show("\(done) of \(analysis.sampleCount + defectCount)")
  }

  private func clear() { console.status.show("") }

  private func json(_ result: MutationAnalysis.Result, _ saved: String?) -> JSON {
    var (killer, survivor, pairs): (String?, DistinguishingTest?, Int?)
    let fate: JSON
    switch result.fate {
    case .killed(let name): (fate, killer) = ("killed", name)
    case .survived(let test): (fate, survivor) = ("survived", test)
    case .equivalent(let count): (fate, pairs) = ("equivalent", count)
    case .undecided(let count): (fate, pairs) = ("undecided", count)
    }
    return .omittingNil([
      "mutant": .integer(result.number), "kind": .text(result.kind.rawValue),
      "summary": .text(result.summary), "fate": fate, "killer": killer.map(JSON.text),
      "test": survivor.map { .text($0.text(in: vocabulary)) },
      "divergence": survivor.map { .text($0.divergence.summary) },
      "scenario": survivor == nil ? nil : saved.map(JSON.text), "pairs": pairs.map { .integer($0) },
    ])
  }
}

extension DistinguishingTest {
  /// Returns the actions and their observations in one line: `connect → connecting, wait 3 s, lock → moved`.
  func text(in vocabulary: Vocabulary) -> String {
    var parts: [String] = start.settings.map { "\($0.name): \($0.value)" }
    var now = Instant.zero
    var isFirst = true
    func pass(until time: Instant) {
      if time > now { parts.append("wait \(time - now)") }
      now = time
    }
    for entry in trace {
      switch entry.event {
      case .stimulus(let stimulus):
        pass(until: entry.time)
        let values = stimulus.arguments.map { " \($0.value)" }.joined()
        parts.append(vocabulary.stimuli[stimulus.number] + values)
        isFirst = true
      case .fault(let fault):
        pass(until: entry.time)
        parts.append("fault \(fault.name)\(fault.value.isNothing ? " off" : "")")
        isFirst = true
      case .observation(let observation):
        if entry.time > now {
          pass(until: entry.time)
          isFirst = true
        }
        // The observations of a wrong machine before the first action.
        if parts.isEmpty { parts.append("start") }
        let text = vocabulary.text(of: observation)
        parts[parts.count - 1] += isFirst ? " → \(text)" : " \(text)"
        isFirst = false
      }
    }
    pass(until: divergence.time)
    return parts.joined(separator: ", ") + ": \(divergence.summary)"
  }
}
