import Basics
import Bench
import Devices
import Harness
import Journal
import Reporting
import System

extension RunFolder {
  /// The folder of a run that begins now, or of the one that it takes up again.
  ///
  /// - Parameter tour: where the tour is saved that it makes, if it is.
  static func open(
    resuming earlier: EarlierRun? = nil, kind: String, cases: Int = 0,
    command: [String] = Invocation.words, seed: UInt64?, _ arguments: RunArguments,
    files: [(name: String, text: String)] = [], tour: String? = nil
  ) throws(UsageError) -> RunFolder {
    let (reports, share, shard) = (arguments.reports, arguments.share, arguments.shard)
    try reports.check(capture: arguments.lab.capture, tour: tour)
    return try checkedReports { () throws(FileFault) in
      if let earlier {
        return try RunFolder(
          resuming: earlier, reports: reports, cases: cases, command: command, share: share, shard: shard)
      }
      return try RunFolder(
        reports: reports, cases: cases, kind: kind, command: command, seed: seed, share: share, shard: shard,
        files: files)
    }
  }

  /// Takes what the run needs of a bench, for itself alone, and writes down by which right.
  func reserve(_ devices: [DeviceSpec], on bench: LockBench) {
    bench.reserve(devices)
    lease = bench.token.map { Int(clamping: $0) }
    properties += bench.properties
  }

  /// Saves a case that diverged as a scenario of its own.
  ///
  /// - Returns: its path; `nil` after it said why it cannot be saved.
  func keep(_ test: Case, _ outcome: Outcome, _ messages: StatusLine) -> String? {
    let comment = "\(test.id), step \(outcome.mark.number): \(outcome.message ?? "")"
    return messages.attempt("the counterexample is not saved: ") {
      try save(test.standalone(in: out + "/failures"), in: out + "/failures", stem: test.slug, [comment])
    }
  }
}
