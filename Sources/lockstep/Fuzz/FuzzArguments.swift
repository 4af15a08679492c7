import CommandLine
import Journal
import Conformance
import Harness
import Reporting
import Basics

/// The options of `fuzz`.
struct FuzzArguments {
  var operands: [String] = []
  var steps: EventCount?
  var duration: Interval?
  var keepsGoing = false
  var without: [String] = []
  var weights: [String] = []
  var length: EventCount?
  var shrinkBudget: ShrinkBudget?
  var twin: String?
  var jobs: Count?
  var corpus: String?
  var resume: String?
  /// The options shared with `run`: device, seed, lab, reports.
  var run = RunArguments()
}

/// A number of events, possibly large: `10000000` or `10M`.
package struct EventCount: ArgumentValue, Equatable {
  package var value: Int
  package static let form = "a number of events, such as 5000, 20k or 10M"

  package init(_ value: Int) { self.value = value }

  package init?(argument: String) {
    let factor = argument.hasSuffix("k") ? 1000 : argument.hasSuffix("M") ? 1_000_000 : 1
    guard let count = Int(factor == 1 ? argument : String(argument.dropLast())), count > 0 else { return nil }
    let (value, isTooLarge) = count.multipliedReportingOverflow(by: factor)
    guard !isTooLarge else { return nil }
    self.value = value
  }
}

/// The limit for shrinking one finding.
enum ShrinkBudget: ArgumentValue, Equatable {
  case events(Int)
  case time(Interval)

  static let form = "a number of events such as 5000 or 20k, or a duration such as 90s"

  init?(argument: String) {
    if let count = EventCount(argument: argument) {
      self = .events(count.value)
    } else if argument.contains(where: \.isLetter), let time = Interval(argument: argument) {
      self = .time(time)
    } else {
      return nil
    }
  }
}

extension TestLevel {
  fileprivate static var form: String { "one of " + allCases.map(\.rawValue).joined(separator: ", ") }
}

/// The value of `--weight`.
private struct NamedWeight {
  let name: String
  let weight: Double
  static let form = "NAME=W such as unlock=3"

  init?(argument: String) {
    let sides = argument.split(separator: "=", omittingEmptySubsequences: false)
    guard sides.count == 2, !sides[0].isEmpty, let weight = Double(sides[1]), weight >= 0, weight.isFinite
    else { return nil }
    (name, self.weight) = (String(sides[0]), weight)
  }
}

