public import Basics

/// A rule over the trace that a device of a machine must never break, in any state of the model.
public enum TraceRule: Equatable, Sendable {
  /// One status follows another only after one of some stimuli.
  public struct Reason: Equatable, Sendable {
    /// The status that needs a reason.
    public var status: String
    /// The status from which on a reason is needed. Any status besides these two and ``passing`` ends the check.
    public var origin: String
    /// Intermediate statuses, which change nothing.
    public var passing: [String]
    /// The stimuli that are a reason.
    public var stimuli: [String]
    /// The stimuli that are a reason for the rest of a test, unless their argument is zero: a time for autolock.
    public var standing: [String]
    /// Conditions under which the device may show a status late, by any time.
    public var slow: [String]
    /// The maximum time from a reason to its effect.
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

  /// Which commands leave which records.
  public struct Records: Equatable, Sendable {
    /// The stimuli that leave a record with their tag.
    public var commands: [String]
    /// The stimulus that requests a record.
    public var request: String
    /// The reading that contains a record.
    public var reading: String
    /// The status in which no request is open any more.
    public var rest: String
    /// The numbers of bytes of a tag that a record may hold, in ascending order: a longer tag is truncated.
    public var capacities: [Int]
    /// The faults after which something other than the commands of the test may leave records.
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

  /// The device breaks no rule of its protocol, unless one of these conditions may hold.
  case noViolation(unless: [String])
  /// A reading never rises by itself; a fault of the same name may set it.
  case neverRises(reading: String)
  /// One status follows another only for a reason.
  case needsStimulus(Reason)
  /// A record of a command contains the command's whole tag.
  case keepsTags(Records)
}
