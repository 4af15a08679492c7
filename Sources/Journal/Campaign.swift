public import Basics

/// The progress of a campaign.
public struct CampaignStatus: Hashable, Sendable {
  /// The current activity, in words.
  public var phase = "exploring"
  /// The number of choices made in tests.
  public var events = 0
  /// The number of tests started.
  public var tests = 0
  /// The number of choices made to confirm and to shrink findings.
  public var extraEvents = 0
  /// The length of each finding's test.
  public var depths: [Int] = []
  /// How often the campaign found a known finding again.
  public var repeats = 0
  /// The number of lab faults.
  public var labFaults = 0
  /// The number of tests without a verdict because of a lab fault.
  public var unjudged = 0
  /// The number of tests kept in the corpus because they did what few others did.
  public var corpus = 0
  /// The number of distinct model positions at which the campaign made a choice: sets of possible states and
  /// conditions.
  public var positions = 0
  /// The length of the longest test.
  public var longest = 0
  /// How many tests were repeated to check for a stable result, and how many were stable.
  public var stability = Stability()
  /// The number of times that the tester set the bolt in motion.
  public var actuations = 0
  /// The device time that passed in tests, including those that confirm and shrink findings.
  public var lockTime = Interval.zero
  /// The part of ``lockTime`` spent waiting: for the waits of tests, and for the motor's rest.
  public var waited = Interval.zero
  /// The part of ``waited`` spent on the motor's rest.
  public var motorRest = Interval.zero
  /// The part of ``lockTime`` spent on reaching the device: scanning, connecting and service discovery.
  public var air = Interval.zero
  /// The parts of ``lockTime`` spent on confirming findings and on shrinking their tests.
  public var confirming = Interval.zero
  public var shrinking = Interval.zero
  /// The options that the device has shown of choices that it makes once.
  public var shown: [Record.ShownChoice] = []

  /// The results of repeated tests.
  public struct Stability: Hashable, Sendable {
    /// The number of tests with the same result.
    public var same = 0
    /// The number of all repeated tests.
    public var tried = 0
  }

  /// The share of the device time spent waiting, in percent, or `nil` if no device time has passed.
  public var waitedPercent: Int? {
    lockTime > .zero ? Int(waited.seconds / wholeTime.seconds * 100) : nil
  }

  /// The shares of the device time in percent, first by kind of time and then by purpose; empty if no device time has
  /// passed.
  public var timeShares: [[(name: String, percent: Int)]] {
    guard lockTime > .zero else { return [] }
    func share(_ name: String, _ time: Interval) -> (name: String, percent: Int) {
      (name, Int((max(time, .zero).seconds / wholeTime.seconds * 100).rounded()))
    }
    return [
      [
        share("motor's rest", motorRest), share("waits", waited - motorRest), share("air", air),
        share("lock", lockTime - waited - air),
      ],
      [
        share("searching", lockTime - confirming - shrinking), share("confirming", confirming),
        share("shrinking", shrinking),
      ],
    ]
  }

  /// The device time, or the time of an aborted session that ``lockTime`` does not include yet, if that is longer.
  private var wholeTime: Interval { max(lockTime, waited + air) }

  /// Creates the status of a campaign that has not started.
  public init() {}

  /// Adds the status of another worker.
  public mutating func add(_ other: CampaignStatus) {
    events += other.events
    tests += other.tests
    extraEvents += other.extraEvents
    repeats += other.repeats
    labFaults += other.labFaults
    unjudged += other.unjudged
    actuations += other.actuations
    lockTime = lockTime + other.lockTime
    waited = waited + other.waited
    motorRest = motorRest + other.motorRest
    air = air + other.air
    confirming = confirming + other.confirming
    shrinking = shrinking + other.shrinking
    stability.same += other.stability.same
    stability.tried += other.stability.tried
    longest = max(longest, other.longest)
    // The workers share the corpus and most positions, so the largest number counts.
    corpus = max(corpus, other.corpus)
    positions = max(positions, other.positions)
    // Each worker checks its own device against what that device has shown.
    if shown.isEmpty { shown = other.shown }
  }
}

extension CampaignStatus: Recorded {
  public static let blank = CampaignStatus()
  public static let noun = "a campaign"
  public static let fields: [Field<Self>] = [
    .usual("phase", \.phase, .text), .needed("events", \.events, .count), .usual("tests", \.tests, .count),
    .usual("extraEvents", \.extraEvents, .count),
    .derived("findings", \.depths.count, .count), .usual("depths", \.depths, .list(.count)),
    .usual("repeats", \.repeats, .count), .usual("labFaults", \.labFaults, .count),
    .usual("unjudged", \.unjudged, .count), .usual("corpus", \.corpus, .count),
    .usual("positions", \.positions, .count), .usual("longest", \.longest, .count),
    .usual("stability", \.stability, .pair), .usual("actuations", \.actuations, .count),
    .usual("lockTime", \.lockTime, .seconds), .usual("waited", \.waited, .seconds),
    .usual("motorRest", \.motorRest, .seconds), .usual("air", \.air, .seconds),
    .usual("confirming", \.confirming, .seconds), .usual("shrinking", \.shrinking, .seconds),
    .list("shown", \.shown, .object()),
  ]
}

