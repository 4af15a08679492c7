import Devices
import Bench
import Journal
import Conformance
import Harness
import Reporting

/// What a campaign is about, checked: before anything is begun or written.
struct FuzzPlan {
  let world: World
  let target: FuzzTarget
  /// What is explored in place of the target, where it has a twin.
  let twin: FuzzTarget?
  let settings: FuzzSettings
  /// Where rare tests are kept that several hosts share; `nil` where they are kept in a folder.
  let corpus: CorpusStore?
  /// How far the campaign is: not at all, or where its last sitting ended.
  let state: CampaignState

  /// - Parameter earlier: where the campaign stopped that is taken up again.
  init(_ arguments: FuzzArguments, earlier: CampaignState?) throws(UsageError) {
    var lab = try arguments.run.labSettings()
    lab.governor.waitsForJams()
    world = World(answerTimeout: arguments.run.answerTimeout, lab: lab)
    corpus = try arguments.openCorpus()
    let seed = arguments.run.seed ?? arguments.run.drawnSeed ?? UInt64(world.drawSeed())
    let round = earlier.map { $0.round + 1 } ?? 0
    var settings = try arguments.settings(seed: seed, round: round)
    let machine = try world.machine(arguments.operands[0])
    target = try arguments.target(machine, in: world, seed: seed)
    try arguments.run.lab.checkGoverned([target.device], countsMovements: true)
    twin = try arguments.twinTarget(machine, target, in: world, seed: seed)
    for (name, weight) in settings.weights {
      let (target, twin) = (target, twin)
      try checked("--weight: ") { try target.checkAct(name, isWanted: weight > 0, twin: twin) }
    }
    if !target.device.isGoverned, let most = arguments.run.lab.actuations {
      settings.actuations = max(most.value - (earlier?.status.actuations ?? 0), 0)
    }
    self.settings = settings
    var state =
      earlier
      ?? CampaignState(
        machine: arguments.operands[0], device: arguments.run.device ?? target.device.description, seed: seed)
    state.twin = arguments.twin
    state.seed = seed
    state.round = round
    state.options = arguments.campaignOptions
    self.state = state
  }
}

extension CampaignState {
  /// Where a campaign that goes on from here begins.
  func earlier<Device: DeviceUnderTest>() -> Campaign<Device>.Earlier {
    var earlier = Campaign<Device>.Earlier()
    earlier.status = status
    earlier.findings = findings.map { ($0.signature, $0.count) }
    return earlier
  }
}

/// Where everything goes that a campaign says: to the reports of this process, or to the process that started it.
protocol FuzzDesk: AnyObject {
  /// Tells whoever looks on.
  var report: any FuzzReport { get }
  /// Takes in the journal.
  var listener: any JournalListener { get }
  /// What the cases of earlier sittings came to.
  var tally: Tally { get }
  /// Whether the journal has a beginning and an end here.
  var keepsJournal: Bool { get }
  /// Whether the campaign is to be stopped.
  var isStopped: Bool { get }
  /// Keeps what it takes to go on.
  func keep(_ state: CampaignState)
  /// Says something that holds for the whole campaign, to people and in the journal: once, whoever comes upon it.
  func sayOnce(_ text: String)
}
