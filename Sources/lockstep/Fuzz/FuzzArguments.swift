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
  /// What it has in common with `run`: device, seed, lab, reports.
  var run = RunArguments()
}

/// A number of events, which may be a large one: `10000000` or `10M`.
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

/// How much may be done to make one finding shorter.
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
  /// The options in the order in which help shows them.
  static var options: [Option<FuzzArguments>] {
    [
      .value(
        "device", \.run.device, "SPEC",
        "What is driven: emulator:NAME?SETTING=VALUE&…, exec:COMMAND, lock:FILE with --transport, or lock:NAME of a "
          + "bench. The machine's usual emulated device unless given.",
        example: "emulator:sesame5?defect=deaf-unlock", as: .device
      ).typedOnly(since: RunArguments.realLockReason, beginning: "lock:").replaced(by: "lab")
        .checked(by: ValueProblem.ofDevice),
      .value("seed", \.run.seed, "N", "The seed of all random choices.", example: "42"),
      .value(
        "steps", \.steps, "N",
        "Ends after N events in tests, those before --resume included: 5000, 20k, 10M.",
        example: "20k"),
      .value(
        "duration", \.duration, "TIME", "Ends after this time, from now on: 90s, 10min, 8h.", example: "10min"
      ),
      .flag(
        "keep-going", \.keepsGoing,
        "Goes on after a divergence. Equal ones are counted, and each is shrunk and saved once."),
      .list(
        "without", \.without, "LEVEL",
        "Leaves out a level at which tests interfere: "
          + TestLevel.allCases.map(\.rawValue).joined(separator: ", ") + ". May be given several times.",
        example: "link", as: .choice(TestLevel.allCases.map(\.rawValue))
      ).checked { ValueProblem(unless: TestLevel(rawValue: $0) != nil, TestLevel.form, $0) },
      .list(
        "weight", \.weights, "NAME=W",
        "How often a stimulus or a fault is chosen, where 1 is usual; 0 leaves it out. May be given several "
          + "times.", example: "unlock=3"
      ).checked { ValueProblem(unless: NamedWeight(argument: $0) != nil, NamedWeight.form, $0) },
      .value(
        "length", \.length, "N",
        "The most events of one test. 200 unless given, and 1,024 where one way around is gone again and again.",
        example: "50"),
      .value(
        "shrink-budget", \.shrinkBudget, "N|TIME",
        "How much may be done to shrink one finding, in events or time, and once more on new devices where these "
          + "can be had. 200k events unless given.",
        example: "90s"),
      .value(
        "twin", \.twin, "SPEC|none",
        "Explores this emulator beside the device and asks the device for what it finds. A lock:FILE has its "
          + "emulated model as twin unless given.", example: "emulator:sesame5", as: .device
      ).typedOnly(since: RunArguments.realLockReason, beginning: "lock:")
        .checked { $0 == "none" ? nil : ValueProblem.ofDevice($0) },
      .value(
        "jobs", \.jobs, "N", "Explores in N processes, which share the corpus.", example: "4", short: "j"
      )
      .replaced(by: .option("device", beginning: "lock:"), "lab"),
      .value(
        "shard", \.run.shard, "I/N",
        "Draws the tests of the I-th of N workers. Taken from the environment of Slurm, GitLab or Kubernetes where "
          + "it says so.", example: "2/4"
      ).told { arguments throws(UsageError) in try arguments.run.toldShard() },
      .value(
        "corpus", \.corpus, "PLACE",
        "Where rare tests are kept from run to run: a folder, or postgres://HOST/DATABASE, where campaigns of many hosts "
          + "share them. DIR/corpus of --out unless given.",
        example: "corpus", as: .folder),
      .value(
        "resume", \.resume, "RUN",
        "Goes on with a campaign that was stopped: the name of its run, or its folder. MACHINE and options are taken "
          + "from there unless given again.", example: "Reports/runs/2026-11-22T01-00-00-fuzz", as: .folder
      ).typedOnly(since: "all is taken from the campaign", standsAlone: true),
    ] + ReportPlaces.options.map { $0.lifted(to: \.run.reports) } + [
      RunArguments.answerTimeout.lifted(to: \.run), .format(\.run.format), .color(\.run.color),
      .quiet(\.run.isQuiet, "Prints findings only."),
      .repeated(
        "verbose", \.run.verbosity,
        "Also prints how findings came about, what was spent, what was covered, and all reports.", short: "v"
      ).replaced(by: "quiet"),
    ] + RunArguments.lab.map { $0.lifted(to: \.run) }
      + SettingsChoice.options.map { $0.lifted(to: \.run.settings) }
  }

  /// Where rare tests are kept.
  var corpusFolder: String { corpus ?? run.reports.out + "/corpus" }

  /// Connects to the database that rare tests are kept in, where it is one.
  func openCorpus() throws(UsageError) -> CorpusStore? {
    guard let corpus, case .postgres(let url) = HistoryPlace(corpus) else { return nil }
    return try checked("--corpus: ") { try CorpusStore(url: url) }
  }

  /// The levels that are left.
  func levels() throws(UsageError) -> [TestLevel] {
    for name in without where TestLevel(rawValue: name) == nil {
      throw UsageError("'--without' expects \(TestLevel.form), not '\(name)'")
    }
    let levels = TestLevel.allCases.filter { !without.contains($0.rawValue) }
    guard !levels.isEmpty else { throw UsageError("'--without' leaves no level") }
    return levels
  }

  /// The weights as numbers.
  func namedWeights() throws(UsageError) -> [(name: String, weight: Double)] {
    try weights.map { text throws(UsageError) in
      guard let named = NamedWeight(argument: text) else {
        throw UsageError("'--weight' expects \(NamedWeight.form), not '\(text)'")
      }
      return (named.name, named.weight)
    }
  }

  /// How the machine is fuzzed.
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
