import Basics

/// One line of a journal, which records the progress of a run, a campaign or a night.
///
/// The journal is written as things happen, and all reports are made from it. It contains nothing that differs between
/// two runs of one seed on emulated devices: host, name and wall-clock times are in the ``Manifest``.
/// <doc:Journal-format> describes the lines and their keys. The tables next to the records determine what is written,
/// what is read, and the schema.
public enum Record: Hashable, Sendable {
  /// How the run was started.
  case run(Run)
  /// A case starts.
  case begin(Case)
  /// Something was done, observed or found in a case.
  case event(Event)
  /// A case ends.
  case verdict(Verdict)
  /// How a real lock was left at the end of the run.
  case left(Left)
  /// A machine; the line precedes its coverage.
  case machine(Machine)
  /// The visited parts of a machine.
  case coverage(Coverage)
  /// A finding of a campaign; the case that shows it follows.
  case finding(Finding)
  /// The progress of a campaign.
  case campaign(CampaignStatus)
  /// The run ended.
  case end(End)

  /// The version of the format.
  public static let format = 1
}

// MARK: - Runs

extension Record {
  /// The first line: how the run was started.
  public struct Run: Hashable, Sendable {
    /// The version of the format of the journal.
    var format = Record.format
    /// The seed of the run.
    public var seed: UInt64?
    /// The planned number of cases; unknown for a campaign.
    public var cases: Int?
    /// Whether the run continues the lines before it.
    public var isResumed = false
    /// Whether a flaky case counts as failed.
    public var failsFlaky = false

    /// Creates the first line of a run.
    public init(seed: UInt64?, cases: Int? = nil, isResumed: Bool = false, failsFlaky: Bool = false) {
      (self.seed, self.cases, self.isResumed, self.failsFlaky) = (seed, cases, isResumed, failsFlaky)
    }
  }

  /// How a real lock was left at the end of a run; a diagnostic tells people.
  public struct Left: Hashable, Sendable {
    /// The name of the lock in the run.
    public var lock: String
    /// Whether the lock is in its parking position; `nil` if unknown.
    public var isParked: Bool?
    /// Why the lock is not parked, in one line.
    public var message: String?

    /// Creates the record of a lock.
    public init(lock: String, isParked: Bool? = nil, message: String? = nil) {
      (self.lock, self.isParked, self.message) = (lock, isParked, message)
    }
  }

  /// The last line: how the run ended.
  public struct End: Hashable, Sendable {
    /// The number of cases.
    public var cases = 0
    /// The number of cases that agreed, and how many of these only at a later attempt.
    var agree = 0
    var flaky = 0
    /// The number of cases that diverged from the model.
    var divergences = 0
    /// The number of cases that agreed with the model, and did not meet the scenario's expectation.
    var unmet = 0
    /// The number of cases with a lab fault.
    var labFaults = 0
    /// The number of cases that were not run, or are in quarantine.
    var skipped = 0
    /// The number of incomplete cases.
    var incomplete = 0
    /// The number of observations on which the agreements rest.
    var observations = 0
    /// The exit status of the command.
    public var status: Int
    /// Why the run did not end with agreement, as far as its cases do not say it. Other diagnostics are only remarks.
    public var reasons: [String] = []

    /// Creates the last line of a run.
    ///
    /// - Parameters:
    ///   - status: The exit status of the command, if it differs from the status of the cases.
    ///   - reasons: The diagnostics that explain the status in addition to the cases; left out if all agree.
    public init(_ tally: Tally, _ status: CommandStatus? = nil, reasons: [String] = []) {
      (cases, agree, flaky) = (tally.cases, tally.agree, tally.flaky)
      (divergences, unmet, labFaults) = (tally.divergences, tally.unmet, tally.labFaults)
      (skipped, incomplete, observations) = (tally.skipped, tally.incomplete, tally.observations)
      self.status = Int((status ?? tally.exitStatus).rawValue)
      if self.status != CommandStatus.agree.rawValue { self.reasons = reasons }
    }
  }
}

