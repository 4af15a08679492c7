import Basics

/// What one line of a journal says: of a run, of a campaign or of a night, while it went on.
///
/// The journal is written as things happen, and every report is made from it. It holds nothing that differs
/// between two runs of one seed on emulated devices: host, name and wall-clock times stand in the ``Manifest``.
/// The lines and their keys are described in <doc:Journal-format>; the tables beside the records are what is written,
/// what is read and what the schema says.
public enum Record: Hashable, Sendable {
  /// How the run was started.
  case run(Run)
  /// A case begins.
  case begin(Case)
  /// Something was done, seen or found in a case.
  case event(Event)
  /// A case ends.
  case verdict(Verdict)
  /// A real lock was left at the end of the run.
  case left(Left)
  /// A machine, before the coverage of it.
  case machine(Machine)
  /// How much of a machine was visited.
  case coverage(Coverage)
  /// A campaign came upon something; the case that shows it follows.
  case finding(Finding)
  /// How far a campaign came.
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
    /// The version of the format that it is written in.
    var format = Record.format
    /// The seed of the run.
    public var seed: UInt64?
    /// How many cases it was to have; a campaign does not know.
    public var cases: Int?
    /// Whether it takes up again what stands before.
    public var isResumed = false
    /// Whether a case that is flaky counts as one that diverges.
    public var failsFlaky = false

    /// A run begins.
    public init(seed: UInt64?, cases: Int? = nil, isResumed: Bool = false, failsFlaky: Bool = false) {
      (self.seed, self.cases, self.isResumed, self.failsFlaky) = (seed, cases, isResumed, failsFlaky)
    }
  }

  /// How a real lock was left at the end of a run; what there is to say of it to people is a diagnostic.
  public struct Left: Hashable, Sendable {
    /// What the run calls the lock.
    public var lock: String
    /// Whether it is where it is to be parked; `nil` where that is unknown.
    public var isParked: Bool?
    /// Why it is not, in one line.
    public var message: String?

    /// Says how a lock was left.
    public init(lock: String, isParked: Bool? = nil, message: String? = nil) {
      (self.lock, self.isParked, self.message) = (lock, isParked, message)
    }
  }

  /// The last line: how the run ended.
  public struct End: Hashable, Sendable {
    /// How many cases there were.
    public var cases = 0
    /// How many agreed, and how many of these only when they were tried again.
    var agree = 0
    var flaky = 0
    /// How many failed: those that diverged, and among them those that were only not as the scenario expects.
    var divergences = 0
    var unmet = 0
    /// How many the lab failed.
    var labFaults = 0
    /// How many were not tried, or are in quarantine.
    var skipped = 0
    /// How many were not brought to an end.
    var incomplete = 0
    /// What those that agree rest on.
    var observations = 0
    /// The exit status of the command.
    public var status: Int

    /// Says how a run ended.
    ///
    /// - Parameter status: what the command ends with, where that is more than what the cases came to.
    public init(_ tally: Tally, _ status: CommandStatus? = nil) {
      (cases, agree, flaky) = (tally.cases, tally.agree, tally.flaky)
      (divergences, unmet, labFaults) = (tally.failures, tally.unmet, tally.labFaults)
      (skipped, incomplete, observations) = (tally.skipped, tally.incomplete, tally.observations)
      self.status = Int((status ?? tally.exitStatus).rawValue)
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
    .usual("flaky", \.flaky, .count), .usual("divergences", \.divergences, .count),
    .extra("unmet", \.unmet, .count, besides: 0),
    .usual("labFaults", \.labFaults, .count), .usual("skipped", \.skipped, .count),
    .usual("incomplete", \.incomplete, .count), .usual("observations", \.observations, .count),
    .needed("status", \.status, .count),
  ]
}

// MARK: - Cases

extension Record {
  /// The line a case starts with.
  public struct Case: Hashable, Sendable {
    /// What verdicts name the case by; unique within a run unless the case is repeated.
    public var id: String
    /// Its title.
    public var name: String?
    /// The file it was read from.
    public var file: String?
    /// The line in that file, from 1.
    public var line: Int?
    /// The tags of the scenario.
    public var tags: [String] = []
    /// The machine that is the model.
    public var machine: String?
    /// A hash of the machine, the same on every host.
    public var model: String?
    /// The device under test.
    public var device: String?
    /// What the device was given beside what the scenario asks for, by the names of the settings: it makes another case of
    /// it, since a lock with a defect says nothing of one without.
    public var settings: String?
    /// The firmware of the device, where it is known.
    public var firmware: String?
    /// The seed of the case.
    public var seed: UInt64?
    /// A hash of everything that the case is made of: two cases of one digest are the same test.
    public var digest: String?
    /// A hash of the text of its file, by which a report knows whether that is still the same.
    public var text: String?
    /// A hash of the files of the program that is the device, by which the history knows whether it was edited.
    public var program: String?
    /// Which try this is, from 1; a case that is tried again has a line and a verdict for each.
    public var attempt = 1
    /// The number of the lease of the lock, where one was needed: read from the line, and written on every one.
    public var lease: Int?

    /// A case begins.
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
