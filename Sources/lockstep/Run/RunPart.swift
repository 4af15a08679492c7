import CommandLine
import Journal
import Reporting
import System

extension RunArguments {
  /// Determines the shard and its job: the one given, or else the one in the scheduler's environment.
  ///
  /// - Returns: the options that name the shard, for resuming the run; the manifest names the job.
  mutating func resolveShard(_ console: Console) throws(UsageError) -> [String] {
    let environment = try environmentShard()
    if job == nil, shard != nil || environment != nil { job = ShardEnvironment().job(of: shard) }
    var words: [String] = []
    if let (text, variable) = environment, let part = Shard(argument: text) {
      shard = part
      words.append("--shard=\(text)")
      if !isQuiet { console.say("lockstep: part \(part.part) of \(part.count), as \(variable) says") }
    }
    if let share, seed == nil, drawnSeed == nil { drawnSeed = share.seed }
    return words
  }

  /// Returns the shard in the scheduler's environment, with its variable, unless one was given.
  func environmentShard() throws(UsageError) -> (value: String, variable: String)? {
    guard shard == nil, let (part, variable) = try ShardEnvironment().find() else { return nil }
    return ("\(part.part)/\(part.count)", variable)
  }

  /// The share of a job that this run has, if it is part of one.
  var share: JobShare? { job.map { JobShare(job: $0, shard: shard ?? Shard(part: 1, of: 1)!) } }
}