extension Record.Run: Recorded {
  public static let blank = Record.Run(seed: nil)
  public static let noun = "a run"
  public static let fields: [Field<Self>] = [
    .needed(
      "format", \.format,
      Notation(shape: Shape.constant(.integer(Record.format)), write: { .integer($0) }, read: \.int)),
    .usual("seed", \.seed, .seed), .extra("cases", \.cases, .count), .mark("resumed", \.isResumed),
    .mark("flaky", \.failsFlaky, as: "fail"),
  ]
}

extension Record.Left: Recorded {
  public static let blank = Record.Left(lock: "")
  public static let noun = "what is said of how a lock was left"
  public static let fields: [Field<Self>] = [
    .needed("lock", \.lock, .text), .extra("parked", \.isParked, .flag),
    .extra("message", \.message, .text),
  ]
}

extension Record.End: Recorded {
  public static let blank = Record.End(Tally(), .agree)
  public static let noun = "the end"
  public static let fields: [Field<Self>] = [
    .needed("cases", \.cases, .count), .usual("agree", \.agree, .count),
    .usual("flaky", \.flaky, .count), .usual("divergences", \.divergences, .divergences),
    .extra("unmet", \.unmet, .unmet, besides: 0),
    .usual("labFaults", \.labFaults, .count), .usual("skipped", \.skipped, .count),
    .usual("incomplete", \.incomplete, .count), .usual("observations", \.observations, .count),
    .needed("status", \.status, .count), .list("reasons", \.reasons, .text),
  ]
}

// MARK: - Cases

extension Record {
  /// The first line of a case.
  public struct Case: Hashable, Sendable {
    /// The id by which verdicts refer to the case; unique within a run unless the case is repeated.
    public var id: String
    /// Its title.
    public var name: String?
    /// The file it was read from.
    public var file: String?
    /// The line in that file, from 1.
    public var line: Int?
    /// The tags of the scenario.
    public var tags: [String] = []
    /// The name of the model's machine.
    public var machine: String?
    /// A hash of the machine, the same on every host.
    public var model: String?
    /// The device under test.
    public var device: String?
    /// The settings of the device beyond those of the scenario, by name. They make it another case, since the result
    /// of a lock with a defect says nothing about a lock without one.
    public var settings: String?
    /// The firmware of the device, if known.
    public var firmware: String?
    /// The seed of the case.
    public var seed: UInt64?
    /// A hash of everything that determines the case: two cases with the same digest are the same test.
    public var digest: String?
    /// A hash of the text of its file, by which a report knows whether the file has changed.
    public var text: String?
    /// A hash of the files of the program that is the device, by which the history knows whether the program was
    /// edited.
    public var program: String?
    /// The number of the attempt, from 1; each attempt of a case has its own line and verdict.
    public var attempt = 1
    /// The number of the lease of the lock, if one was necessary: read from this line, but written on every line.
    public var lease: Int?

    /// Creates the first line of a case.
    public init(id: String) {
      self.id = id
    }
  }
}

extension Record.Case: Recorded {
  public static let blank = Record.Case(id: "")
  public static let noun = "a case"
  public static let fields: [Field<Self>] = [
    .needed("id", \.id, .name),
    .usual("name", \.name, .text), .extra("file", \.file, .text), .extra("line", \.line, .count),
    .list("tags", \.tags, .text), .usual("machine", \.machine, .text), .usual("model", \.model, .text),
    .usual("device", \.device, .text), .extra("settings", \.settings, .text),
    .extra("firmware", \.firmware, .text), .usual("seed", \.seed, .seed),
    .usual("digest", \.digest, .text), .extra("text", \.text, .text),
    .extra("program", \.program, .text),
    .extra("attempt", \.attempt, .count(from: 2), besides: 1),
  ]
}