extension FuzzArguments {
  /// The options, in the order in which the help shows them.
  static var options: [Option<FuzzArguments>] {
    [
      .value(
        "device", \.run.device, "SPEC",
        "The device: emulator:NAME?SETTING=VALUE&…, exec:COMMAND, lock:FILE with --transport, or "
          + "lock:NAME of a bench. Default: the usual emulated device of the machine.",
        example: "emulator:sesame5?defect=deaf-unlock", as: .device
      ).typedOnly(since: RunArguments.realLockReason, beginning: "lock:").replaced(by: "lab")
        .checked(by: ValueProblem.ofDevice),
      .value("seed", \.run.seed, "N", "The seed of all random choices.", example: "42"),
      .value(
        "steps", \.steps, "N",
        "Stops after N events in tests, including those before --resume: 5000, 20k, 10M.",
        example: "20k"),
      .value(
        "duration", \.duration, "TIME", "Stops after this time, counted from now: 90s, 10min, 8h.",
        example: "10min"
      ),
      .flag(
        "keep-going", \.keepsGoing,
        "Continues after a divergence. Equal divergences are counted, and each is shrunk and saved once."),
      .list(
        "without", \.without, "LEVEL",
        "Leaves out a level at which tests interfere: "
          + TestLevel.allCases.map(\.rawValue).joined(separator: ", ") + ". May be given several times.",
        example: "link", as: .choice(TestLevel.allCases.map(\.rawValue))
      ).checked { ValueProblem(unless: TestLevel(rawValue: $0) != nil, TestLevel.form, $0) },
      .list(
        "weight", \.weights, "NAME=W",
        "The relative frequency of a stimulus or a fault; 1 is the default, 0 excludes it. May be given "
          + "several times.", example: "unlock=3"
      ).checked { ValueProblem(unless: NamedWeight(argument: $0) != nil, NamedWeight.form, $0) },
      .value(
        "length", \.length, "N",
        "The maximum number of events of a test. Default: 200, and 1,024 in tests that repeat one cycle.",
        example: "50"),
      .value(
        "shrink-budget", \.shrinkBudget, "N|TIME",
        "The budget for shrinking one finding, in events or time; the same again on new devices if "
          + "available. Default: 200k events.",
        example: "90s"),
      .value(
        "twin", \.twin, "SPEC|none",
        "Explores this emulator as well, and repeats its findings on the device. For lock:FILE, the "
          + "default is the emulated model of the lock.", example: "emulator:sesame5", as: .device
      ).typedOnly(since: RunArguments.realLockReason, beginning: "lock:")
        .checked { $0 == "none" ? nil : ValueProblem.ofDevice($0) },
      .value(
        "jobs", \.jobs, "N", "Fuzzes in N processes, which share the corpus.", example: "4", short: "j"
      )
      .replaced(by: .option("device", beginning: "lock:"), "lab"),
      .value(
        "shard", \.run.shard, "I/N",
        "Generates the tests of the I-th of N workers. By default from the environment of Slurm, GitLab "
          + "or Kubernetes.", example: "2/4"
      ).fromEnvironment { arguments throws(UsageError) in try arguments.run.environmentShard() },
      .value(
        "corpus", \.corpus, "PLACE",
        "Where rare tests are stored for later campaigns: a folder, or postgres://HOST/DATABASE, which "
          + "campaigns of many hosts can share. Default: corpus in the folder of --out.",
        example: "corpus", as: .folder),
      .value(
        "resume", \.resume, "RUN",
        "Resumes a stopped campaign: the name of its run, or its folder. MACHINE and options are taken "
          + "from there unless they are given again.", example: "Reports/runs/2026-11-22T01-00-00-fuzz",
        as: .folder
      ).typedOnly(since: "all is taken from the campaign", standsAlone: true),
    ] + ReportPlaces.options.map { $0.lifted(to: \.run.reports) } + [
      RunArguments.answerTimeout.lifted(to: \.run), .format(\.run.format), .color(\.run.color),
      .quiet(\.run.isQuiet, "Prints only findings."),
      .repeated(
        "verbose", \.run.verbosity,
        "Also prints how findings arose, the effort, the coverage, and all reports.", short: "v"
      ).replaced(by: "quiet"),
    ] + RunArguments.lab.map { $0.lifted(to: \.run) }
      + SettingsChoice.options.map { $0.lifted(to: \.run.settings) }
  }

  /// The folder of the rare tests.
  var corpusFolder: String { corpus ?? run.reports.out + "/corpus" }

  /// Connects to the database of the rare tests, if they are in one.
  func openCorpus() throws(UsageError) -> CorpusStore? {
    guard let corpus, case .postgres(let url) = HistoryPlace(corpus) else { return nil }
    return try checked("--corpus: ") { try CorpusStore(url: url) }
  }

  /// Returns the levels that are not excluded.
  func levels() throws(UsageError) -> [TestLevel] {
    for name in without where TestLevel(rawValue: name) == nil {
      throw UsageError("'--without' expects \(TestLevel.form), not '\(name)'")
    }
    let levels = TestLevel.allCases.filter { !without.contains($0.rawValue) }
    guard !levels.isEmpty else { throw UsageError("'--without' leaves no level") }
    return levels
  }

  /// Parses the weights.
  func namedWeights() throws(UsageError) -> [(name: String, weight: Double)] {
    try weights.map { text throws(UsageError) in
      guard let named = NamedWeight(argument: text) else {
        throw UsageError("'--weight' expects \(NamedWeight.form), not '\(text)'")
      }
      return (named.name, named.weight)
    }
  }

  /// Returns the settings of the campaign.
  func settings(seed: UInt64, round: Int) throws(UsageError) -> FuzzSettings {
    var settings = FuzzSettings()
    settings.seed = seed
    settings.round = round
    settings.steps = steps?.value
    settings.keepsGoing = keepsGoing
    settings.levels = try levels()
    settings.weights = try namedWeights()
    if let length { (settings.length, settings.longest) = (length.value, length.value) }
    switch shrinkBudget {
    case .events(let count): settings.shrinkEvents = count
    case .time(let time): (settings.shrinkEvents, settings.shrinkTime) = (nil, time)
    case nil: break
    }
    if let shard = run.shard { settings.shard = (shard.part, shard.count) }
    return settings
  }
}
