import Journal
import TestSupport
import Testing

@testable import Reporting

@Suite("The part of a run that a scheduler tells")
struct ShardEnvironmentTests {
  private static func slurm(_ values: String) -> String {
    values.split(separator: " ").map { "SLURM_ARRAY_TASK_" + $0 }.joined(separator: " ")
  }

  /// What is set, and the part that it makes; `-` for none.
  static let parts: [(set: String, part: String)] = [
    ("", "-"), ("CI_NODE_TOTAL=1", "-"), ("LOCKSTEP_SHARDS=4", "-"),
    (slurm("ID=0 MIN=0 MAX=3 COUNT=4 STEP=1"), "1/4"), (slurm("ID=3 MIN=0 MAX=3 COUNT=4 STEP=1"), "4/4"),
    (slurm("ID=1 MIN=1 MAX=8"), "1/8"), (slurm("ID=8 MIN=1 COUNT=8"), "8/8"),
    (slurm("ID=4 MIN=0 MAX=8 COUNT=3 STEP=4"), "2/3"), (slurm("ID=2 MAX=3"), "3/4"),
    ("CI_NODE_INDEX=1 CI_NODE_TOTAL=5", "1/5"), ("CI_NODE_INDEX=5 CI_NODE_TOTAL=5", "5/5"),
    ("JOB_COMPLETION_INDEX=0 LOCKSTEP_SHARDS=3", "1/3"), ("JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=3", "3/3"),
    ("JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=9 LOCKSTEP_SHARDS=3", "3/3"),
    // A job of a cluster that a CI system started is a part of what the cluster shares out.
    (slurm("ID=1 MIN=1 COUNT=2") + " CI_NODE_INDEX=3 CI_NODE_TOTAL=5", "1/2"),
  ]

  @Test("each scheduler counts in its own way", arguments: parts)
  func part(set: String, part: String) throws {
    let found = try environment(set).find()?.shard
    expect(found.map { "\($0.part)/\($0.count)" } ?? "-", part)
  }

  @Test(
    "what makes no part is said, and how to go on",
    arguments: [
      ("JOB_COMPLETION_INDEX=0", "set LOCKSTEP_SHARDS in the pod"),
      ("JOB_COMPLETION_INDEX=3 LOCKSTEP_SHARDS=3", "JOB_COMPLETION_INDEX is 3, which is no part of 3"),
      ("CI_NODE_INDEX=1", "CI_NODE_TOTAL is not"), ("CI_NODE_INDEX=0 CI_NODE_TOTAL=3", "is no part of 3"),
      ("CI_NODE_INDEX=one CI_NODE_TOTAL=3", "CI_NODE_INDEX expects a whole number, not 'one'"),
      ("CI_NODE_INDEX=-1 CI_NODE_TOTAL=3", "CI_NODE_INDEX expects a whole number, not '-1'"),
      (slurm("ID=1"), "neither SLURM_ARRAY_TASK_COUNT nor SLURM_ARRAY_TASK_MAX"),
      (slurm("ID=3 MIN=1 MAX=7 COUNT=3"), "not evenly numbered"),
      (slurm("ID=3 MIN=0 MAX=8 STEP=4"), "not evenly numbered"),
      (slurm("ID=1 MIN=2 COUNT=4"), "no part of 4"),
    ])
  func wrong(set: String, message: String) {
    let error = #expect(throws: UsageError.self) { try environment(set).find() }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test(
    "a job is named for the parts of a scheduler and for one of several that is given, and an array of Slurm's for its own alone",
    arguments: [
      ("", nil, nil), ("LOCKSTEP_JOB=j", nil, "j"), ("LOCKSTEP_JOB=j", "2/3", "j"),
      ("LOCKSTEP_JOB=j", "1/1", nil),
      ("SLURM_ARRAY_JOB_ID=7", nil, "slurm-7"),
      ("SLURM_ARRAY_JOB_ID=7 SLURM_CLUSTER_NAME=c", nil, "slurm-c-7"),
      ("SLURM_ARRAY_JOB_ID=7 LOCKSTEP_JOB=j", nil, "j"), ("SLURM_ARRAY_JOB_ID=7", "2/3", nil),
    ] as [(String, String?, String?)])
  func job(set: String, given: String?, job: String?) {
    let numbers = given?.split(separator: "/").compactMap { Int($0) }
    expect(environment(set).job(of: numbers.flatMap { Shard(part: $0[0], of: $0[1]) }), job)
  }

  private func environment(_ set: String) -> ShardEnvironment {
    let pairs = set.split(separator: " ").map { $0.split(separator: "=").map(String.init) }
    return ShardEnvironment { name in pairs.first { $0[0] == name }?[1] }
  }
}
