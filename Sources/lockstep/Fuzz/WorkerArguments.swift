import Journal
import Basics
import CommandLine
import Harness
import Reporting

/// The command lines of a campaign's workers.
struct WorkerArguments {
  let arguments: FuzzArguments
  let plan: CampaignPlan

  /// The words for each worker; there are only as many workers as have work.
  var all: [[String]] {
    let jobs = arguments.jobs?.value ?? 1
    let steps = arguments.steps.map { Self.shares(of: $0.value - plan.state.status.events, jobs) }
    let moves = (plan.settings.actuations ?? arguments.run.lab.actuations?.value)
      .map { Self.shares(of: $0, jobs) }
    let shard = arguments.run.shard ?? Shard(part: 1, of: 1)!
    return (0..<jobs).compactMap { index in
      var own = arguments
      if let share = steps?[index] {
        guard share > 0 else { return nil }
        own.steps = EventCount(share)
      }
      if let share = moves?[index] {
        guard share > 0 else { return nil }
        own.run.lab.actuations = Count(share)
      }
      own.jobs = nil
      own.run.shard = Shard(part: (shard.part - 1) * jobs + index + 1, of: shard.count * jobs)
      return ["fuzz-worker", own.operands[0]] + words(own)
    }
  }

  private func words(_ own: FuzzArguments) -> [String] {
    var words = [
      "--seed=\(plan.settings.seed)", "--out=\(own.run.reports.out)", "--corpus=\(own.corpusFolder)",
    ]
    if let device = own.run.device { words.append("--device=\(device)") }
    if let twin = own.twin { words.append("--twin=\(twin)") }
    if let time = own.duration { words.append("--duration=\(time)") }
    if let maximum = own.run.lab.actuations { words.append("--actuations=\(maximum.value)") }
    words += own.run.lab.permissions
    return words + ["--answer-timeout=\(own.run.answerTimeout)"] + own.campaignOptions
  }

  /// Divides a number as evenly as possible.
  static func shares(of total: Int, _ count: Int) -> [Int] {
    let total = max(total, 0)
    return (0..<count).map { total / count + ($0 < total % count ? 1 : 0) }
  }
}
