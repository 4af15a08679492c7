import Basics
import CommandLine
import Documents
import Devices
import Secrets
import Journal
import Reporting
import System
import Harness

extension FuzzArguments {
  /// The options of the campaign other than machine, device, twin and seed, in their canonical form.
  var campaignOptions: [String] {
    var words: [String] = []
    if let steps { words.append("--steps=\(steps.value)") }
    if keepsGoing { words.append("--keep-going") }
    words += without.map { "--without=\($0)" }
    words += weights.map { "--weight=\($0)" }
    if let length { words.append("--length=\(length.value)") }
    switch shrinkBudget {
    case .events(let count): words.append("--shrink-budget=\(count)")
    case .time(let time): words.append("--shrink-budget=\(time)")
    case nil: break
    }
    if let shard = run.shard { words.append("--shard=\(shard.part)/\(shard.count)") }
    if let jobs { words.append("--jobs=\(jobs.value)") }
    return words
  }

  /// Returns the arguments of a resumed campaign: its own, with those given now taking precedence.
  func resuming(_ state: CampaignState) throws(UsageError) -> FuzzArguments {
    let parser = ArgumentParser<FuzzArguments>(options: FuzzArguments.options, operands: nil)
    guard case .run(let own) = try parser.parse(state.options, into: FuzzArguments()) else { return self }
    var arguments = self
    if let machine = operands.first, machine != state.machine {
      throw UsageError("--resume: that campaign is about \(state.machine), and not about \(machine)")
    }
    if let device = run.device, try !isSame(device, state.device) {
      throw UsageError("--resume: that campaign is about \(state.device), and not about \(device)")
    }
    arguments.operands = [state.machine]
    arguments.run.device = state.device
    arguments.run.seed = run.seed ?? state.seed
    arguments.twin = twin ?? state.twin
    arguments.steps = steps ?? own.steps
    arguments.keepsGoing = keepsGoing || own.keepsGoing
    if without.isEmpty { arguments.without = own.without }
    if weights.isEmpty { arguments.weights = own.weights }
    arguments.length = length ?? own.length
    arguments.shrinkBudget = shrinkBudget ?? own.shrinkBudget
    arguments.run.shard = run.shard ?? own.run.shard
    arguments.jobs = jobs ?? own.jobs
    return arguments
  }

  private func isSame(_ left: String, _ right: String) throws(UsageError) -> Bool {
    try checked("--device: ") { try DeviceSpec(text: left) == DeviceSpec(text: right) }
  }

  /// Returns the command line that resumes the campaign in a folder.
  func resumeLine(_ folder: String) -> String {
    var words = ["lockstep", "fuzz", operands[0], "--resume", folder] + run.lab.words
    if run.lab.words.isEmpty, let device = run.device, (try? DeviceSpec(text: device))?.isInterlocked == true
    {
      words += run.lab.interlockWords
    }
    let usual = FuzzArguments()
    words += run.reports.words
    if let corpus { words += ["--corpus", withoutSecrets(corpus)] }
    if run.answerTimeout != usual.run.answerTimeout { words.append("--answer-timeout=\(run.answerTimeout)") }
    return words.map(shellWord).joined(separator: " ")
  }
}

extension CampaignState {
  /// Reads the state of a run, by the name of its folder in `OUT/runs` or by the folder's path.
  ///
  /// - Returns: the state, with everything in the journal, and the folder, which this process now holds.
  static func read(
    _ run: String, out: String
  ) throws(UsageError) -> (state: CampaignState, run: EarlierRun) {
    let run = try EarlierRun(run, out: out, with: file, saying: "--resume: ")
    let path = run.folder + "/" + file
    let bytes = try checked("--resume: ") {
      try ScenarioFiles.read(path, limits: Limits(bytes: 64 << 20))
    }
    guard var state = CampaignState(text: bytes) else {
      throw UsageError("--resume: \(path) is not the state of a campaign, or not one of this version")
    }
    state.adopt(RunSummary(journals: [run.folder + "/journal.jsonl"]))
    return (state, run)
  }
}
