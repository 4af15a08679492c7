import Documents
@testable import Devices
import Journal
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

  /// Every scenario, read once as the command reads them, and what is wrong with any.
  private static let all = {
    let set = ScenarioSet([root + "/Scenarios"], reader: World().reader)
    return (items: set.items, problems: set.problems)
  }()

  /// Every scenario.
  static var items: [ScenarioSet.Item] { all.items }
  /// What is wrong with those that cannot be read.
  static var problems: [String] { all.problems.map(\.description) }

  /// Every scenario's path, from the repository on.
  static let files: [String] = items.map { String($0.path.dropFirst(root.count + 1)) }

  /// Those of devices that can be reached over the air.
  static let filesOverAir: [String] = zip(files, items).compactMap { file, item in
    let options = item.scenario.device.flatMap { EmulatedDevice.named($0.name)?.options } ?? []
    return options.contains("link") ? file : nil
  }

  /// Whether a scenario is for a lock with its real protocol.
  static func isOfLock(_ file: String) -> Bool { !file.hasPrefix("Scenarios/socket/") }

  /// Drives a scenario whose device is reached over the air.
  static func runOverAir(_ file: String) throws -> CaseJournal {
    var item = try #require(items.first { $0.path == root + "/" + file })
    item.scenario.device?.settings.append(DeviceSpec.Setting("link", "radio"))
    return try run(item, World())
  }

  /// Drives a scenario, perhaps with another machine or device, and gives its journal.
  static func run(_ item: ScenarioSet.Item, _ world: World) throws -> CaseJournal {
    var selection = Plan.Selection()
    selection.seed = 1
    let journal = CaseJournal()
    let run = Run(
      try Plan(ScenarioSet([item]), selection, provider: world.devices), in: [RunWorker(world.devices)],
      listener: journal)
    journal.coverage = run.perform().coverage
    return journal
  }
}

/// What a run of one scenario did: each stimulus with the status before it, and how it ended.
final class CaseJournal: JournalListener {
  private(set) var verdict: Record.Verdict?
  /// The stimuli, each with the status that was shown before; `nil` when none was shown yet.
  private(set) var tried: [(status: String?, stimulus: String)] = []
  var coverage: [Coverage] = []
  private var status: String?

  func take(_ record: Record) {
    switch record {
    case .event(let event) where event.kind == .stimulus: tried.append((status, event.text))
    case .event(let event) where event.kind == .status: status = event.text
    case .verdict(let verdict): self.verdict = verdict
    default: break
    }
  }

  /// Whether model and device agreed.
  var agrees: Bool { verdict?.word == .agree }

  /// Whether they diverged.
  var diverges: Bool { verdict?.word == .divergence }

  /// How it ended, for messages.
  var ending: String {
    verdict.map { ([$0.message ?? "agree"] + $0.details).joined(separator: "\n") } ?? "nothing"
  }
}
