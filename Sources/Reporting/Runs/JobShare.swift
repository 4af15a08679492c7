import Basics

/// One part of several: `2/4`.
public struct Shard: Equatable, Sendable {
  public var part: Int
  public var count: Int

  /// The part of a number; `nil` where there is none.
  public init?(part: Int, of count: Int) {
    guard part >= 1, part <= count else { return nil }
    (self.part, self.count) = (part, count)
  }
}

/// A part of a job: what an engine starts again when it was killed, and perhaps twice.
public struct JobShare {
  /// The job.
  var job: String
  /// Which part of it.
  var shard: Shard

  /// Names a part of a job.
  public init(job: String, shard: Shard) {
    self.job = job
    self.shard = shard
  }

  /// What a run without a seed of its own draws from: the same each time that a part of the job is started.
  public var seed: UInt64 { Fingerprint("job \(job)").value >> 32 }
}
