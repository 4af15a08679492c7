public import Conformance
public import Basics
public import Journal
public import System

/// A divergence that a campaign came upon.
public struct Finding: Sendable {
  /// The number, from 1.
  public var number: Int
  /// What tells it from others; see `Divergence.signature`.
  public var signature: String
  /// What happened, in the shortest test that shows it.
  public var divergence: Divergence
  /// How many choices the campaign had made when it came upon it.
  public var foundAt: Int
  /// How much time had passed on the device by then, and how often its bolt had been set in motion.
  public var foundAfter: (lockTime: Interval, actuations: Int) = (.zero, 0)
  /// How long the test was that came upon it.
  public var foundLength: Int
  /// The shortest test that shows it, and what its choices mean.
  public var test: TestCase
  /// What the choices of the test mean, with whether each is to be refused.
  public var actions: [(action: TestAction, isForbidden: Bool)]
  /// What was done and seen in the last run that confirmed it.
  public var trace: [TraceList.Entry] = []
  /// What went over the link to the device meanwhile, where that was kept.
  public var packets: (any LinkPackets)?
  /// The same in short.
  public var steps = StepsInShort()
  /// How it was made shorter.
  public var shrinking = Shrinking()
  /// How sure it is.
  public var confirmation = Confirmation()
  /// What it has to do with what was asked of the device before; `nil` where each test finds another one.
  public var past: Past?
  /// How often the campaign came upon it, with the first time.
  public var count = 1
  /// Whether it was found on a twin of the device.
  public var isOnTwin = false
  /// What device and twin make of each other's behaviour, where there is a twin.
  public var twin: TwinVerdict?
  /// The scenario in which it was saved.
  public var path: String?

  /// Other signatures under which the campaign came upon what is shortest shown by the same test.
  public var aliases: [String] = []

  /// What happened in one sentence, to be read aloud.
  public var sentence: String { divergence.sentence(after: steps) }

  /// Whether a divergence of a signature is this finding again.
  public func isKnown(as signature: String) -> Bool {
    self.signature == signature || divergence.signature == signature || aliases.contains(signature)
  }

  /// Whether it ends a campaign that looks for one finding: one that was not reproduced, or could not be retried,
  /// proves nothing, and a fault of a program of the lab is not the device's.
  public var endsCampaign: Bool { confirmation.shown > 0 && !divergence.isOfLab }

  /// Why it says nothing of the device, if it does not.
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

  /// How a test was made shorter.
  public struct Shrinking: Sendable {
    /// How many tests were run for it.
    public var runs = 0
    /// How many choices they had together.
    public var events = 0
    /// Why it ended: `minimal for this model`, or what stopped it.
    public var end = Finding.minimal
    /// Whether no shorter test of the shrinker's families shows it.
    public var isMinimal: Bool { end == Finding.minimal }
  }

  /// What a finding has to do with what a device that lives on was asked for before: a defect may have shown there because
  /// of what went wrong with that device for good.
  public enum Past: Equatable, Sendable {
    /// No other device was to be had.
    case unknown
    /// Another device, of which nothing was asked before, shows it by the same test.
    case irrelevant
    /// The test brings it about on another device. The one that came upon it shows it by now with so many choices.
    case included(own: Int)
    /// No test that was tried shows it on another device.
    case needed

    /// In words.
    public var text: String {
      switch self {
      case .unknown: "shown on the device as it is by now: one with another past may not show it"
      case .irrelevant: "a new device shows it too"
      case .included(let own): "a new device shows it too; this one, as it is by now, after \(own) events"
      case .needed:
        "no new device shows it: only this one as it is by now, or the campaign from its beginning"
      }
    }
  }

  /// How shrinking ended: no shorter test is left to try; the shorter ones did not show it again; nor did any.
  static let minimal = "minimal for this model"
  static let shorterUnconfirmed = "what is shorter was not confirmed"
  static let unconfirmed = "no length of it was confirmed"
  static let unshown = "not made shorter, since its test did not show it again"
}

/// Who keeps what goes over the link to a device, of one attempt at a time.
public protocol LinkWatch {
  /// An attempt begins, with the device being made ready for it.
  func begin()
  /// What went over the link since then; `nil` where nothing did.
  var taken: (any LinkPackets)? { get }
  /// The attempt is over: what follows belongs to no finding.
  func end()
}

/// What went over the link to a device in one attempt.
public protocol LinkPackets: Sendable {
  /// Writes it down as that of a case; gives what belongs to the case then.
  func save(_ test: Case) throws(FileFault) -> [Record.Attachment]
}

/// The result of trying a reference device's finding on the device.
public enum TwinVerdict: Equatable, Sendable {
  /// It does the same.
  case confirmed(Confirmation)
  /// The device behaves differently: the first step at which the observations differ, with both.
  case differs(step: Int, twin: String, device: String)
  /// It could not be asked, and why.
  case notAsked(String)

  /// In words.
  public var text: String {
    switch self {
    case .confirmed(let confirmation): "the device does the same: \(confirmation)"
    case .differs(let step, let twin, let device):
      "the twin is wrong here: at step \(step) the twin showed \(twin), the device \(device)"
    case .notAsked(let reason): "the device was not asked: \(reason)"
    }
  }
}
