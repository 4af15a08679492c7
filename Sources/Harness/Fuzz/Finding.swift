public import Conformance
public import Basics
public import Journal
public import System

/// A divergence that a campaign found.
public struct Finding: Sendable {
  /// The number, from 1.
  public var number: Int
  /// The signature, which identifies it; see `Divergence.signature`.
  public var signature: String
  /// The divergence in the shortest test.
  public var divergence: Divergence
  /// The number of choices that the campaign had made before it.
  public var foundAt: Int
  /// The device's time and the number of actuations at that point.
  public var foundAfter: (lockTime: Interval, actuations: Int) = (.zero, 0)
  /// The length of the test in which it was found.
  public var foundLength: Int
  /// The shortest test that shows it.
  public var test: TestCase
  /// The actions of the test, each with whether it must be refused.
  public var actions: [(action: TestAction, isForbidden: Bool)]
  /// The trace of the last run that confirmed it.
  public var trace: [TraceList.Entry] = []
  /// The packets of that run, if they were kept.
  public var packets: (any LinkPackets)?
  /// The steps of that run, in short.
  public var steps = StepSummary()
  /// How the test was shrunk.
  public var shrinking = Shrinking()
  /// How often it was reproduced.
  public var confirmation = Confirmation()
  /// Its relation to earlier requests to the device; `nil` if each test has a new device.
  public var past: Past?
  /// How often the campaign found it, including the first time.
  public var count = 1
  /// Whether it was found on the reference device.
  public var isOnTwin = false
  /// The comparison of device and reference device, if there is a reference device.
  public var twin: TwinVerdict?
  /// The path of its saved scenario.
  public var path: String?

  /// Other signatures of the same finding: the same test is the shortest that shows them.
  public var aliases: [String] = []

  /// The failure in one sentence.
  public var sentence: String { divergence.sentence(after: steps) }

  /// Whether a divergence with a signature is this finding.
  public func isKnown(as signature: String) -> Bool {
    self.signature == signature || divergence.signature == signature || aliases.contains(signature)
  }

  /// Whether it ends a campaign that looks for one finding: one that was not reproduced, or could not be retried,
  /// proves nothing, and a fault of a program of the lab is not the device's.
  public var endsCampaign: Bool { confirmation.shown > 0 && !divergence.isOfLab }

  /// Why it has no verdict on the device; `nil` if it has one.
  public var whyNoVerdict: String? {
    if confirmation.shown == 0 {
      return "\(confirmation), so there is no verdict"
    }
    if divergence.isOfLab { return "\(confirmation); it says nothing of the lock, so there is no verdict" }
    if isOnTwin, let twin {
      if case .confirmed(let confirmation) = twin, confirmation.shown > 0 { return nil }
      return twin.text
    }
    return nil
  }

  /// How a test was shrunk.
  public struct Shrinking: Sendable {
    /// The number of test runs.
    public var runs = 0
    /// The number of choices in these runs.
    public var events = 0
    /// Why shrinking ended: `minimal for this model`, or a limit.
    public var end = Finding.minimal
    /// Whether no shorter test of the shrinker's families shows it.
    public var isMinimal: Bool { end == Finding.minimal }
  }

  /// The relation of a finding to the earlier tests on a device that keeps its state: one of them may have damaged
  /// the device.
  public enum Past: Equatable, Sendable {
    /// No other device was available.
    case unknown
    /// A new device shows it with the same test.
    case irrelevant
    /// A longer test, with effects of earlier ones, shows it on a new device. On the original device, in its present
    /// state, this many choices suffice.
    case included(own: Int)
    /// No tried test shows it on a new device.
    case needed

    /// The relation as text.
    public var text: String {
      switch self {
      case .unknown:
        "shown on this device in its present state: a device with a different history may not show it"
      case .irrelevant: "a new device shows it too"
      case .included(let own):
        "a new device shows it too; this device, in its present state, shows it after \(own) events"
      case .needed:
        "no new device shows it: only this device in its present state, or the campaign from its beginning"
      }
    }
  }

  /// The ends of shrinking: no shorter test is left to try; the shorter tests did not reproduce the finding; no test
  /// did; or shrinking did not begin, since a repetition of the test did not reproduce it.
  static let minimal = "minimal for this model"
  static let shorterUnconfirmed = "no shorter test was confirmed"
  static let unconfirmed = "no test of any length was confirmed"
  static let unshown = "not shrunk, since the test did not reproduce it"
}

/// Records the packets of the link to a device, one attempt at a time.
public protocol LinkWatch {
  /// Starts recording an attempt, including its preparation.
  func begin()
  /// The recorded packets; `nil` if there are none.
  var taken: (any LinkPackets)? { get }
  /// Ends the attempt: further packets belong to no finding.
  func end()
}

/// The packets of the link to a device in one attempt.
public protocol LinkPackets: Sendable {
  /// Writes them as the capture of a case; returns the case's attachments.
  func save(_ test: Case) throws(FileFault) -> [Record.Attachment]
}

/// The result of trying a reference device's finding on the device.
public enum TwinVerdict: Equatable, Sendable {
  /// The device fails in the same way.
  case confirmed(Confirmation)
  /// The device behaves differently: the first step at which the observations differ, with both.
  case differs(step: Int, twin: String, device: String)
  /// The finding could not be tried, for this reason.
  case notAsked(String)

  /// The result as text.
  public var text: String {
    switch self {
    case .confirmed(let confirmation): "the device does the same: \(confirmation)"
    case .differs(let step, let twin, let device):
      "the twin is wrong here: at step \(step) the twin showed \(twin), the device \(device)"
    case .notAsked(let reason): "the device was not asked: \(reason)"
    }
  }
}
