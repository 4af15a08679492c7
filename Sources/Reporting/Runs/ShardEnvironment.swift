public import Journal
public import System
import Basics

/// The part of a run that this process is, from the variables of schedulers.
///
/// | scheduler | part | of how many |
/// |---|---|---|
/// | Slurm array | `SLURM_ARRAY_TASK_ID`, from `_MIN` in steps of `_STEP` | `_COUNT`, or what `_MAX` makes it |
/// | GitLab `parallel` | `CI_NODE_INDEX`, from 1 | `CI_NODE_TOTAL` |
/// | Kubernetes indexed job | `JOB_COMPLETION_INDEX`, from 0 | `LOCKSTEP_SHARDS` or `JOB_COMPLETIONS`, set by hand |
///
/// Slurm also provides the job, so that a restarted part is distinguished from another one; otherwise
/// `LOCKSTEP_JOB` does, which the manifest of `lockstep schedule kubernetes` sets.
public struct ShardEnvironment {
  /// The value of a variable.
  private let variable: (String) -> String?

  public init(_ variable: @escaping (String) -> String? = Host.variable) {
    self.variable = variable
  }

  /// The part, with the variable that defines it; `nil` if no scheduler does.
  public func find() throws(UsageError) -> (shard: Shard, source: String)? {
    let schedulers: [(name: String, part: (Int) throws(UsageError) -> (number: Int, count: Int))] = [
      ("SLURM_ARRAY_TASK_ID", slurm), ("CI_NODE_INDEX", gitlab), ("JOB_COMPLETION_INDEX", kubernetes),
    ]
    for scheduler in schedulers {
      guard let index = try number(scheduler.name) else { continue }
      return try part(scheduler.name, index, try scheduler.part(index))
    }
    return nil
  }

  /// The job of a part; `nil` if none is named.
  ///
  /// - Parameter given: the part on the command line, if no scheduler defines one. A Slurm array is then not
  ///   its job, and a whole run is no part of one: a test framework may start many of these.
  public func job(of given: Shard?) -> String? {
    if let given, given.count == 1 { return nil }
    if let job = variable("LOCKSTEP_JOB") { return job }
    guard given == nil, let number = variable("SLURM_ARRAY_JOB_ID") else { return nil }
    return (["slurm"] + [variable("SLURM_CLUSTER_NAME"), number].compactMap(\.self)).joined(separator: "-")
  }

  private func part(
    _ name: String, _ index: Int, _ part: (number: Int, count: Int)
  ) throws(UsageError) -> (shard: Shard, source: String) {
    guard let shard = Shard(part: part.number, of: part.count) else {
      throw UsageError(
        "\(name) is \(index), which is no part of \(part.count): give --shard I/N, or --shard 1/1 for all of it"
      )
    }
    return (shard, name)
  }

  private func slurm(_ index: Int) throws(UsageError) -> (number: Int, count: Int) {
    let first = try number("SLURM_ARRAY_TASK_MIN") ?? 0
    let step = max(try number("SLURM_ARRAY_TASK_STEP") ?? 1, 1)
    let last = try number("SLURM_ARRAY_TASK_MAX")
    let (span, isTooFar) = index.subtractingReportingOverflow(first)
    let even = last.map { ($0 - first) / step + 1 }
    guard let count = try number("SLURM_ARRAY_TASK_COUNT") ?? even else {
      throw UsageError(
        "SLURM_ARRAY_TASK_ID is set, and neither SLURM_ARRAY_TASK_COUNT nor SLURM_ARRAY_TASK_MAX: "
          + "give --shard I/N")
    }
    // With numbers such as 1,3,7 the part of one of them is unknown.
    guard !isTooFar, span % step == 0, even ?? count == count else {
      throw UsageError("the tasks of the Slurm array are not evenly numbered: give --shard I/N")
    }
    return (span / step + 1, count)
  }

  private func gitlab(_ index: Int) throws(UsageError) -> (number: Int, count: Int) {
    guard let count = try number("CI_NODE_TOTAL") else {
      throw UsageError("CI_NODE_INDEX is set, and CI_NODE_TOTAL is not: give --shard I/N")
    }
    return (index, count)
  }

  private func kubernetes(_ index: Int) throws(UsageError) -> (number: Int, count: Int) {
    let (ours, theirs) = (try number("LOCKSTEP_SHARDS"), try number("JOB_COMPLETIONS"))
    guard let count = ours ?? theirs else {
      throw UsageError(
        "JOB_COMPLETION_INDEX is set, and Kubernetes does not tell of how many: set LOCKSTEP_SHARDS in the pod, "
          + "or give --shard I/N")
    }
    return (index + 1, count)
  }

  private func number(_ name: String) throws(UsageError) -> Int? {
    guard let text = variable(name) else { return nil }
    guard let number = Int(text), (0...1_000_000_000).contains(number) else {
      throw UsageError("\(name) expects a whole number, not '\(text)'")
    }
    return number
  }
}
