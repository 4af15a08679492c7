public import Basics

/// What must never happen on a device of a machine, whatever state the model is in: a rule over the trace, told as data.
public enum TraceRule: Equatable, Sendable {
  /// One status follows another only after one of some stimuli.
  public struct Reason: Equatable, Sendable {
    /// The status that needs a reason.
    public var status: String
    /// The status from which on a reason is needed; others that are neither end the watch.
    public var origin: String
    /// Statuses on the way, which change nothing.
    public var passing: [String]
    /// The reasons.
    public var stimuli: [String]
    /// Reasons that stay for the rest of a test, unless their argument is nothing: a time for autolock.
    public var standing: [String]
    /// Conditions under which what is shown may be late by any time.
    public var slow: [String]
    /// How long a reason may take to have its effect.
    public var lead: Interval

    /// Makes the rule.
    public init(
      _ status: String, from origin: String, passing: [String] = [], after stimuli: [String],
      orStanding standing: [String] = [], slow: [String] = [], within lead: Interval = .seconds(6)
    ) {
      self.status = status
      self.origin = origin
      self.passing = passing
      self.stimuli = stimuli
      self.standing = standing
      self.slow = slow
      self.lead = lead
    }
  }

  /// Whose a record of a command is.
  public struct Records: Equatable, Sendable {
    /// The stimuli that leave a record, with the tag that they had.
    public var commands: [String]
    /// The stimulus that asks for a record, and the reading that brings it.
    public var request: String
    /// The reading that brings it.
    public var reading: String
    /// The status in which nothing is asked for any more.
    public var rest: String
    /// How many bytes of a tag a record may hold, in rising order: what is longer is cut there.
    public var capacities: [Int]
    /// The faults by which something else than a command of the test may stand in the records from then on.
    public var malformed: [String]

    /// Makes the rule.
    public init(
      of commands: [String], request: String, reading: String, rest: String, capacities: [Int],
      unless malformed: [String]
    ) {
      self.commands = commands
      self.request = request
      self.reading = reading
      self.rest = rest
      self.capacities = capacities
      self.malformed = malformed
    }
  }

  /// No rule of the device's protocol is broken, unless one of these conditions may hold.
  case noViolation(unless: [String])
  /// A value that is read never rises by itself; a fault of the same name may set it.
  case neverRises(reading: String)
  /// One status follows another only for a reason.
  case needsStimulus(Reason)
  /// A record of a command has the tag that the command had, whole.
  case keepsTags(Records)
}