extension Notation<CampaignStatus.Stability> {
  /// `[same, tried]`
  fileprivate static var pair: Notation {
    Notation(
      shape: Shape.row(Shape.count, Shape.count), write: { [.integer($0.same), .integer($0.tried)] },
      read: { json in
        guard let numbers = json.ints, numbers.count == 2 else { return nil }
        return Value(same: numbers[0], tried: numbers[1])
      })
  }
}

extension Record {
  /// A finding of a campaign; the case that shows it follows.
  public struct Finding: Hashable, Sendable {
    /// The number of the finding, from 1.
    public var number: Int?
    /// The signature, which identifies the finding: the same failure always has the same signature.
    public var signature: String
    /// The failure, in one line.
    public var message: String?
    /// The number of choices that the campaign had made when it found this.
    public var events: Int?
    /// The length of the test that found it.
    public var length: Int?
    /// The number of events in the shortest test that shows it.
    public var shortest: Int
    /// How its test was shrunk.
    public var shrinking: Shrinking?
    /// How reliably it reproduces.
    public var confirmation: Confirmation?
    /// How it depends on the earlier tests of its device.
    public var past: Past?
    /// How device and reference device compare, in words.
    public var twinComparison: String?
    /// How often the campaign found it, including the first time.
    public var count: Int?
    /// The scenario file in which its test was saved.
    public var file: String?

    /// The failure in one line, or the signature if there is no message.
    public var summary: String { message ?? signature }

    /// Creates a finding with its signature.
    public init(_ signature: String, shortest: Int) {
      (self.signature, self.shortest) = (signature, shortest)
    }

    /// How a test was shrunk.
    public struct Shrinking: Hashable, Sendable {
      /// The number of tests that shrinking ran.
      public var runs: Int
      /// The total number of choices in these tests.
      public var events: Int
      /// Why shrinking ended.
      public var end: String

      /// Creates a description of how a test was shrunk.
      public init(runs: Int, events: Int, end: String) {
        (self.runs, self.events, self.end) = (runs, events, end)
      }
    }

    /// How reliably a finding reproduces.
    public struct Confirmation: Hashable, Sendable {
      /// `confirmed`, `flaky` or `not reproduced`.
      public var verdict: String
      /// The number of runs that showed the finding.
      public var shown: Int
      /// How often its test was repeated.
      public var runs: Int
      /// The number of runs that a lab fault disturbed.
      public var disturbed: Int
      /// How much likelier the results of the runs are with a defect than without one.
      public var likelihoodRatio: Double

      /// Creates a confirmation.
      public init(verdict: String, shown: Int, runs: Int, disturbed: Int, likelihoodRatio: Double) {
        (self.verdict, self.shown, self.runs) = (verdict, shown, runs)
        (self.disturbed, self.likelihoodRatio) = (disturbed, likelihoodRatio)
      }
    }

    /// How a finding depends on the earlier tests of its device.
    public enum Past: String, Hashable, Sendable, CaseIterable {
      /// Unknown, for example because no other device was available.
      case unknown
      /// The same test shows it on another device.
      case irrelevant
      /// A longer test, which contains the required history, shows it on another device.
      case included
      /// No test that was tried shows it on another device.
      case needed
    }
  }
}

extension Record.Finding: Recorded {
  public static let blank = Record.Finding("", shortest: 0)
  public static let noun = "a finding"
  public static let fields: [Field<Self>] = [
    .usual("number", \.number, .count), .needed("signature", \.signature, .text),
    .usual("message", \.message, .text), .usual("events", \.events, .count),
    .usual("length", \.length, .count), .needed("shortest", \.shortest, .count),
    .usual("shrinking", \.shrinking, .object()), .usual("confirmation", \.confirmation, .object()),
    .extra("past", \.past, .words()), .extra("twin", \.twinComparison, .text),
    .usual("count", \.count, .count),
    .usual("file", \.file, .text),
  ]
}

extension Record.Finding.Shrinking: Recorded {
  public static let blank = Self(runs: 0, events: 0, end: "")
  public static let noun = "what is said of shrinking"
  public static let fields: [Field<Self>] = [
    .needed("runs", \.runs, .count), .needed("events", \.events, .count), .needed("end", \.end, .text),
  ]
}

extension Record.Finding.Confirmation: Recorded {
  public static let blank = Self(verdict: "", shown: 0, runs: 0, disturbed: 0, likelihoodRatio: 0)
  public static let noun = "a confirmation"
  public static let fields: [Field<Self>] = [
    .needed("verdict", \.verdict, .text), .usual("shown", \.shown, .count), .usual("runs", \.runs, .count),
    .usual("disturbed", \.disturbed, .count), .usual("likelihoodRatio", \.likelihoodRatio, .number),
  ]
}
