import CommandLine
import Journal
import Reporting
import System

extension RunArguments {
  /// Settles which part of which job this is: what was given, or else what a scheduler tells.
  ///
  /// - Returns: the options that say the same, for when the run is taken up again.
  mutating func settlePart(_ console: Console) throws(UsageError) -> [String] {
    let told = (shard: try toldShard(), job: try toldJob())
    var words: [String] = []
    if let (text, variable) = told.shard, let part = Shard(argument: text) {
      shard = part
      words.append("--shard=\(text)")
      if !isQuiet { console.say("lockstep: part \(part.part) of \(part.count), as \(variable) says") }
    }
    if let told = told.job {
      job = told.value
      words.append("--job=\(told.value)")
    }
    if let share, seed == nil, drawnSeed == nil { drawnSeed = share.seed }
    return words
  }

  /// The part that a scheduler tells of, and by which variable, where none was given.
  func toldShard() throws(UsageError) -> (value: String, variable: String)? {
    guard shard == nil, let (part, variable) = try ShardEnvironment().find() else { return nil }
    return ("\(part.part)/\(part.count)", variable)
  }

  /// The job of the part that a scheduler tells of, where none was given.
  func toldJob() throws(UsageError) -> (value: String, variable: String)? {
    guard job == nil, try toldShard() != nil else { return nil }
    return ShardEnvironment().job
  }

  /// The part of a job that this is, if it is one.
  var share: JobShare? { job.map { JobShare(job: $0, shard: shard ?? Shard(part: 1, of: 1)!) } }
}
