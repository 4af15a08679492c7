import Basics

/// One part of several: `2/4`.
public struct Shard: Equatable, Sendable {
  public var part: Int
  public var count: Int

  /// Makes a part; `nil` if there is no part with the number.
  public init?(part: Int, of count: Int) {
    guard part >= 1, part <= count else { return nil }
    (self.part, self.count) = (part, count)
  }
}

/// A part of a job, which a scheduler restarts after it was killed, and may start twice.
public struct JobShare {
  /// The job.
  var job: String
  /// The part.
  var shard: Shard

  /// Makes a part of a job.
  public init(job: String, shard: Shard) {
    self.job = job
    self.shard = shard
  }

  /// The seed of a run without one: the same each time that the part of the job is started.
  public var seed: UInt64 { Fingerprint("job \(job)").value >> 32 }
}
