public import Basics

/// How far a campaign is.
public struct CampaignStatus: Hashable, Sendable {
  /// What is being done.
  public var phase = "exploring"
  /// Choices made in tests.
  public var events = 0
  /// Tests begun.
  public var tests = 0
  /// Choices made to confirm and to shrink.
  public var extraEvents = 0
  /// Findings, by the length of their tests.
  public var depths: [Int] = []
  /// Times that the campaign came upon a finding again.
  public var repeats = 0
  /// Lab faults.
  public var labFaults = 0
  /// Tests that came to no verdict, because of them.
  public var unjudged = 0
  /// Tests kept because they did what few others did.
  public var corpus = 0
  /// Distinct places in the model at which something was chosen: possible states and conditions.
  public var positions = 0
  /// The length of the longest test.
  public var longest = 0
  /// Tests that were done again to see whether they come out the same, and those that did.
  public var stability = Stability()
  /// How often the tester set the bolt in motion.
  public var actuations = 0
  /// The time that passed on the device, in tests and in those of confirming and shrinking.
  public var lockTime = Interval.zero
  /// How much of ``lockTime`` was waited for: because a test said so, or because a motor had to rest.
  public var waited = Interval.zero
  /// How much of ``waited`` was for a motor's rest.
  public var motorRest = Interval.zero
  /// How much of ``lockTime`` the way to the device has taken: listening, connecting, finding out what it offers.
  public var air = Interval.zero
  /// How much of ``lockTime`` went into trying findings again, and into making their tests shorter.
  public var confirming = Interval.zero
  public var shrinking = Interval.zero
  /// What the device has shown of choices that it makes once.
  public var shown: [Record.ShownChoice] = []

  /// Tests that were done twice.
  public struct Stability: Hashable, Sendable {
    /// Those that came out the same.
    public var same = 0
    /// All of them.
    public var tried = 0
  }

  /// The share of the device's time that was waited, in percent; `nil` where no time has passed on it.
  public var waitedPercent: Int? {
    lockTime > .zero ? Int(waited.seconds / wholeTime.seconds * 100) : nil
  }

  /// What the device's time went into, in percent of it: what was waited for, then what it was spent on; nothing where no
  /// time has passed on it.
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

  /// The device's time, and that of a session which was broken off before it counted.
  private var wholeTime: Interval { max(lockTime, waited + air) }

  /// Nothing was done yet.
  public init() {}

  /// Adds what another worker did.
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
    // The corpus is shared, and so are most positions: those of the one that has most.
    corpus = max(corpus, other.corpus)
    positions = max(positions, other.positions)
    // Each worker holds a device of its own to what that showed.
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
  /// What a campaign came upon; the case that shows it follows.
  public struct Finding: Hashable, Sendable {
    /// The number, from 1.
    public var number: Int?
    /// What tells it from others: the same thing found twice has one signature.
    public var signature: String
    /// What happened, in one line.
    public var message: String?
    /// How many choices the campaign had made when it came upon it.
    public var events: Int?
    /// How long the test was that came upon it.
    public var length: Int?
    /// How many events the shortest test has that shows it.
    public var shortest: Int
    /// How it was made shorter.
    public var shrinking: Shrinking?
    /// How sure it is.
    public var confirmation: Confirmation?
    /// What it has to do with what was asked of the device before.
    public var past: Past?
    /// What device and twin make of each other's behaviour, in words.
    public var twin: String?
    /// How often the campaign came upon it, with the first time.
    public var count: Int?
    /// The scenario in which it was saved.
    public var file: String?

    /// What happened, in one line; what tells it from others where nothing else is said.
    public var summary: String { message ?? signature }

    /// Names a finding.
    public init(_ signature: String, shortest: Int) {
      (self.signature, self.shortest) = (signature, shortest)
    }

    /// How a test was made shorter.
    public struct Shrinking: Hashable, Sendable {
      /// How many tests were run for it.
      public var runs: Int
      /// How many choices they had together.
      public var events: Int
      /// Why it ended.
      public var end: String

      /// Says how a test was made shorter.
      public init(runs: Int, events: Int, end: String) {
        (self.runs, self.events, self.end) = (runs, events, end)
      }
    }

    /// How sure a finding is.
    public struct Confirmation: Hashable, Sendable {
      /// `confirmed`, `flaky` or `not reproduced`.
      public var verdict: String
      /// In how many of the runs it showed.
      public var shown: Int
      /// How often its test was run again.
      public var runs: Int
      /// How many runs the lab disturbed.
      public var disturbed: Int
      /// How much likelier the runs are with a defect than without.
      public var likelihoodRatio: Double

      /// Says how sure a finding is.
      public init(verdict: String, shown: Int, runs: Int, disturbed: Int, likelihoodRatio: Double) {
        (self.verdict, self.shown, self.runs) = (verdict, shown, runs)
        (self.disturbed, self.likelihoodRatio) = (disturbed, likelihoodRatio)
      }
    }

    /// What a finding has to do with what its device was asked for before.
    public enum Past: String, Hashable, Sendable, CaseIterable {
      /// No other device was to be had.
      case unknown
      /// Another device shows it by the same test.
      case irrelevant
      /// The test brings it about on another device.
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
    .extra("past", \.past, .words()), .extra("twin", \.twin, .text), .usual("count", \.count, .count),
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
