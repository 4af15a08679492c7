import Bench
import CommandLine
import Basics
import Conformance
import Devices
import Harness
import Journal
import Reporting
import System

extension CampaignPlan {
  /// Creates the plan from the command line, and validates it.
  ///
  /// - Parameter earlier: the state in which the campaign to resume stopped.
  init(_ arguments: FuzzArguments, in world: World, earlier: CampaignState?) throws(UsageError) {
    let corpus = try arguments.openCorpus()
    let seed = arguments.run.seed ?? arguments.run.drawnSeed ?? UInt64(world.drawSeed())
    let round = earlier.map { $0.round + 1 } ?? 0
    var settings = try arguments.settings(seed: seed, round: round)
    let machine = try world.machine(arguments.operands[0])
    if let known = earlier?.machineHash, known != machine.hash {
      throw UsageError(
        "\(machine.label) is no longer the machine with which the campaign began: start a new campaign")
    }
    let target = try arguments.target(machine, in: world, seed: seed)
    try arguments.run.lab.checkInterlocked([target.device], countsMovements: true)
    let twin = try arguments.twinTarget(machine, target, in: world, seed: seed)
    for (name, weight) in settings.weights {
      try checked("--weight: ") { try target.checkAct(name, isWanted: weight > 0, twin: twin) }
    }
    try checked { try (twin ?? target).checkActs(settings) }
    if !target.device.isInterlocked, let maximum = arguments.run.lab.actuations {
      settings.actuations = max(maximum.value - (earlier?.status.actuations ?? 0), 0)
    }
    var state =
      earlier
      ?? CampaignState(
        machine: arguments.operands[0], device: arguments.run.device ?? target.device.description, seed: seed)
    state.machineHash = machine.hash
    state.twin = arguments.twin
    state.seed = seed
    state.round = round
    state.options = arguments.campaignOptions
    self.init(
      target: target, twin: twin, settings: settings, state: state, duration: arguments.duration,
      provider: world.devices, reader: world.reader,
      corpus: corpus.map { .shared(StoredCorpus(store: $0)) } ?? .folder(arguments.corpusFolder),
      job: arguments.run.job,
      failures: arguments.run.reports.out + "/failures", replayLine: arguments.run.replayLine)
  }
}

extension World {
  /// Creates the world for a campaign.
  static func forCampaign(
    _ arguments: FuzzArguments, messages: StatusLine? = nil
  ) throws(UsageError) -> World {
    var lab = try arguments.run.labSettings()
    try arguments.run.lab.checkCapture(lab)
    lab.interlock.waitsForJams()
    return World(answerTimeout: arguments.run.answerTimeout, lab: lab, messages: messages)
  }
}

/// A corpus in a database.
private struct StoredCorpus: SharedCorpus {
  let store: CorpusStore

  var place: String { "\(store.place)" }

  func keep(_ test: (name: String, text: String), of machine: String, job: String?) throws {
    try store.keep(CorpusStore.Test(name: test.name, text: test.text), of: machine, job: job)
  }

  func tests(of machine: String, maximum: Int, without job: String?) throws -> [(name: String, text: String)]
  {
    try store.tests(of: machine, maximum: maximum, without: job).map { ($0.name, $0.text) }
  }
}
