import Automata
import Conformance
import FoundationEssentials
import Harness
import Models
import TestSupport
import Testing

@testable import lockstep

/// The scenarios of the repository.
enum Suite {
  /// The folder of the repository.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Every scenario's path, from the repository on.
  static let files: [String] = ScenarioFiles.find([root + "/Scenarios"]).files.map {
    String($0.dropFirst(root.count + 1))
  }

  /// Reads one scenario as the command does.
  static func item(_ file: String, _ world: World) throws -> ScenarioSet.Item {
    let set = ScenarioSet([root + "/" + file], reader: world.reader)
    try #require(set.problems.isEmpty, "\(set.problems.joined(separator: "\n"))")
    return try #require(set.items.first)
  }

  /// Drives a scenario, perhaps with another machine or device, and gives its journal.
  static func run(_ item: ScenarioSet.Item, _ world: World) throws -> Journal {
    var selection = Plan.Selection()
    selection.seed = 1
    let journal = Journal()
    let run = Run(
      try Plan(ScenarioSet([item]), selection, provider: world.devices), provider: world.devices,
      listener: journal)
    journal.coverage = run.perform().coverage
    return journal
  }
}

/// What a run of one scenario did: each stimulus with the status before it, and how it ended.
final class Journal: JournalListener {
  private(set) var outcome: Outcome?
  /// The stimuli, each with the status that was shown before; `nil` when none was shown yet.
  private(set) var tried: [(status: String?, stimulus: String)] = []
  var coverage: [Coverage] = []
  private var status: String?

  func take(_ entry: JournalEntry) {
    switch entry {
    case .stimulus(let call, _, _): tried.append((status, call.name))
    case .observation(.status(let number), let vocabulary, _): status = vocabulary.statuses[number]
    case .verdict(let outcome, _): self.outcome = outcome
    default: break
    }
  }

  /// Whether model and device agreed.
  var agrees: Bool { outcome?.verdict == .agree }

  /// How it ended, for messages.
  var ending: String {
    outcome.map { ([$0.verdict.message ?? "agree"] + $0.details).joined(separator: "\n") } ?? "nothing"
  }
}
