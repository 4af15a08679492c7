import Basics
import Bench
import Devices
import Harness
import Journal
import Reporting
import System

extension RunFolder {
  /// Opens the folder of a new run, or of the run to resume.
  ///
  /// - Parameter tour: where the run saves its tour, if it does.
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

  /// Reserves what the run needs of a bench, and records the token of the lease.
  func reserve(_ devices: [DeviceSpec], on bench: LockBench) {
    bench.reserve(devices)
    lease = bench.token.map { Int(clamping: $0) }
    properties += bench.properties
  }

  /// Saves a failed case as a standalone scenario.
  ///
  /// - Returns: its path; `nil` after reporting why it cannot be saved.
  func keep(_ test: Case, _ outcome: Outcome, _ messages: StatusLine) -> String? {
    let comment = "\(test.id), step \(outcome.mark.number): \(outcome.message ?? "")"
    return messages.attempt("the counterexample is not saved: ") {
      try save(test.standalone(in: out + "/failures"), in: out + "/failures", stem: test.slug, [comment])
    }
  }
}
