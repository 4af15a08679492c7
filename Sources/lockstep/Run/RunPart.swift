import CommandLine
import Journal
import Reporting
import System

extension RunArguments {
  /// Settles which part of which job this is: what was given, or else what a scheduler tells.
  ///
  /// - Returns: the options that say the same, for when the run is taken up again.
  mutating func settlePart(_ console: Console) throws(UsageError) -> [String] {
    let given = (shard: shard, job: job)
    if shard == nil, let (part, source) = try ShardEnvironment().find() {
      shard = part
      if !isQuiet { console.say("lockstep: part \(part.part) of \(part.count), as \(source) says") }
    }
    if job == nil, given.shard == nil, shard != nil { job = ShardEnvironment().job }
    if let share, seed == nil, drawnSeed == nil { drawnSeed = share.seed }
    var words: [String] = []
    if given.shard == nil, let shard { words.append("--shard=\(shard.part)/\(shard.count)") }
    if given.job == nil, let job { words.append("--job=\(job)") }
    return words
  }

  /// The part of a job that this is, if it is one.
  var share: JobShare? { job.map { JobShare(job: $0, shard: shard ?? Shard(part: 1, of: 1)!) } }
}
