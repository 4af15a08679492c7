import CommandLine
import Reporting
import Basics
import System
import Harness
import Journal

/// A run to resume: its folder, progress and arguments.
struct ResumedRun {
  /// The folder of the run.
  let run: EarlierRun
  var folder: String { run.folder }
  /// What the run has completed.
  let progress: RunProgress
  /// The arguments of the run, with the report options given now.
  let arguments: RunArguments

  /// Finds the run named by `--resume`.
  init(_ given: RunArguments, _ run: String) throws(UsageError) {
    self.run = try EarlierRun(run, out: given.reports.out, with: "journal.jsonl", saying: "--resume: ")
    let folder = self.run.folder
    guard let manifest = self.run.manifest else {
      throw UsageError("--resume: \(folder)/manifest.json is not a manifest, or not one of this version")
    }
    guard manifest.command.first == Command.run.name else {
      let name = manifest.command.first ?? "another command"
      throw UsageError("--resume: \(folder) is of 'lockstep \(name)', which 'lockstep run' cannot resume")
    }
    let journal = folder + "/journal.jsonl"
    progress = try checked("--resume: \(journal): ") { try RunProgress(journal: journal) }
    arguments = try given.resuming(manifest, seed: progress.run?.seed)
  }

  /// Returns the completed part of a plan.
  ///
  /// - Throws: an error if the plan differs from that of the run: the verdict on one test says nothing about
  ///   another.
  func earlier(of plan: Plan) throws(UsageError) -> Run.Earlier {
    var earlier = Run.Earlier()
    earlier.isThere = true
    (earlier.choices, earlier.coverage) = (progress.choices, progress.coverage)
    if let planned = progress.run?.cases, planned != plan.cases.count {
      throw changed("it had \(planned) cases, and now there are \(plan.cases.count)")
    }
    for test in plan.cases {
      guard let judged = progress.judged[ExactText(test.id)] else { continue }
      guard judged.digest == test.digest else { throw changed("\(test.file) has changed") }
      earlier.judged.insert(ExactText(test.id))
      earlier.tally.count(judged.ending)
      if judged.ending.word == .agree { earlier.tally.observations += judged.observations }
    }
    guard earlier.judged.count == progress.judged.count else {
      throw changed("it had cases that are gone")
    }
    return earlier
  }

  private func changed(_ what: String) -> UsageError {
    UsageError("--resume: \(folder) cannot be resumed: \(what); start a new run")
  }
}

extension RunArguments {
  /// Returns the arguments of a resumed run: its own, except for the report options.
  fileprivate func resuming(_ manifest: Manifest, seed: UInt64?) throws(UsageError) -> RunArguments {
    guard paths.isEmpty, device == nil, self.seed == nil, filters.isEmpty, shard == nil, rounds == Count(1),
      !lastFailed, !failedFirst, shownIn.isEmpty
    else {
      throw UsageError(
        "--resume takes scenarios, device, seed, filter, shard, rounds, what failed last and --shown-in from the run: "
          + "leave them out")
    }
    let parser = ArgumentParser<RunArguments>(options: RunArguments.options, operands: RunArguments.paths)
    guard case .run(var arguments) = try parser.parse(manifest.command.dropFirst(), into: RunArguments())
    else {
      return self
    }
    // Use the failures known when the run began.
    arguments.resume = resume
    arguments.drawnSeed = seed ?? manifest.seed
    arguments.job = manifest.job
    arguments.reports = reports.orElse(arguments.reports)
    (arguments.format, arguments.color, arguments.isQuiet) = (format, color, isQuiet)
    (arguments.verbosity, arguments.progress, arguments.slow) = (verbosity, progress, slow)
    // Options for the whole run, and for the rest of it, can be changed.
    let usual = RunArguments()
    if minimum.failsSkipped { arguments.minimum.failsSkipped = true }
    if minimum.cases != usual.minimum.cases { arguments.minimum.cases = minimum.cases }
    if answerTimeout != usual.answerTimeout { arguments.answerTimeout = answerTimeout }
    if jobs != usual.jobs { arguments.jobs = jobs }
    if failsFast || maximumFailures != nil {
      (arguments.failsFast, arguments.maximumFailures) = (failsFast, maximumFailures)
    }
    arguments.durations = durations ?? arguments.durations
    return arguments
  }
}
