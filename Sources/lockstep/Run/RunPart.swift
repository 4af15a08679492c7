import CommandLine
import Journal
import Reporting
import System

extension RunArguments {
  /// Settles which part of which job this is: the part that was given, or else what a scheduler tells.
  ///
  /// - Returns: the options that say which part it is, for when the run is taken up again; its manifest names the job.
  mutating func settlePart(_ console: Console) throws(UsageError) -> [String] {
    let told = try toldShard()
    if job == nil, shard != nil || told != nil { job = ShardEnvironment().job(of: shard) }
    var words: [String] = []
    if let (text, variable) = told, let part = Shard(argument: text) {
      shard = part
      words.append("--shard=\(text)")
      if !isQuiet { console.say("lockstep: part \(part.part) of \(part.count), as \(variable) says") }
    }
    if let share, seed == nil, drawnSeed == nil { drawnSeed = share.seed }
    return words
  }

  /// The part that a scheduler tells of, and by which variable, where none was given.
  func toldShard() throws(UsageError) -> (value: String, variable: String)? {
    guard shard == nil, let (part, variable) = try ShardEnvironment().find() else { return nil }
    return ("\(part.part)/\(part.count)", variable)
  }

  /// The part of a job that this is, if it is one.
  var share: JobShare? { job.map { JobShare(job: $0, shard: shard ?? Shard(part: 1, of: 1)!) } }
}
